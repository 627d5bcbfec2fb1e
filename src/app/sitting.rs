//! The application while a session is open: takes the front end's requests in order, and what comes
//! back from work beside them (lists of models, keys that were tried, windows of local servers).

use std::time::Duration;

use tokio::sync::mpsc;

use super::build::Session;
use super::harness::{Application, Started, Taken, asking, gather};
use super::jobs::{self, JobDesk};
use super::learn::Learner;
use super::login::{self, Given, Tried};
use super::memory::Memory;
use super::models::{self, Role, notice};
use super::service::{Failure, Level, ListKind, Request, Setup, SetupChoice, Update};
use super::{branch, context, lists, rewind, served};
use crate::kernel::command::{Command, Mode, Setting};
use crate::kernel::message::{ModelRef, text_of};
use crate::model::http::Limits;
use crate::model::offered::{Offered, offered};
use crate::model::probe::{Served, probe_local};
use crate::model::resolve;

/// How long after a prompt a local server has loaded its model, most times.
const LOADED: Duration = Duration::from_secs(5);

/// What comes back from work beside the session.
#[derive(Debug)]
enum Later {
    /// A service has told its models; nothing when it could not.
    Offered(String, Vec<Offered>),
    /// Local servers that answered.
    Served(Vec<Served>),
    /// A local server has told how much context it gives a model.
    Window(ModelRef, u64),
    /// A key was tried.
    Tried(Tried),
    /// So many things of the conversation are kept.
    Learnt(usize),
}

/// An open session with what goes on around it.
struct Sitting<'a> {
    app: &'a mut Application,
    started: &'a mut Started,
    session: Session,
    desk: JobDesk,
    learner: Learner,
    later: mpsc::UnboundedSender<Later>,
    /// The list of models that may be open.
    listed: Option<ListKind>,
    /// The offers of the set-up that is open.
    setup: Option<Setup>,
    /// The window of the model's local server is known, or there is none to ask.
    knows_window: bool,
}

impl Application {
    /// Serves until the front end closes it.
    pub(super) async fn serve(&mut self, started: &mut Started) -> Result<(), Failure> {
        let mode = started.ground.settings.config.permission_mode;
        let resume = started.launch.resume;
        let session = self.open(started, mode, resume)?;
        self.tell(Update::Branch(branch::current(&started.ground.cwd)));
        let desk = JobDesk::new(&session, started.ground.settings.config.background.wake);
        let learner = Learner::new(&session, started.ground.settings.config.memory.extract);
        let (later, mut back) = mpsc::unbounded_channel();
        let mut sitting = Sitting {
            app: self,
            started,
            session,
            desk,
            learner,
            later,
            listed: None,
            setup: None,
            knows_window: false,
        };
        sitting.ask_window(Duration::ZERO);
        loop {
            tokio::select! {
                request = sitting.app.requests.recv() => match request {
                    Some(Request::Shutdown) | None => break,
                    Some(request) => sitting.request(request).await?,
                },
                Some(later) = back.recv() => sitting.take(later).await?,
                () = sitting.learner.due(&sitting.session) => sitting.learn(),
                () = sitting.desk.next(&sitting.session) => {
                    let lines = jobs::lines(&sitting.session.tools);
                    sitting.app.tell(Update::Jobs(lines));
                }
            }
        }
        let (learner, events) = (sitting.learner, sitting.app.events.clone());
        tokio::join!(learner.last_chance(&sitting.session, events), close(&sitting.session));
        Ok(())
    }
}

impl Sitting<'_> {
    async fn request(&mut self, request: Request) -> Result<(), Failure> {
        match request {
            Request::Loop(Command::Answer { id, answer })
                if self.session.desk.answer(&id, &answer) => {}
            Request::Loop(Command::Configure(Setting::Plan(on))) => self.session.plan(on),
            Request::Loop(command) => {
                if matches!(command, Command::Prompt { .. }) {
                    self.ask_window(LOADED);
                    self.learner.prompted();
                }
                self.send(command);
            }
            Request::Remember(text) => self.remember(|memory| memory.remember(&text)),
            Request::ForgetLast => self.remember(Memory::undo),
            Request::Edited { id, text } => {
                self.app.tell(lists::edited(&self.session, &id, &text));
                self.skills();
                self.app.tell(Update::List(lists::make(
                    &self.started.ground,
                    &self.session,
                    id.kind,
                )));
            }
            Request::Jobs => self.app.tell(Update::Jobs(jobs::lines(&self.session.tools))),
            Request::Context => self.app.tell(Update::Context(context::report(&self.session))),
            Request::List(kind) => self.list(kind),
            Request::Pick(pick) => {
                let before = self.session.ready.model.model.clone();
                let told = lists::pick(&self.started.ground, &mut self.session, &pick).await;
                if pick.kind == ListKind::Keys {
                    self.reload().await?;
                }
                self.tell(told);
                self.after_choice(&before);
            }
            Request::Model { reference, small } => {
                let role = if small { Role::Small } else { Role::Main };
                let before = self.session.ready.model.model.clone();
                let told = self.session.choose(&self.started.ground, role, &reference, false);
                self.tell(told);
                self.after_choice(&before);
            }
            Request::Effort(effort) => {
                let told = self.session.set_effort(effort);
                self.tell(told);
            }
            Request::Reply { id, replies } => self.session.asking.answer(&id, replies),
            Request::Login(provider) => self.log_in(provider.as_deref()),
            Request::Logout(provider) => {
                let told = match login::forget(&self.started.ground, &provider) {
                    Ok(text) => notice(Level::Info, &text),
                    Err(text) => notice(Level::Warning, &text),
                };
                self.reload().await?;
                self.app.tell(told);
            }
            Request::Redo => {
                let told = rewind::redo(&mut self.session).await;
                self.tell(told);
            }
            Request::Setup(choice) => self.choose(choice),
            Request::NewSession => {
                let mode = current_mode(&self.session);
                self.learn();
                close(&self.session).await;
                self.session = self.app.open(self.started, mode, false)?;
                let wake = self.started.ground.settings.config.background.wake;
                self.desk = JobDesk::new(&self.session, wake);
                let on = self.started.ground.settings.config.memory.extract;
                self.learner = Learner::new(&self.session, on);
                self.knows_window = false;
                self.ask_window(Duration::ZERO);
            }
            // The loop that reads requests ends with it.
            Request::Shutdown => {}
        }
        Ok(())
    }

    async fn take(&mut self, later: Later) -> Result<(), Failure> {
        match later {
            Later::Offered(provider, models) => {
                self.session.models.offered.insert(provider, models);
                self.list_again();
            }
            Later::Served(served) => {
                self.session.models.served = served;
                self.list_again();
            }
            Later::Window(model, window) => {
                self.knows_window = true;
                let told = models::take_window(&mut self.session, &model, window);
                self.tell(told);
            }
            Later::Learnt(0) => {}
            Later::Learnt(count) => {
                let text = format!("{count} new things are remembered; /memory shows them");
                self.app.tell(notice(Level::Info, &text));
            }
            Later::Tried(tried) => self.tried(&tried).await?,
        }
        Ok(())
    }

    /// Words that call a skill may have to wait for what it looks up first.
    fn send(&self, command: Command) {
        let said = match &command {
            Command::Prompt { blocks } => text_of(blocks),
            Command::Enqueue { text, .. } => text.clone(),
            _ => String::new(),
        };
        let agent = self.session.agent.clone();
        if !said.is_empty() {
            self.skills();
        }
        match &self.session.knowledge {
            Some(knowledge) => knowledge.prepared(said, move || agent.send(command)),
            None => agent.send(command),
        }
    }

    /// Tells the front end of skills that have come, changed or gone.
    fn skills(&self) {
        if let Some(knowledge) = &self.session.knowledge
            && let Some(commands) = knowledge.skills.changed()
        {
            self.app.tell(Update::Skills(commands));
        }
    }

    /// Does something with the memory and tells the line that comes of it.
    fn remember(&self, work: impl FnOnce(&Memory) -> Result<String, String>) {
        let memory = self.session.knowledge.as_ref().and_then(|k| k.memory.as_ref());
        let done = memory.map_or_else(|| Err(lists::MEMORY_IS_OFF.to_owned()), |m| work(m));
        let (level, text) = match done {
            Ok(text) => (Level::Info, text),
            Err(reason) => (Level::Warning, reason),
        };
        self.app.tell(notice(level, &text));
        for text in memory.map(|memory| memory.warnings()).unwrap_or_default() {
            self.app.tell(notice(Level::Warning, &text));
        }
    }

    fn tell(&self, updates: Vec<Update>) {
        for update in updates {
            self.app.tell(update);
        }
    }

    /// Shows a list; what services have to add to a list of models comes as it arrives.
    fn list(&mut self, kind: ListKind) {
        if kind == ListKind::Skills {
            self.skills();
        }
        self.app.tell(Update::List(lists::make(&self.started.ground, &self.session, kind)));
        if !matches!(kind, ListKind::Models | ListKind::SmallModels) || self.session.ready.demo {
            self.listed = None;
            return;
        }
        self.listed = Some(kind);
        let ground = &self.started.ground;
        let env = |name: &str| ground.env.var(name);
        for provider in resolve::with_keys(&env, &ground.settings.config.providers) {
            let known = self.session.models.offered.contains_key(&provider);
            let reference = format!("{provider}/any");
            let Some(connection) = ground.resolve(Some(&reference)).ok().filter(|_| !known) else {
                continue;
            };
            let later = self.later.clone();
            tokio::spawn(async move {
                match offered(&connection, Limits::default()).await {
                    // The session may have ended meanwhile.
                    Ok(models) => drop(later.send(Later::Offered(provider, models))),
                    Err(error) => tracing::debug!(%provider, ?error, "no list of models"),
                }
            });
        }
        let probing = probe_local(&env);
        let later = self.later.clone();
        tokio::spawn(async move { later.send(Later::Served(probing.await)) });
    }

    /// Looks through what was said since the last time, beside everything else.
    fn learn(&mut self) {
        let events = self.app.events.clone();
        let Some(work) = self.learner.work(&self.session, events) else { return };
        let later = self.later.clone();
        tokio::spawn(async move { later.send(Later::Learnt(work.await)) });
    }

    fn list_again(&self) {
        if let Some(kind) = self.listed {
            let listing = lists::make(&self.started.ground, &self.session, kind);
            self.app.tell(Update::List(listing));
        }
    }

    /// Settings anew, after the user's file was changed.
    async fn reload(&mut self) -> Result<(), Failure> {
        if !self.session.ready.demo {
            let ground = gather(&self.started.launch).await?;
            self.started.ground.settings = ground.settings;
        }
        Ok(())
    }

    /// A new model may be one of a local server.
    fn after_choice(&mut self, before: &ModelRef) {
        if self.session.ready.model.model != *before {
            self.knows_window = false;
            self.ask_window(Duration::ZERO);
        }
    }

    /// Asks the local server of the model, once and after that time, how much context it gives.
    fn ask_window(&mut self, after: Duration) {
        let connection = self.session.models.connection.clone().filter(served::is_asked);
        let Some(connection) = connection.filter(|_| !self.knows_window) else { return };
        let later = self.later.clone();
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            if let Some(window) = served::window(&connection).await {
                // The session may have ended meanwhile.
                drop(later.send(Later::Window(connection.model_ref(), window)));
            }
        });
    }

    fn log_in(&mut self, provider: Option<&str>) {
        if self.session.ready.demo {
            let text = "the demo needs no key; start codebot without --demo to log in";
            return self.app.tell(notice(Level::Warning, text));
        }
        let offers = login::offers(&self.started.ground, provider);
        if offers.providers.is_empty() {
            let text =
                format!("there is no provider {}; /login shows all", provider.unwrap_or_default());
            return self.app.tell(notice(Level::Warning, &text));
        }
        self.app.tell(Update::Setup(offers.clone()));
        self.setup = Some(offers);
    }

    /// A choice in the set-up that `/login` has opened.
    fn choose(&mut self, choice: SetupChoice) {
        match choice {
            SetupChoice::Key { provider, key } => {
                let Some(offers) = &self.setup else { return };
                self.app.tell(Update::Setup(asking(offers, &provider)));
                let attempt = login::attempt(&self.started.ground, &provider, &key);
                let later = self.later.clone();
                tokio::spawn(async move { later.send(Later::Tried(attempt.await)) });
            }
            SetupChoice::Model(reference) => {
                if self.setup.take().is_none() {
                    return;
                }
                let before = self.session.ready.model.model.clone();
                let told = self.session.choose(&self.started.ground, Role::Main, &reference, true);
                self.app.tell(Update::SetupDone);
                self.tell(told);
                self.after_choice(&before);
            }
            SetupChoice::Cancel | SetupChoice::Demo => self.setup = None,
        }
    }

    async fn tried(&mut self, tried: &Tried) -> Result<(), Failure> {
        // The panel was closed meanwhile: the key was not confirmed, so it is not kept.
        let Some(offers) = &mut self.setup else { return Ok(()) };
        match self.app.take_key(&self.started.ground, tried) {
            Err(failure) => {
                offers.reason = failure.message;
                self.app.tell(Update::Setup(offers.clone()));
                return Ok(());
            }
            Ok(Taken::Refused(reason)) => {
                offers.reason = reason;
                self.app.tell(Update::Setup(offers.clone()));
                return Ok(());
            }
            Ok(Taken::Choose(question)) => self.app.tell(Update::Setup(question)),
            Ok(Taken::Done) => {
                self.setup = None;
                self.app.tell(Update::SetupDone);
                let text =
                    format!("the key of {} is saved; /model chooses a model", tried.provider);
                self.app.tell(notice(Level::Info, &text));
            }
        }
        if let Given::Key(key) = &tried.given {
            self.session.tools.hide(key.clone());
        }
        self.reload().await
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
