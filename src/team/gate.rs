//! The session's gate as a child meets it: the same judgement, the same mode, and a label that says
//! who asks. Where nobody may be asked, asking means denied.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::kernel::command::{EXIT_PLAN, Mode};
use crate::kernel::error::GateError;
use crate::kernel::event::Approval;
use crate::kernel::message::ToolCall;
use crate::kernel::ports::{Gate, GateRequest, Verdict};

/// A gate for one child.
#[derive(Debug)]
pub struct ChildGate {
    inner: Arc<dyn Gate>,
    label: String,
    may_ask: bool,
}

impl ChildGate {
    /// The gate of the agent called `label`.
    pub fn new(inner: Arc<dyn Gate>, label: String, may_ask: bool) -> Self {
        Self { inner, label, may_ask }
    }
}

impl Gate for ChildGate {
    fn judge<'a>(&'a self, request: GateRequest<'a>) -> BoxFuture<'a, Result<Verdict, GateError>> {
        Box::pin(async move {
            if request.call.name == EXIT_PLAN {
                let reason = "only the session itself shows a plan: report yours as the answer";
                return Ok(Verdict::Deny { reason: reason.to_owned() });
            }
            match self.inner.judge(request).await? {
                Verdict::Ask(approval) if !self.may_ask => {
                    self.inner.record(request.call, false, "nobody can be asked for this agent");
                    let reason = approval.reason;
                    Ok(Verdict::Deny {
                        reason: format!(
                            "this agent can't ask the user, and this needs it: {reason}"
                        ),
                    })
                }
                Verdict::Ask(mut approval) => {
                    approval.reason = format!("agent {}: {}", self.label, approval.reason);
                    Ok(Verdict::Ask(approval))
                }
                verdict => Ok(verdict),
            }
        })
    }

    fn remember<'a>(&'a self, approval: &'a Approval) -> BoxFuture<'a, Result<(), GateError>> {
        self.inner.remember(approval)
    }

    fn record(&self, call: &ToolCall, allowed: bool, by: &str) {
        self.inner.record(call, allowed, by);
    }

    /// A child has no say in the mode.
    fn set_mode(&self, _mode: Mode) {}

    fn mode(&self) -> Mode {
        self.inner.mode()
    }

    fn planning(&self) -> bool {
        self.inner.planning()
    }

    fn reminder(&self) -> Option<String> {
        let words = "The user is planning: look, search and report. Whatever changes something is \
                     refused.";
        self.planning().then(|| words.to_owned())
    }
}
