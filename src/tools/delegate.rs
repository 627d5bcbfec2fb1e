//! What the `subagent` tool needs from whoever runs agents. Tools know no loop and no model, so the
//! room that does (`team`) is behind this trait.

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::kernel::ports::{Aside, ProgressSink};

/// Takes tasks off the model's hands.
pub trait Delegates: Send + Sync + Debug {
    /// Name and one line of every kind of agent, sorted by name: the same in every session of a
    /// project, so that the tool list keeps its bytes.
    fn kinds(&self) -> Vec<(String, String)>;

    /// Runs one task to its end. Never fails: what went wrong stands in the report.
    fn run(&self, errand: Errand, watch: Watcher) -> BoxFuture<'static, Report>;
}

/// One task for one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errand {
    /// Which kind of agent; the default kind when absent.
    pub agent: Option<String>,
    /// `provider/model` in place of the kind's own.
    pub model: Option<String>,
    /// What to do, all that the agent is told.
    pub task: String,
    /// Whether it goes on beside the run: nobody can be asked then.
    pub background: bool,
}

/// How a task is followed.
#[derive(Clone, Debug)]
pub struct Watcher {
    /// Fires when the work is no longer wanted.
    pub cancel: CancellationToken,
    /// Where its newest lines go.
    pub progress: ProgressSink,
    /// Where its tokens are booked.
    pub aside: Aside,
}

/// What came of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The agent's last words, or why there are none; notes about the run stand at the end.
    pub text: String,
    /// How it ended.
    pub end: ReportEnd,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportEnd {
    /// With an answer, whole or marked as incomplete.
    Answered,
    /// It was stopped.
    Cancelled,
    /// With an error.
    Failed,
}
