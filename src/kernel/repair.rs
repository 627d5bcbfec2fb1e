//! Makes a history sendable: every call has exactly one result, directly after it, and nothing is
//! sent that services refuse. Works on the view to send; the history itself is never changed.
//!
//! Results are looked for in the round of their call, the messages up to the next answer, and never
//! beyond it: some services count their ids from zero in every round.

use std::collections::HashSet;
use std::hash::BuildHasher;

use super::message::{
    AssistantMessage, Block, CallId, CallStatus, Message, MessageId, Stop, ToolCall, ToolMessage,
};
use super::stream::unused;

/// The answer to a call of which only the start is known.
pub const OUTCOME_UNKNOWN: &str =
    "Error: interrupted, outcome unknown; inspect the state before trying again";

/// The answer to a call that was never started.
pub const NOT_EXECUTED: &str = "Error: not executed: the session ended before it started";

/// What stands for an empty result, because services refuse blank ones.
pub const NO_OUTPUT: &str = "(no output)";

/// The messages to send for this view.
#[must_use]
pub fn repair(view: Vec<Message>) -> Vec<Message> {
    let mut out = Vec::with_capacity(view.len());
    let mut round = Round::default();
    for message in view {
        match message {
            Message::Note(_) => {}
            Message::User(mut user) => {
                user.blocks.retain(|block| !is_blank(block));
                if !user.blocks.is_empty() {
                    round.others.push(Message::User(user));
                }
            }
            Message::Tool(result) => round.results.push(Some(result)),
            Message::Assistant(answer) => {
                if is_visible(&answer) {
                    round.close(&mut out);
                    round.open(answer);
                }
            }
        }
    }
    round.close(&mut out);
    out
}

/// Whether an answer has text or calls; one without is neither committed nor sent.
pub fn says_something(answer: &AssistantMessage) -> bool {
    answer.blocks.iter().any(|block| match block {
        Block::Text { text } => !text.trim().is_empty(),
        Block::Call(_) | Block::Image { .. } => true,
        Block::Thinking { .. } | Block::Opaque(_) => false,
    })
}

/// Whether the history ends with something that the model has not answered.
pub fn awaits_answer(history: &[Message]) -> bool {
    for message in history.iter().rev() {
        match message {
            Message::User(_) | Message::Tool(_) => return true,
            Message::Assistant(answer) if is_visible(answer) => {
                return answer.calls().next().is_some();
            }
            Message::Assistant(_) | Message::Note(_) => {}
        }
    }
    false
}

/// The results that are missing after the last answer of a history that was read back, for calls
/// that will never report any more. `intents` are the calls of which an intent was found. The
/// caller appends them, in this order, before anything else.
pub fn close_interrupted<S: BuildHasher>(
    history: &[Message],
    intents: &HashSet<CallId, S>,
) -> Vec<ToolMessage> {
    let last = history.iter().rposition(|message| matches!(message, Message::Assistant(_)));
    let Some(at) = last else { return Vec::new() };
    let Message::Assistant(answer) = &history[at] else { return Vec::new() };
    let answered: HashSet<&CallId> = history[at..]
        .iter()
        .filter_map(|message| match message {
            Message::Tool(result) => Some(&result.call_id),
            _ => None,
        })
        .collect();
    answer
        .calls()
        .filter(|call| !answered.contains(&call.id))
        .map(|call| {
            let text = if intents.contains(&call.id) { OUTCOME_UNKNOWN } else { NOT_EXECUTED };
            let mut result = missing(answer, call, text);
            result.at = history.last().map_or(result.at, Message::at);
            result
        })
        .collect()
}

/// What to tell model and user of a call whose intent was found but whose answer was never
/// committed. It goes in as a notice: a call must not be made up.
pub fn interrupted_notice(call: &ToolCall) -> String {
    let args = serde_json::to_string(&call.args).unwrap_or_default();
    format!(
        "Interrupted: {} {args} was started, outcome unknown; inspect the state before trying again.",
        call.name
    )
}

/// Answers that failed, or that say nothing, are kept out of requests. A partial one with calls
/// stays: it was kept because something had already happened.
fn is_visible(answer: &AssistantMessage) -> bool {
    let partial = matches!(answer.stop, Stop::Error | Stop::Aborted);
    says_something(answer) && (!partial || answer.calls().next().is_some())
}

fn is_blank(block: &Block) -> bool {
    matches!(block, Block::Text { text } if text.trim().is_empty())
}

/// An answer and what follows it up to the next one.
#[derive(Default)]
struct Round {
    answer: Option<AssistantMessage>,
    results: Vec<Option<ToolMessage>>,
    others: Vec<Message>,
}

impl Round {
    fn open(&mut self, mut answer: AssistantMessage) {
        answer.blocks.retain(|block| !is_blank(block));
        self.answer = Some(answer);
    }

    /// Writes the round: answer, one result for each call, the rest. Results without a call and
    /// second results of one call are left out.
    fn close(&mut self, out: &mut Vec<Message>) {
        if let Some(mut answer) = self.answer.take() {
            let results = self.pair(&mut answer);
            out.push(Message::Assistant(answer));
            out.extend(results.into_iter().map(Message::Tool));
        }
        self.results.clear();
        out.append(&mut self.others);
    }

    fn pair(&mut self, answer: &mut AssistantMessage) -> Vec<ToolMessage> {
        let mut used: HashSet<CallId> = HashSet::new();
        let mut paired = Vec::new();
        let mut gaps: Vec<(usize, ToolCall)> = Vec::new();
        for block in &mut answer.blocks {
            let Block::Call(call) = block else { continue };
            let found = self
                .results
                .iter_mut()
                .find(|slot| slot.as_ref().is_some_and(|result| result.call_id == call.id))
                .and_then(Option::take);
            if used.contains(&call.id) {
                call.id = unused(&call.id, |id| used.contains(id));
            }
            used.insert(call.id.clone());
            match found {
                Some(mut result) => {
                    result.call_id = call.id.clone();
                    fill(&mut result);
                    paired.push(result);
                }
                None => gaps.push((paired.len() + gaps.len(), call.clone())),
            }
        }
        for (at, call) in gaps {
            paired.insert(at, missing(answer, &call, OUTCOME_UNKNOWN));
        }
        paired
    }
}

/// A result must say something.
fn fill(result: &mut ToolMessage) {
    result.blocks.retain(|block| !is_blank(block));
    if result.blocks.is_empty() {
        result.blocks.push(Block::text(NO_OUTPUT));
    }
}

/// A result for a call that has none. The same call gives the same result every time, so that a
/// cached prefix stays valid.
fn missing(answer: &AssistantMessage, call: &ToolCall, text: &str) -> ToolMessage {
    ToolMessage {
        id: MessageId(format!("{}-{}", answer.id, call.id)),
        at: answer.at,
        call_id: call.id.clone(),
        tool: call.name.clone(),
        status: CallStatus::Error,
        blocks: vec![Block::text(text)],
        detail: None,
        cached: false,
    }
}
