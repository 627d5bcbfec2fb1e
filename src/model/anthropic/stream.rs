//! Reads the events of a messages stream. Blocks are told apart by their index alone; a finished
//! call is held until the next block or the stop reason shows that it was really finished.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::kernel::error::ModelError;
use crate::kernel::message::{CallId, ModelRef, Opaque, Stop, ToolCall, Usage};
use crate::kernel::ports::StreamEvent;

use super::super::args::finish_call;
use super::super::drive::Out;
use super::super::error::{Service, from_body};
use super::super::typed::Typed;
use super::super::wire_ids;

/// An event. Everything that is not on the hot path stays a loose value, so that a service that
/// adds or changes fields breaks nothing.
#[derive(Debug, Deserialize)]
pub struct Wire<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    content_block: Option<Value>,
    message: Option<Value>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    text: Option<String>,
    thinking: Option<String>,
    partial_json: Option<String>,
    signature: Option<String>,
    stop_reason: Option<String>,
}

const EVENTS: &[&str] = &[
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];
const DELTAS: &[&str] = &["text_delta", "thinking_delta", "signature_delta", "input_json_delta"];

#[derive(Debug)]
enum Open {
    Text { index: usize },
    Thinking { index: usize, signature: String },
    Call { index: usize, id: String, name: String, json: String, given: Option<Value> },
    Skipped,
}

/// The decoder of one messages stream.
#[derive(Debug)]
pub struct Messages {
    service: Service,
    model: ModelRef,
    blocks: BTreeMap<u64, Open>,
    /// Finished calls that wait for what follows, with their block.
    held: Vec<(usize, ToolCall)>,
    next_index: usize,
    used_ids: Vec<String>,
    usage: Usage,
    stop: Option<Stop>,
    calls: usize,
    done: bool,
}

impl Messages {
    /// A decoder for an answer of that model.
    pub fn new(service: Service, model: ModelRef) -> Self {
        Self {
            service,
            model,
            blocks: BTreeMap::new(),
            held: Vec::new(),
            next_index: 0,
            used_ids: Vec::new(),
            usage: Usage::default(),
            stop: None,
            calls: 0,
            done: false,
        }
    }

    fn take_index(&mut self) -> usize {
        self.next_index += 1;
        self.next_index - 1
    }

    fn start(&mut self, at: Option<u64>, block: Value, out: &mut Out) {
        let at = at.unwrap_or_else(|| self.blocks.last_key_value().map_or(0, |(at, _)| at + 1));
        let text =
            |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(Open::Call { id, .. }) = self.blocks.get(&at)
            && *id == text("id")
        {
            return;
        }
        self.stop_block(Some(at), out);
        let open = match text("type").as_str() {
            "text" => {
                let index = self.take_index();
                push_text(index, text("text"), out);
                Open::Text { index }
            }
            "thinking" => {
                let index = self.take_index();
                push_thinking(index, text("thinking"), out);
                Open::Thinking { index, signature: text("signature") }
            }
            "redacted_thinking" => {
                let opaque = Opaque { model: self.model.clone(), data: block };
                out.push_back(StreamEvent::Opaque { index: self.take_index(), opaque });
                Open::Skipped
            }
            "tool_use" => {
                let index = self.take_index();
                out.push_back(StreamEvent::CallStart { index, name: text("name") });
                let given = block.get("input").filter(|input| !is_empty(input)).cloned();
                let (id, name) = (text("id"), text("name"));
                Open::Call { index, id, name, json: String::new(), given }
            }
            other => {
                tracing::debug!(kind = other, "unknown block skipped");
                Open::Skipped
            }
        };
        self.blocks.insert(at, open);
    }

    fn delta(&mut self, at: Option<u64>, delta: Delta<'_>, out: &mut Out) {
        let last = || self.blocks.last_key_value().map(|(at, _)| *at);
        let at = at.or_else(last).unwrap_or(0);
        if !self.blocks.contains_key(&at) {
            // Some gateways leave out the start of a text block.
            let kind = match &*delta.kind {
                "text_delta" => "text",
                "thinking_delta" => "thinking",
                _ => return,
            };
            self.start(Some(at), json!({"type": kind}), out);
        }
        match (self.blocks.get_mut(&at), &*delta.kind) {
            (Some(Open::Text { index }), "text_delta") => {
                push_text(*index, delta.text.unwrap_or_default(), out);
            }
            (Some(Open::Thinking { index, .. }), "thinking_delta") => {
                push_thinking(*index, delta.thinking.unwrap_or_default(), out);
            }
            (Some(Open::Thinking { signature, .. }), "signature_delta") => {
                signature.push_str(&delta.signature.unwrap_or_default());
            }
            (Some(Open::Call { index, json, .. }), "input_json_delta") => {
                let piece = delta.partial_json.unwrap_or_default();
                if !piece.is_empty() {
                    json.push_str(&piece);
                    out.push_back(StreamEvent::CallDelta { index: *index, bytes: piece.len() });
                }
            }
            _ => tracing::debug!(kind = &*delta.kind, "delta skipped"),
        }
    }

    fn stop_block(&mut self, at: Option<u64>, out: &mut Out) {
        let at = at.or_else(|| self.blocks.last_key_value().map(|(at, _)| *at));
        match at.and_then(|at| self.blocks.remove(&at)) {
            Some(Open::Thinking { index, signature }) if !signature.is_empty() => {
                let data = json!({"type": "thinking", "signature": signature});
                let opaque = Opaque { model: self.model.clone(), data };
                out.push_back(StreamEvent::Opaque { index, opaque });
            }
            Some(Open::Call { index, id, name, json, given }) => {
                let raw = match given {
                    Some(given) if json.trim().is_empty() => given.to_string(),
                    _ => json,
                };
                let id = wire_ids::distinct(Some(id), index, &mut self.used_ids);
                self.held.push((index, finish_call(CallId(id), name, &raw)));
            }
            _ => {}
        }
    }

    /// Hands out the held calls in block order: what follows them has been seen.
    fn release(&mut self, out: &mut Out) {
        self.held.sort_by_key(|(index, _)| *index);
        for (index, call) in self.held.drain(..) {
            self.calls += 1;
            out.push_back(StreamEvent::CallComplete { index, call });
        }
    }

    /// The stop reason is known. Where it says that the answer was cut, the last block is
    /// unfinished even if its end was announced.
    fn settle(&mut self, stop: Stop, out: &mut Out) {
        let cut = matches!(stop, Stop::Length | Stop::Refusal | Stop::ContentFilter);
        if cut {
            let last = self.next_index.checked_sub(1);
            self.held.retain(|(index, _)| Some(*index) != last);
            self.blocks.retain(|_, open| !matches!(open, Open::Call { .. }));
        }
        while let Some((at, _)) = self.blocks.first_key_value() {
            let at = *at;
            self.stop_block(Some(at), out);
        }
        self.release(out);
        self.stop = Some(stop);
    }

    fn finish(&mut self, out: &mut Out) {
        if self.stop.is_none() {
            self.settle(Stop::EndTurn, out);
        }
        let stop = match self.stop.unwrap_or_default() {
            Stop::EndTurn if self.calls > 0 => Stop::ToolUse,
            Stop::ToolUse if self.calls == 0 => Stop::EndTurn,
            stop => stop,
        };
        out.push_back(StreamEvent::Done(stop));
        self.done = true;
    }

    /// Fields merge and the last value wins; a later zero of a gateway that counts only once does
    /// not erase the count.
    fn count(&mut self, usage: Option<&Value>, out: &mut Out) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let set = |field: &mut u64, key: &str| {
            if let Some(count) = usage.get(key).and_then(Value::as_u64).filter(|count| *count > 0) {
                *field = count;
            }
        };
        set(&mut self.usage.input, "input_tokens");
        set(&mut self.usage.output, "output_tokens");
        set(&mut self.usage.cache_read, "cache_read_input_tokens");
        set(&mut self.usage.cache_write, "cache_creation_input_tokens");
        out.push_back(StreamEvent::Usage(self.usage));
    }

    /// A whole answer in one document: a gateway that does not stream.
    fn whole(&mut self, data: &str, out: &mut Out) {
        let mut message: Value = serde_json::from_str(data).unwrap_or_default();
        self.count(message.get("usage"), out);
        let content = message["content"].take();
        for (at, block) in content.as_array().into_iter().flatten().enumerate() {
            self.release(out);
            self.start(Some(at as u64), block.clone(), out);
            self.stop_block(Some(at as u64), out);
        }
        let stop = message["stop_reason"].as_str().map_or(Stop::EndTurn, stop_of);
        self.settle(stop, out);
        self.finish(out);
    }
}

impl Typed for Messages {
    type Wire<'a> = Wire<'a>;

    fn service(&self) -> &Service {
        &self.service
    }

    fn wire(
        &mut self,
        wire: Self::Wire<'_>,
        name: &str,
        data: &str,
        out: &mut Out,
    ) -> Result<(), ModelError> {
        let kind = if wire.kind.is_empty() { name } else { &*wire.kind };
        if kind == "error" || wire.error.as_ref().is_some_and(|error| !error.is_null()) {
            return Err(from_body(&self.service, data));
        }
        match kind {
            "content_block_delta" => {
                if let Some(delta) = wire.delta {
                    self.delta(wire.index, delta, out);
                }
            }
            "content_block_start" => {
                self.release(out);
                self.start(wire.index, wire.content_block.unwrap_or_default(), out);
            }
            "content_block_stop" => self.stop_block(wire.index, out),
            "message_start" => {
                let message = wire.message.unwrap_or_default();
                self.count(message.get("usage"), out);
            }
            "message_delta" => {
                self.count(wire.usage.as_ref(), out);
                if let Some(reason) = wire.delta.and_then(|delta| delta.stop_reason) {
                    self.settle(stop_of(&reason), out);
                }
            }
            "message_stop" => self.finish(out),
            "message" => self.whole(data, out),
            _ => tracing::debug!(kind, "unknown event skipped"),
        }
        Ok(())
    }

    fn is_foreign(text: &str) -> bool {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return false };
        let Some(kind) = value.get("type").and_then(Value::as_str) else { return false };
        let delta = value.pointer("/delta/type").and_then(Value::as_str);
        !EVENTS.contains(&kind) || delta.is_some_and(|delta| !DELTAS.contains(&delta))
    }

    fn is_over(&self) -> bool {
        self.done
    }
}

fn is_empty(input: &Value) -> bool {
    input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty)
}

fn push_text(index: usize, text: String, out: &mut Out) {
    if !text.is_empty() {
        out.push_back(StreamEvent::TextDelta { index, text });
    }
}

fn push_thinking(index: usize, text: String, out: &mut Out) {
    if !text.is_empty() {
        out.push_back(StreamEvent::ThinkingDelta { index, text });
    }
}

fn stop_of(reason: &str) -> Stop {
    match reason {
        "tool_use" => Stop::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refusal,
        "pause_turn" => Stop::Pause,
        _ => Stop::EndTurn,
    }
}
