//! Makes a history sendable: every call has exactly one result, directly after it, and nothing is
//! sent that services refuse. Works on the view to send; the history itself is never changed.
//!
//! Results are looked for in the round of their call, the messages up to the next answer, and never
//! beyond it: some services count their ids from zero in every round.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::sync::Arc;

use super::message::{
    AssistantMessage, Block, CallId, CallStatus, Message, MessageId, Stop, ToolCall, ToolMessage,
};
use super::stream::unused;

/// The answer to a call of which only the start is known.
pub const OUTCOME_UNKNOWN: &str =
    "interrupted, outcome unknown; inspect the state before trying again";

/// What stands for an empty result, because services refuse blank ones.
pub const NO_OUTPUT: &str = "(no output)";

/// The messages to send for this view. What needs no change is passed on as it is, not copied.
#[must_use]
pub fn repair<M: Into<Arc<Message>>>(view: Vec<M>) -> Vec<Arc<Message>> {
    let mut out = Vec::with_capacity(view.len());
    let mut round = Round::default();
    for message in view {
        let message = message.into();
        match &*message {
            Message::Note(_) => {}
            Message::User(user) => {
                if !user.blocks.iter().all(is_blank) {
                    round.others.push(without_blanks(message));
                }
            }
            Message::Tool(_) => round.results.push(Some(message)),
            Message::Assistant(answer) => {
                if is_visible(answer) {
                    round.close(&mut out);
                    round.answer = Some(without_blanks(message));
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
pub fn awaits_answer<M: Borrow<Message>>(history: &[M]) -> bool {
    for message in history.iter().rev() {
        match message.borrow() {
            Message::User(_) | Message::Tool(_) => return true,
            Message::Assistant(answer) if is_visible(answer) => {
                return answer.calls().next().is_some();
            }
            Message::Assistant(_) | Message::Note(_) => {}
        }
    }
    false
}

/// Whether the history ends with an answer of the model.
pub fn is_answered<M: Borrow<Message>>(history: &[M]) -> bool {
    let is_visible = |message: &M| !matches!(message.borrow(), Message::Note(_));
    history.iter().any(is_visible) && !awaits_answer(history)
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

/// The message with its blank texts left out.
fn without_blanks(mut message: Arc<Message>) -> Arc<Message> {
    let blocks = match &*message {
        Message::User(m) => &m.blocks,
        Message::Assistant(m) => &m.blocks,
        Message::Tool(m) => &m.blocks,
        Message::Note(_) => return message,
    };
    if blocks.iter().any(is_blank) {
        match Arc::make_mut(&mut message) {
            Message::User(m) => m.blocks.retain(|block| !is_blank(block)),
            Message::Assistant(m) => m.blocks.retain(|block| !is_blank(block)),
            Message::Tool(m) => m.blocks.retain(|block| !is_blank(block)),
            Message::Note(_) => {}
        }
    }
    message
}

/// An answer and what follows it up to the next one.
#[derive(Default)]
struct Round {
    answer: Option<Arc<Message>>,
    results: Vec<Option<Arc<Message>>>,
    others: Vec<Arc<Message>>,
}

impl Round {
    /// Writes the round: answer, one result for each call, the rest. Results without a call and
    /// second results of one call are left out.
    fn close(&mut self, out: &mut Vec<Arc<Message>>) {
        if let Some(mut message) = self.answer.take() {
            let ids = distinct_ids(&mut message);
            out.push(Arc::clone(&message));
            if let Message::Assistant(answer) = &*message {
                for (call, asked) in answer.calls().zip(&ids) {
                    let result = self
                        .take_result(asked, &call.id)
                        .unwrap_or_else(|| Arc::new(Message::Tool(missing(answer, call))));
                    out.push(result);
                }
            }
        }
        self.results.clear();
        out.append(&mut self.others);
    }

    /// The first result for the call that was asked for as `asked` and is sent as `id`.
    fn take_result(&mut self, asked: &CallId, id: &CallId) -> Option<Arc<Message>> {
        let answers =
            |message: &Message| matches!(message, Message::Tool(m) if &m.call_id == asked);
        let slot = self.results.iter_mut().find(|slot| slot.as_deref().is_some_and(answers))?;
        let mut message = without_blanks(slot.take()?);
        let Message::Tool(result) = &*message else { return None };
        if result.blocks.is_empty() || &result.call_id != id {
            let Message::Tool(result) = Arc::make_mut(&mut message) else { return None };
            result.call_id = id.clone();
            if result.blocks.is_empty() {
                // A result must say something.
                result.blocks.push(Block::text(NO_OUTPUT));
            }
        }
        Some(message)
    }
}

/// Makes the ids of an answer's calls distinct; gives back the ids as they were.
fn distinct_ids(message: &mut Arc<Message>) -> Vec<CallId> {
    let Message::Assistant(answer) = &**message else { return Vec::new() };
    let ids: Vec<CallId> = answer.calls().map(|call| call.id.clone()).collect();
    let mut used: HashSet<CallId> = HashSet::new();
    if ids.iter().all(|id| used.insert(id.clone())) {
        return ids;
    }
    used.clear();
    if let Message::Assistant(answer) = Arc::make_mut(message) {
        for block in &mut answer.blocks {
            let Block::Call(call) = block else { continue };
            if used.contains(&call.id) {
                call.id = unused(&call.id, |id| used.contains(id));
            }
            used.insert(call.id.clone());
        }
    }
    ids
}

/// A result for a call that has none. The same call gives the same result every time, so that a
/// cached prefix stays valid.
fn missing(answer: &AssistantMessage, call: &ToolCall) -> ToolMessage {
    ToolMessage {
        id: MessageId(format!("{}-{}", answer.id, call.id)),
        at: answer.at,
        call_id: call.id.clone(),
        tool: call.name.clone(),
        status: CallStatus::Error,
        blocks: vec![Block::text(OUTCOME_UNKNOWN)],
        detail: None,
        cached: false,
    }
}
