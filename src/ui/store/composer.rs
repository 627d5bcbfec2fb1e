//! The text being written. The editing model (undo, kill ring, pills) is `tui_textarea`; whole
//! grapheme clusters, pasted pills and visual rows are added here, because the widget counts
//! characters. Drawing is in `view::composer`.

use std::fmt::Write as _;
use std::ops::Range;

use tui_textarea::{AtomicDeleteDirection, AtomicRange, CursorMove, TextArea};
use unicode_segmentation::UnicodeSegmentation;

use super::rows::{Row, cells, rows};

/// Pastes longer than this become a pill, in characters.
pub const PILL_CHARS: usize = 1000;
/// Pastes with more lines than this become a pill.
pub const PILL_LINES: usize = 10;

/// A pasted text that stands in the composer as a short label.
#[derive(Clone, Debug)]
struct Pill {
    label: String,
    text: String,
}

/// The composer's content.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    pills: Vec<Pill>,
    pasted: usize,
}

impl Default for Composer {
    fn default() -> Self {
        let mut area = TextArea::default();
        area.set_undo_coalescing(true);
        area.set_max_histories(200);
        Self { area, pills: Vec::new(), pasted: 0 }
    }
}

impl Composer {
    /// The lines as shown, pills as labels.
    pub fn lines(&self) -> &[String] {
        self.area.lines()
    }

    /// The text as shown.
    pub fn shown(&self) -> String {
        self.area.lines().join("\n")
    }

    /// The text as it will be sent, pills in full.
    pub fn text(&self) -> String {
        let mut text = self.shown();
        for pill in &self.pills {
            if let Some(at) = text.find(&pill.label) {
                text.replace_range(at..at + pill.label.len(), &pill.text);
            }
        }
        text
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Whether only white space is written.
    pub fn is_blank(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Empties it and returns the text in full.
    pub fn take(&mut self) -> String {
        let text = self.text();
        *self = Self::default();
        text
    }

    /// Replaces the text; the caret goes to the end.
    pub fn set(&mut self, text: &str) {
        *self = Self::default();
        self.paste(text);
    }

    /// Types one character.
    pub fn insert_char(&mut self, c: char) {
        self.area.insert_char(c);
        self.mark_pills();
    }

    /// Inserts cleaned text; a long one becomes a pill.
    pub fn paste(&mut self, text: &str) {
        if text.chars().nth(PILL_CHARS).is_none() && text.matches('\n').nth(PILL_LINES).is_none() {
            self.area.insert_str(text);
        } else {
            self.pasted += 1;
            let label =
                format!("[pasted #{} · {} chars]", self.pasted, grouped(text.chars().count()));
            self.area.insert_str(&label);
            self.pills.push(Pill { label, text: text.to_owned() });
        }
        self.mark_pills();
    }

    /// Starts a new line.
    pub fn newline(&mut self) {
        self.area.insert_newline();
        self.mark_pills();
    }

    /// Whether a backslash stands before the caret; it and Enter make a new line.
    pub fn continues(&self) -> bool {
        self.line_before().ends_with('\\')
    }

    /// Deletes the cluster, pill or line break before the caret.
    pub fn backspace(&mut self) {
        if self.area.delete_atomic_range_at_cursor(AtomicDeleteDirection::Backward).is_some() {
            self.mark_pills();
            return;
        }
        match self.line_before().graphemes(true).next_back().map(|last| last.chars().count()) {
            None => {
                self.area.delete_newline();
            }
            Some(1) => {
                self.area.delete_char();
            }
            Some(chars) => {
                self.shift(-(chars as isize));
                self.area.delete_str(chars);
            }
        }
        self.mark_pills();
    }

    /// Deletes the cluster, pill or line break after the caret.
    pub fn delete(&mut self) {
        if self.area.delete_atomic_range_at_cursor(AtomicDeleteDirection::Forward).is_some() {
            self.mark_pills();
            return;
        }
        let chars = self.line_after().graphemes(true).next().map_or(1, |next| next.chars().count());
        self.area.delete_str(chars);
        self.mark_pills();
    }

    /// Deletes as `how` says.
    pub fn kill(&mut self, how: Kill) {
        match how {
            Kill::Word => self.area.delete_word(),
            Kill::ToStart => self.area.delete_line_by_head(),
            Kill::ToEnd => self.area.delete_line_by_end(),
        };
        self.mark_pills();
    }

    /// Inserts what was killed last.
    pub fn yank(&mut self) {
        self.area.paste();
        self.mark_pills();
    }

    /// Takes the last edit back.
    pub fn undo(&mut self) {
        self.area.undo();
        self.mark_pills();
    }

    /// Does it again.
    pub fn redo(&mut self) {
        self.area.redo();
        self.mark_pills();
    }

    /// One cluster to the left, over line ends too.
    pub fn left(&mut self) {
        match self.line_before().graphemes(true).next_back().map(|last| last.chars().count()) {
            None => self.area.move_cursor(CursorMove::Back),
            Some(chars) => self.shift(-(chars as isize)),
        }
    }

    /// One cluster to the right, over line ends too.
    pub fn right(&mut self) {
        match self.line_after().graphemes(true).next().map(|next| next.chars().count()) {
            None => self.area.move_cursor(CursorMove::Forward),
            Some(chars) => self.shift(chars as isize),
        }
    }

    /// Moves as `how` says.
    pub fn go(&mut self, how: Go) {
        self.area.move_cursor(match how {
            Go::WordLeft => CursorMove::WordBack,
            Go::WordRight => CursorMove::WordForward,
            Go::LineStart => CursorMove::Head,
            Go::LineEnd => CursorMove::End,
        });
    }

    /// One visual row up or down at `width` columns; false at the edge.
    pub fn vertical(&mut self, down: bool, width: u16) -> bool {
        let rows = self.rows(width);
        let (row, column) = self.caret(&rows);
        let target = if down { row + 1 } else { row.wrapping_sub(1) };
        let Some(target) = rows.get(target) else { return false };
        let line = &self.area.lines()[target.line];
        let mut at = target.bytes.start;
        let mut x = 0;
        for cluster in line[target.bytes.clone()].graphemes(true) {
            let next = x + cells(cluster, x);
            if next > column {
                break;
            }
            x = next;
            at += cluster.len();
        }
        // The end of a wrapped row is the start of the next one; stay on this row.
        if at == target.bytes.end
            && rows.iter().any(|r| r.line == target.line && r.bytes.start == at)
        {
            at -= line[target.bytes.clone()].graphemes(true).next_back().map_or(0, str::len);
        }
        let column = line[..at].chars().count();
        let line = target.line;
        self.jump(line, column);
        true
    }

    /// The visual rows at `width` columns; the caret always has a cell of its own.
    pub fn rows(&self, width: u16) -> Vec<Row> {
        rows(self.area.lines(), usize::from(width.saturating_sub(1)).max(1))
    }

    /// The caret's visual row and column among `rows`.
    pub fn caret(&self, rows: &[Row]) -> (usize, usize) {
        let (line, _) = self.area.cursor();
        let at = self.line_before().len();
        let row = rows
            .iter()
            .rposition(|row| row.line == line && row.bytes.start <= at)
            .unwrap_or_default();
        let start = rows.get(row).map_or(0, |row| row.bytes.start);
        (row, super::rows::width_of(&self.area.lines()[line][start..at.max(start)]))
    }

    /// Byte ranges of the pills in line `line`, for colouring.
    pub fn pill_ranges(&self, line: usize) -> Vec<Range<usize>> {
        let Some(text) = self.area.lines().get(line) else { return Vec::new() };
        self.pills
            .iter()
            .filter_map(|pill| text.find(&pill.label).map(|at| at..at + pill.label.len()))
            .collect()
    }

    /// The first word when the whole text is one line that starts with a slash.
    pub fn slash_word(&self) -> Option<&str> {
        match self.area.lines() {
            [line] if line.starts_with('/') && !line.contains(char::is_whitespace) => Some(line),
            _ => None,
        }
    }

    fn line_before(&self) -> &str {
        let (line, column) = self.area.cursor();
        let text = &self.area.lines()[line];
        &text[..byte_of(text, column)]
    }

    fn line_after(&self) -> &str {
        let (line, column) = self.area.cursor();
        let text = &self.area.lines()[line];
        &text[byte_of(text, column)..]
    }

    fn shift(&mut self, chars: isize) {
        let (line, column) = self.area.cursor();
        self.jump(line, column.saturating_add_signed(chars));
    }

    fn jump(&mut self, line: usize, column: usize) {
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        self.area.move_cursor(CursorMove::Jump(short(line), short(column)));
    }

    /// Tells the widget where the pills are, so that it treats each as one character. Undo makes
    /// it forget them.
    fn mark_pills(&mut self) {
        if self.pills.is_empty() {
            return;
        }
        let mut ranges = Vec::new();
        for (row, line) in self.area.lines().iter().enumerate() {
            for pill in &self.pills {
                if let Some(at) = line.find(&pill.label) {
                    let start_col = line[..at].chars().count();
                    let end_col = start_col + pill.label.chars().count();
                    ranges.push(AtomicRange { row, start_col, end_col });
                }
            }
        }
        ranges.sort_by_key(|range| (range.row, range.start_col));
        let _overlap = self.area.try_set_atomic_ranges(ranges);
    }
}

/// What [`Composer::kill`] deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kill {
    /// The word before.
    Word,
    /// To the start of the line.
    ToStart,
    /// To the end of the line.
    ToEnd,
}

/// Where [`Composer::go`] goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// A word back.
    WordLeft,
    /// A word on.
    WordRight,
    /// Start of the line.
    LineStart,
    /// End of the line.
    LineEnd,
}

fn byte_of(text: &str, column: usize) -> usize {
    text.char_indices().nth(column).map_or(text.len(), |(at, _)| at)
}

/// `2340` as `2 340`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        let _infallible = out.write_char(digit);
    }
    out
}
