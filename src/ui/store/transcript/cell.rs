//! What a cell of the transcript is. Texts in cells are clean (see `ui::text::sanitize`).

use crate::app::service::Level;
use crate::kernel::event::Preview;
use crate::kernel::message::{CallId, CallStatus, Detail};

/// Names a cell for as long as the session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(pub u64);

/// One entry of the transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its name.
    pub id: CellId,
    /// Grows with every change of content or fold.
    pub version: u32,
    /// The version at which its text was last replaced; since then it only grew at the end.
    pub base: u32,
    /// The user's own choice; `None` follows the kind's default.
    pub fold: Option<Fold>,
    /// What it shows.
    pub kind: CellKind,
}

/// Whether a cell shows all it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Only the kind's short form.
    Folded,
    /// Everything.
    Open,
}

/// What a cell shows.
#[derive(Clone, Debug, PartialEq)]
pub enum CellKind {
    /// Words of the user.
    User {
        /// The words.
        text: String,
        /// A short mark for steering and follow-ups, `None` for prompts.
        mark: Option<&'static str>,
    },
    /// An answer in Markdown.
    Assistant {
        /// The source.
        text: String,
        /// Whether more may come.
        streaming: bool,
    },
    /// Reasoning.
    Thinking {
        /// The source.
        text: String,
        /// Whether more may come.
        streaming: bool,
    },
    /// A tool call.
    Tool(Box<ToolCell>),
    /// A wait before another attempt.
    Retry {
        /// Counted from 1.
        attempt: u32,
        /// The most there will be.
        max: u32,
        /// When the attempt starts, in milliseconds of the store's clock.
        until_ms: u64,
        /// What went wrong.
        error: String,
        /// Whether the wait is over.
        done: bool,
    },
    /// A line of the application.
    Notice {
        /// How bad it is.
        level: Level,
        /// The line.
        text: String,
    },
    /// The end of a run, one dim line.
    Summary {
        /// The line.
        text: String,
    },
}

/// A tool call on screen.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCell {
    /// Which call.
    pub call: CallId,
    /// The tool's name.
    pub name: String,
    /// Its main argument, for the first line.
    pub title: String,
    /// Diff or command.
    pub preview: Option<Preview>,
    /// How far it is.
    pub state: ToolState,
    /// Start in milliseconds of the store's clock.
    pub started_ms: u64,
    /// Live tail of a command, or the result's text once ended.
    pub output: String,
    /// Bytes of output so far.
    pub bytes: u64,
    /// Facts about the end.
    pub detail: Option<Detail>,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// Started, not yet ended.
    Running,
    /// Waits for the user.
    Asking,
    /// Over.
    Ended {
        /// How.
        status: CallStatus,
        /// End in milliseconds of the store's clock.
        at_ms: u64,
    },
}

impl ToolCell {
    /// Whether it has neither result nor verdict yet.
    pub fn is_running(&self) -> bool {
        !matches!(self.state, ToolState::Ended { .. })
    }

    /// Whether it ended in a way that needs a look.
    pub fn has_failed(&self) -> bool {
        use CallStatus::{Error, Panicked, TimedOut};
        matches!(self.state, ToolState::Ended { status: Error | Panicked | TimedOut, .. })
    }
}

impl Cell {
    /// Whether more text may come.
    pub fn is_streaming(&self) -> bool {
        matches!(
            self.kind,
            CellKind::Assistant { streaming: true, .. }
                | CellKind::Thinking { streaming: true, .. }
        )
    }

    /// Whether its rows depend on the time.
    pub fn is_animated(&self) -> bool {
        match &self.kind {
            CellKind::Tool(tool) => tool.is_running(),
            CellKind::Retry { done, .. } => !done,
            CellKind::User { .. }
            | CellKind::Assistant { .. }
            | CellKind::Thinking { .. }
            | CellKind::Notice { .. }
            | CellKind::Summary { .. } => false,
        }
    }
}
