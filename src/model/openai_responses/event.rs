//! The events of a response as they stand in the stream, read loosely. Not here: what they mean.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

/// Text that is taken from the event without a copy where possible.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Word<'a>(
    /// The text.
    #[serde(borrow)]
    pub Cow<'a, str>,
);

/// An event. Numbers stay loose values: servers write them in several ways, and only their being
/// there matters.
#[derive(Debug, Deserialize)]
pub struct Wire<'a> {
    /// What happened.
    #[serde(borrow, default, rename = "type")]
    pub kind: Cow<'a, str>,
    /// Counts the events.
    #[serde(default)]
    pub sequence_number: Value,
    /// Place of the item.
    #[serde(default)]
    pub output_index: Value,
    /// Id of the item.
    #[serde(borrow)]
    pub item_id: Option<Word<'a>>,
    /// Number of the part of a message.
    #[serde(default)]
    pub content_index: Value,
    /// Number of the part of a summary.
    #[serde(default)]
    pub summary_index: Value,
    /// A piece of text.
    pub delta: Option<String>,
    /// A whole text.
    pub text: Option<String>,
    /// A whole refusal.
    pub refusal: Option<String>,
    /// Whole arguments, mostly as text.
    pub arguments: Option<Value>,
    /// The item that begins or ends.
    pub item: Option<Value>,
    /// The whole response, at its end.
    pub response: Option<Value>,
    /// What went wrong.
    pub error: Option<Value>,
    /// What a document is that is no event.
    #[serde(borrow)]
    pub object: Option<Word<'a>>,
}

/// What comes with a change of a part.
#[derive(Debug)]
pub enum Piece {
    /// A piece.
    More(String),
    /// The whole.
    Whole(String),
}

/// Tells an event that was sent twice by its number, once the numbers have been seen to rise.
#[derive(Debug, Default)]
pub struct Numbering {
    last: Option<u64>,
    rises: bool,
    kind: String,
}

impl Numbering {
    /// Whether this event is the last one once more.
    pub fn is_repeat(&mut self, number: Option<u64>, kind: &str) -> bool {
        let Some(number) = number else { return false };
        let repeated = self.rises && self.last == Some(number) && self.kind == kind;
        self.rises |= self.last.is_some_and(|last| number > last);
        self.last = Some(number);
        if self.kind != kind {
            kind.clone_into(&mut self.kind);
        }
        repeated
    }
}

/// Events whose fields may look like anything: those of kinds that are passed over.
pub fn is_foreign(text: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return false };
    let Some(kind) = value.get("type").and_then(Value::as_str) else { return false };
    let ours = ["output_text", "refusal", "reasoning", "function_call", "output_item"];
    let ends = ["completed", "incomplete", "failed", "cancelled", "done"];
    let tail = kind.strip_prefix("response.").unwrap_or_default();
    let head = tail.split('.').next().unwrap_or_default();
    !ours.iter().any(|ours| head.starts_with(ours)) && !ends.contains(&tail) && kind != "error"
}

/// The entries of a list; none when there is no such list.
pub fn list<'a>(document: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    document.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Arguments as text, whatever they came as.
pub fn raw(arguments: Option<&Value>) -> String {
    match arguments {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
