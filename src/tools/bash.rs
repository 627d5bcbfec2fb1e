//! `bash`: one command line, its output and how it ended. It returns when the shell ends, not when
//! the last holder of its output does, and it always stops what it started when it is cancelled or
//! out of time.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::{Block, CallId, CallStatus, Detail};
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::Bench;
use super::capture::{Capture, Spill, close_line};
use super::confine::Confinement;
use super::watch::{End, Watch, judge};
use super::{Job, Kept, Tool, jobs};

/// Runs a command line.
#[derive(Debug)]
pub struct Bash;

/// Arguments of `bash`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The command line.
    #[schemars(length(min = 1))]
    command: String,
    /// Seconds until it is stopped. Default 120, at most 3600.
    #[schemars(range(max = 3600), extend("exclusiveMinimum" = 0))]
    timeout: Option<f64>,
    /// Folder to run in, absolute or relative to the workspace.
    workdir: Option<String>,
    /// Whether it goes on in the background while you do something else.
    background: Option<bool>,
    /// Run it outside of the sandbox, where there is one; the user is asked. Only after the sandbox
    /// kept the same command from what it has to do.
    unsandboxed: Option<bool>,
    /// What the command is for, in a few words, for the user.
    #[serde(rename = "description")]
    _description: Option<String>,
}

impl Tool for Bash {
    type Args = Args;

    fn access(bench: &Bench, args: &Args) -> Vec<Access> {
        let workdir = bench.absolute_or_workspace(args.workdir.as_deref());
        let mut access = vec![Access::Shell { command: args.command.clone(), workdir }];
        if bench.confinement.is_some() && args.unsandboxed == Some(true) {
            access.push(Access::Unconfined);
        }
        access
    }

    async fn preview(bench: &Bench, _: &CallId, args: Args) -> Result<Option<Preview>, ToolError> {
        let workdir = check(bench, &args)?;
        let workdir = bench.shown(&workdir);
        Ok(Some(Preview::Command { command: args.command, workdir }))
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let workdir = match check(bench, &args) {
            Ok(workdir) => workdir,
            Err(error) => return ToolOutcome::failed(&error),
        };
        let in_background = args.background == Some(true);
        if in_background && let Err(error) = bench.jobs.room() {
            return ToolOutcome::failed(&error);
        }
        let started = Instant::now();
        let limit = args.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let fence = bench.confinement.as_ref().filter(|_| args.unsandboxed != Some(true));
        let mut command = command(bench, &args.command, &workdir);
        let ready = fence.map_or(Ok(()), |fence| fence.prepare(&mut command));
        let running = match ready.and_then(|()| bench.processes.spawn(command)) {
            Ok(running) => running,
            Err(error) => {
                let shell = bench.shell.display();
                let text = format!("cannot start {shell}: {error}");
                return ToolOutcome::failed(&ToolError::new("Io", text));
            }
        };
        let spill = Spill { dir: bench.spill_dir.clone(), id: job.id.clone() };
        let capture = Capture::new(bench.mask.clone(), spill);
        let mut watch = Watch::new(running, capture, job.progress.clone());
        let due = |limit: Duration| (tokio::time::Instant::now() + limit, limit);
        // A command that nobody waits for has no time limit but the one that was asked for.
        let asked = limit.map(due);
        if in_background {
            let task = bench.jobs.adopt(watch, &args.command, started, asked);
            return goes_on(&task, "Started in the background", "");
        }
        let deadline = asked.unwrap_or_else(|| due(bench.timeout));
        let end = watch.follow(Some(deadline), &job.cancel, &job.background).await;
        if !matches!(end, End::Moved) {
            return waited_for(watch, &end, &job, started, fence).await;
        }
        let so_far = watch.capture.report();
        let task = bench.jobs.adopt(watch, &args.command, started, asked);
        goes_on(&task, "Moved to the background by the user", &so_far)
    }
}

/// What the schema cannot say: the folder exists and the command can be passed on.
fn check(bench: &Bench, args: &Args) -> Result<PathBuf, ToolError> {
    if args.command.contains('\0') {
        return Err(ToolError::new("InvalidArguments", "the command contains a NUL character"));
    }
    let workdir = bench.absolute_or_workspace(args.workdir.as_deref());
    let error = match std::fs::metadata(&workdir) {
        Ok(found) if found.is_dir() => return Ok(workdir),
        Ok(_) => "it is not a folder".to_owned(),
        Err(error) => error.to_string(),
    };
    let text = format!("cannot run in workdir {}: {error}", workdir.display());
    Err(ToolError::new("InvalidArguments", text))
}

fn command(bench: &Bench, line: &str, workdir: &Path) -> Command {
    let mut command = Command::new(&bench.shell);
    // `..` counts from the place itself, not from a link that led to it: so the shell goes where the
    // gate looked, whatever `PWD` the program itself was started with.
    let real = std::fs::canonicalize(workdir).unwrap_or_else(|_| workdir.to_owned());
    bench.environment.apply(&mut command);
    command.arg("-c").arg(line).env("PWD", &real).env_remove("OLDPWD").current_dir(real);
    command
}

/// The result of a command that somebody waited for.
async fn waited_for(
    mut watch: Watch,
    end: &End,
    job: &Job,
    started: Instant,
    fence: Option<&Confinement>,
) -> ToolOutcome {
    let mut notes = watch.settle(end).await;
    let (status, exit) = judge(end, &mut notes);
    let bytes = watch.capture.raw_bytes();
    let (mut text, file) = watch.capture.finish_saved();
    if status == CallStatus::Error {
        notes.extend(fence.and_then(|fence| fence.explain(&text)));
    }
    // Nobody else sets it, so it is still empty.
    let _first = job.kept.set(Kept { file, notes: notes.clone() });
    if text.is_empty() && notes.is_empty() {
        text.push_str("(no output)");
    }
    for note in notes {
        close_line(&mut text);
        text.push_str(&note);
    }
    let elapsed_ms = started.elapsed().as_millis() as u64;
    let detail = Detail::Shell { exit, elapsed_ms, bytes };
    ToolOutcome::new(status, vec![Block::text(text)]).with_detail(detail)
}

/// The result of a command that goes on by itself.
fn goes_on(job: &jobs::Job, how: &str, so_far: &str) -> ToolOutcome {
    let id = &job.id;
    let mut text = format!(
        "{how} as task {id}. You are told when it has ended; task_output shows what it writes, \
         task_stop ends it."
    );
    if let Ok(path) = &job.file {
        // Writing into a string can't fail.
        let _ = write!(text, " Its output goes to {}.", path.display());
    }
    if !so_far.is_empty() {
        text.push_str("\nThe end of its output so far:\n");
        text.push_str(so_far);
    }
    ToolOutcome::ok(text)
}
