//! Background jobs as the application sees them: their list for the screen, and the run that the
//! end of one may start.

use std::sync::Arc;

use tokio::sync::watch;

use crate::kernel::command::Command;
use crate::kernel::ports::Notices;
use crate::tools::Tools;
use crate::tools::jobs::one_line;

use super::build::Session;
use super::service::{Entry, JobLine, ListKind, Listing, Offer, Pick, Verb};
use crate::tools::output;

/// Characters of a command in a list; the whole one stands below it.
const COMMAND_CHARS: usize = 60;

/// All jobs of the session, oldest first.
pub fn lines(tools: &Tools) -> Vec<JobLine> {
    let line = |job: &Arc<crate::tools::jobs::Job>| JobLine {
        id: job.id.clone(),
        command: job.command.clone(),
        status: job.status(),
        running: job.is_running(),
        elapsed_ms: u64::try_from(job.elapsed().as_millis()).unwrap_or(u64::MAX),
        bytes: job.bytes(),
    };
    tools.jobs().all().iter().map(line).collect()
}

/// The same as a list to choose from.
pub fn listing(tools: &Tools) -> Listing {
    let entry = |job: JobLine| {
        let (time, size) = (format!("{} s", job.elapsed_ms / 1000), output::size(job.bytes));
        let name = format!("{} {}", job.id, one_line(&job.command, COMMAND_CHARS));
        let status = job.status;
        Entry::new(job.id, name).column(status).column(time).column(size).note(job.command)
    };
    let empty = "no command was started in the background; ctrl+b moves one there";
    Listing {
        entries: lines(tools).into_iter().rev().map(entry).collect(),
        offers: vec![Offer::new(Verb::Remove, "stops it").confirmed()],
        ..Listing::new(ListKind::Tasks, "Background tasks", empty)
    }
}

/// Stops the task that was picked. One that has ended stays as it is.
pub async fn pick(session: &Session, pick: &Pick) {
    if let (Verb::Remove, Ok(job)) = (pick.verb, session.tools.jobs().find(&pick.id)) {
        job.stop().await;
    }
}

/// Watches the jobs of one session.
#[derive(Debug)]
pub struct JobDesk {
    changes: watch::Receiver<u64>,
    /// Whether news may start a run.
    wake: bool,
    /// There may be news that nobody was told of.
    stale: bool,
}

impl JobDesk {
    /// A desk for that session.
    pub fn new(session: &Session, wake: bool) -> Self {
        Self { changes: session.tools.jobs().subscribe(), wake, stale: false }
    }

    /// Ends when a job has started or ended. While no run is active it starts one for news, if it
    /// may. Cancel-safe.
    pub async fn next(&mut self, session: &Session) {
        loop {
            tokio::select! {
                changed = self.changes.changed() => {
                    if changed.is_err() {
                        // The session is closed; there will be no more news.
                        std::future::pending::<()>().await;
                    }
                    self.stale = self.wake;
                    return;
                }
                () = session.agent.idle(), if self.stale => {
                    self.stale = false;
                    if !session.tools.jobs().peek().is_empty() {
                        session.agent.send(Command::Continue);
                    }
                }
            }
        }
    }
}
