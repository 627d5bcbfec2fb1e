//! Reads the chunks of a chat completion stream. The format has no block ends, so calls are
//! complete only when a finish reason (or the end mark) was seen.

use serde_json::{Value, json};

use crate::kernel::error::ModelError;
use crate::kernel::message::{ModelRef, Opaque, Stop, Usage};
use crate::kernel::ports::StreamEvent;

use super::super::assemble::{Assembler, CallPiece, Progress};
use super::super::drive::{Decoder, Out, undecodable};
use super::super::error::{Service, broken, from_body};
use super::super::think::{Piece, ThinkSplit};
use super::chunk::{Choice, Chunk, Delta, is_error, merge_usage};

/// The block that text goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Current {
    None,
    Text(usize),
    Thinking(usize),
    Call,
}

/// The decoder of one completion stream.
#[derive(Debug)]
pub struct Completion {
    service: Service,
    model: ModelRef,
    replay: bool,
    think: ThinkSplit,
    calls: Assembler,
    /// Block of each call, by its place among the calls.
    call_blocks: Vec<usize>,
    /// Blocks whose reasoning must go back, with the field it came in.
    reasoning: Vec<(usize, &'static str)>,
    current: Current,
    next_index: usize,
    usage: Usage,
    stop: Option<Stop>,
    refused: bool,
    completed: usize,
    done: bool,
}

impl Completion {
    /// A decoder for an answer of that model. With `replay` reasoning is marked to be sent back.
    pub fn new(service: Service, model: ModelRef, replay: bool) -> Self {
        Self {
            service,
            model,
            replay,
            think: ThinkSplit::default(),
            calls: Assembler::default(),
            call_blocks: Vec::new(),
            reasoning: Vec::new(),
            current: Current::None,
            next_index: 0,
            usage: Usage::default(),
            stop: None,
            refused: false,
            completed: 0,
            done: false,
        }
    }

    fn take_index(&mut self) -> usize {
        self.next_index += 1;
        self.next_index - 1
    }

    fn chunk(&mut self, chunk: Chunk, data: &str, out: &mut Out) -> Result<(), ModelError> {
        if is_error(chunk.error.as_ref()) {
            return Err(from_body(&self.service, data));
        }
        let Some(choices) = chunk.choices else {
            if chunk.usage.is_none() && is_bare_error(data) {
                return Err(from_body(&self.service, data));
            }
            self.count(chunk.usage.as_ref(), out);
            return Ok(());
        };
        self.count(chunk.usage.as_ref(), out);
        self.count(chunk.x_groq.as_ref().and_then(|groq| groq.get("usage")), out);
        for choice in choices.into_iter().take(1) {
            self.choice(choice, data, out)?;
        }
        Ok(())
    }

    fn choice(&mut self, choice: Choice, data: &str, out: &mut Out) -> Result<(), ModelError> {
        self.count(choice.usage.as_ref(), out);
        if let Some(delta) = choice.delta.or(choice.message) {
            self.delta(delta, out);
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some("error" | "insufficient_system_resource") => {
                return Err(from_body(&self.service, data));
            }
            Some(reason) => self.settle(stop_of(reason), out),
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta, out: &mut Out) {
        let (field, reasoning) = if delta.reasoning_content.text.is_empty() {
            ("reasoning", delta.reasoning.text)
        } else {
            ("reasoning_content", delta.reasoning_content.text)
        };
        self.thinking(reasoning, Some(field), out);
        self.thinking(delta.content.thinking, None, out);
        if !delta.content.text.is_empty() {
            for piece in self.think.push(delta.content.text) {
                self.piece(piece, out);
            }
        }
        if !delta.refusal.text.is_empty() {
            self.refused = true;
            self.text(delta.refusal.text, out);
        }
        for piece in delta.tool_calls.into_iter().flatten().flatten() {
            self.call(piece.into(), out);
        }
    }

    fn piece(&mut self, piece: Piece, out: &mut Out) {
        match piece {
            Piece::Text(text) => self.text(text, out),
            Piece::Thinking(text) => self.thinking(text, None, out),
        }
    }

    fn text(&mut self, text: String, out: &mut Out) {
        if text.is_empty() {
            return;
        }
        let index = match self.current {
            Current::Text(index) => index,
            _ => self.take_index(),
        };
        self.current = Current::Text(index);
        out.push_back(StreamEvent::TextDelta { index, text });
    }

    fn thinking(&mut self, text: String, field: Option<&'static str>, out: &mut Out) {
        if text.is_empty() {
            return;
        }
        let index = if let Current::Thinking(index) = self.current {
            index
        } else {
            let index = self.take_index();
            self.reasoning.extend(field.map(|field| (index, field)));
            index
        };
        self.current = Current::Thinking(index);
        out.push_back(StreamEvent::ThinkingDelta { index, text });
    }

    fn call(&mut self, piece: CallPiece, out: &mut Out) {
        for progress in self.calls.push(piece) {
            match progress {
                Progress::Started { name, .. } => {
                    self.release_text(out);
                    let index = self.take_index();
                    self.call_blocks.push(index);
                    self.current = Current::Call;
                    out.push_back(StreamEvent::CallStart { index, name });
                }
                Progress::Grew { slot, bytes } => {
                    let index = self.call_blocks[slot];
                    out.push_back(StreamEvent::CallDelta { index, bytes });
                }
            }
        }
    }

    /// Text that was held back because it might have become a tag.
    fn release_text(&mut self, out: &mut Out) {
        if let Some(piece) = self.think.finish() {
            self.piece(piece, out);
        }
    }

    /// The answer is complete. Where the reason says that it was cut, a call at the very end is
    /// unfinished.
    fn settle(&mut self, stop: Stop, out: &mut Out) {
        self.release_text(out);
        let cut = matches!(stop, Stop::Length | Stop::ContentFilter | Stop::Refusal);
        let last_call = self.call_blocks.len().checked_sub(1);
        let unfinished = last_call.filter(|_| cut && self.current == Current::Call);
        for (slot, call) in self.calls.take(unfinished) {
            self.completed += 1;
            out.push_back(StreamEvent::CallComplete { index: self.call_blocks[slot], call });
        }
        for (index, field) in std::mem::take(&mut self.reasoning) {
            if self.replay {
                let opaque = Opaque { model: self.model.clone(), data: json!({"field": field}) };
                out.push_back(StreamEvent::Opaque { index, opaque });
            }
        }
        self.stop = Some(stop);
    }

    fn finish(&mut self, out: &mut Out) {
        // Pieces may follow an early finish reason.
        self.settle(self.stop.unwrap_or(Stop::EndTurn), out);
        let stop = match self.stop.unwrap_or_default() {
            Stop::EndTurn if self.refused && self.completed == 0 => Stop::Refusal,
            Stop::EndTurn if self.completed > 0 => Stop::ToolUse,
            Stop::ToolUse if self.completed == 0 => Stop::EndTurn,
            stop => stop,
        };
        out.push_back(StreamEvent::Done(stop));
        self.done = true;
    }

    fn count(&mut self, report: Option<&Value>, out: &mut Out) {
        let Some(report) = report.filter(|report| report.is_object()) else { return };
        merge_usage(&mut self.usage, report);
        out.push_back(StreamEvent::Usage(self.usage));
    }
}

impl Decoder for Completion {
    fn event(&mut self, name: &str, data: &str, out: &mut Out) -> Result<(), ModelError> {
        let mut rest = data.trim();
        if name == "error" {
            return Err(from_body(&self.service, rest));
        }
        // Usually one document; some servers put several into one event.
        while !rest.is_empty() && !self.done {
            if rest.starts_with("[DONE]") {
                self.finish(out);
                break;
            }
            let mut documents = serde_json::Deserializer::from_str(rest).into_iter::<Chunk>();
            match documents.next() {
                Some(Ok(chunk)) => self.chunk(chunk, rest, out)?,
                Some(Err(error)) => return Err(undecodable(&self.service, rest, &error)),
                None => break,
            }
            rest = rest.get(documents.byte_offset()..).unwrap_or_default().trim_start();
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out) -> Result<(), ModelError> {
        if self.done {
            return Ok(());
        }
        if self.stop.is_none() {
            return Err(broken(&self.service, "it ended before it was complete"));
        }
        self.finish(out);
        Ok(())
    }

    fn is_settled(&self) -> bool {
        self.stop.is_some()
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

/// An object without choices that is itself an error.
fn is_bare_error(data: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(data) else { return false };
    let marked = ["object", "type"].iter().any(|key| value[*key] == "error");
    marked || value.get("message").is_some_and(Value::is_string) || value.get("detail").is_some()
}

fn stop_of(reason: &str) -> Stop {
    match reason {
        "tool_calls" | "function_call" | "tool_use" => Stop::ToolUse,
        "length" | "max_tokens" | "model_length" => Stop::Length,
        "content_filter" | "sensitive" => Stop::ContentFilter,
        "refusal" => Stop::Refusal,
        _ => Stop::EndTurn,
    }
}
