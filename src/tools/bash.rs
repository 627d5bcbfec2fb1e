//! `bash`: one command line, its output and how it ended. It returns when the shell ends, not when
//! the last holder of its output does, and it always stops what it started when it is cancelled or
//! out of time.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::{sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::kernel::error::ToolError;
use crate::kernel::event::{Preview, Progress};
use crate::kernel::message::{Block, CallId, CallStatus, Detail};
use crate::kernel::ports::{Access, ProgressSink, ToolOutcome};

use super::bench::Bench;
use super::capture::{Capture, Spill, close_line};
use super::process::Running;
use super::{Job, Tool};

/// How long output is awaited after the shell ended.
const DRAIN: Duration = Duration::from_millis(500);
/// A pause in the output that ends the wait early.
const QUIET: Duration = Duration::from_millis(100);
/// The least time between two progress reports.
const REPORT: Duration = Duration::from_millis(50);
/// Bytes read at once: some milliseconds of work at most before other tasks get their turn.
const CHUNK: usize = 16 * 1024;

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
    /// What the command is for, in a few words, for the user.
    #[serde(rename = "description")]
    _description: Option<String>,
}

impl Tool for Bash {
    type Args = Args;

    fn access(bench: &Bench, args: &Args) -> Vec<Access> {
        let workdir = bench.absolute_or_workspace(args.workdir.as_deref());
        vec![Access::Shell { command: args.command.clone(), workdir }]
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
        let started = Instant::now();
        let limit = args.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let limit = limit.unwrap_or(bench.timeout);
        let running = match bench.processes.spawn(command(bench, &args.command, &workdir)) {
            Ok(running) => running,
            Err(error) => {
                let shell = bench.shell.display();
                let text = format!("cannot start {shell}: {error}");
                return ToolOutcome::failed(&ToolError::new("Io", text));
            }
        };
        let spill = Spill { dir: bench.spill_dir.clone(), id: job.id.clone() };
        let capture = Capture::new(bench.mask.clone(), spill);
        let watch = Watch { running, capture, reporter: Reporter::new(job.progress), open: true };
        watch.finish(limit, &job.cancel, started).await
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

/// How a command came to its end.
enum End {
    Exited(std::io::Result<ExitStatus>),
    TimedOut(Duration),
    Cancelled,
}

/// A command being watched.
struct Watch {
    running: Running,
    capture: Capture,
    reporter: Reporter,
    /// Whether anybody still holds the writing end.
    open: bool,
}

impl Watch {
    async fn finish(
        mut self,
        limit: Duration,
        cancel: &CancellationToken,
        started: Instant,
    ) -> ToolOutcome {
        let end = self.follow(limit, cancel).await;
        let mut notes = Vec::new();
        match &end {
            End::Exited(_) => {
                self.drain(DRAIN, QUIET).await;
                if self.running.let_go(self.open) {
                    notes.push(RUNS_ON.to_owned());
                } else if self.open {
                    notes.push(HELD.to_owned());
                }
            }
            End::TimedOut(_) | End::Cancelled => {
                self.running.stop().await;
                self.drain(QUIET, QUIET / 5).await;
            }
        }
        self.outcome(&end, notes, started)
    }

    /// Reads until the shell ends, time is up or the call is cancelled.
    async fn follow(&mut self, limit: Duration, cancel: &CancellationToken) -> End {
        let deadline = tokio::time::Instant::now() + limit;
        let mut buffer = vec![0; CHUNK];
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return End::Cancelled,
                () = sleep_until(deadline) => return End::TimedOut(limit),
                read = self.running.output.read(&mut buffer), if self.open => {
                    self.take(read, &buffer);
                    // Output that never pauses must not keep the thread from everybody else, nor
                    // hide that the shell has ended.
                    tokio::task::yield_now().await;
                    if let Ok(Some(status)) = self.running.child.try_wait() {
                        return End::Exited(Ok(status));
                    }
                }
                status = self.running.child.wait() => return End::Exited(status),
                () = sleep_until(self.reporter.due()), if self.reporter.waits() => {}
            }
            self.reporter.report(&self.capture);
        }
    }

    /// Reads what is still in the pipe: until its end, a pause, or for `most`.
    async fn drain(&mut self, most: Duration, pause: Duration) {
        let end = tokio::time::Instant::now() + most;
        let mut buffer = vec![0; CHUNK];
        while self.open {
            let read = timeout(pause, self.running.output.read(&mut buffer));
            match timeout_at(end, read).await {
                Ok(Ok(read)) => self.take(read, &buffer),
                Ok(Err(_)) | Err(_) => return,
            }
            if tokio::time::Instant::now() >= end {
                return;
            }
        }
    }

    /// Takes what was read; nothing means that the pipe has ended.
    fn take(&mut self, read: usize, buffer: &[u8]) {
        if read == 0 {
            self.open = false;
        } else {
            self.capture.push(&buffer[..read]);
            self.reporter.waiting = true;
        }
    }

    fn outcome(self, end: &End, mut notes: Vec<String>, started: Instant) -> ToolOutcome {
        let (status, exit) = judge(end, &mut notes);
        let bytes = self.capture.raw_bytes();
        let mut text = self.capture.finish();
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
}

const RUNS_ON: &str =
    "[a process of this command still runs in the background; it is stopped when codebot ends]";
const HELD: &str =
    "[a process that left this command's session still holds its output and may run on]";

fn judge(end: &End, notes: &mut Vec<String>) -> (CallStatus, Option<i32>) {
    use std::os::unix::process::ExitStatusExt;
    match end {
        End::Exited(Ok(status)) => match status.code() {
            Some(0) => (CallStatus::Ok, Some(0)),
            Some(code) => {
                notes.insert(0, format!("exit code {code}"));
                (CallStatus::Error, Some(code))
            }
            None => {
                let signal = status.signal().unwrap_or_default();
                notes.insert(0, format!("ended by signal {signal}{}", signal_name(signal)));
                (CallStatus::Error, None)
            }
        },
        End::Exited(Err(error)) => {
            notes.insert(0, format!("how it ended is unknown: {error}"));
            (CallStatus::Error, None)
        }
        End::TimedOut(limit) => {
            let seconds = limit.as_secs_f64();
            notes.push(format!("[timed out after {seconds} s; all it had started was stopped]"));
            (CallStatus::TimedOut, None)
        }
        End::Cancelled => {
            notes.push("[cancelled; all it had started was stopped]".to_owned());
            (CallStatus::Cancelled, None)
        }
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        2 => " (INT)",
        6 => " (ABRT)",
        9 => " (KILL)",
        11 => " (SEGV)",
        13 => " (PIPE)",
        15 => " (TERM)",
        _ => "",
    }
}

/// Sends reports, but not too many and none twice.
struct Reporter {
    progress: ProgressSink,
    last: Option<tokio::time::Instant>,
    sent: String,
    waiting: bool,
}

impl Reporter {
    fn new(progress: ProgressSink) -> Self {
        Self { progress, last: None, sent: String::new(), waiting: false }
    }

    fn waits(&self) -> bool {
        self.waiting
    }

    /// When the next report may be sent; the first one at once.
    fn due(&self) -> tokio::time::Instant {
        let now = tokio::time::Instant::now();
        self.last.map_or(now, |last| last + REPORT)
    }

    fn report(&mut self, capture: &Capture) {
        let due = self.due();
        if !self.waiting || tokio::time::Instant::now() < due {
            return;
        }
        self.waiting = false;
        let tail = capture.report();
        if tail == self.sent {
            return;
        }
        self.last = Some(tokio::time::Instant::now());
        self.sent.clone_from(&tail);
        self.progress.send(Progress::Output { tail, bytes: capture.raw_bytes() });
    }
}
