//! `skill`: shows the model how a piece of work is done here, or has it done apart. Which skills
//! there are and what they may do is behind [`Shelf`].

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::message::{Block, CallStatus};
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::Bench;
use super::delegate::{Errand, ReportEnd, Watcher};
use super::{Job, Tool};

/// The skills of a session.
pub trait Shelf: Send + Sync + Debug {
    /// Opens a skill with these arguments; what it may do without asking is granted from here on.
    /// The error is one line for the model, with the names there are.
    fn open(&self, name: String, args: String) -> BoxFuture<'static, Result<Opened, String>>;
}

/// A skill that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// What it says, arguments included.
    pub text: String,
    /// Whether an agent of its own does it.
    pub apart: bool,
    /// `provider/model` of that agent; the session's without.
    pub model: Option<String>,
}

/// Opens skills.
#[derive(Debug)]
pub struct Skill;

/// Arguments of `skill`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Its name.
    name: String,
    /// What it is to be done with.
    args: Option<String>,
}

impl Tool for Skill {
    type Args = Args;

    fn access(_: &Bench, _: &Args) -> Vec<Access> {
        Vec::new()
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let failed = |reason: String| ToolOutcome::failed(&ToolError::new("NoSkill", reason));
        let Some(shelf) = bench.skills.clone() else {
            return failed("there are no skills here; go on without".to_owned());
        };
        let shelf: Arc<dyn Shelf> = shelf;
        let opened = match shelf.open(args.name, args.args.unwrap_or_default()).await {
            Ok(opened) => opened,
            Err(reason) => return failed(reason),
        };
        let Some(team) = bench.team.clone().filter(|_| opened.apart) else {
            return ToolOutcome::ok(opened.text);
        };
        let Job { cancel, progress, aside, .. } = job;
        let errand = Errand { task: opened.text, model: opened.model, ..Errand::default() };
        let report = team.run(errand, Watcher { cancel, progress, aside }).await;
        let status = match report.end {
            ReportEnd::Answered => CallStatus::Ok,
            ReportEnd::Cancelled => CallStatus::Cancelled,
            ReportEnd::Failed => CallStatus::Error,
        };
        ToolOutcome::new(status, vec![Block::text(report.text)])
    }
}
