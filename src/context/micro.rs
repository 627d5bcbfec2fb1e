//! The cheapest step: old results of tools become one line that says what was there. Pure: chooses
//! among the messages of a view and makes the lines.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::estimate;
use crate::kernel::message::{Block, Message, MessageId, ToolCall, ToolMessage};

/// How every stub begins.
const STUB: &str = "[cleared: ";
/// Tokens of a stub at most, about; a result with fewer is not worth clearing.
const STUB_TOKENS: u64 = 70;
/// Longest mention of a call's arguments, in characters.
const LABEL: usize = 120;

/// What is never cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// So many of the newest results.
    pub newest: usize,
    /// The newest result of so many of the newest distinct calls.
    pub distinct: usize,
}

impl Default for Keep {
    fn default() -> Self {
        Self { newest: 3, distinct: 5 }
    }
}

/// A result in a view.
struct Found<'a> {
    result: &'a ToolMessage,
    signature: String,
    /// The model has not seen it yet.
    fresh: bool,
}

/// The results of a view that may go: older ones than `keep` says, and all but the newest of equal
/// calls. Results that the model has not answered yet stay.
pub fn clearable(view: &[Arc<Message>], keep: Keep) -> Vec<MessageId> {
    let found = results(view);
    let mut seen: HashSet<&str> = HashSet::new();
    let mut gone = Vec::new();
    for (age, one) in found.iter().rev().enumerate() {
        let newest = seen.insert(one.signature.as_str());
        let kept = newest && (age < keep.newest || seen.len() <= keep.distinct);
        if !kept && !one.fresh && saves(one.result) {
            gone.push(one.result.id.clone());
        }
    }
    gone.reverse();
    gone
}

/// Results that must go in addition, largest first, until all results together have at most `cap`
/// tokens. The newest three stay.
pub fn over_cap(view: &[Arc<Message>], gone: &[MessageId], cap: u64) -> Vec<MessageId> {
    let found = results(view);
    let gone: HashSet<&MessageId> = gone.iter().collect();
    let size = |one: &Found<'_>| estimate::blocks(&one.result.blocks);
    let mut left: Vec<(u64, &Found<'_>)> = found
        .iter()
        .filter(|one| !gone.contains(&one.result.id))
        .map(|one| (size(one), one))
        .collect();
    let mut total: u64 = left.iter().map(|(size, _)| size).sum();
    left.truncate(left.len().saturating_sub(Keep::default().newest));
    // Stable: of equal ones the older goes first.
    left.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let mut more = Vec::new();
    for (size, one) in left {
        if total <= cap {
            break;
        }
        if !one.fresh && saves(one.result) {
            total -= size;
            more.push(one.result.id.clone());
        }
    }
    more
}

fn results(view: &[Arc<Message>]) -> Vec<Found<'_>> {
    let last = view.iter().rposition(|message| matches!(**message, Message::Assistant(_)));
    let mut calls: BTreeMap<&str, String> = BTreeMap::new();
    let mut found = Vec::new();
    for (at, message) in view.iter().enumerate() {
        match &**message {
            Message::Assistant(answer) => {
                calls = answer.calls().map(|call| (call.id.as_str(), signature(call))).collect();
            }
            Message::Tool(result) => found.push(Found {
                result,
                // Without its call a result is like no other.
                signature: calls
                    .get(result.call_id.as_str())
                    .cloned()
                    .unwrap_or_else(|| result.id.to_string()),
                fresh: last.is_none_or(|last| at > last),
            }),
            Message::User(_) | Message::Note(_) => {}
        }
    }
    found
}

/// Equal for calls that ask the same, whatever the order of their arguments.
fn signature(call: &ToolCall) -> String {
    let sorted: BTreeMap<&String, &Value> = call.args.iter().collect();
    format!("{}|{}", call.name, serde_json::to_string(&sorted).unwrap_or_default())
}

fn saves(result: &ToolMessage) -> bool {
    !is_stub(result) && estimate::blocks(&result.blocks) > STUB_TOKENS
}

/// Whether a result was cleared.
pub fn is_stub(result: &ToolMessage) -> bool {
    matches!(result.blocks.as_slice(), [Block::Text { text }] if text.starts_with(STUB))
}

/// The result as one line. `call` is how the call is named, see [`label`].
pub fn stub(result: &ToolMessage, call: &str) -> Message {
    let chars = |block: &Block| match block {
        Block::Text { text } => text.chars().count(),
        _ => 0,
    };
    let chars: usize = result.blocks.iter().map(chars).sum();
    let line = format!("{STUB}{call}, {chars} characters; call it again if you need them]");
    // Field by field: what is left out here is what is large.
    Message::Tool(ToolMessage {
        id: result.id.clone(),
        at: result.at,
        call_id: result.call_id.clone(),
        tool: result.tool.clone(),
        status: result.status,
        blocks: vec![Block::text(line)],
        detail: None,
        cached: result.cached,
    })
}

/// A call in a few words: its name and its main argument.
pub fn label(call: &ToolCall) -> String {
    let main = ["path", "file_path", "command", "pattern", "url", "query"];
    let said = main.iter().find_map(|name| call.args.get(*name)?.as_str());
    let Some(said) = said.or_else(|| call.args.values().find_map(Value::as_str)) else {
        return call.name.clone();
    };
    let line: String =
        said.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LABEL).collect();
    format!("{} {}", call.name, line.trim())
}
