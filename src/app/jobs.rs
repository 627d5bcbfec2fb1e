//! Background jobs as the application sees them: their list for the screen, and the run that the
//! end of one may start.

use std::sync::Arc;

use tokio::sync::watch;

use crate::kernel::command::Command;
use crate::kernel::ports::Notices;
use crate::tools::Tools;

use super::build::Session;
use super::service::JobLine;

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
