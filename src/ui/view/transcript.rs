//! The transcript on screen. [`TranscriptLayout`] is the cache beside the store: `prepare` lays
//! out what is visible and nothing else, [`draw`] puts it into the buffer. Work per frame follows
//! the height of the screen and the newest piece of text, never the length of the conversation.

mod cache;
mod walk;

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use tokio::sync::Notify;

use crate::ui::store::scroll::{Scroll, Settled};
use crate::ui::store::transcript::{CellId, Transcript};
use crate::ui::text::role::Role;
use crate::ui::text::row::Row;
use crate::ui::text::width;
use crate::ui::theme::Theme;

use cache::Cache;
use walk::Walk;

/// Cells of the rule that stay to the right of the control back to the end.
const MORE_MARGIN: u16 = 2;

/// Counts of work, for tests and for looking at what a frame costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pieces laid out so far.
    pub pieces: u64,
    /// Rows laid out so far.
    pub rows: u64,
    /// Bytes of rows kept now.
    pub kept_bytes: usize,
    /// Rows kept now.
    pub kept_rows: usize,
}

/// A row on screen.
#[derive(Clone, Debug)]
struct Shown {
    cell: CellId,
    rows: Arc<[Row]>,
    /// Which of the rows; `None` for a blank row between cells.
    index: Option<usize>,
    margin: u16,
}

/// The rows on screen and the cache they come from.
#[derive(Debug, Default)]
pub struct TranscriptLayout {
    cache: Cache,
    theme: Theme,
    shown: Vec<Shown>,
    settled: Settled,
    following: bool,
    unseen: u64,
    version: u64,
}

impl TranscriptLayout {
    /// An empty layout. Loads nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fires when colours became ready and the screen should be drawn again.
    pub fn colours_ready(&self) -> Arc<Notify> {
        self.cache.highlighter.ready()
    }

    /// Lays out what is visible in `width` × `height`. Call [`Scroll::settle`] with
    /// [`Self::settled`] afterwards.
    pub fn prepare(
        &mut self,
        transcript: &Transcript,
        scroll: &Scroll,
        width: u16,
        height: u16,
        theme: &Theme,
        now_ms: u64,
    ) {
        if self.theme.id() != theme.id() {
            self.theme = theme.clone();
        }
        self.following = scroll.is_latest();
        self.unseen = scroll.unseen(transcript);
        if transcript.version() < self.version {
            // Another transcript: its cells have the same names but not the same content.
            self.cache.forget();
        }
        self.version = transcript.version();
        self.shown.clear();
        self.settled = Settled { top: None, at_end: true, fits: true };
        if width == 0 || height == 0 || transcript.is_empty() {
            return;
        }
        self.cache.begin_frame();
        let mut walk = Walk { transcript, cache: &mut self.cache, columns: width, now_ms };
        let height = usize::from(height);
        let top = walk.top(scroll, height);
        self.settled = walk.fill(top, height, &mut self.shown);
        self.cache.end_frame();
    }

    /// What the last `prepare` found out about movements.
    pub fn settled(&self) -> Settled {
        self.settled
    }

    /// The cell at a row of the area, counted from its top.
    pub fn hit(&self, row: u16) -> Option<CellId> {
        self.shown.get(usize::from(row)).map(|shown| shown.cell)
    }

    /// Rows that have content, counted from the top of the area.
    pub fn height(&self) -> u16 {
        self.shown.len() as u16
    }

    /// Where the control that leads back to the end is drawn: near the right end of `rule`, a line
    /// under the transcript, or without one over the last row of `area`. `None` while following.
    pub fn more_area(&self, area: Rect, rule: Rect) -> Option<Rect> {
        if self.following || self.settled.at_end && self.unseen == 0 {
            return None;
        }
        let wide = width::width(&self.more_text()) as u16;
        if area.height == 0 || area.width < wide + MORE_MARGIN {
            return None;
        }
        if rule.is_empty() {
            return Some(Rect::new(area.right() - wide, area.bottom() - 1, wide, 1));
        }
        Some(Rect::new(rule.right() - wide - MORE_MARGIN, rule.y, wide, 1))
    }

    fn more_text(&self) -> String {
        if self.unseen == 0 { " ↓ end ".to_owned() } else { format!(" ↓ {} new ", self.unseen) }
    }

    /// What was done so far.
    pub fn work(&self) -> Work {
        self.cache.work()
    }

    /// Whether code colours were ever asked for.
    pub fn has_asked_for_colours(&self) -> bool {
        self.cache.highlighter.is_started()
    }

    /// The text of the rows on screen, for tests and for copying what is seen.
    pub fn visible_text(&self) -> Vec<String> {
        let row = |shown: &Shown| {
            let text = shown.index.and_then(|index| shown.rows.get(index)).map(Row::text);
            format!("{}{}", " ".repeat(usize::from(shown.margin)), text.unwrap_or_default())
        };
        self.shown.iter().map(row).collect()
    }
}

/// Draws the prepared rows. Never fails, whatever the area.
pub fn draw(layout: &TranscriptLayout, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    for (y, shown) in (area.top()..area.bottom()).zip(&layout.shown) {
        let Some(row) = shown.index.and_then(|index| shown.rows.get(index)) else { continue };
        let margin = shown.margin.min(area.width);
        let place = Rect::new(area.x + margin, y, area.width - margin, 1);
        draw_row(row, place, &layout.theme, buf);
    }
}

/// Draws the control that leads back to the end, where [`TranscriptLayout::more_area`] says.
pub fn draw_more(layout: &TranscriptLayout, area: Rect, rule: Rect, buf: &mut Buffer) {
    let Some(place) = layout.more_area(area, rule).map(|place| place.intersection(buf.area)) else {
        return;
    };
    if !place.is_empty() {
        let style = layout.theme.style(Role::Selection);
        buf.set_stringn(place.x, place.y, layout.more_text(), usize::from(place.width), style);
    }
}

/// Draws one row at the start of `area`, cut at its end.
pub fn draw_row(row: &Row, area: Rect, theme: &Theme, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    if let Some(fill) = row.fill {
        buf.set_style(Rect { height: 1, ..area }, theme.style(fill));
    }
    let mut x = area.x;
    for (text, ink) in row.line.pieces() {
        let room = usize::from(area.right().saturating_sub(x));
        if room == 0 {
            return;
        }
        x = draw_text(text, Position { x, y: area.y }, room, theme.ink(ink), buf);
    }
}

/// Draws text cut at `room` columns; returns the column behind it. Plain ASCII, which is nearly all
/// there is, skips the search for clusters and their widths.
fn draw_text(text: &str, at: Position, room: usize, style: Style, buf: &mut Buffer) -> u16 {
    if !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return buf.set_stringn(at.x, at.y, text, room, style).0;
    }
    let mut x = at.x;
    for letter in text.chars().take(room) {
        let Some(cell) = buf.cell_mut((x, at.y)) else { break };
        cell.set_char(letter).set_style(style);
        x += 1;
    }
    x
}
