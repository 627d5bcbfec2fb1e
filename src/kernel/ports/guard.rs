//! The port of the stop guard: the one judge of normal stops.

use std::fmt::Debug;

use futures_util::future::BoxFuture;

use crate::kernel::message::AssistantMessage;

/// Judges whether a run that would stop may do so. Never asked about aborts, caps, errors and
/// wrap-ups.
pub trait StopGuard: Send + Sync + Debug {
    /// Judges one stop. Dropped when the run is aborted meanwhile.
    fn judge<'a>(&'a self, stop: Stopping<'a>) -> BoxFuture<'a, StopVerdict>;
}

/// A stop to judge.
#[derive(Clone, Copy, Debug)]
pub struct Stopping<'a> {
    /// The turn after which the run would stop, counted from 1.
    pub turn: u32,
    /// The answer of that turn; `None` when it was empty.
    pub answer: Option<&'a AssistantMessage>,
    /// What leads to the stop.
    pub trigger: StopTrigger,
}

/// What leads to a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopTrigger {
    /// The model has nothing more to do.
    EndTurn,
    /// A tool that ends the run has succeeded.
    AfterTool,
}

/// The guard's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopVerdict {
    /// The run stops.
    Allow,
    /// The run goes on with this message; without words it stops, so that no run stalls silently.
    Inject(String),
    /// The run ends with this error.
    Escalate(String),
}
