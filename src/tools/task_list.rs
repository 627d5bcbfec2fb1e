//! `task_list`: the background jobs of the session, one a line.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::Bench;
use super::{Job as Call, Tool, jobs, output};

/// Characters of a command that are shown.
const COMMAND_CHARS: usize = 120;

/// Lists jobs.
#[derive(Debug)]
pub struct TaskList;

/// Arguments of `task_list`: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {}

impl Tool for TaskList {
    type Args = Args;

    fn access(_: &Bench, _: &Args) -> Vec<Access> {
        Vec::new()
    }

    async fn run(bench: &Bench, _: Args, _: Call) -> ToolOutcome {
        let mut text = String::new();
        for job in bench.jobs.all() {
            let (seconds, size) = (job.elapsed().as_secs(), output::size(job.bytes()));
            let command = jobs::one_line(&job.command, COMMAND_CHARS);
            // Writing into a string can't fail.
            let _ = writeln!(text, "{}  {}  {seconds} s  {size}  {command}", job.id, job.status());
        }
        if text.is_empty() {
            text.push_str("no background task was started");
        }
        ToolOutcome::ok(text)
    }
}
