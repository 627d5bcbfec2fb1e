//! Commands in sessions of their own: spawn without a terminal, stop with TERM and then KILL, and
//! know what is left over. A session is found by its id, so that a process that made a group of
//! its own inside it is stopped as well; one that made a new session is out of reach.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Child;
use tokio::task::AbortHandle;

/// How long a process may take to end after TERM.
pub const GRACE: Duration = Duration::from_millis(500);
/// How often a stopped session is looked at.
const POLL: Duration = Duration::from_millis(10);

/// The sessions that were started and may still hold processes.
#[derive(Debug, Default)]
pub struct Processes {
    sessions: Mutex<Vec<Session>>,
    /// Readers of output that nobody waits for any more.
    drains: Mutex<Vec<AbortHandle>>,
}

impl Processes {
    /// Starts the command with stdout and stderr on one pipe, so that their order is kept.
    pub fn spawn(self: &Arc<Self>, mut command: Command) -> io::Result<Running> {
        self.edit(|sessions| sessions.retain(|session| session.is_alive()));
        let (reader, writer) = io::pipe()?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        lead_session(&mut command);
        let output = Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let mut command = tokio::process::Command::from(command);
        let child = command.spawn()?;
        let session = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let session = Session(session.ok_or(io::ErrorKind::NotFound)?);
        self.edit(|sessions| sessions.push(session));
        Ok(Running {
            child,
            output: Output(Some(output)),
            session,
            processes: self.clone(),
            left: false,
        })
    }

    /// Whether anything that was started may still run. Costs little when nothing does.
    pub fn any_alive(&self) -> bool {
        self.edit(|sessions| {
            sessions.retain(|session| session.is_alive());
            !sessions.is_empty()
        })
    }

    /// Stops everything that still runs; blocks until it is gone, for [`GRACE`] at most.
    pub fn stop_all(&self) {
        let mut sessions = self.edit(std::mem::take);
        // The number of a session that has ended may by now be somebody else's.
        sessions.retain(|session| session.is_alive());
        for session in &sessions {
            session.signal(Signal::TERM);
        }
        let end = Instant::now() + GRACE;
        while Instant::now() < end && sessions.iter().any(|session| session.is_alive()) {
            std::thread::sleep(POLL);
        }
        for session in &sessions {
            session.signal(Signal::KILL);
        }
        let mut drains = self.drains.lock().unwrap_or_else(PoisonError::into_inner);
        drains.drain(..).for_each(|drain| drain.abort());
    }

    /// Reads and forgets. A process that writes to a pipe without a reader would be killed by it.
    fn drain(&self, mut output: Receiver) {
        let drain = tokio::spawn(async move {
            let mut buffer = vec![0; 4096];
            while matches!(output.read(&mut buffer).await, Ok(1..)) {}
        });
        let mut drains = self.drains.lock().unwrap_or_else(PoisonError::into_inner);
        drains.retain(|drain| !drain.is_finished());
        drains.push(drain.abort_handle());
    }

    fn edit<T>(&self, change: impl FnOnce(&mut Vec<Session>) -> T) -> T {
        change(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The reading end of a command's output.
#[derive(Debug)]
pub struct Output(Option<Receiver>);

impl Output {
    /// Reads some bytes; none when everybody has closed the writing end.
    pub async fn read(&mut self, buffer: &mut [u8]) -> usize {
        match &mut self.0 {
            Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
            None => 0,
        }
    }
}

/// A command under way. Dropping it kills the session, unless it was let go.
#[derive(Debug)]
pub struct Running {
    /// The shell itself.
    pub child: Child,
    /// What it writes.
    pub output: Output,
    session: Session,
    processes: Arc<Processes>,
    left: bool,
}

impl Running {
    /// Asks the session to end, waits, and kills what is left of it.
    pub async fn stop(&mut self) {
        self.session.signal(Signal::TERM);
        let end = tokio::time::Instant::now() + GRACE;
        while tokio::time::Instant::now() < end {
            let ended = matches!(self.child.try_wait(), Ok(Some(_)) | Err(_));
            if ended && !self.session.is_alive() {
                return;
            }
            tokio::time::sleep(POLL).await;
        }
        self.session.signal(Signal::KILL);
        // A killed child can be collected at once unless the system holds it in a device call.
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
    }

    /// The shell has ended: whatever runs on does so until the program ends, and what it writes is
    /// thrown away. Returns whether anything runs on.
    pub fn let_go(&mut self, open: bool) -> bool {
        self.left = true;
        if let Some(output) = self.output.0.take().filter(|_| open) {
            self.processes.drain(output);
        }
        let alive = self.session.is_alive();
        if !alive {
            let session = self.session;
            self.processes.edit(|sessions| sessions.retain(|other| *other != session));
        }
        alive
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.left {
            self.session.signal(Signal::KILL);
            let session = self.session;
            self.processes.edit(|sessions| sessions.retain(|other| *other != session));
        }
    }
}

/// A session, named by the process that led it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Session(Pid);

impl Session {
    fn signal(self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.0, signal);
        for pid in members(self.0).unwrap_or_default() {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn is_alive(self) -> bool {
        members(self.0).map_or_else(
            || rustix::process::test_kill_process_group(self.0).is_ok(),
            |members| !members.is_empty(),
        )
    }
}

/// The living processes of a session; those that only wait to be collected do not count. `None`
/// where the system does not tell.
#[cfg(target_os = "linux")]
fn members(session: Pid) -> Option<Vec<Pid>> {
    let entries = std::fs::read_dir("/proc").ok()?;
    let pid = |entry: io::Result<std::fs::DirEntry>| {
        entry.ok()?.file_name().to_str()?.parse::<i32>().ok().filter(|pid| *pid > 0)
    };
    let members = entries
        .filter_map(pid)
        .filter(|pid| session_of(*pid) == Some(session.as_raw_nonzero().get()))
        .filter_map(Pid::from_raw);
    Some(members.collect())
}

#[cfg(not(target_os = "linux"))]
fn members(_: Pid) -> Option<Vec<Pid>> {
    None
}

/// The session of a living process: the fourth field after the name, which stands in parentheses
/// and may itself hold any character.
#[cfg(target_os = "linux")]
fn session_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(2)?.parse().ok()
}

#[expect(unsafe_code, reason = "a new session can only be made between fork and exec")]
fn lead_session(command: &mut Command) {
    let processes = most_processes();
    // SAFETY: the closure runs in the forked child and makes system calls only; it allocates nothing
    // and takes no lock.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            limit(processes)
        });
    }
}

/// Processes and threads that a command may add to what runs already. Far above honest builds; a
/// command that multiplies without end stops here and not when the machine does.
const MORE_PROCESSES: u64 = 4096;

/// The limit of processes for a command; `None` where the system does not tell how many there are.
/// The system counts all of the user's, so what runs already is added. It does not bind root.
fn most_processes() -> Option<u64> {
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    let total = load.split_ascii_whitespace().nth(3)?.split('/').nth(1)?;
    Some(total.parse::<u64>().ok()? + MORE_PROCESSES)
}

/// Limits the calling process: no file with its memory when it crashes, no endless multiplying.
fn limit(processes: Option<u64>) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    let Some(most) = processes else { return Ok(()) };
    let now = getrlimit(Resource::Nproc);
    let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    let limits = Rlimit { current: lower(now.current), maximum: now.maximum };
    Ok(setrlimit(Resource::Nproc, limits)?)
}
