//! `task_stop`: ends a background job and everything that it started.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::Bench;
use super::{Job as Call, Tool, output};

/// Stops a job.
#[derive(Debug)]
pub struct TaskStop;

/// Arguments of `task_stop`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The task's id.
    #[schemars(length(min = 1))]
    id: String,
}

impl Tool for TaskStop {
    type Args = Args;

    fn access(_: &Bench, _: &Args) -> Vec<Access> {
        Vec::new()
    }

    async fn run(bench: &Bench, args: Args, _: Call) -> ToolOutcome {
        let job = match bench.jobs.find(&args.id) {
            Ok(job) => job,
            Err(error) => return ToolOutcome::failed(&error),
        };
        if !job.is_running() {
            return ToolOutcome::ok(format!("task {} has ended before: {}", job.id, job.status()));
        }
        job.stop().await;
        let (seconds, size) = (job.elapsed().as_secs(), output::size(job.bytes()));
        ToolOutcome::ok(format!(
            "task {} and all it had started was stopped after {seconds} s; it wrote {size}",
            job.id
        ))
    }
}
