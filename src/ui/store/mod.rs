//! The state of the screen. [`update`] is the only place that changes it: synchronous, total, it
//! returns effects as data. The same messages at the same times give the same state.

pub mod activity;
pub mod approvals;
pub mod composer;
pub mod focus;
pub mod follow;
pub mod history;
pub mod hunks;
pub mod jobs;
pub mod keys;
pub mod ledger;
pub mod limit;
pub mod line;
pub mod meter;
pub mod overlay;
pub mod picker;
mod plan;
pub mod question;
pub mod queue;
pub mod remember;
pub mod rewind;
pub mod rows;
pub mod scroll;
pub mod send;
pub mod setup;
pub mod slash;
pub mod status;
pub mod todos;
pub mod transcript;

use crate::app::service::{EditId, Level, Request, SkillLine, Update};
use crate::kernel::event::{Event, QueueItem};

use self::activity::{Activity, Run, SPINNER_MS};
use self::approvals::Approvals;
use self::composer::Composer;
use self::history::History;
use self::jobs::Jobs;
use self::overlay::Overlay;
use self::question::QuestionPanel;
use self::scroll::{Scroll, Settled};
use self::setup::SetupPanel;
use self::slash::Menu;
use self::status::Status;
use self::todos::Todos;
use self::transcript::{CellId, Transcript};
use super::input::Input;
use super::theme::Theme;

/// How long closing may take, in milliseconds.
pub const CLOSE_MS: u64 = 3000;

/// Something that happened.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "moved once; a box for every delta costs more")]
pub enum Msg {
    /// The user or the terminal.
    Input(Input),
    /// A click on a cell of the transcript.
    ClickCell(CellId),
    /// A click on the control that leads back to the newest line.
    ClickMore,
    /// The layout carried out a movement; `rows` of the transcript are on screen.
    Settled {
        /// Where it arrived.
        settled: Settled,
        /// Rows on screen.
        rows: u16,
    },
    /// The loop.
    Event(Event),
    /// The application.
    Update(Update),
    /// Both channels of the application are closed.
    AppGone,
    /// Time passed.
    Tick,
    /// Earlier prompts, oldest first.
    History(Vec<String>),
    /// The editor is done.
    Edited(Result<String, String>),
    /// The editor is done with an entry of a list.
    EditedEntry(EditId, Result<String, String>),
    /// A line for people from carrying out an effect.
    Notice(Level, String),
    /// Colours of a block are ready.
    Highlighted,
    /// A signal asks the program to end, with this exit code.
    Terminate(u8),
    /// The terminal is ours again after a stop.
    Resumed,
}

/// Something to carry out.
#[derive(Clone, Debug)]
pub enum Effect {
    /// For the application.
    Request(Request),
    /// Put this on the clipboard.
    Copy(String),
    /// Let the user edit this.
    Editor(String),
    /// Let the user edit an entry of a list.
    EditEntry(EditId, String),
    /// Append this to the history file.
    SaveHistory(String),
    /// Draw every cell again.
    Redraw,
    /// Stop until `fg`.
    Suspend,
    /// Ring.
    Bell,
    /// Leave.
    Leave(Exit),
}

/// How the program ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// Exit code.
    pub code: u8,
    /// For stderr, after the screen is left.
    pub error: Option<String>,
}

/// What of the options the state needs.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// No spinner.
    pub reduced_motion: bool,
    /// Colours and marks.
    pub theme: Theme,
    /// Sent as soon as a session is open.
    pub first_prompt: Option<String>,
}

/// How far the program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Starting,
    Open,
    Closing { since_ms: u64, code: u8 },
}

/// Whether shift+tab may reach trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Unasked,
    Known,
    Refused,
}

/// Everything that the screen shows.
#[derive(Debug)]
pub struct Store {
    /// Now, in milliseconds of the store's own clock.
    pub now_ms: u64,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The conversation.
    pub transcript: Transcript,
    /// Where it is read.
    pub scroll: Scroll,
    /// The draft.
    pub composer: Composer,
    /// The menu over it.
    pub menu: Menu,
    /// Slash commands that skills make.
    pub skills: Vec<SkillLine>,
    /// Earlier prompts.
    pub history: History,
    /// The panel the user opened.
    pub overlay: Option<Overlay>,
    /// The set-up panel.
    pub setup: Option<SetupPanel>,
    /// Open approvals.
    pub approvals: Approvals,
    /// The model's questions.
    pub question: Option<QuestionPanel>,
    /// The model's list.
    pub todos: Todos,
    /// The run.
    pub activity: Activity,
    /// The footer.
    pub status: Status,
    /// Work beside the run.
    pub jobs: Jobs,
    /// Messages that wait in the loop.
    pub queue: Vec<QueueItem>,
    /// Prompts that wait for a session, or for the end of a run that is being stopped.
    pub pending: Vec<String>,
    /// Colours and marks.
    pub theme: Theme,
    /// No spinner.
    pub reduced_motion: bool,
    /// Grows when another conversation replaces this one.
    pub session: u64,
    phase: Phase,
    page_rows: u16,
    focused: bool,
    /// Words sent to a queue that the loop has not yet shown there.
    unconfirmed: Vec<String>,
    /// The prompt whose run has not begun.
    asked: Option<String>,
    last_key_ms: Option<u64>,
    interrupted_ms: Option<u64>,
    escaped_ms: Option<u64>,
    trust: Trust,
}

impl Store {
    /// The state before anything happened.
    pub fn new(settings: Settings, size: (u16, u16)) -> Self {
        Self {
            now_ms: 0,
            size,
            transcript: Transcript::default(),
            scroll: Scroll::default(),
            composer: Composer::default(),
            menu: Menu::default(),
            skills: Vec::new(),
            history: History::default(),
            overlay: None,
            setup: None,
            approvals: Approvals::default(),
            question: None,
            todos: Todos::default(),
            activity: Activity::default(),
            status: Status::default(),
            jobs: Jobs::default(),
            queue: Vec::new(),
            pending: settings.first_prompt.into_iter().collect(),
            theme: settings.theme,
            reduced_motion: settings.reduced_motion,
            phase: Phase::Starting,
            page_rows: size.1,
            focused: true,
            unconfirmed: Vec::new(),
            asked: None,
            last_key_ms: None,
            interrupted_ms: None,
            escaped_ms: None,
            trust: Trust::Unasked,
            session: 0,
        }
    }

    /// Since when the program is closing.
    pub fn closing_since(&self) -> Option<u64> {
        match self.phase {
            Phase::Closing { since_ms, .. } => Some(since_ms),
            Phase::Starting | Phase::Open => None,
        }
    }

    /// When the screen changes by itself next, in milliseconds of the store's clock; `None` when
    /// it does not, so that an idle program sleeps.
    pub fn next_tick(&self) -> Option<u64> {
        let closing = self.closing_since().map(|since| since + CLOSE_MS);
        [closing, self.run_tick(), self.status.hint_until()].into_iter().flatten().min()
    }

    fn run_tick(&self) -> Option<u64> {
        if self.activity.run() == Run::Idle || self.is_asked() {
            return None;
        }
        let step = if self.reduced_motion { 1000 } else { SPINNER_MS };
        Some((self.now_ms / step + 1) * step)
    }

    /// The window's title: clean text.
    pub fn title(&self) -> String {
        let mark = if self.is_asked() {
            "? "
        } else if self.activity.is_busy() {
            "● "
        } else {
            ""
        };
        let place = super::text::sanitize::clean(&self.status.workspace);
        if place.is_empty() {
            format!("{mark}codebot")
        } else {
            format!("{mark}codebot · {place}")
        }
    }

    /// Whether the person has to answer something.
    pub fn is_asked(&self) -> bool {
        self.approvals.shown().is_some() || self.question.is_some()
    }

    fn notice(&mut self, level: Level, text: &str) {
        self.transcript.notice(level, text);
    }
}

/// Changes the state and says what is to be done. `now_ms` never goes back.
pub fn update(store: &mut Store, now_ms: u64, msg: Msg) -> Vec<Effect> {
    store.now_ms = store.now_ms.max(now_ms);
    store.status.expire(store.now_ms);
    let mut out = Vec::new();
    match msg {
        Msg::Input(input) => keys::input(store, input, &mut out),
        Msg::ClickCell(cell) => {
            store.scroll.hold(&store.transcript);
            store.transcript.toggle_fold(cell);
        }
        Msg::ClickMore => store.scroll.end(),
        Msg::Settled { settled, rows } => {
            store.page_rows = rows;
            store.scroll.settle(&settled, &store.transcript);
        }
        Msg::Event(event) => follow::event(store, &event, &mut out),
        Msg::Update(news) => follow::news(store, news, &mut out),
        Msg::AppGone => follow::app_gone(store, &mut out),
        Msg::Tick => tick(store, &mut out),
        Msg::History(entries) => store.history.load(entries),
        Msg::Edited(Ok(text)) if store.approvals.edited(Some(&text)) => {}
        Msg::Edited(Ok(text)) => {
            store.composer.set(&text);
            store.menu.reset();
        }
        Msg::EditedEntry(_, Err(text)) => store.notice(Level::Warning, &text),
        Msg::Edited(Err(text)) => {
            store.approvals.edited(None);
            store.notice(Level::Warning, &text);
        }
        Msg::EditedEntry(id, Ok(text)) => {
            out.push(Effect::Request(Request::Edited { id, text }));
        }
        Msg::Notice(level, text) => store.notice(level, &text),
        Msg::Highlighted => {}
        Msg::Terminate(code) => close(store, code, &mut out),
        Msg::Resumed => out.push(Effect::Redraw),
    }
    out
}

fn tick(store: &mut Store, out: &mut Vec<Effect>) {
    if let Phase::Closing { since_ms, code } = store.phase
        && store.now_ms >= since_ms + CLOSE_MS
    {
        out.push(Effect::Leave(Exit { code, error: None }));
    }
}

/// Begins to close; the screen is left when the application says so, or after [`CLOSE_MS`].
fn close(store: &mut Store, code: u8, out: &mut Vec<Effect>) {
    if store.closing_since().is_some() {
        return;
    }
    if code == 0 && store.jobs.asks_before_quit(store.now_ms) {
        let question = store.jobs.question();
        store.status.hint(question.clone(), store.now_ms);
        store.notice(Level::Warning, &question);
        return;
    }
    store.phase = Phase::Closing { since_ms: store.now_ms, code };
    store.approvals.clear();
    store.question = None;
    out.push(Effect::Request(Request::Shutdown));
}
