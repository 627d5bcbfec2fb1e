//! `exit_plan_mode`: shows the finished plan. The question about it is the gate's, so a call that
//! runs was agreed to; this file only says so.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::CallId;
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::Bench;
use super::{Job, Tool};

/// Ends the planning.
#[derive(Debug)]
pub struct ExitPlanMode;

/// Arguments of `exit_plan_mode`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The whole plan, in Markdown.
    plan: String,
}

impl Tool for ExitPlanMode {
    type Args = Args;

    fn access(_: &Bench, _: &Args) -> Vec<Access> {
        Vec::new()
    }

    async fn preview(_: &Bench, _: &CallId, args: Args) -> Result<Option<Preview>, ToolError> {
        if args.plan.trim().is_empty() {
            let words = "the plan is empty; say what would be done, step by step";
            return Err(ToolError::new("InvalidArguments", words));
        }
        Ok(Some(Preview::Plan { text: args.plan }))
    }

    async fn run(_: &Bench, _: Args, _: Job) -> ToolOutcome {
        ToolOutcome::ok("The user agreed to the plan. Plan mode is off: carry the plan out now.")
    }
}
