//! Assembles the events of a stream into one assistant message. Knows blocks, not tools: what a
//! completed call leads to is the turn's business.

use std::collections::HashSet;

use super::event::Delta;
use super::message::{
    AssistantMessage, Block, CallId, MessageId, ModelRef, Opaque, Stop, Timestamp, ToolCall, Usage,
};
use super::ports::StreamEvent;

/// An answer under way.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    /// In block order.
    slots: Vec<Slot>,
    call_ids: HashSet<CallId>,
    usage: Usage,
}

#[derive(Debug)]
struct Slot {
    index: usize,
    piece: Piece,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Thinking { text: String, opaque: Option<Opaque> },
    Call { name: String, bytes: u64, done: Option<ToolCall> },
    Opaque(Opaque),
}

/// What an event amounts to.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing to tell.
    Quiet,
    /// Something to show.
    Delta(Delta),
    /// A call is complete.
    Call(Box<ToolCall>),
    /// The answer is over.
    Done(Stop),
}

/// Which blocks of a finished or broken answer are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Everything that is complete.
    Whole,
    /// The answer broke off: an unfinished last thought is dropped as well.
    Partial,
    /// Only what people can read: no calls.
    Readable,
}

impl Assembler {
    /// Takes one event. `fresh_id` names calls that came without a usable id.
    pub(crate) fn apply(&mut self, event: StreamEvent, fresh_id: impl Fn() -> String) -> Step {
        match event {
            StreamEvent::Start => Step::Quiet,
            StreamEvent::TextDelta { index, text } => {
                if text.is_empty() {
                    return Step::Quiet;
                }
                match self.slot(index, Piece::is_text, || Piece::Text(String::new())) {
                    Piece::Text(all) => all.push_str(&text),
                    _ => return Step::Quiet,
                }
                Step::Delta(Delta::Text { text })
            }
            StreamEvent::ThinkingDelta { index, text } => {
                if text.is_empty() {
                    return Step::Quiet;
                }
                match self.slot(index, Piece::is_thinking, Piece::no_thought) {
                    Piece::Thinking { text: all, .. } => all.push_str(&text),
                    _ => return Step::Quiet,
                }
                Step::Delta(Delta::Thinking { text })
            }
            StreamEvent::Opaque { index, opaque } => {
                self.opaque(index, opaque);
                Step::Quiet
            }
            StreamEvent::CallStart { index, name } => self.call_progress(index, Some(name), 0),
            StreamEvent::CallDelta { index, bytes } => self.call_progress(index, None, bytes),
            StreamEvent::CallComplete { index, call } => self.call_done(index, call, fresh_id),
            StreamEvent::Usage(usage) => {
                merge(&mut self.usage, usage);
                Step::Quiet
            }
            StreamEvent::Done(stop) => Step::Done(stop),
        }
    }

    /// Token counts so far.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// Whether nothing of an answer came.
    pub(crate) fn is_blank(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether a call began and never completed.
    pub(crate) fn has_unfinished_call(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.piece, Piece::Call { done: None, .. }))
    }

    /// The message. What it costs is part of it even when blocks are left out.
    pub(crate) fn into_message(
        self,
        id: MessageId,
        at: Timestamp,
        model: ModelRef,
        stop: Stop,
        keep: Keep,
    ) -> AssistantMessage {
        let last = self.slots.len();
        let usage = self.usage;
        let blocks = self
            .slots
            .into_iter()
            .enumerate()
            .filter_map(|(at, slot)| slot.piece.into_block(keep, at + 1 == last))
            .collect();
        AssistantMessage { id, at, model, blocks, stop, usage }
    }

    fn call_progress(&mut self, index: usize, name: Option<String>, added: usize) -> Step {
        let slot = self.slot(index, Piece::is_call, Piece::no_call);
        let Piece::Call { name: known, bytes, done: None } = slot else { return Step::Quiet };
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            *known = name;
        }
        *bytes += added as u64;
        Step::Delta(Delta::Call { name: known.clone(), bytes: *bytes })
    }

    fn call_done(
        &mut self,
        index: usize,
        mut call: ToolCall,
        fresh_id: impl Fn() -> String,
    ) -> Step {
        if let Piece::Call { done: Some(_), .. } = self.slot(index, Piece::is_call, Piece::no_call)
        {
            // Some services say twice that a block is complete.
            return Step::Quiet;
        }
        if call.id.as_str().is_empty() {
            call.id = CallId(fresh_id());
        }
        if !self.call_ids.insert(call.id.clone()) {
            call.id = unused(&call.id, |id| self.call_ids.contains(id));
            self.call_ids.insert(call.id.clone());
        }
        if let Piece::Call { done, .. } = self.slot(index, Piece::is_call, Piece::no_call) {
            *done = Some(call.clone());
        }
        Step::Call(Box::new(call))
    }

    fn opaque(&mut self, index: usize, data: Opaque) {
        let thought = self
            .slots
            .iter_mut()
            .rev()
            .find(|slot| slot.index == index && slot.piece.is_thinking());
        match thought {
            Some(Slot { piece: Piece::Thinking { opaque, .. }, .. }) => *opaque = Some(data),
            _ => self.insert(index, Piece::Opaque(data)),
        }
    }

    /// The slot of that index and kind, made when missing. The newest is looked at first: nearly
    /// every event belongs to it.
    fn slot(
        &mut self,
        index: usize,
        is: impl Fn(&Piece) -> bool,
        make: impl FnOnce() -> Piece,
    ) -> &mut Piece {
        let found = self.slots.iter().rposition(|slot| slot.index == index && is(&slot.piece));
        let at = found.unwrap_or_else(|| {
            self.insert(index, make());
            self.slots.partition_point(|slot| slot.index <= index) - 1
        });
        &mut self.slots[at].piece
    }

    fn insert(&mut self, index: usize, piece: Piece) {
        let at = self.slots.partition_point(|slot| slot.index <= index);
        self.slots.insert(at, Slot { index, piece });
    }
}

impl Piece {
    fn no_thought() -> Self {
        Self::Thinking { text: String::new(), opaque: None }
    }

    fn no_call() -> Self {
        Self::Call { name: String::new(), bytes: 0, done: None }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. })
    }

    fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. })
    }

    fn into_block(self, keep: Keep, is_last: bool) -> Option<Block> {
        match self {
            Self::Text(text) => Some(Block::Text { text }),
            Self::Thinking { opaque: None, .. } if keep != Keep::Whole && is_last => None,
            Self::Thinking { text, opaque } => Some(Block::Thinking { text, opaque }),
            Self::Call { done, .. } => done.filter(|_| keep != Keep::Readable).map(Block::Call),
            Self::Opaque(opaque) => Some(Block::Opaque(opaque)),
        }
    }
}

/// `id` with the first suffix that `taken` does not know.
pub(crate) fn unused(id: &CallId, taken: impl Fn(&CallId) -> bool) -> CallId {
    let mut number = 2u32;
    loop {
        let candidate = CallId(format!("{id}_{number}"));
        if !taken(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

/// Services report running totals, and some report a field only once.
fn merge(total: &mut Usage, news: Usage) {
    let take = |old: &mut u64, new: u64| {
        if new != 0 {
            *old = new;
        }
    };
    take(&mut total.input, news.input);
    take(&mut total.output, news.output);
    take(&mut total.cache_read, news.cache_read);
    take(&mut total.cache_write, news.cache_write);
}
