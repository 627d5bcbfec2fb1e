//! Everything that enters: what a front end may ask of the agent. Commands never wait on a full
//! channel and are never lost; one that can't be carried out is answered by `Event::Rejected`.

use serde::{Deserialize, Serialize};

use super::budget::Cap;
use super::event::{QueueKind, Tier};
use super::message::{Block, CallId, QueueId};

/// One request of the front end.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Starts a run with this message. While a run is active: rejected as busy.
    Prompt {
        /// Text and images.
        blocks: Vec<Block>,
    },
    /// Adds a message to a queue. While idle it stays there until the next run polls it.
    Enqueue {
        /// Which queue.
        kind: QueueKind,
        /// The words.
        text: String,
    },
    /// Starts a run without a new message.
    Continue,
    /// Stops the active run. The queues stay as they are.
    Abort,
    /// Takes the last turn out of the conversation: the user's newest message and all that came of
    /// it. What it did to files stays. While a run is active: rejected as busy.
    Discard,
    /// Answers the approval of a call. Ignored when that prompt is no longer open.
    Answer {
        /// Which call.
        id: CallId,
        /// The decision.
        answer: Answer,
    },
    /// Sums up the conversation. While a run is active: at its end.
    Compact {
        /// What to care about most; may be empty.
        focus: String,
    },
    /// Takes back the newest summing up. While a run is active: rejected as busy.
    UndoCompaction,
    /// Ends the wait before a retry.
    RetryNow,
    /// Changes the queues.
    Queue(QueueEdit),
    /// Cancels one running call; the run goes on.
    CancelCall {
        /// Which call.
        id: CallId,
    },
    /// Lets one running call go on in the background, if its tool can do that.
    Background {
        /// Which call.
        id: CallId,
    },
    /// Changes a setting; the next decision sees it.
    Configure(Setting),
}

/// The tool that shows a plan. Its question is a person's to answer, and a yes ends the planning.
pub const EXIT_PLAN: &str = "exit_plan_mode";

/// A decision about one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Run this one.
    Once,
    /// Run it and save the rule that the approval showed.
    Always,
    /// Do not run it.
    Deny {
        /// Words for the model, when the user wrote some.
        words: Option<String>,
    },
}

/// A change of the queues; unknown ids are ignored (the item was delivered meanwhile).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueEdit {
    /// Replaces the words of an item.
    Edit {
        /// Which item.
        id: QueueId,
        /// The new words.
        text: String,
    },
    /// Drops an item.
    Remove {
        /// Which item.
        id: QueueId,
    },
    /// Moves an item to the other queue.
    SetKind {
        /// Which item.
        id: QueueId,
        /// Its new queue.
        kind: QueueKind,
    },
    /// Moves an item to another place in its queue, counted from 0.
    Move {
        /// Which item.
        id: QueueId,
        /// Its new place.
        to: usize,
    },
    /// Drops all items of one queue.
    Clear {
        /// Which queue.
        kind: QueueKind,
    },
    /// Takes all items out; answered by `Event::QueueReturned`.
    TakeAll,
}

/// A setting that may change during a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// The permission mode.
    Mode(Mode),
    /// Planning, an overlay on the mode.
    Plan(bool),
    /// The tier of the next chats; `None` lets the words decide.
    Route(Option<Tier>),
    /// A cap on runs, the active one included.
    Limit {
        /// Which.
        cap: Cap,
        /// The new value, in the cap's own unit.
        value: f64,
    },
}

/// How much may happen without asking; the table stands in `permission::mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Writes ask, other commands are refused.
    Strict,
    /// Writes and commands ask.
    #[default]
    Balanced,
    /// Writes in the workspace run, commands ask.
    AcceptEdits,
    /// Nearly everything runs.
    Trust,
}

impl Mode {
    /// All modes in the order in which Shift+Tab visits them.
    pub const ALL: [Self; 4] = [Self::Strict, Self::Balanced, Self::AcceptEdits, Self::Trust];

    /// The name in config, flags and on screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Balanced => "balanced",
            Self::AcceptEdits => "accept-edits",
            Self::Trust => "trust",
        }
    }

    /// The mode of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
