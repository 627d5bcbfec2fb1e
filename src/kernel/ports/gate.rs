//! The gate as the loop sees it: what may run, what asks, what is refused. What decides is behind it.

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::{Access, ToolTraits};
use crate::kernel::command::Mode;
use crate::kernel::error::GateError;
use crate::kernel::event::{Approval, Preview};
use crate::kernel::message::ToolCall;

/// Decides what may run. Anything but a clear verdict means denied.
pub trait Gate: Send + Sync + Debug {
    /// Judges one call under the mode in force now.
    fn judge<'a>(&'a self, request: GateRequest<'a>) -> BoxFuture<'a, Result<Verdict, GateError>>;

    /// Saves the rule of an approval that was answered with "always".
    fn remember<'a>(&'a self, approval: &'a Approval) -> BoxFuture<'a, Result<(), GateError>>;

    /// Records a decision made by the user in the audit log.
    fn record(&self, call: &ToolCall, allowed: bool, by: &str);

    /// Changes the mode; the next decision sees it.
    fn set_mode(&self, mode: Mode);

    /// The mode in force.
    fn mode(&self) -> Mode;

    /// Turns planning on or off, an overlay on every mode; the next decision sees it. A gate that
    /// does not know it (the default) never plans.
    fn set_plan(&self, on: bool) {
        let _ = on;
    }

    /// Whether only looking and the plan are allowed.
    fn planning(&self) -> bool {
        false
    }

    /// What the model has to be told with every request while a special rule is in force, at the
    /// request's end, where it does not disturb what is cached. `None` (the default) when none is.
    fn reminder(&self) -> Option<String> {
        None
    }
}

/// A call to judge.
#[derive(Clone, Copy, Debug)]
pub struct GateRequest<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// What the tool is.
    pub traits: ToolTraits,
    /// What the call would touch.
    pub access: &'a [Access],
    /// What would be shown.
    pub preview: Option<&'a Preview>,
}

/// The gate's answer.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "made once for a call and taken apart at once")]
pub enum Verdict {
    /// Run it.
    Allow,
    /// Run it with these arguments; history keeps the model's own.
    AllowWith(Map<String, Value>),
    /// Do not run it.
    Deny {
        /// Told to the model after `User denied.`
        reason: String,
    },
    /// Ask the user.
    Ask(Approval),
}
