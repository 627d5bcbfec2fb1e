//! The thread that reads the terminal. It sleeps in one `poll` without a time limit, so an idle
//! program never wakes, and it sees a hang-up even where the reading library would spin on it.
//! Everything one read brings travels as one batch.

use std::fs::File;
use std::io::{IsTerminal, Read, Write, stdin};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use crossterm::event::Event as TermEvent;
use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::mpsc;

/// What the thread sends.
#[derive(Debug)]
pub enum Report {
    /// Everything one read brought, in order.
    Batch(Vec<TermEvent>),
    /// The terminal is gone.
    Closed,
}

/// The running thread, seen from the loop.
#[derive(Debug)]
pub struct Reader {
    batches: mpsc::UnboundedReceiver<Report>,
    wake: std::io::PipeWriter,
    paused: std_mpsc::Receiver<()>,
    resume: std_mpsc::Sender<()>,
}

/// Most events in one batch, so that a flood can't keep the loop from drawing.
const BATCH: usize = 4096;

impl Reader {
    /// Starts reading. Bytes typed before are still in the terminal's own buffer and come first.
    pub fn start() -> std::io::Result<Self> {
        let tty = terminal()?;
        let (wake_reader, wake) = std::io::pipe()?;
        let (sender, batches) = mpsc::unbounded_channel();
        let (paused_sender, paused) = std_mpsc::channel();
        let (resume, resume_receiver) = std_mpsc::channel();
        std::thread::Builder::new().name("input".to_owned()).spawn(move || {
            let port =
                Port { tty, wake: wake_reader, paused: paused_sender, resume: resume_receiver };
            port.run(&sender);
            let _gone = sender.send(Report::Closed);
        })?;
        Ok(Self { batches, wake, paused, resume })
    }

    /// The next batch.
    pub async fn next(&mut self) -> Report {
        self.batches.recv().await.unwrap_or(Report::Closed)
    }

    /// A batch that is already there.
    pub fn ready(&mut self) -> Option<Report> {
        self.batches.try_recv().ok()
    }

    /// Stops reading, so that another program can have the terminal. Returns once the thread let
    /// go (at once, or after half a second when it can't).
    pub fn pause(&mut self) {
        if self.wake.write_all(b"p").is_ok() {
            let _held = self.paused.recv_timeout(Duration::from_millis(500));
        }
    }

    /// Reads again.
    pub fn resume(&mut self) {
        let _gone = self.resume.send(());
    }
}

fn terminal() -> std::io::Result<OwnedFd> {
    if stdin().is_terminal() {
        return stdin().as_fd().try_clone_to_owned();
    }
    Ok(File::options().read(true).write(true).open("/dev/tty")?.into())
}

struct Port {
    tty: OwnedFd,
    wake: std::io::PipeReader,
    paused: std_mpsc::Sender<()>,
    resume: std_mpsc::Receiver<()>,
}

impl Port {
    fn run(mut self, sender: &mpsc::UnboundedSender<Report>) {
        loop {
            let (tty, wake) = {
                let mut fds =
                    [PollFd::new(&self.tty, PollFlags::IN), PollFd::new(&self.wake, PollFlags::IN)];
                match poll(&mut fds, None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return,
                }
                (fds[0].revents(), fds[1].revents())
            };
            if tty.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                return;
            }
            if !wake.is_empty() && !self.hold() {
                return;
            }
            if tty.contains(PollFlags::IN) && !forward(sender) {
                return;
            }
        }
    }

    /// Waits while somebody else owns the terminal; false when the program is over.
    fn hold(&mut self) -> bool {
        let mut byte = [0];
        if !matches!(self.wake.read(&mut byte), Ok(1)) {
            return false;
        }
        self.paused.send(()).is_ok() && self.resume.recv().is_ok()
    }
}

/// Passes on all there is to read; false when nobody listens any more. A short look that the system
/// interrupts at the wrong moment sees nothing although the library holds events it has already
/// taken from the terminal, so the end of a burst is only believed after a look with time.
fn forward(sender: &mpsc::UnboundedSender<Report>) -> bool {
    loop {
        let batch = read_batch();
        if !batch.is_empty() && sender.send(Report::Batch(batch)).is_err() {
            return false;
        }
        if !crossterm::event::poll(SETTLE).unwrap_or(false) {
            return true;
        }
    }
}

/// How long the terminal is watched after a burst before the thread sleeps without a limit.
const SETTLE: Duration = Duration::from_millis(100);

/// How long one look at the terminal may take. Not zero: the library then never looks. It asks the
/// system in whole milliseconds, so below one it does not wait.
const LOOK: Duration = Duration::from_micros(50);

fn read_batch() -> Vec<TermEvent> {
    let mut batch = Vec::new();
    while batch.len() < BATCH && crossterm::event::poll(LOOK).unwrap_or(false) {
        match crossterm::event::read() {
            // The size is followed by a signal of our own.
            Ok(TermEvent::Resize(..)) => {}
            Ok(event) => batch.push(event),
            Err(_) => break,
        }
    }
    batch
}
