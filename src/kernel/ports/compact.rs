//! How a run and its context talk about the view of a history, and about making it smaller.

use std::sync::Arc;

use super::{ModelInfo, SystemBlock, ToolSpec};
use crate::kernel::compaction::{Compaction, Step};
use crate::kernel::event::Tier;
use crate::kernel::message::{Message, Usage};

/// For whom a view is made.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The model that will read it.
    pub model: &'a ModelInfo,
    /// The tier of the chat. Medium and full get the same bytes.
    pub tier: Tier,
    /// The tools it is told about.
    pub tools: &'a [ToolSpec],
}

/// The view to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// System prompt.
    pub system: Vec<SystemBlock>,
    /// Messages in order.
    pub messages: Vec<Arc<Message>>,
}

/// Why the view should become smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A request is about to be made: only as far as it is too large.
    Routine,
    /// The user wants it.
    Forced,
    /// The service refused the last request as too large.
    Overflow,
}

/// What is asked of the context.
#[derive(Clone, Copy, Debug)]
pub struct Need<'a> {
    /// Why.
    pub reason: Reason,
    /// What a summary should care about most; the user's words, may be empty.
    pub focus: &'a str,
    /// Steps that were tried for this need.
    pub tried: &'a [Step],
    /// Whether one of them changed something.
    pub changed: bool,
}

/// The step that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Which.
    pub step: Step,
    /// Tokens of the view as it is.
    pub before: u64,
}

/// What a step came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compacted {
    /// The change; `id` and `at` are filled in by the run. `None` when there is none.
    pub compaction: Option<Compaction>,
    /// Tokens spent on it.
    pub usage: Usage,
    /// Why there is no change, one line.
    pub problem: Option<String>,
}

impl Compacted {
    /// No change, for that reason.
    pub fn failed(problem: impl Into<String>, usage: Usage) -> Self {
        Self { compaction: None, usage, problem: Some(problem.into()) }
    }
}
