//! The application's task: starts, with the set-up's help where there is no model, and ends
//! everything. What happens while a session is open is in [`super::sitting`].

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use crate::config::edit;
use crate::kernel::command::{Command, Mode, Setting};
use crate::kernel::event::Event;
use crate::model::offered::KeyCheck;
use crate::model::providers::row;
use crate::model::resolve::ResolveError;

use super::asking::Counter;
use super::build::{self, Chosen, Session};
use super::ground::Ground;
use super::login::{self, Tried};
use super::service::{Failure, Front, Handle, Launch, Level, Request, Setup, SetupChoice, Update};
use super::{logging, setup};

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
pub(super) struct Application {
    pub(super) requests: mpsc::UnboundedReceiver<Request>,
    pub(super) events: mpsc::Sender<Event>,
    updates: mpsc::UnboundedSender<Update>,
}

/// A start that found a model.
pub(super) struct Started {
    pub(super) ground: Ground,
    pub(super) launch: Launch,
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

    pub(super) fn tell(&self, update: Update) {
        // A front end that is gone needs no news.
        let _gone = self.updates.send(update);
    }

    pub(super) fn notice(&self, level: Level, text: String) {
        self.tell(Update::Notice { level, text });
    }

    /// Finds ground and model, with the set-up panel's help where needed. `None` on shutdown.
    async fn start(&mut self, mut launch: Launch) -> Result<Option<Started>, Failure> {
        let mut log = None;
        loop {
            let ground = gather(&launch).await?;
            log = log.or_else(|| logging::start(&ground));
            for warning in &ground.settings.warnings {
                self.notice(Level::Warning, warning.clone());
            }
            let reason = if std::mem::take(&mut launch.setup) {
                "Choose who is to answer".to_owned()
            } else {
                match build::choose_model(&ground, &launch) {
                    Ok(chosen) => return Ok(Some(Started { ground, launch, chosen, _log: log })),
                    Err(error @ (ResolveError::NoModel | ResolveError::NoKey { .. })) => {
                        error.to_string()
                    }
                    Err(error) => {
                        return Err(Failure { message: error.to_string(), exit_code: 5 });
                    }
                }
            };
            if !self.set_up(&ground, &mut launch, reason).await? {
                return Ok(None);
            }
        }
    }

    /// Offers the ways on, adds local servers when they answer, tries a key that is given, and puts
    /// a choice into force for the next start. `false` on shutdown.
    async fn set_up(
        &mut self,
        ground: &Ground,
        launch: &mut Launch,
        reason: String,
    ) -> Result<bool, Failure> {
        let mut offers = setup::offers(reason);
        self.tell(Update::Setup(offers.clone()));
        let probing = setup::servers(ground);
        tokio::pin!(probing);
        let mut probed = false;
        let mut trying: Option<BoxFuture<'static, Tried>> = None;
        loop {
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(Request::Setup(SetupChoice::Demo)) => {
                        launch.demo = true;
                        return Ok(true);
                    }
                    Some(Request::Setup(SetupChoice::Model(reference))) => {
                        self.keep(ground, &reference);
                        launch.model = Some(reference);
                        return Ok(true);
                    }
                    Some(Request::Setup(SetupChoice::Key { provider, key })) => {
                        self.tell(Update::Setup(asking(&offers, &provider)));
                        trying = Some(Box::pin(login::attempt(ground, &provider, &key)));
                    }
                    Some(Request::Setup(SetupChoice::Cancel)) => {
                        trying = None;
                        self.tell(Update::Setup(offers.clone()));
                    }
                    Some(Request::Shutdown) | None => return Ok(false),
                    // All others are about a session.
                    Some(_) => {}
                },
                servers = &mut probing, if !probed => {
                    probed = true;
                    if !servers.is_empty() {
                        offers.servers = servers;
                        if trying.is_none() {
                            self.tell(Update::Setup(offers.clone()));
                        }
                    }
                }
                tried = pending(&mut trying), if trying.is_some() => {
                    trying = None;
                    match self.take_key(ground, &tried)? {
                        Taken::Refused(reason) => {
                            offers.reason = reason;
                            self.tell(Update::Setup(offers.clone()));
                        }
                        Taken::Choose(question) => self.tell(Update::Setup(question)),
                        Taken::Done => {
                            let of_it = format!("{}/", tried.provider);
                            let named = launch.model.take();
                            launch.model = named.filter(|model| model.starts_with(&of_it));
                            return Ok(true);
                        }
                    }
                }
            }
        }
    }

    /// Saves a key that was not refused.
    pub(super) fn take_key(&self, ground: &Ground, tried: &Tried) -> Result<Taken, Failure> {
        if let KeyCheck::Refused(reason) = &tried.check {
            tracing::debug!(%reason, "a key was refused");
            let label = row(&tried.provider).map_or(tried.provider.as_str(), |row| row.label);
            let text = format!(
                "{label} refused the key: see that it was copied whole, and paste it again"
            );
            return Ok(Taken::Refused(text));
        }
        tokio::task::block_in_place(|| login::save(ground, tried))
            .map_err(|message| Failure { message, exit_code: 1 })?;
        if let KeyCheck::Unknown(reason) = &tried.check {
            let text = format!("the key was saved without a test: {reason}");
            self.notice(Level::Warning, text);
        }
        Ok(login::models(tried).map_or(Taken::Done, Taken::Choose))
    }

    /// Remembers a chosen model for the next start. Without that it holds for this one.
    fn keep(&self, ground: &Ground, reference: &str) {
        let saved =
            tokio::task::block_in_place(|| edit::save_text(&ground.paths, "model", reference));
        if let Err(error) = saved {
            self.notice(Level::Warning, format!("the choice was not saved: {error}"));
        }
    }

    pub(super) fn open(
        &self,
        started: &Started,
        mode: Mode,
        resume: bool,
    ) -> Result<Session, Failure> {
        let Started { ground, launch, chosen, .. } = started;
        let session = tokio::task::block_in_place(|| {
            let asking = Counter::new(self.updates.clone());
            build::open(ground, launch, chosen, mode, resume, self.events.clone(), asking)
        })
        .map_err(|message| Failure { message, exit_code: 1 })?;
        if !chosen.demo {
            crate::model::warm();
        }
        self.tell(Update::Ready(Box::new(session.ready.clone())));
        let commands = session.knowledge.as_ref().and_then(|known| known.skills.changed());
        if let Some(commands) = commands {
            self.tell(Update::Skills(commands));
        }
        for text in &session.notices {
            self.notice(Level::Warning, text.clone());
        }
        // The gate may know better than the settings; the screen shows what is in force.
        session.agent.send(Command::Configure(Setting::Mode(mode)));
        Ok(session)
    }
}

/// Waits for the key that is being tried; for ever without one.
async fn pending(trying: &mut Option<BoxFuture<'static, Tried>>) -> Tried {
    match trying {
        Some(trying) => trying.await,
        None => std::future::pending().await,
    }
}

/// What became of a key that was tried.
pub(super) enum Taken {
    /// The service does not take it, for this reason.
    Refused(String),
    /// It is saved; which model is to be used is asked now.
    Choose(Setup),
    /// It is saved, and there is nothing to ask.
    Done,
}

/// The set-up while a service is asked.
pub(super) fn asking(offers: &Setup, provider: &str) -> Setup {
    let label = offers.providers.iter().find(|offer| offer.name == provider);
    let label = label.map_or(provider, |offer| &offer.label);
    Setup { reason: format!("Trying the key at {label}…"), busy: true, ..offers.clone() }
}

/// Reads settings and places anew, off the async workers.
pub(super) async fn gather(launch: &Launch) -> Result<Ground, Failure> {
    let launch = launch.clone();
    tokio::task::spawn_blocking(move || Ground::gather(&launch)).await.unwrap_or_else(|error| {
        Err(Failure { message: format!("the start did not complete: {error}"), exit_code: 1 })
    })
}
