//! Reads the events of a response. Items are announced, grow and end; a finished call is held until
//! a later item or the end of the response shows that it was really finished.

use serde_json::{Value, json};

use crate::kernel::error::ModelError;
use crate::kernel::message::{CallId, ModelRef, Opaque, Stop, ToolCall, Usage};
use crate::kernel::ports::StreamEvent;

use super::super::args::finish_call;
use super::super::drive::Out;
use super::super::error::{Service, broken, from_body};
use super::super::typed::Typed;
use super::super::wire_ids;
use super::event::{Numbering, Piece, Wire, is_foreign, list, raw};
use super::items::{Address, Items, Kind};

/// A finished call that waits for what follows.
#[derive(Debug)]
struct Held {
    place: usize,
    index: usize,
    call: ToolCall,
}

/// The decoder of one response.
#[derive(Debug)]
pub struct Response {
    service: Service,
    model: ModelRef,
    items: Items,
    held: Vec<Held>,
    numbering: Numbering,
    used_ids: Vec<String>,
    usage: Usage,
    calls: usize,
    refused: bool,
    said: bool,
    done: bool,
}

impl Response {
    /// A decoder for an answer of that model.
    pub fn new(service: Service, model: ModelRef) -> Self {
        Self {
            service,
            model,
            items: Items::default(),
            held: Vec::new(),
            numbering: Numbering::default(),
            used_ids: Vec::new(),
            usage: Usage::default(),
            calls: 0,
            refused: false,
            said: false,
            done: false,
        }
    }

    /// The item that an event belongs to, made when its announcement was left out.
    fn item(&mut self, address: Address<'_>, kind: Kind, out: &mut Out) -> usize {
        self.items.find_kind(address, kind).unwrap_or_else(|| {
            let at = self.items.open(address, kind);
            self.release(out);
            at
        })
    }

    fn added(&mut self, address: Address<'_>, document: &Value, out: &mut Out) -> usize {
        let id = document.get("id").and_then(Value::as_str).unwrap_or(address.id);
        let kind = kind_of(document);
        let at = self.items.open(Address { id, ..address }, kind);
        self.release(out);
        if let Some(item) = self.items.open_mut(at) {
            let was_named = !item.name.is_empty();
            item.learn(document);
            if kind == Kind::Call && !was_named {
                let name = item.name.clone();
                out.push_back(StreamEvent::CallStart { index: item.block(), name });
            }
        }
        at
    }

    fn text(&mut self, address: Address<'_>, part: u64, piece: Piece, out: &mut Out) {
        let at = self.item(address, Kind::Message, out);
        self.grow_text(at, part, piece, out);
    }

    fn grow_text(&mut self, at: usize, part: u64, piece: Piece, out: &mut Out) {
        let Some(item) = self.items.open_mut(at) else { return };
        let text = item.news(part, piece);
        if !text.is_empty() {
            item.grow(part, &text);
            self.said = true;
            out.push_back(StreamEvent::TextDelta { index: item.block_of(part), text });
        }
    }

    fn thought(&mut self, address: Address<'_>, part: u64, piece: Piece, out: &mut Out) {
        let at = self.item(address, Kind::Reasoning, out);
        self.grow_thought(at, part, piece, out);
    }

    /// Parts of a summary become paragraphs of one thought.
    fn grow_thought(&mut self, at: usize, part: u64, piece: Piece, out: &mut Out) {
        let Some(item) = self.items.open_mut(at) else { return };
        let mut text = item.news(part, piece);
        if !text.is_empty() {
            if item.grow(part, &text) {
                text.insert_str(0, "\n\n");
            }
            out.push_back(StreamEvent::ThinkingDelta { index: item.block(), text });
        }
    }

    fn arguments(&mut self, address: Address<'_>, piece: Piece, out: &mut Out) {
        let at = self.item(address, Kind::Call, out);
        self.grow_arguments(at, piece, out);
    }

    /// The whole arguments take the place of the pieces, they are never added to them.
    fn grow_arguments(&mut self, at: usize, piece: Piece, out: &mut Out) {
        let Some(item) = self.items.open_mut(at) else { return };
        let before = item.arguments.len();
        match piece {
            Piece::More(text) => item.arguments.push_str(&text),
            Piece::Whole(text) if text.is_empty() => {}
            Piece::Whole(text) => item.arguments = text,
        }
        let bytes = item.arguments.len().saturating_sub(before);
        if bytes > 0 {
            out.push_back(StreamEvent::CallDelta { index: item.block(), bytes });
        }
    }

    /// An item is complete, and its document says once more all that it is.
    fn ended(&mut self, address: Address<'_>, document: Value, out: &mut Out) {
        let id = document.get("id").and_then(Value::as_str).unwrap_or(address.id).to_owned();
        let address = Address { id: &id, ..address };
        let kind = kind_of(&document);
        let known = self.items.find_kind(address, kind);
        let at = known.unwrap_or_else(|| self.added(address, &document, out));
        if self.items.open_mut(at).is_none() {
            return;
        }
        match kind {
            Kind::Message => self.message_ended(at, &document, out),
            Kind::Reasoning => self.reasoning_ended(at, document, out),
            Kind::Call => {
                self.grow_arguments(at, Piece::Whole(raw(document.get("arguments"))), out);
                if let Some(item) = self.items.open_mut(at) {
                    item.learn(&document);
                }
                if document["status"] != "incomplete" {
                    self.hold(at);
                }
            }
            Kind::Other => {}
        }
        if let Some(item) = self.items.open_mut(at) {
            item.is_done = true;
        }
        self.release(out);
    }

    fn message_ended(&mut self, at: usize, document: &Value, out: &mut Out) {
        for (part, content) in list(document, "content").enumerate() {
            let word = |key: &str| content.get(key).and_then(Value::as_str);
            self.refused |= word("refusal").is_some();
            let whole = word("refusal").or(word("text")).unwrap_or_default().to_owned();
            self.grow_text(at, part as u64, Piece::Whole(whole), out);
        }
        // Which part of the work a message belongs to; the service wants to be told again.
        let phase = document.get("phase").filter(|phase| phase.is_string());
        if let (Some(phase), Some(item)) = (phase, self.items.open_mut(at)) {
            let data = json!({"type": "message", "phase": phase});
            let opaque = Opaque { model: self.model.clone(), data };
            out.push_back(StreamEvent::Opaque { index: item.block(), opaque });
        }
    }

    /// What only the service can read is kept whole. Without it an item can't be sent back: nothing
    /// is stored there, so no item is known by its id.
    fn reasoning_ended(&mut self, at: usize, document: Value, out: &mut Out) {
        let has_summary = list(&document, "summary").next().is_some();
        let key = if has_summary { "summary" } else { "content" };
        for (part, content) in list(&document, key).enumerate() {
            let whole = content.get("text").and_then(Value::as_str).unwrap_or_default();
            self.grow_thought(at, part as u64, Piece::Whole(whole.to_owned()), out);
        }
        let sealed = document.get("encrypted_content").and_then(Value::as_str);
        if sealed.is_none_or(str::is_empty) {
            return;
        }
        if let Some(item) = self.items.open_mut(at) {
            let opaque = Opaque { model: self.model.clone(), data: document };
            out.push_back(StreamEvent::Opaque { index: item.block(), opaque });
        }
    }

    fn hold(&mut self, at: usize) {
        let Some(item) = self.items.open_mut(at) else { return };
        let (place, index) = (item.place(), item.block());
        let given = Some(item.call_id.clone());
        let (name, arguments) = (item.name.clone(), std::mem::take(&mut item.arguments));
        let id = wire_ids::distinct(given, place, &mut self.used_ids);
        let call = finish_call(CallId(id), name, &arguments);
        self.held.push(Held { place, index, call });
    }

    /// Hands out the held calls that something follows.
    fn release(&mut self, out: &mut Out) {
        if !self.held.is_empty() {
            let last = self.items.last_place().unwrap_or(0);
            self.release_before(last, out);
        }
    }

    fn release_before(&mut self, end: usize, out: &mut Out) {
        self.held.sort_by_key(|held| held.place);
        let waiting = self.held.partition_point(|held| held.place < end);
        for Held { index, call, .. } in self.held.drain(..waiting) {
            self.calls += 1;
            out.push_back(StreamEvent::CallComplete { index, call });
        }
    }

    fn terminal(
        &mut self,
        mut response: Value,
        kind: &str,
        out: &mut Out,
    ) -> Result<(), ModelError> {
        self.count(response.get("usage"), out);
        let said = response.get("status").and_then(Value::as_str).unwrap_or("completed");
        let status = match (kind, said) {
            (_, "failed" | "cancelled" | "incomplete") | ("document" | "response.done", _) => said,
            (kind, _) => kind.strip_prefix("response.").unwrap_or_default(),
        };
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        let stop = match (status, reason) {
            ("completed", _) => Stop::EndTurn,
            ("incomplete", Some("content_filter")) => Stop::ContentFilter,
            ("incomplete", _) => Stop::Length,
            (status, _) => return Err(self.failed(&response, status)),
        };
        self.catch_up(response.get_mut("output").map(Value::take).unwrap_or_default(), out);
        if stop == Stop::EndTurn {
            self.end_open_calls();
            self.release_before(usize::MAX, out);
        } else {
            // Cut: what is last is unfinished even if its end was announced.
            self.release(out);
        }
        out.push_back(StreamEvent::Done(match stop {
            Stop::EndTurn if self.calls > 0 => Stop::ToolUse,
            Stop::EndTurn if self.refused => Stop::Refusal,
            stop => stop,
        }));
        self.done = true;
        Ok(())
    }

    /// The response repeats its items at the end. What was not seen before is taken from there.
    fn catch_up(&mut self, output: Value, out: &mut Out) {
        let nothing_seen = self.items.last_place().is_none();
        let Value::Array(output) = output else { return };
        for (at, document) in output.into_iter().enumerate() {
            let word = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
            let id = word("id").to_owned();
            let address = Address { output_index: Some(at as u64), id: &id };
            let kind = kind_of(&document);
            let is_missed = match kind {
                Kind::Call => !self.items.iter().any(|item| item.call_id == word("call_id")),
                Kind::Message => !self.said,
                Kind::Reasoning | Kind::Other => nothing_seen,
            };
            if is_missed || self.items.find_kind(address, kind).is_some() {
                self.ended(address, document, out);
            }
        }
    }

    /// Calls whose end was never announced, in a response that says that it is complete.
    fn end_open_calls(&mut self) {
        let items = self.items.iter().enumerate();
        let open: Vec<usize> = items
            .filter(|(_, item)| item.kind == Kind::Call && !item.is_done)
            .map(|(at, _)| at)
            .collect();
        for at in open {
            self.hold(at);
        }
    }

    fn failed(&self, response: &Value, status: &str) -> ModelError {
        match response.get("error").filter(|error| !error.is_null()) {
            Some(error) => from_body(&self.service, &json!({"error": error}).to_string()),
            None => broken(&self.service, &format!("the status is {status}")),
        }
    }

    /// The input includes what came from the cache and what was written to it.
    fn count(&mut self, usage: Option<&Value>, out: &mut Out) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let get = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let read = get("/input_tokens_details/cached_tokens");
        let write = get("/input_tokens_details/cache_write_tokens");
        self.usage = Usage {
            input: get("/input_tokens").saturating_sub(read.saturating_add(write)),
            output: get("/output_tokens"),
            cache_read: read,
            cache_write: write,
        };
        out.push_back(StreamEvent::Usage(self.usage));
    }
}

impl Typed for Response {
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
        let is_document =
            wire.kind.is_empty() && wire.object.as_ref().is_some_and(|word| word.0 == "response");
        let kind = match &*wire.kind {
            "" if is_document => "document",
            "" => name,
            kind => kind,
        };
        if self.numbering.is_repeat(wire.sequence_number.as_u64(), kind) {
            return Ok(());
        }
        let has_error = wire.error.as_ref().is_some_and(|error| !error.is_null());
        if kind == "error" || (has_error && !is_document) {
            return Err(from_body(&self.service, data));
        }
        let id = wire.item_id.as_ref().map_or("", |id| &*id.0);
        let at = Address { output_index: wire.output_index.as_u64(), id };
        let part = wire.content_index.as_u64().unwrap_or(0);
        let more = Piece::More(wire.delta.unwrap_or_default());
        let whole = |text: Option<String>| Piece::Whole(text.unwrap_or_default());
        match kind {
            "response.output_text.delta" => self.text(at, part, more, out),
            "response.output_text.done" => self.text(at, part, whole(wire.text), out),
            "response.refusal.delta" | "response.refusal.done" => {
                self.refused = true;
                let is_whole = kind.ends_with("done");
                let piece = if is_whole { whole(wire.refusal) } else { more };
                self.text(at, part, piece, out);
            }
            "response.reasoning_summary_text.delta" => {
                self.thought(at, wire.summary_index.as_u64().unwrap_or(0), more, out);
            }
            "response.reasoning_text.delta" => self.thought(at, part, more, out),
            "response.function_call_arguments.delta" => self.arguments(at, more, out),
            "response.function_call_arguments.done" => {
                self.arguments(at, Piece::Whole(raw(wire.arguments.as_ref())), out);
            }
            "response.output_item.added" => {
                self.added(at, &wire.item.unwrap_or_default(), out);
            }
            "response.output_item.done" => self.ended(at, wire.item.unwrap_or_default(), out),
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled"
            | "response.done" => {
                return self.terminal(wire.response.unwrap_or_default(), kind, out);
            }
            "document" => {
                let document = serde_json::from_str(data).unwrap_or_default();
                return self.terminal(document, kind, out);
            }
            _ => tracing::debug!(kind, "event passed over"),
        }
        Ok(())
    }

    fn is_foreign(text: &str) -> bool {
        is_foreign(text)
    }

    fn is_over(&self) -> bool {
        self.done
    }
}

fn kind_of(document: &Value) -> Kind {
    Kind::of(document.get("type").and_then(Value::as_str).unwrap_or_default())
}
