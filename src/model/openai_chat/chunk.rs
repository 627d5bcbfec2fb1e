//! The shapes of a chat completion chunk, as loosely as services write them: text may be text, a
//! list of parts or null; arguments may be text or an object; numbers may be missing.

use std::fmt;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::super::assemble::CallPiece;
use crate::kernel::message::Usage;

/// One event.
#[derive(Debug, Default, Deserialize)]
pub struct Chunk {
    /// Usually one choice; none in usage reports.
    pub choices: Option<Vec<Choice>>,
    /// Token counts so far.
    pub usage: Option<Value>,
    /// Where one provider puts its token counts.
    pub x_groq: Option<Value>,
    /// An error inside a stream.
    pub error: Option<Value>,
}

/// One choice.
#[derive(Debug, Default, Deserialize)]
pub struct Choice {
    /// What was added.
    pub delta: Option<Delta>,
    /// The whole answer, when the service did not stream.
    pub message: Option<Delta>,
    /// Why the answer ended.
    pub finish_reason: Option<String>,
    /// Token counts, where one provider puts them.
    pub usage: Option<Value>,
}

/// Added text and calls.
#[derive(Debug, Default, Deserialize)]
pub struct Delta {
    /// Answer text.
    #[serde(default)]
    pub content: Text,
    /// Reasoning, under its most common name.
    #[serde(default)]
    pub reasoning_content: Text,
    /// Reasoning, under its other name.
    #[serde(default)]
    pub reasoning: Text,
    /// Why the model declines.
    #[serde(default)]
    pub refusal: Text,
    /// Pieces of calls.
    pub tool_calls: Option<Vec<Option<ToolPiece>>>,
}

/// A piece of a call.
#[derive(Debug, Default, Deserialize)]
pub struct ToolPiece {
    index: Option<Value>,
    id: Option<Value>,
    function: Option<FunctionPiece>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionPiece {
    name: Option<Value>,
    arguments: Option<Value>,
}

impl From<ToolPiece> for CallPiece {
    fn from(piece: ToolPiece) -> Self {
        let function = piece.function.unwrap_or_default();
        let arguments = match function.arguments {
            Some(Value::String(text)) => text,
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        };
        let index = piece.index.and_then(|index| match index {
            Value::String(text) => text.parse().ok(),
            other => other.as_u64(),
        });
        Self { index, id: piece.id.and_then(word), name: function.name.and_then(word), arguments }
    }
}

fn word(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Text in any of its shapes. Parts of reasoning inside a list are kept apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Plain text.
    pub text: String,
    /// Text of reasoning parts.
    pub thinking: String,
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a list of parts or null")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text { text: text.to_owned(), thinking: String::new() })
    }

    fn visit_string<E>(self, text: String) -> Result<Text, E> {
        Ok(Text { text, thinking: String::new() })
    }

    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text, A::Error> {
        let mut out = Text::default();
        while let Some(part) = seq.next_element::<Value>()? {
            let is_thinking = part["type"] == "thinking";
            let target = if is_thinking { &mut out.thinking } else { &mut out.text };
            collect(&part, target);
        }
        Ok(out)
    }
}

fn collect(part: &Value, out: &mut String) {
    match part {
        Value::String(text) => out.push_str(text),
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, out)),
        Value::Object(fields) => {
            for key in ["text", "thinking"] {
                if let Some(inner) = fields.get(key) {
                    collect(inner, out);
                }
            }
        }
        _ => {}
    }
}

/// Whether an error field really holds an error.
pub fn is_error(error: Option<&Value>) -> bool {
    !matches!(error, None | Some(Value::Null | Value::Bool(false)))
        && error.and_then(Value::as_str) != Some("")
}

/// Token counts of a report, merged over earlier ones: the input includes what came from the
/// cache and is split here; a field that is missing keeps its last value.
pub fn merge_usage(usage: &mut Usage, report: &Value) {
    let at =
        |paths: &[&str]| paths.iter().find_map(|path| report.pointer(path)).and_then(Value::as_u64);
    let read =
        at(&["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"]);
    let write = at(&["/prompt_tokens_details/cache_write_tokens"]);
    usage.cache_read = read.unwrap_or(usage.cache_read);
    usage.cache_write = write.unwrap_or(usage.cache_write);
    if let Some(all) = at(&["/prompt_tokens"]) {
        usage.input = all.saturating_sub(usage.cache_read + usage.cache_write);
    }
    usage.output = at(&["/completion_tokens"]).unwrap_or(usage.output);
}
