//! One prompt from the open session to the exit code: waits for the application, sends the prompt,
//! passes every event on, and closes everything on the way out, whatever happens.

use std::io;
use std::time::Duration;

use super::exit;
use super::report::Report;
use super::signals::{Signals, Stop};
use crate::app::service::{Failure, Front, Request, Setup, Update};
use crate::kernel::command::{Answer, Command};
use crate::kernel::event::{Event, RunSummary};
use crate::kernel::message::{Block, CallId};
use crate::kernel::question::Replies;

/// How long a stopped run may take to end.
const ABORT_LIMIT: Duration = Duration::from_secs(10);
/// How long closing may take: journal, processes (3 s for a stubborn process group).
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// Runs `prompt` and returns the exit code.
pub async fn drive(front: Front, prompt: &str, report: Box<dyn Report>, signals: Signals) -> u8 {
    let mut driver =
        Driver { front, report, signals, stopping: None, run_seen: false, denied_here: 0 };
    let outcome = driver.work(prompt).await;
    driver.finish(outcome).await
}

/// Why the work ended early.
enum End {
    /// With this code, everything said.
    Code(u8),
    /// A second signal: leave at once.
    Now(u8),
    /// Nobody reads stdout any more.
    Unread,
    /// Stdout can't be written.
    Unwritable(io::Error),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Unread,
            _ => Self::Unwritable(error),
        }
    }
}

/// The first signal and the moment by which the run must have ended.
#[derive(Clone, Copy)]
struct Stopping {
    stop: Stop,
    until: tokio::time::Instant,
}

struct Driver {
    front: Front,
    report: Box<dyn Report>,
    signals: Signals,
    stopping: Option<Stopping>,
    run_seen: bool,
    denied_here: u32,
}

impl Driver {
    async fn work(&mut self, prompt: &str) -> Result<u8, End> {
        self.open().await?;
        let blocks = vec![Block::text(prompt)];
        self.front.handle.send(Command::Prompt { blocks });
        loop {
            if let Some(code) = self.step().await? {
                return Ok(code);
            }
        }
    }

    /// Waits until prompts are taken.
    async fn open(&mut self) -> Result<(), End> {
        loop {
            let update = tokio::select! {
                update = self.front.updates.recv() => update,
                stop = self.signals.next() => return Err(End::Code(stop.exit_code)),
            };
            match update {
                Some(Update::Ready(ready)) => {
                    self.report.ready(&ready);
                    return Ok(());
                }
                Some(update) => self.update(update)?,
                None => return Err(self.lost()?),
            }
        }
    }

    /// Waits for one thing and deals with it; the code when the run is over.
    async fn step(&mut self) -> Result<Option<u8>, End> {
        tokio::select! {
            // Signals first: a flood of events must not starve them. Updates last: a failure of the
            // application must not overtake what the run still says.
            biased;
            stop = self.signals.next() => self.stop(stop).map(|()| None),
            event = self.front.events.recv() => match event {
                Some(event) => self.event(&event),
                None => Err(self.lost()?),
            },
            Some(update) = self.front.updates.recv() => self.update(update).map(|()| None),
            () = overdue(self.stopping) => Err(End::Code(self.code(exit::INTERRUPTED))),
        }
    }

    fn event(&mut self, event: &Event) -> Result<Option<u8>, End> {
        match event {
            Event::RunEnd { summary } => return self.ended(summary).map(Some),
            // The prompt itself was refused: no run will come.
            Event::Rejected { reason } if !self.run_seen => {
                self.report.failed(reason)?;
                return Ok(Some(self.code(exit::ERROR)));
            }
            Event::RunStart { .. } => self.run_seen = true,
            Event::ApprovalAsked { approval } => self.refuse(approval.call.id.clone()),
            _ => {}
        }
        self.report.event(event)?;
        Ok(None)
    }

    fn ended(&mut self, summary: &RunSummary) -> Result<u8, End> {
        self.report.finished(summary)?;
        let code = match exit::code(summary) {
            exit::OK if self.denied_here > 0 => exit::DENIED,
            code => code,
        };
        Ok(self.code(code))
    }

    /// Nobody is here to be asked; an application that asks all the same gets its answer.
    fn refuse(&mut self, id: CallId) {
        self.denied_here += 1;
        let words = Some("nobody can be asked in this run".to_owned());
        self.front.handle.send(Command::Answer { id, answer: Answer::Deny { words } });
    }

    fn update(&mut self, update: Update) -> Result<(), End> {
        match update {
            Update::Ready(_)
            | Update::Branch(_)
            | Update::Jobs(_)
            | Update::Context(_)
            | Update::List(_)
            | Update::Skills(_)
            | Update::Edit { .. }
            | Update::Model { .. }
            | Update::Rewound { .. }
            | Update::QuestionClosed { .. }
            | Update::SetupDone => Ok(()),
            Update::Notice { level, text } => {
                self.report.notice(level, &text);
                Ok(())
            }
            // Without anybody there is no tool that asks.
            Update::Question { id, .. } => {
                self.front.handle.request(Request::Reply { id, replies: Replies::Nobody });
                Ok(())
            }
            Update::Setup(setup) => {
                self.report.failed(&no_model(&setup))?;
                Err(End::Code(exit::PROVIDER))
            }
            Update::Failed(Failure { message, exit_code }) => {
                self.report.failed(&message)?;
                Err(End::Code(exit_code))
            }
            Update::Closed => Err(self.lost()?),
        }
    }

    fn stop(&mut self, stop: Stop) -> Result<(), End> {
        if self.stopping.is_some() {
            return Err(End::Now(stop.exit_code));
        }
        let until = tokio::time::Instant::now() + ABORT_LIMIT;
        self.stopping = Some(Stopping { stop, until });
        self.front.handle.send(Command::Abort);
        Ok(())
    }

    /// The application went away in the middle.
    fn lost(&mut self) -> Result<End, End> {
        self.report.failed("the application closed before the run ended")?;
        Ok(End::Code(self.code(exit::ERROR)))
    }

    /// A signal outweighs what the run itself came to.
    fn code(&self, code: u8) -> u8 {
        self.stopping.map_or(code, |stopping| stopping.stop.exit_code)
    }

    async fn finish(mut self, outcome: Result<u8, End>) -> u8 {
        let code = match outcome {
            Ok(code) | Err(End::Code(code)) => code,
            Err(End::Unread) => exit::OK,
            Err(End::Now(code)) => return code,
            Err(End::Unwritable(error)) => {
                let _reported = self.report.failed(&format!("cannot write to stdout: {error}"));
                exit::ERROR
            }
        };
        self.front.handle.request(Request::Shutdown);
        tokio::select! {
            // A run that is being aborted must not wait for a full channel.
            () = drain(&mut self.front) => code,
            stop = self.signals.next() => stop.exit_code,
            () = tokio::time::sleep(CLOSE_LIMIT) => code,
        }
    }
}

/// Reads until the application is closed.
async fn drain(front: &mut Front) {
    loop {
        tokio::select! {
            update = front.updates.recv() => {
                if matches!(update, None | Some(Update::Closed)) {
                    return;
                }
            }
            Some(_) = front.events.recv() => {}
        }
    }
}

async fn overdue(stopping: Option<Stopping>) {
    match stopping {
        Some(stopping) => tokio::time::sleep_until(stopping.until).await,
        None => std::future::pending().await,
    }
}

/// What to do without a model, one remedy a line.
fn no_model(setup: &Setup) -> String {
    let mut lines = vec![format!("no model configured: {}", setup.reason)];
    for server in &setup.servers {
        let model = server.models.first();
        lines.extend(model.map(|name| format!("  {} answers: codebot -m {name}", server.label)));
    }
    for provider in &setup.providers {
        lines.push(format!("  {}: set {}", provider.label, provider.key_env));
    }
    lines.push("  without a model: codebot --demo".to_owned());
    lines.join("\n")
}
