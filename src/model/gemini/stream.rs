//! Reads the chunks of a generateContent stream. A chunk holds whole parts; texts grow from chunk
//! to chunk, calls come in one piece. There is no end mark: the answer is over when a finish reason
//! was given and the bytes end.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::kernel::error::{ModelError, ModelErrorKind as Kind};
use crate::kernel::message::{CallId, ModelRef, Opaque, Stop, ToolCall, Usage};
use crate::kernel::ports::StreamEvent;

use super::super::args::finish_call;
use super::super::drive::{Decoder, Out, undecodable};
use super::super::error::{Service, broken, cap, from_body};
use super::super::wire_ids;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Chunk {
    candidates: Vec<Candidate>,
    usage_metadata: Option<Value>,
    prompt_feedback: Option<Value>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Candidate {
    index: Option<u64>,
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Part {
    text: Option<String>,
    thought: Option<bool>,
    thought_signature: Option<String>,
    function_call: Option<Value>,
}

/// The text block that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Text(usize),
    Thought(usize),
}

/// The decoder of one stream.
#[derive(Debug)]
pub struct Generation {
    service: Service,
    model: ModelRef,
    open: Option<Open>,
    /// A finished call that waits for what follows, with its block.
    held: Option<(usize, ToolCall)>,
    next_index: usize,
    used_ids: Vec<String>,
    calls: usize,
    usage: Usage,
    stop: Option<Stop>,
    done: bool,
}

impl Generation {
    /// A decoder for an answer of that model.
    pub fn new(service: Service, model: ModelRef) -> Self {
        Self {
            service,
            model,
            open: None,
            held: None,
            next_index: 0,
            used_ids: Vec::new(),
            calls: 0,
            usage: Usage::default(),
            stop: None,
            done: false,
        }
    }

    fn take_index(&mut self) -> usize {
        self.next_index += 1;
        self.next_index - 1
    }

    fn chunk(&mut self, chunk: Chunk, raw: &str, out: &mut Out) -> Result<(), ModelError> {
        if chunk.error.as_ref().is_some_and(|error| !error.is_null()) {
            return Err(from_body(&self.service, raw));
        }
        self.count(chunk.usage_metadata.as_ref(), out);
        if chunk.candidates.is_empty()
            && let Some(reason) = blocked(chunk.prompt_feedback.as_ref())
        {
            return Err(self.refused(&reason));
        }
        for candidate in chunk.candidates {
            if candidate.index.is_none_or(|index| index == 0) {
                self.candidate(candidate, out)?;
            }
        }
        Ok(())
    }

    fn candidate(&mut self, candidate: Candidate, out: &mut Out) -> Result<(), ModelError> {
        let parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
        for part in parts {
            self.part(part, out);
        }
        if let Some(reason) = candidate.finish_reason.filter(|reason| !reason.is_empty()) {
            let stop = self.stop_of(&reason, candidate.finish_message.as_deref())?;
            self.settle(stop, out);
        }
        Ok(())
    }

    fn part(&mut self, part: Part, out: &mut Out) {
        let signature = part.thought_signature.filter(|signature| !signature.is_empty());
        if let Some(call) = part.function_call {
            self.call(&call, signature, out);
        } else if let Some(text) = part.text {
            if !text.is_empty() || signature.is_some() {
                self.release(out);
                self.text(text, part.thought == Some(true), signature, out);
            }
        } else {
            tracing::debug!("part of an unknown kind skipped");
        }
    }

    /// The call is held until the next part or the finish reason shows that it was not cut.
    fn call(&mut self, call: &Value, signature: Option<String>, out: &mut Out) {
        self.release(out);
        self.open = None;
        let index = self.take_index();
        let word = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default();
        let raw = match call.get("args") {
            None | Some(Value::Null) => String::new(),
            Some(args) => args.to_string(),
        };
        let given = Some(word("id").to_owned()).filter(|id| !id.is_empty());
        out.push_back(StreamEvent::CallStart { index, name: word("name").to_owned() });
        out.push_back(StreamEvent::CallDelta { index, bytes: raw.len() });
        let id = wire_ids::distinct(given.clone(), index, &mut self.used_ids);
        let mut finished = finish_call(CallId(id), word("name").to_owned(), &raw);
        let mut data = serde_json::Map::new();
        if let Some(given) = given {
            data.insert("id".into(), json!(given));
        }
        if let Some(signature) = signature {
            data.insert("thoughtSignature".into(), json!(signature));
        }
        if !data.is_empty() {
            let data = Value::Object(data);
            finished.opaque = Some(Opaque { model: self.model.clone(), data });
        }
        self.held = Some((index, finished));
    }

    /// Text of one kind stays one block. A signature closes the block: it belongs to this part.
    fn text(&mut self, text: String, thought: bool, signature: Option<String>, out: &mut Out) {
        let covers = text.len();
        if !text.is_empty() {
            let index = match (self.open, thought) {
                (Some(Open::Text(index)), false) | (Some(Open::Thought(index)), true) => index,
                _ => self.take_index(),
            };
            self.open = Some(if thought { Open::Thought(index) } else { Open::Text(index) });
            out.push_back(if thought {
                StreamEvent::ThinkingDelta { index, text }
            } else {
                StreamEvent::TextDelta { index, text }
            });
        }
        let Some(signature) = signature else { return };
        let (index, data) = match self.open.take() {
            Some(Open::Thought(index)) if thought => {
                (index, json!({"thoughtSignature": signature}))
            }
            _ => {
                let mut data = json!({"thoughtSignature": signature, "covers": covers});
                if thought {
                    data["thought"] = json!(true);
                }
                (self.take_index(), data)
            }
        };
        let opaque = Opaque { model: self.model.clone(), data };
        out.push_back(StreamEvent::Opaque { index, opaque });
    }

    fn release(&mut self, out: &mut Out) {
        if let Some((index, call)) = self.held.take() {
            self.calls += 1;
            out.push_back(StreamEvent::CallComplete { index, call });
        }
    }

    /// Where the reason says that the answer was cut, a call at its end is unfinished.
    fn settle(&mut self, stop: Stop, out: &mut Out) {
        if matches!(stop, Stop::Length | Stop::ContentFilter) {
            self.held = None;
        }
        self.release(out);
        self.stop = Some(stop);
    }

    fn stop_of(&self, reason: &str, said: Option<&str>) -> Result<Stop, ModelError> {
        Ok(match reason {
            "STOP" | "FINISH_REASON_UNSPECIFIED" => Stop::EndTurn,
            "MAX_TOKENS" => Stop::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => Stop::ContentFilter,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
                return Err(broken(&self.service, "the model wrote a call that can't be read"));
            }
            "MISSING_THOUGHT_SIGNATURE" | "TOO_MANY_TOOL_CALLS" => {
                let who = &self.service.provider;
                let line = format!("{who} stopped: {}", said.unwrap_or(reason));
                return Err(ModelError::new(Kind::InvalidRequest, cap(&line)));
            }
            other => {
                let words = said.unwrap_or(other);
                return Err(broken(&self.service, &format!("it stopped with {other}: {words}")));
            }
        })
    }

    fn refused(&self, reason: &str) -> ModelError {
        let who = &self.service.provider;
        let line = format!("the content filter of {who} refused the request: {reason}");
        ModelError::new(Kind::ContentFilter, cap(&line))
    }

    /// The prompt's count includes the cached part; thoughts are counted beside the answer.
    fn count(&mut self, usage: Option<&Value>, out: &mut Out) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let get = |key: &str| usage.get(key).and_then(Value::as_u64);
        let cached = get("cachedContentTokenCount").unwrap_or(self.usage.cache_read);
        if let Some(prompt) = get("promptTokenCount") {
            let tools = get("toolUsePromptTokenCount").unwrap_or(0);
            self.usage.cache_read = cached.min(prompt);
            self.usage.input = prompt.saturating_sub(cached) + tools;
        }
        let written = (get("candidatesTokenCount"), get("thoughtsTokenCount"));
        if let (Some(_), _) | (_, Some(_)) = written {
            self.usage.output = written.0.unwrap_or(0) + written.1.unwrap_or(0);
        }
        out.push_back(StreamEvent::Usage(self.usage));
    }

    /// A proxy that ignores the wish to stream sends one document or a list of chunks.
    fn document(&mut self, document: Value, out: &mut Out) -> Result<(), ModelError> {
        let raw = document.to_string();
        match document {
            Value::Array(chunks) => {
                chunks.into_iter().try_for_each(|chunk| self.document(chunk, out))
            }
            document => match serde_json::from_value::<Chunk>(document) {
                Ok(chunk) => self.chunk(chunk, &raw, out),
                Err(error) => Err(undecodable(&self.service, &raw, &error)),
            },
        }
    }
}

impl Decoder for Generation {
    fn event(&mut self, name: &str, data: &str, out: &mut Out) -> Result<(), ModelError> {
        let text = data.trim();
        if text.is_empty() || text == "[DONE]" {
            return Ok(());
        }
        if name == "error" {
            return Err(from_body(&self.service, text));
        }
        if text.starts_with('[') {
            return match serde_json::from_str(text) {
                Ok(document) => self.document(document, out),
                Err(error) => Err(undecodable(&self.service, text, &error)),
            };
        }
        for document in serde_json::Deserializer::from_str(text).into_iter::<Chunk>() {
            match document {
                Ok(chunk) => self.chunk(chunk, text, out)?,
                Err(error) => return Err(undecodable(&self.service, text, &error)),
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out) -> Result<(), ModelError> {
        if self.done {
            return Ok(());
        }
        let stop = match self.stop {
            None => return Err(broken(&self.service, "it ended before it was complete")),
            Some(Stop::EndTurn) if self.calls > 0 => Stop::ToolUse,
            Some(stop) => stop,
        };
        self.release(out);
        out.push_back(StreamEvent::Done(stop));
        self.done = true;
        Ok(())
    }

    fn is_settled(&self) -> bool {
        self.stop.is_some()
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

/// Why the request itself was refused.
fn blocked(feedback: Option<&Value>) -> Option<String> {
    let feedback = feedback?;
    let reason = feedback.get("blockReason")?.as_str()?;
    let said = feedback.get("blockReasonMessage").and_then(Value::as_str);
    Some(said.map_or_else(|| reason.to_owned(), |said| format!("{reason}: {said}")))
}
