//! A store with a clock that tests turn, keys by name, and a screen to look at.

use codebot::app::service::{Ready, Request, Update};
use codebot::kernel::command::{Command, Mode};
use codebot::kernel::event::{
    Approval, EndReason, Event, Preview, QueueItem, QueueKind, RunSummary,
};
use codebot::kernel::message::{CallId, ModelRef, QueueId, RunId, ToolCall, Usage};
use codebot::kernel::ports::{ModelInfo, Price};
use codebot::ui::input::Input;
use codebot::ui::keymap::Chord;
use codebot::ui::store::{Effect, Msg, Settings, Store, update};
use codebot::ui::view::layout::regions;
use codebot::ui::view::{draw, transcript::TranscriptLayout};
use crossterm::event::{KeyCode, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// A store under test.
pub(crate) struct Stage {
    pub(crate) store: Store,
    pub(crate) now: u64,
    pub(crate) effects: Vec<Effect>,
}

impl Stage {
    /// Nothing happened yet.
    pub(crate) fn starting(columns: u16, rows: u16) -> Self {
        let store = Store::new(Settings::default(), (columns, rows));
        Self { store, now: 10_000, effects: Vec::new() }
    }

    /// A session is open.
    pub(crate) fn open() -> Self {
        Self::sized(80, 24)
    }

    /// The same on another screen.
    pub(crate) fn sized(columns: u16, rows: u16) -> Self {
        let mut stage = Self::starting(columns, rows);
        stage.news(Update::Ready(Box::new(ready())));
        stage.effects.clear();
        stage
    }

    /// A run is active.
    pub(crate) fn busy() -> Self {
        let mut stage = Self::open();
        stage.run_starts();
        stage
    }

    pub(crate) fn run_starts(&mut self) {
        self.event(Event::RunStart { run: RunId::from("r1") });
        self.event(Event::TurnStart { turn: 1 });
    }

    pub(crate) fn run_ends(&mut self, reason: EndReason) {
        self.event(Event::RunEnd { summary: summary(reason) });
    }

    pub(crate) fn wait(&mut self, ms: u64) -> &mut Self {
        self.now += ms;
        self
    }

    pub(crate) fn send(&mut self, msg: Msg) {
        let effects = update(&mut self.store, self.now, msg);
        self.effects.extend(effects);
    }

    pub(crate) fn event(&mut self, event: Event) {
        self.send(Msg::Event(event));
    }

    pub(crate) fn news(&mut self, news: Update) {
        self.send(Msg::Update(news));
    }

    /// Presses a key by its name, for example `ctrl+c` or `x`.
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        let chord = match name {
            "space" => Chord::new(KeyCode::Char(' '), KeyModifiers::NONE),
            "shift+tab" => Chord::new(KeyCode::BackTab, KeyModifiers::SHIFT),
            _ => Chord::parse(name).unwrap_or_else(|| panic!("no key {name}")),
        };
        self.send(Msg::Input(Input::Key(chord)));
        self
    }

    /// Types a text without pauses.
    pub(crate) fn types(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            let chord = Chord::new(KeyCode::Char(c), KeyModifiers::NONE);
            self.send(Msg::Input(Input::Key(chord)));
        }
        self
    }

    pub(crate) fn paste(&mut self, text: &str) -> &mut Self {
        self.send(Msg::Input(Input::Paste(text.to_owned())));
        self
    }

    /// What was asked for since the last look.
    pub(crate) fn taken(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// The commands among it.
    pub(crate) fn commands(&mut self) -> Vec<Command> {
        let effects = self.taken();
        effects
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Request(Request::Loop(command)) => Some(command),
                _ => None,
            })
            .collect()
    }

    /// Whether the application was asked to end.
    pub(crate) fn is_shutting_down(&mut self) -> bool {
        self.taken().iter().any(|effect| matches!(effect, Effect::Request(Request::Shutdown)))
    }

    pub(crate) fn draft(&self) -> String {
        self.store.composer.shown()
    }

    /// Draws; the text of the screen and the cursor.
    pub(crate) fn screen(&self) -> (String, Option<Position>) {
        let (width, height) = self.store.size;
        let area = Rect { x: 0, y: 0, width, height };
        let mut buf = Buffer::empty(area);
        let cursor = self.draw_into(area, &mut buf);
        let mut text = String::new();
        for y in 0..height {
            let mut row = String::new();
            let mut skip = 0;
            for x in 0..width {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let symbol = buf[(x, y)].symbol();
                skip = codebot::ui::text::width::width(symbol).saturating_sub(1);
                row.push_str(symbol);
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        (text, cursor)
    }

    pub(crate) fn text(&self) -> String {
        self.screen().0
    }

    pub(crate) fn draw_into(&self, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let store = &self.store;
        let place = regions(store, area).transcript;
        let mut rows = TranscriptLayout::new();
        rows.prepare(
            &store.transcript,
            &store.scroll,
            place.width,
            place.height,
            &store.theme,
            store.now_ms,
        );
        draw(store, &rows, area, buf)
    }
}

pub(crate) fn ready() -> Ready {
    Ready {
        model: ModelInfo {
            model: ModelRef { provider: "anthropic".into(), model: "claude-sonnet-4-5".into() },
            context_window: 200_000,
            max_output: 64_000,
            price: Some(Price { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 }),
            vision: true,
        },
        mode: Mode::Balanced,
        workspace: "~/projects/shop".into(),
        session: "s-1".into(),
        history: Vec::new(),
        effort: None,
        planning: false,
        demo: false,
        sandbox: String::new(),
    }
}

pub(crate) fn summary(reason: EndReason) -> RunSummary {
    RunSummary {
        run: RunId::from("r1"),
        reason,
        turns: 1,
        tool_calls: 0,
        tool_errors: 0,
        denied_unasked: 0,
        usage: Usage::default(),
        elapsed_ms: 1200,
        text: String::new(),
        wrap: None,
        cost: None,
        limit: None,
        error: None,
    }
}

pub(crate) fn call(id: &str, name: &str) -> ToolCall {
    ToolCall {
        id: CallId::from(id),
        name: name.to_owned(),
        args: serde_json::Map::new(),
        invalid: None,
        opaque: None,
    }
}

/// A question about a command.
pub(crate) fn asks(id: &str, command: &str) -> Approval {
    Approval {
        call: call(id, "bash"),
        preview: Some(Preview::Command {
            command: command.to_owned(),
            workdir: "~/projects/shop".to_owned(),
        }),
        reason: "commands ask in balanced mode".to_owned(),
        parts: vec![command.to_owned()],
        rule: Some("bash(cargo test:*)".to_owned()),
        danger: false,
    }
}

pub(crate) fn item(id: &str, kind: QueueKind, text: &str) -> QueueItem {
    QueueItem { id: QueueId::from(id), kind, text: text.to_owned() }
}
