//! Follows one command to its end: reads what it writes, reports, and stops it when it is cancelled
//! or out of time. Whether somebody waits for it (`bash`) or not ([`super::jobs`]) is their
//! business; a watch can change hands in the middle.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::kernel::event::Progress;
use crate::kernel::message::CallStatus;
use crate::kernel::ports::ProgressSink;

use super::capture::Capture;
use super::process::Running;

/// How long output is awaited after the shell ended.
const DRAIN: Duration = Duration::from_millis(500);
/// A pause in the output that ends the wait early.
const QUIET: Duration = Duration::from_millis(100);
/// The least time between two progress reports.
const REPORT: Duration = Duration::from_millis(50);
/// Bytes read at once: some milliseconds of work at most before other tasks get their turn.
const CHUNK: usize = 16 * 1024;

const RUNS_ON: &str =
    "[a process of this command still runs in the background; it is stopped when codebot ends]";
const HELD: &str =
    "[a process that left this command's session still holds its output and may run on]";

/// How a command came to its end, or out of sight.
#[derive(Debug)]
pub enum End {
    /// The shell ended.
    Exited(std::io::Result<ExitStatus>),
    /// Its time was up.
    TimedOut(Duration),
    /// It was told to stop.
    Cancelled,
    /// It goes on and somebody else is to follow it.
    Moved,
}

/// A command being watched.
#[derive(Debug)]
pub struct Watch {
    running: Running,
    /// What it wrote so far.
    pub capture: Capture,
    reporter: Reporter,
    /// Whether anybody still holds the writing end.
    open: bool,
}

impl Watch {
    /// A watch that reports to `progress`.
    pub fn new(running: Running, capture: Capture, progress: ProgressSink) -> Self {
        Self { running, capture, reporter: Reporter::new(progress), open: true }
    }

    /// Reports to somebody else from now on.
    pub fn report_to(&mut self, progress: ProgressSink) {
        self.reporter = Reporter::new(progress);
        self.reporter.waiting = true;
    }

    /// Reads until the shell ends, `deadline` has come (it was set `limit` ago), or one of the
    /// tokens fires.
    pub async fn follow(
        &mut self,
        deadline: Option<(Instant, Duration)>,
        cancel: &CancellationToken,
        background: &CancellationToken,
    ) -> End {
        let limit = deadline.map(|(_, limit)| limit).unwrap_or_default();
        let over = async move {
            match deadline {
                Some((at, _)) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(over);
        let mut buffer = vec![0; CHUNK];
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return End::Cancelled,
                () = background.cancelled() => return End::Moved,
                () = &mut over => return End::TimedOut(limit),
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

    /// Stops what is to be stopped, reads what is left, and says what remains of the command.
    pub async fn settle(&mut self, end: &End) -> Vec<String> {
        match end {
            End::Exited(_) => {
                self.drain(DRAIN, QUIET).await;
                if self.running.let_go(self.open) {
                    return vec![RUNS_ON.to_owned()];
                } else if self.open {
                    return vec![HELD.to_owned()];
                }
            }
            End::TimedOut(_) | End::Cancelled => {
                self.running.stop().await;
                self.drain(QUIET, QUIET / 5).await;
            }
            End::Moved => {}
        }
        Vec::new()
    }

    /// Reads what is still in the pipe: until its end, a pause, or for `most`.
    async fn drain(&mut self, most: Duration, pause: Duration) {
        let end = Instant::now() + most;
        let mut buffer = vec![0; CHUNK];
        while self.open {
            let read = timeout(pause, self.running.output.read(&mut buffer));
            match timeout_at(end, read).await {
                Ok(Ok(read)) => self.take(read, &buffer),
                Ok(Err(_)) | Err(_) => return,
            }
            if Instant::now() >= end {
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
}

/// What an end means for a result; words that the model should see go to `notes`.
pub fn judge(end: &End, notes: &mut Vec<String>) -> (CallStatus, Option<i32>) {
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
        End::Moved => (CallStatus::Ok, None),
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
#[derive(Debug)]
struct Reporter {
    progress: ProgressSink,
    last: Option<Instant>,
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
    fn due(&self) -> Instant {
        let now = Instant::now();
        self.last.map_or(now, |last| last + REPORT)
    }

    fn report(&mut self, capture: &Capture) {
        let due = self.due();
        if !self.waiting || Instant::now() < due {
            return;
        }
        self.waiting = false;
        let tail = capture.report();
        if tail == self.sent {
            return;
        }
        self.last = Some(Instant::now());
        self.sent.clone_from(&tail);
        self.progress.send(Progress::Output { tail, bytes: capture.raw_bytes() });
    }
}
