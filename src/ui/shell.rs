//! The loop: one `select!` over the terminal, the loop's events, the application's news, signals
//! and one timer. Everything that is there is taken before a frame is drawn. What follows from a change
//! is carried out in `effects`.

use std::path::PathBuf;
use std::time::Duration;

use ratatui::layout::{Position, Rect};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::farewell;
use super::frame::FrameClock;
use super::input::{Input, Translator};
use super::reader::{Reader, Report};
use super::store::{Effect, Exit, Msg, Settings, Store, update};
use super::terminal::{Modes, Screen};
use super::theme::Theme;
use super::view;
use super::view::layout::regions;
use super::view::transcript::TranscriptLayout;
use crate::app::service::Front;
use crate::kernel::event::Event;

/// Most events taken before a frame gets its turn.
const BACKLOG: usize = 512;

/// What was asked for on the command line.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct UiOptions {
    /// Use the alternate screen.
    pub alt_screen: bool,
    /// Take mouse reports.
    pub mouse: bool,
    /// Send this once a session is open.
    pub first_prompt: Option<String>,
    /// The file of earlier prompts.
    pub history_path: Option<PathBuf>,
    /// No spinner.
    pub reduced_motion: bool,
    /// Colours and marks.
    pub theme: Theme,
    /// Set the window's title.
    pub title: bool,
    /// The editor's command line for long drafts, from `VISUAL` or `EDITOR`.
    pub editor: Option<String>,
}

impl Default for UiOptions {
    fn default() -> Self {
        Self {
            alt_screen: true,
            mouse: true,
            first_prompt: None,
            history_path: None,
            reduced_motion: false,
            theme: Theme::default(),
            title: true,
            editor: None,
        }
    }
}

/// How it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Exit code.
    pub code: u8,
    /// For stdout: the end of the conversation and how to go on.
    pub farewell: String,
    /// For stderr.
    pub error: Option<String>,
}

/// Runs the screen until the user leaves, the application ends or the terminal is gone. The
/// terminal is given back before this returns; so it is on a panic, once the caller has installed
/// [`super::crash::install_hook`]. Fails when there is no terminal. The caller ends the
/// process afterwards without waiting for its threads: one still reads the terminal.
pub async fn run(front: Front, options: UiOptions) -> std::io::Result<Outcome> {
    let modes =
        Modes { alt_screen: options.alt_screen, mouse: options.mouse, title: options.title };
    let screen = Screen::enter(modes)?;
    let settings = Settings {
        reduced_motion: options.reduced_motion,
        theme: options.theme.clone(),
        first_prompt: options.first_prompt.clone(),
    };
    let (messages, inbox) = mpsc::unbounded_channel();
    let mut shell = Shell {
        store: Store::new(settings, Screen::size()),
        screen,
        reader: Reader::start()?,
        signals: Signals::new()?,
        translator: Translator::default(),
        rows: TranscriptLayout::new(),
        frames: FrameClock::default(),
        start: Instant::now(),
        front,
        messages,
        inbox,
        options,
        exit: None,
        app_open: true,
        session: 0,
    };
    // The first frame waits for nothing.
    shell.draw()?;
    let _gone = shell.screen.push_key_flags();
    shell.load_history();
    let exit = shell.serve().await;
    drop(shell.screen);
    Ok(Outcome { code: exit.code, farewell: farewell::text(&shell.store), error: exit.error })
}

/// Signals the program answers.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Signal,
    hangup: Signal,
    interrupt: Signal,
    resumed: Signal,
    resized: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            resumed: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            resized: signal(SignalKind::window_change())?,
        })
    }

    pub(super) async fn next(&mut self) -> Sign {
        tokio::select! {
            _ = self.terminate.recv() => Sign::Terminate,
            _ = self.hangup.recv() => Sign::HangUp,
            _ = self.interrupt.recv() => Sign::Interrupt,
            _ = self.resumed.recv() => Sign::Resumed,
            _ = self.resized.recv() => Sign::Resized,
        }
    }
}

/// What a signal means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Asked to end.
    Terminate,
    /// The terminal is gone.
    HangUp,
    /// Ctrl+C from outside.
    Interrupt,
    /// Running again after a stop.
    Resumed,
    /// The window changed.
    Resized,
}

/// What ended a wait.
#[expect(clippy::large_enum_variant, reason = "moved once; a box for every delta costs more")]
enum Wake {
    Terminal(Report),
    Message(Msg),
    Sign(Sign),
    Time,
}

/// Everything the loop owns.
pub(super) struct Shell {
    pub(super) store: Store,
    pub(super) screen: Screen,
    pub(super) reader: Reader,
    pub(super) signals: Signals,
    translator: Translator,
    rows: TranscriptLayout,
    frames: FrameClock,
    start: Instant,
    pub(super) front: Front,
    /// For work off this task; drained by the loop, unbounded because it holds a handful at most.
    pub(super) messages: mpsc::UnboundedSender<Msg>,
    inbox: mpsc::UnboundedReceiver<Msg>,
    pub(super) options: UiOptions,
    pub(super) exit: Option<Exit>,
    app_open: bool,
    session: u64,
}

impl Shell {
    async fn serve(&mut self) -> Exit {
        loop {
            let wake = self.wait().await;
            self.take(wake).await;
            self.drain().await;
            if let Some(exit) = self.exit.take() {
                return exit;
            }
            if self.frames.is_due(Instant::now()) && self.draw().is_err() {
                return self.hang_up().await;
            }
        }
    }

    async fn wait(&mut self) -> Wake {
        let tick = self.store.next_tick().map(|ms| self.start + Duration::from_millis(ms));
        let at = [tick, self.frames.due()].into_iter().flatten().min();
        let colours = self.rows.colours_ready();
        tokio::select! {
            biased;
            report = self.reader.next() => Wake::Terminal(report),
            sign = self.signals.next() => Wake::Sign(sign),
            Some(msg) = self.inbox.recv() => Wake::Message(msg),
            news = self.front.updates.recv(), if self.app_open => {
                if news.is_none() {
                    self.app_open = false;
                }
                Wake::Message(news.map_or(Msg::AppGone, Msg::Update))
            }
            Some(event) = self.front.events.recv() => Wake::Message(Msg::Event(event)),
            () = colours.notified() => Wake::Message(Msg::Highlighted),
            () = sleep_until(at.unwrap_or(self.start)), if at.is_some() => Wake::Time,
        }
    }

    async fn take(&mut self, wake: Wake) {
        match wake {
            Wake::Terminal(report) => self.take_report(report).await,
            Wake::Message(msg) => self.apply(msg).await,
            Wake::Sign(sign) => self.take_sign(sign).await,
            Wake::Time => {
                if self.store.next_tick().is_some_and(|at| at <= self.now_ms()) {
                    self.apply(Msg::Tick).await;
                }
            }
        }
    }

    async fn take_sign(&mut self, sign: Sign) {
        match sign {
            Sign::Terminate => self.apply(Msg::Terminate(143)).await,
            Sign::Interrupt => self.apply(Msg::Terminate(130)).await,
            Sign::HangUp => self.exit = Some(self.hang_up().await),
            Sign::Resumed => {
                let _gone = self.screen.reassert();
                self.apply(Msg::Resumed).await;
            }
            Sign::Resized => {
                let (columns, rows) = Screen::size();
                self.apply(Msg::Input(Input::Resize(columns, rows))).await;
            }
        }
    }

    /// Takes everything that is there already, keys first.
    async fn drain(&mut self) {
        for _ in 0..BACKLOG {
            if self.exit.is_some() {
                return;
            }
            if let Some(report) = self.reader.ready() {
                self.take_report(report).await;
            } else if let Ok(msg) = self.inbox.try_recv() {
                self.apply(msg).await;
            } else if let Ok(news) = self.front.updates.try_recv() {
                self.apply(Msg::Update(news)).await;
            } else if let Ok(event) = self.front.events.try_recv() {
                self.apply(Msg::Event(event)).await;
            } else {
                return;
            }
        }
    }

    async fn take_report(&mut self, report: Report) {
        match report {
            Report::Closed => self.exit = Some(self.hang_up().await),
            Report::Batch(events) => {
                let now_ms = self.now_ms();
                for input in self.translator.translate(events, now_ms) {
                    let msg = self.click(input);
                    self.apply(msg).await;
                }
                self.frames.request_soon(Instant::now());
            }
        }
    }

    /// A click on a cell of the transcript is about that cell.
    fn click(&self, input: Input) -> Msg {
        if let Input::Click { column, row } = input {
            let (width, height) = self.store.size;
            let regions = regions(&self.store, Rect { x: 0, y: 0, width, height });
            let area = regions.transcript;
            let at = Position { x: column, y: row };
            if self.rows.more_area(area, regions.rule()).is_some_and(|more| more.contains(at)) {
                return Msg::ClickMore;
            }
            if area.contains(at)
                && let Some(cell) = self.rows.hit(row - area.y)
            {
                return Msg::ClickCell(cell);
            }
        }
        Msg::Input(input)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Changes the state and carries out what follows.
    async fn apply(&mut self, msg: Msg) {
        for effect in self.change(msg) {
            self.carry_out(effect).await;
        }
    }

    /// Changes the state only.
    pub(super) fn change(&mut self, msg: Msg) -> Vec<Effect> {
        let now_ms = self.now_ms();
        match &msg {
            Msg::Event(Event::MessageDelta { .. } | Event::ToolProgress { .. }) => {
                self.frames.request_calm(Instant::now());
            }
            _ => self.frames.request(Instant::now()),
        }
        update(&mut self.store, now_ms, msg)
    }

    fn draw(&mut self) -> std::io::Result<()> {
        let size = Screen::size();
        if size != self.store.size {
            let _none = self.change(Msg::Input(Input::Resize(size.0, size.1)));
        }
        if self.session != self.store.session {
            // Another conversation: its cells have the names of the old ones.
            self.session = self.store.session;
            self.rows = TranscriptLayout::new();
        }
        let area = Rect { x: 0, y: 0, width: size.0, height: size.1 };
        let place = regions(&self.store, area).transcript;
        let store = &self.store;
        self.rows.prepare(
            &store.transcript,
            &store.scroll,
            place.width,
            place.height,
            &store.theme,
            store.now_ms,
        );
        let settled = self.rows.settled();
        let _none = self.change(Msg::Settled { settled, rows: place.height });
        let (store, rows) = (&self.store, &self.rows);
        self.screen.draw(|area, buf| view::draw(store, rows, area, buf))?;
        let title = self.store.title();
        self.screen.set_title(&title)?;
        self.frames.drawn(Instant::now());
        Ok(())
    }
}
