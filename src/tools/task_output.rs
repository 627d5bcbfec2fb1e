//! `task_output`: what a background job has written so far, page by page.

use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::{Bench, blocking};
use super::jobs::Job;
use super::{Job as Call, Tool, output};

/// Lines handed out at once.
const MAX_LINES: u64 = 500;
/// Bytes handed out at once.
const MAX_BYTES: usize = 20 * 1024;

/// Shows the output of a job.
#[derive(Debug)]
pub struct TaskOutput;

/// Arguments of `task_output`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The task's id.
    #[schemars(length(min = 1))]
    id: String,
    /// First line, counted from 1. Default: the newest lines.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// Number of lines; at most 500.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Seconds to wait for the task to end before looking; at most 600. Default 0.
    #[schemars(range(min = 0, max = 600))]
    wait: Option<f64>,
}

impl Tool for TaskOutput {
    type Args = Args;

    fn access(_: &Bench, _: &Args) -> Vec<Access> {
        Vec::new()
    }

    async fn run(bench: &Bench, args: Args, call: Call) -> ToolOutcome {
        let job = match bench.jobs.find(&args.id) {
            Ok(job) => job,
            Err(error) => return ToolOutcome::failed(&error),
        };
        let wait = args.wait.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        tokio::select! {
            biased;
            () = call.cancel.cancelled() => return super::cancelled(),
            () = call.background.cancelled() => {}
            _ended_or_over = tokio::time::timeout(wait.unwrap_or_default(), job.ended()) => {}
        }
        // What it is now, before looking: a job that ends while its file is read is still shown
        // as running, never the other way round.
        let head = headline(&job);
        let text = match job.file.clone() {
            Ok(path) => blocking(move || page(&path, &args)).await,
            Err(reason) => Err(ToolError::new("Io", format!("its output is not kept: {reason}"))),
        };
        match text {
            Ok(text) => ToolOutcome::ok(format!("{head}\n{text}")),
            Err(error) => ToolOutcome::failed(&error),
        }
    }
}

/// What does not change as long as nothing happens, so that equal answers are equal.
fn headline(job: &Job) -> String {
    let command = super::jobs::one_line(&job.command, 200);
    format!("task {}: {}, {} written; {command}", job.id, job.status(), output::size(job.bytes()))
}

fn page(path: &Path, args: &Args) -> Result<String, ToolError> {
    let text = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    let text = String::from_utf8_lossy(&text);
    let total = text.lines().count() as u64;
    let limit = args.limit.unwrap_or(MAX_LINES).min(MAX_LINES);
    let start = match args.offset {
        Some(offset) => offset.max(1) - 1,
        None => total.saturating_sub(limit),
    };
    if total == 0 {
        return Ok("(no output yet)".to_owned());
    }
    if start >= total {
        let lines = output::count(total, "line");
        return Ok(format!("[no line {} yet: there are {lines}]", start + 1));
    }
    let mut out = String::new();
    let mut shown = 0;
    for line in text.lines().skip(start as usize).take(limit as usize) {
        let kept = output::head(line, output::LINE_CHARS);
        if shown > 0 && out.len() + kept.len() > MAX_BYTES {
            break;
        }
        out.push_str(kept);
        if kept.len() < line.len() {
            out.push('…');
        }
        out.push('\n');
        shown += 1;
    }
    let (first, last) = (start + 1, start + shown);
    if first > 1 || last < total {
        // Writing into a string can't fail.
        let _ = write!(out, "[lines {first}-{last} of {total}");
        if last < total {
            let _ = write!(out, "; go on with offset {}", last + 1);
        }
        out.push(']');
    }
    Ok(out)
}

fn unreadable(path: &Path, error: &io::Error) -> ToolError {
    ToolError::new("Io", format!("cannot read {}: {error}", path.display()))
}
