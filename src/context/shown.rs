//! The view of a history under a baseline, kept from one request to the next: only new messages are
//! looked at. A view is thrown away when the baseline changes or the history is another one.

use std::collections::HashMap;
use std::sync::Arc;

use super::baseline::Baseline;
use super::tell::Told;
use super::{estimate, micro};
use crate::kernel::message::{CallId, Message};

/// A view and the tokens of its messages.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The messages: first those of a summary, then one for each message of the history.
    pub messages: Vec<Arc<Message>>,
    /// Tokens of each, as estimated.
    pub tokens: Vec<u64>,
    /// Their sum.
    pub total: u64,
    /// The part of it that results of tools have, cleared ones aside.
    pub results: u64,
    /// Messages that stand for the beginning of the history.
    pub head: usize,
    /// What was followed.
    pub base: Baseline,
    /// How much of the history was taken in, and its last message.
    taken: usize,
    last: Option<Arc<Message>>,
    calls: HashMap<CallId, String>,
}

impl Shown {
    /// The view of `history`.
    pub fn of(base: Baseline, history: &[Arc<Message>], cap: u64, told: &Told) -> Self {
        let mut shown = Self { taken: base.start, base, ..Self::default() };
        for message in shown.base.head(history) {
            shown.push(message);
        }
        shown.head = shown.messages.len();
        shown.extend(history, cap, told);
        shown
    }

    /// Whether `history` is the one this was made of, or that one with more at its end.
    pub fn fits(&self, history: &[Arc<Message>]) -> bool {
        let same = |last: &Arc<Message>| {
            self.taken
                .checked_sub(1)
                .and_then(|at| history.get(at))
                .is_some_and(|message| Arc::ptr_eq(message, last))
        };
        // A summary followed by nothing does not know yet whether an answer to it is needed.
        let settled = self.head == 0 || self.messages.len() > self.head;
        settled && self.last.as_ref().is_none_or(same)
    }

    /// Whether `history` has more than was taken in.
    pub fn is_behind(&self, history: &[Arc<Message>]) -> bool {
        history.len() > self.taken
    }

    /// Takes in what is new at the end of `history`.
    pub fn extend(&mut self, history: &[Arc<Message>], cap: u64, told: &Told) {
        for message in history.get(self.taken..).unwrap_or_default() {
            if let Message::Assistant(answer) = &**message {
                for call in answer.calls() {
                    self.calls.insert(call.id.clone(), micro::label(call));
                }
            }
            let shown = self.base.show(message, &self.calls, cap);
            // A text that was cut has made its point: what it brought along goes first.
            self.push(if self.base.is_shortened(message) { shown } else { told.put(shown) });
            self.last = Some(Arc::clone(message));
        }
        self.taken = self.taken.max(history.len());
    }

    /// The index in the history of a message of the view.
    pub fn place(&self, at: usize) -> usize {
        self.base.start + at.saturating_sub(self.head)
    }

    /// The first message of the view that came after the newest change.
    pub fn seen(&self) -> usize {
        self.head + self.base.seen.saturating_sub(self.base.start)
    }

    fn push(&mut self, message: Arc<Message>) {
        let tokens = estimate::message(&message);
        self.total += tokens;
        if let Message::Tool(result) = &*message
            && !micro::is_stub(result)
        {
            self.results += tokens;
        }
        self.tokens.push(tokens);
        self.messages.push(message);
    }
}
