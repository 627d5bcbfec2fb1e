//! The application's task: starts, takes the front end's requests in order, ends everything.

use tokio::sync::mpsc;

use crate::kernel::command::{Command, Mode, Setting};
use crate::kernel::event::Event;
use crate::model::resolve::ResolveError;

use super::build::{self, Chosen, Session};
use super::ground::Ground;
use super::jobs::{self, JobDesk};
use super::service::{Failure, Front, Handle, Launch, Level, Request, SetupChoice, Update};
use super::{branch, context, lists, logging, setup};

/// Loop events on their way to the front end; a live run waits when it is full (the spec's 128).
const EVENT_CAPACITY: usize = 128;

/// Starts the application in the background; must be called within the runtime.
pub fn launch(launch: Launch) -> Front {
    let (handle, requests) = Handle::channel();
    let (event_sender, events) = mpsc::channel(EVENT_CAPACITY);
    let (updates, update_receiver) = mpsc::unbounded_channel();
    let task = Application { requests, events: event_sender, updates };
    tokio::spawn(task.run(launch));
    Front { handle, events, updates: update_receiver }
}

#[derive(Debug)]
struct Application {
    requests: mpsc::UnboundedReceiver<Request>,
    events: mpsc::Sender<Event>,
    updates: mpsc::UnboundedSender<Update>,
}

/// A start that found a model.
struct Started {
    ground: Ground,
    launch: Launch,
    chosen: Chosen,
    _log: Option<logging::Guard>,
}

impl Application {
    async fn run(mut self, launch: Launch) {
        match self.start(launch).await {
            Ok(Some(mut started)) => {
                if let Err(failure) = self.serve(&mut started).await {
                    self.tell(Update::Failed(failure));
                }
            }
            Ok(None) => {}
            Err(failure) => self.tell(Update::Failed(failure)),
        }
        self.tell(Update::Closed);
    }

    fn tell(&self, update: Update) {
        // A front end that is gone needs no news.
        let _gone = self.updates.send(update);
    }

    fn notice(&self, level: Level, text: String) {
        self.tell(Update::Notice { level, text });
    }

    /// Finds ground and model, with the set-up panel's help where needed. `None` on shutdown.
    async fn start(&mut self, mut launch: Launch) -> Result<Option<Started>, Failure> {
        let mut log = None;
        loop {
            let ground = blocking({
                let launch = launch.clone();
                move || Ground::gather(&launch)
            })
            .await?;
            log = log.or_else(|| logging::start(&ground));
            for warning in &ground.settings.warnings {
                self.notice(Level::Warning, warning.clone());
            }
            match build::choose_model(&ground, &launch) {
                Ok(chosen) => return Ok(Some(Started { ground, launch, chosen, _log: log })),
                Err(error @ (ResolveError::NoModel | ResolveError::NoKey { .. })) => {
                    let Some(choice) = self.set_up(&ground, error.to_string()).await else {
                        return Ok(None);
                    };
                    launch = setup::apply(&ground, &launch, choice)?;
                }
                Err(error) => {
                    return Err(Failure { message: error.to_string(), exit_code: 5 });
                }
            }
        }
    }

    /// Offers the ways on, adds local servers when they answer, and waits for a choice.
    async fn set_up(&mut self, ground: &Ground, reason: String) -> Option<SetupChoice> {
        let mut offers = setup::offers(reason);
        self.tell(Update::Setup(offers.clone()));
        let probing = setup::servers(ground);
        tokio::pin!(probing);
        let mut probed = false;
        loop {
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(Request::Setup(choice)) => return Some(choice),
                    Some(Request::Shutdown) | None => return None,
                    // All others are about a session.
                    Some(_) => {}
                },
                servers = &mut probing, if !probed => {
                    probed = true;
                    if !servers.is_empty() {
                        offers.servers = servers;
                        self.tell(Update::Setup(offers.clone()));
                    }
                }
            }
        }
    }

    async fn serve(&mut self, started: &mut Started) -> Result<(), Failure> {
        let mode = started.ground.settings.config.permission_mode;
        let resume = started.launch.resume;
        let mut session = self.open(started, mode, resume)?;
        if !started.chosen.demo {
            crate::model::warm();
        }
        self.tell(Update::Branch(branch::current(&started.ground.cwd)));
        let wake = started.ground.settings.config.background.wake;
        let mut desk = JobDesk::new(&session, wake);
        loop {
            let request = tokio::select! {
                request = self.requests.recv() => request,
                () = desk.next(&session) => {
                    self.tell(Update::Jobs(jobs::lines(&session.tools)));
                    continue;
                }
            };
            match request {
                Some(Request::Loop(Command::Answer { id, answer }))
                    if session.desk.answer(&id, &answer) => {}
                Some(Request::Loop(command)) => session.agent.send(command),
                Some(Request::Jobs) => self.tell(Update::Jobs(jobs::lines(&session.tools))),
                Some(Request::Context) => self.tell(Update::Context(context::report(&session))),
                Some(Request::List(kind)) => self.tell(Update::List(lists::make(&session, kind))),
                Some(Request::Pick(pick)) => {
                    for update in lists::pick(&session, &pick).await {
                        self.tell(update);
                    }
                }
                Some(Request::NewSession) => {
                    let mode = current_mode(&session);
                    close(&session).await;
                    session = self.open(started, mode, false)?;
                    desk = JobDesk::new(&session, wake);
                }
                // The choice was made; a second click on it changes nothing.
                Some(Request::Setup(_)) => {}
                Some(Request::Shutdown) | None => break,
            }
        }
        close(&session).await;
        Ok(())
    }

    fn open(&self, started: &Started, mode: Mode, resume: bool) -> Result<Session, Failure> {
        let Started { ground, launch, chosen, .. } = started;
        let session = tokio::task::block_in_place(|| {
            build::open(ground, launch, chosen, mode, resume, self.events.clone())
        })
        .map_err(|message| Failure { message, exit_code: 1 })?;
        self.tell(Update::Ready(Box::new(session.ready.clone())));
        for text in &session.notices {
            self.notice(Level::Warning, text.clone());
        }
        // The gate may know better than the settings; the screen shows what is in force.
        session.agent.send(Command::Configure(Setting::Mode(mode)));
        Ok(session)
    }
}

fn current_mode(session: &Session) -> Mode {
    use crate::kernel::ports::Gate;
    session.gate.mode()
}

async fn close(session: &Session) {
    session.agent.shutdown().await;
    session.tools.stop_all();
}

/// Runs file work off the async workers.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(Failure { message: format!("the start did not complete: {error}"), exit_code: 1 })
    })
}
