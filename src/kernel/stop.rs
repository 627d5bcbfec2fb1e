//! Why a run ends other than by a finished answer, and how that reads in its summary.

use super::budget::{Cap, Reached, used_up};
use super::error::{ContextError, JournalError};
use super::event::{EndReason, RunError};

/// An end of the run that is not a normal stop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Exit {
    /// The user stopped it.
    Aborted,
    /// This many turns were used up.
    MaxTurns(u32),
    /// A budget of the run is used up.
    Budget(Reached),
    /// Something failed.
    Failed(RunError),
}

impl Exit {
    /// Our side failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(RunError { message: message.into(), provider: false })
    }

    /// The provider failed or refused.
    pub(crate) fn provider(message: impl Into<String>) -> Self {
        Self::Failed(RunError { message: message.into(), provider: true })
    }

    /// Continue was asked for, but the last word is the model's and nothing waits.
    pub(crate) fn nothing_to_continue() -> Self {
        Self::failed("nothing to continue: the conversation does not wait for an answer, write one")
    }

    pub(crate) fn reason(&self) -> EndReason {
        match self {
            Self::Aborted => EndReason::Aborted,
            Self::MaxTurns(_) => EndReason::MaxTurns,
            Self::Budget(_) => EndReason::Budget,
            Self::Failed(_) => EndReason::Error,
        }
    }

    /// The cap that was reached.
    pub(crate) fn reached(&self) -> Option<Reached> {
        match self {
            Self::MaxTurns(turns) => Some(Reached { cap: Cap::Turns, value: f64::from(*turns) }),
            Self::Budget(reached) => Some(*reached),
            Self::Aborted | Self::Failed(_) => None,
        }
    }

    /// The line of the `Error` event, when there is one.
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Self::Aborted => None,
            Self::MaxTurns(turns) => Some(format!("Agent loop exceeded {turns} iterations")),
            Self::Budget(reached) => Some(used_up(*reached)),
            Self::Failed(error) => Some(error.message.clone()),
        }
    }
}

impl From<JournalError> for Exit {
    fn from(error: JournalError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<ContextError> for Exit {
    fn from(error: ContextError) -> Self {
        Self::failed(format!("cannot prepare the context: {error}"))
    }
}
