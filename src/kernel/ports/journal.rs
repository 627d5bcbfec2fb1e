//! The durable record of a session: what is written to it, and how sure a write must be. How and where
//! it is kept is the journal's business.

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::Effort;
use crate::kernel::checkpoint::Change;
use crate::kernel::compaction::Compaction;
use crate::kernel::error::JournalError;
use crate::kernel::message::{CallId, Message, MessageId, ModelRef, RunId, Timestamp, ToolCall};

/// The durable record of a session.
pub trait Journal: Send + Sync + Debug {
    /// Appends one record. `Durability::Flush` returns only when it is on disk. A failed append
    /// leaves the journal as it was.
    fn append<'a>(
        &'a self,
        record: &'a Record,
        durability: Durability,
    ) -> BoxFuture<'a, Result<(), JournalError>>;
}

/// How sure a write must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Handed to the system.
    Buffered,
    /// On disk (`fdatasync`).
    Flush,
}

/// One journal record, as the loop writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// A message that enters the context.
    Message {
        /// The message.
        message: Message,
    },
    /// A call with side effects is about to start; flushed before it does.
    Intent {
        /// The run.
        run: RunId,
        /// The turn within the run.
        turn: u32,
        /// The call's place in its message.
        index: usize,
        /// The call.
        call: ToolCall,
    },
    /// The user took these messages back: they are no part of the conversation any more.
    TakenBack {
        /// The messages.
        ids: Vec<MessageId>,
    },
    /// The answer of a turn was dropped; voids the intents of these calls.
    Discarded {
        /// The run.
        run: RunId,
        /// The turn within the run.
        turn: u32,
        /// The calls.
        call_ids: Vec<CallId>,
    },
    /// The view of the history became smaller; flushed before a request is made of it.
    Compaction {
        /// The change.
        compaction: Compaction,
    },
    /// Another model answers from here on, or the same one with another effort.
    Switched {
        /// When.
        at: Timestamp,
        /// The model.
        model: ModelRef,
        /// How hard it thinks; absent for its own default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effort: Option<Effort>,
    },
    /// Files became others.
    Checkpoint {
        /// Which, and what they were.
        changes: Vec<Change>,
    },
    /// The user went back to an earlier turn, or forth again.
    Rewind {
        /// Messages that are no part of the conversation any more.
        taken: Vec<MessageId>,
        /// Messages that are part of it again.
        given: Vec<MessageId>,
        /// Files that are about to be put back.
        changes: Vec<Change>,
    },
    /// Planning was switched on or off.
    Planning {
        /// When.
        at: Timestamp,
        /// Whether only looking and the plan are allowed from here on.
        on: bool,
    },
    /// Changes of the view count no longer.
    CompactionUndone {
        /// Which.
        ids: Vec<MessageId>,
    },
}
