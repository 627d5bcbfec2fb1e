//! SIGINT, SIGTERM and SIGHUP as a stream: the first asks the run to stop, the second ends the
//! program. A SIGHUP that was ignored at the start (`nohup`) stays ignored.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::exit;

/// A wish to stop, with the exit code that tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// 129, 130 or 143.
    pub exit_code: u8,
}

/// Where wishes to stop come from.
#[derive(Debug)]
pub struct Signals {
    source: Source,
}

#[derive(Debug)]
enum Source {
    #[cfg(unix)]
    Process {
        interrupt: Signal,
        terminate: Signal,
        hangup: Option<Signal>,
    },
    Channel(mpsc::UnboundedReceiver<Stop>),
}

impl Signals {
    /// Listens to the process's signals from now on.
    ///
    /// # Errors
    ///
    /// The handlers can't be installed.
    #[cfg(unix)]
    pub fn listen() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        let hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { source: Source::Process { interrupt, terminate, hangup } })
    }

    /// Listens to Ctrl+C from now on.
    #[cfg(not(unix))]
    pub fn listen() -> io::Result<Self> {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if sender.send(Stop { exit_code: exit::INTERRUPTED }).is_err() {
                    break;
                }
            }
        });
        Ok(Self { source: Source::Channel(receiver) })
    }

    /// Wishes from a channel, for drivers that own the signals themselves.
    pub fn from_channel(receiver: mpsc::UnboundedReceiver<Stop>) -> Self {
        Self { source: Source::Channel(receiver) }
    }

    /// The next wish; never ends when there can be none. Safe to cancel.
    pub async fn next(&mut self) -> Stop {
        match &mut self.source {
            #[cfg(unix)]
            Source::Process { interrupt, terminate, hangup } => tokio::select! {
                Some(()) = interrupt.recv() => Stop { exit_code: exit::INTERRUPTED },
                Some(()) = terminate.recv() => Stop { exit_code: exit::TERMINATED },
                Some(()) = heard(hangup) => Stop { exit_code: exit::HUNG_UP },
                else => std::future::pending().await,
            },
            Source::Channel(receiver) => match receiver.recv().await {
                Some(stop) => stop,
                None => std::future::pending().await,
            },
        }
    }
}

#[cfg(unix)]
async fn heard(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => None,
    }
}

/// Whether whoever started us asked to outlive the terminal. Where the system does not tell, it
/// did not.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit n - 1 stands for signal n; SIGHUP is 1.
    mask.is_some_and(|mask| mask & 1 != 0)
}
