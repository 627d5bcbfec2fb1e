//! The conversation as cells: what `Event`s and updates left on the screen, in order. Rows, widths
//! and colours belong to the view; a cell only knows its content and a version that grows with
//! every change, so that layouts can be cached. Every text passes the sanitising door here.

mod answer;
mod calls;
mod cell;
mod policy;
mod tally;

use crate::app::service::Level;
use crate::kernel::event::{Event, RunSummary};
use crate::kernel::message::{Block, Message, Origin, UserMessage};
use crate::ui::text::sanitize;

pub use cell::{Cell, CellId, CellKind, Fold, ToolCell, ToolState};

use answer::Answer;
use calls::Calls;
use tally::Tally;

/// A longer message of the user is folded until it is opened.
const USER_OPEN: usize = 4000;
/// Bytes of a notice; what is longer is no line for people.
const NOTICE_MAX: usize = 4000;

/// All cells of a session.
#[derive(Debug, Default)]
pub struct Transcript {
    cells: Vec<Cell>,
    next: u64,
    version: u64,
    lines: u64,
    /// Whether Ctrl+O opened all cells.
    all_open: bool,
    answer: Answer,
    calls: Calls,
    tally: Tally,
    error_shown: bool,
}

impl Transcript {
    /// The cells in order.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Whether nothing was said yet: there are only lines of the application, if any.
    pub fn is_only_notices(&self) -> bool {
        self.cells.iter().all(|cell| matches!(cell.kind, CellKind::Notice { .. }))
    }

    /// Grows with every change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Lines that ever came in, about; the difference of two values says how much is new.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Place of a cell, or of the next one when it is gone.
    pub fn place(&self, id: CellId) -> usize {
        self.cells.partition_point(|cell| cell.id < id)
    }

    /// The cell of that name.
    pub fn get(&self, id: CellId) -> Option<&Cell> {
        self.cells.get(self.place(id)).filter(|cell| cell.id == id)
    }

    /// Whether any cell changes with time (spinner, countdown).
    pub fn is_animated(&self) -> bool {
        self.is_any_running() || self.cells.iter().rev().take(8).any(Cell::is_animated)
    }

    /// The source of the last answer, for copying.
    pub fn last_answer(&self) -> Option<&str> {
        self.cells.iter().rev().find_map(|cell| match &cell.kind {
            CellKind::Assistant { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether the cell shows all it has.
    pub fn is_open(&self, cell: &Cell) -> bool {
        let chosen = cell.fold.or(self.all_open.then_some(Fold::Open));
        match &cell.kind {
            _ if chosen.is_some() => chosen == Some(Fold::Open),
            CellKind::Tool(tool) => tool.has_failed(),
            CellKind::Thinking { .. } | CellKind::Retry { .. } => false,
            CellKind::User { text, .. } => text.len() <= USER_OPEN,
            CellKind::Assistant { .. } | CellKind::Notice { .. } | CellKind::Summary { .. } => true,
        }
    }

    /// Folds an open cell and opens a folded one. Unknown ids are ignored.
    pub fn toggle_fold(&mut self, id: CellId) {
        let Some(cell) = self.get(id) else { return };
        let fold = if self.is_open(cell) { Fold::Folded } else { Fold::Open };
        self.change(id, |cell| cell.fold = Some(fold));
    }

    /// Opens every cell, or gives each its usual form back when all are open.
    pub fn fold_all(&mut self) {
        self.all_open = !self.all_open;
        self.version += 1;
        for cell in self.cells.iter_mut().filter(|cell| cell.fold.is_some()) {
            cell.fold = None;
            cell.version += 1;
        }
    }

    /// Adds a line of the application.
    pub fn notice(&mut self, level: Level, text: &str) {
        let cut = text.floor_char_boundary(NOTICE_MAX);
        let text = sanitize::clean(&text[..cut]).trim().to_owned();
        self.push(CellKind::Notice { level, text });
    }

    /// Takes in what a run did. `now_ms` is the store's clock.
    pub fn apply(&mut self, event: &Event, now_ms: u64) {
        match event {
            Event::RunStart { .. } => {
                self.error_shown = false;
                self.tally = Tally::default();
            }
            Event::TurnStart { .. } => self.end_retries(),
            Event::MessageStart { .. } => {
                self.end_retries();
                self.begin_answer();
            }
            Event::MessageDelta { delta } => self.delta(delta),
            Event::MessageEnd { message } => self.commit(message, now_ms),
            Event::MessageDiscarded { .. } => self.discard_answer(),
            Event::ToolStart { call, preview } => {
                self.pause_answer();
                self.start_call(call, preview.as_ref(), now_ms);
            }
            Event::ToolProgress { id, progress } => self.progress(id, progress),
            Event::ToolEnd { id, status, result, .. } => {
                self.tally.add(*status);
                self.end_call(id, *status, result, now_ms);
            }
            Event::ApprovalAsked { approval } => self.ask(approval),
            Event::ApprovalClosed { id, .. } => self.asked(id, now_ms),
            Event::Retry { attempt, max, delay_ms, error } => {
                self.retry(*attempt, *max, now_ms + delay_ms, error);
            }
            Event::StreamFallback => {
                self.notice(
                    Level::Info,
                    "the service did not stream; the answer came in one piece",
                );
            }
            Event::Status { text } => self.notice(Level::Info, text),
            Event::Compaction { step, phase } => {
                if let Some((level, text)) = policy::compaction(*step, phase) {
                    self.notice(level, &text);
                }
            }
            Event::Error { message } => {
                self.error_shown = true;
                self.notice(Level::Error, plain_error(message));
            }
            Event::RunEnd { summary } => self.end_run(summary, now_ms),
            Event::TakenBack { .. } => self.take_back(),
            Event::RouteSelected { .. }
            | Event::RouteEscalated { .. }
            | Event::RoutePinned { .. }
            | Event::ModelFailover { .. }
            | Event::Reflection { .. }
            | Event::WrapUp { .. } => {
                if let Some((level, text)) = policy::line(event) {
                    self.notice(level, &text);
                }
            }
            // News of background work is a message too; the rest belongs to other parts of the
            // screen.
            Event::Usage { .. }
            | Event::Notice { .. }
            | Event::TurnEnd { .. }
            | Event::Queue { .. }
            | Event::QueueReturned { .. }
            | Event::Mode { .. }
            | Event::Plan { .. }
            | Event::LimitChanged { .. }
            | Event::Rejected { .. } => {}
        }
    }

    /// Removes everything; names of cells are never used again, so that caches stay right.
    pub fn clear(&mut self) {
        let next = self.next;
        let version = self.version + 1;
        *self = Self { next, version, ..Self::default() };
    }

    /// The last turn left the conversation.
    fn take_back(&mut self) {
        let user = |cell: &&Cell| matches!(cell.kind, CellKind::User { .. });
        if let Some(from) = self.cells.iter().rev().find(user).map(|cell| cell.id) {
            self.remove(|_| true, from);
        }
        self.notice(Level::Info, "the last turn was taken back; files stay as they are now");
    }

    /// Shows the history of a resumed session.
    pub fn load(&mut self, history: &[Message]) {
        for message in history {
            self.commit(message, 0);
        }
        self.close_calls(0);
    }

    fn commit(&mut self, message: &Message, now_ms: u64) {
        match message {
            Message::User(message) => self.user(message),
            Message::Assistant(message) => self.end_answer(message, now_ms),
            Message::Tool(result) => {
                if self.is_running(&result.call_id) {
                    self.end_call(&result.call_id, result.status, result, now_ms);
                }
            }
            Message::Note(note) => self.notice(Level::Info, &note.text),
        }
    }

    fn user(&mut self, message: &UserMessage) {
        let text = user_text(&message.blocks);
        match message.origin {
            Origin::Prompt => self.push(CellKind::User { text, mark: None }),
            Origin::Steer => self.push(CellKind::User { text, mark: Some("steer") }),
            Origin::FollowUp => self.push(CellKind::User { text, mark: Some("follow-up") }),
            Origin::Notice => {
                let text = told(&text);
                self.push(CellKind::Notice { level: Level::Info, text })
            }
            Origin::Resume => {
                let text = "the answer hit the output limit and goes on".to_owned();
                self.push(CellKind::Notice { level: Level::Info, text })
            }
        };
    }

    fn retry(&mut self, attempt: u32, max: u32, until_ms: u64, error: &str) {
        let error = sanitize::clean_line(error).into_owned();
        let kind = CellKind::Retry { attempt, max, until_ms, error, done: false };
        match self.cells.last() {
            Some(Cell { id, kind: CellKind::Retry { .. }, .. }) => {
                let id = *id;
                self.change(id, |cell| cell.kind = kind);
            }
            _ => {
                self.push(kind);
            }
        }
    }

    fn end_retries(&mut self) {
        let open = |cell: &&Cell| matches!(cell.kind, CellKind::Retry { done: false, .. });
        let Some(id) = self.cells.iter().rev().take(8).find(open).map(|cell| cell.id) else {
            return;
        };
        self.change(id, |cell| {
            if let CellKind::Retry { done, .. } = &mut cell.kind {
                *done = true;
            }
        });
    }

    fn end_run(&mut self, summary: &RunSummary, now_ms: u64) {
        self.end_retries();
        self.close_answer();
        self.close_calls(now_ms);
        if let Some(error) = summary.error.as_ref().filter(|_| !self.error_shown) {
            self.notice(Level::Error, plain_error(&error.message));
        }
        self.push(CellKind::Summary { text: self.tally.summary_line(summary) });
        if let Some(wrap) = summary.wrap {
            self.notice(Level::Info, policy::way_on(wrap));
        }
    }

    fn push(&mut self, kind: CellKind) -> CellId {
        let id = CellId(self.next);
        self.next += 1;
        self.version += 1;
        self.lines += 1;
        self.cells.push(Cell { id, version: 0, base: 0, fold: None, kind });
        id
    }

    fn change(&mut self, id: CellId, change: impl FnOnce(&mut Cell)) {
        let place = self.place(id);
        if let Some(cell) = self.cells.get_mut(place).filter(|cell| cell.id == id) {
            change(cell);
            cell.version += 1;
            self.version += 1;
        }
    }

    fn remove(&mut self, gone: impl Fn(&Cell) -> bool, from: CellId) {
        let place = self.place(from);
        let tail = self.cells.split_off(place);
        self.cells.extend(tail.into_iter().filter(|cell| !gone(cell)));
        self.version += 1;
    }
}

/// News for the model as people read it: without the marks around it.
fn told(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().starts_with(['<']));
    let plain = lines.collect::<Vec<_>>().join("\n");
    plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// An error without the words that tell programs its class: `LLM call failed: <Kind>: `.
fn plain_error(message: &str) -> &str {
    let class = message.strip_prefix("LLM call failed: ").and_then(|rest| rest.split_once(": "));
    match class {
        Some((kind, words)) if kind.chars().all(|c| c.is_ascii_alphanumeric()) => words,
        _ => message.strip_prefix("LLM call failed: ").unwrap_or(message),
    }
}

fn user_text(blocks: &[Block]) -> String {
    let mut parts = Vec::new();
    for block in blocks {
        match block {
            Block::Text { text } => parts.push(sanitize::clean(text).into_owned()),
            Block::Image { media_type, data } => {
                let size = bytes_text(data.len() as u64 / 4 * 3);
                parts.push(format!("[{} · {size}]", sanitize::clean_line(media_type)));
            }
            Block::Thinking { .. } | Block::Call(_) | Block::Opaque(_) => {}
        }
    }
    parts.join("\n").trim_end().to_owned()
}

/// A duration for people: `340 ms`, `12.3 s`, `2 min 5 s`.
pub fn duration_text(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
    }
}

/// A size for people: `812 B`, `4.2 KB`, `1.3 MB`.
pub fn bytes_text(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{}.{} KB", bytes / 1000, bytes % 1000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
