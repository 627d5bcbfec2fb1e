//! Brings a frame to the terminal with few bytes: only cells that changed, and where a block of
//! rows moved up or down as a whole (a streaming answer, the wheel) the terminal moves it itself.
//! Keeps what the terminal shows; knows nothing of what the cells mean.

use std::hash::{Hash, Hasher};
use std::io::{self, Write};

use crossterm::queue;
use crossterm::style::Print;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};

/// Fewest rows that must be saved before a block is moved: below that, plain redrawing is as cheap.
const WORTH_MOVING: usize = 3;
/// Furthest a block is looked for, in rows: a page.
const FURTHEST: usize = 64;

/// A block of rows that stands elsewhere in the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    /// First row of the region that is scrolled.
    top: usize,
    /// First row below it.
    bottom: usize,
    /// Rows by which the content goes up; negative: down.
    up: isize,
}

/// Draws frames on a terminal that it alone writes to.
#[derive(Debug)]
pub struct Presenter<W: Write> {
    backend: CrosstermBackend<W>,
    shown: Buffer,
    next: Buffer,
    /// Whether nothing is known of what the terminal shows.
    stale: bool,
    cursor_shown: bool,
}

impl<W: Write> Presenter<W> {
    /// Writes to `writer`; the first frame draws every cell.
    pub fn new(writer: W) -> Self {
        Self {
            backend: CrosstermBackend::new(writer),
            shown: Buffer::default(),
            next: Buffer::default(),
            stale: true,
            cursor_shown: true,
        }
    }

    /// The writer, for bytes that touch no cell.
    pub fn writer(&mut self) -> &mut impl Write {
        &mut self.backend
    }

    /// Makes the next frame draw every cell.
    pub fn invalidate(&mut self) {
        self.stale = true;
    }

    /// Queues the bytes of one frame of that area, the cursor included; the caller flushes.
    ///
    /// # Errors
    /// When the terminal can't be written to.
    pub fn draw(
        &mut self,
        area: Rect,
        draw: impl FnOnce(Rect, &mut Buffer) -> Option<Position>,
    ) -> io::Result<()> {
        self.next.resize(area);
        self.next.reset();
        let cursor = draw(area, &mut self.next);
        if self.stale || self.shown.area != area {
            self.backend.clear()?;
            self.shown = Buffer::empty(area);
            self.stale = false;
        }
        let mut changed = self.changed_rows();
        if changed.len() >= WORTH_MOVING
            && let Some(found) = find_move(&hashes(&self.shown), &hashes(&self.next))
        {
            self.carry_out(found)?;
            changed = self.changed_rows();
        }
        for block in changed.chunk_by(|row, next| row + 1 == *next) {
            self.redraw(block[0], block.len())?;
        }
        self.place(cursor)?;
        std::mem::swap(&mut self.shown, &mut self.next);
        Ok(())
    }

    /// Rows that differ. Comparing is far cheaper than the search for changed cells, which measures
    /// the width of every one of them.
    fn changed_rows(&self) -> Vec<usize> {
        let width = usize::from(self.shown.area.width).max(1);
        let pairs = self.shown.content.chunks(width).zip(self.next.content.chunks(width));
        pairs.enumerate().filter(|(_, (old, new))| old != new).map(|(row, _)| row).collect()
    }

    /// Sends the changed cells of some rows.
    fn redraw(&mut self, first: usize, count: usize) -> io::Result<()> {
        let width = usize::from(self.shown.area.width);
        let part = |whole: &Buffer| Buffer {
            area: Rect { y: whole.area.y + first as u16, height: count as u16, ..whole.area },
            content: whole.content[first * width..(first + count) * width].to_vec(),
        };
        let (shown, next) = (part(&self.shown), part(&self.next));
        self.backend.draw(shown.diff(&next).into_iter())
    }

    fn place(&mut self, cursor: Option<Position>) -> io::Result<()> {
        match cursor {
            Some(at) => {
                self.backend.set_cursor_position(at)?;
                if !self.cursor_shown {
                    self.backend.show_cursor()?;
                }
            }
            None if self.cursor_shown => self.backend.hide_cursor()?,
            None => {}
        }
        self.cursor_shown = cursor.is_some();
        Ok(())
    }

    /// Scrolls the region on the terminal and in what we know of it. Line feeds at the lower edge
    /// and reverse index at the upper one are understood everywhere, the newer sequences are not.
    fn carry_out(&mut self, found: Move) -> io::Result<()> {
        let Move { top, bottom, up } = found;
        let by = up.unsigned_abs();
        let (edge, step) = if up > 0 { (bottom, "\n") } else { (top + 1, "\x1bM") };
        let region = format!("\x1b[0m\x1b[{};{}r\x1b[{edge};1H", top + 1, bottom);
        queue!(self.backend, Print(region), Print(step.repeat(by)), Print("\x1b[r"))?;
        let width = usize::from(self.shown.area.width);
        let cells = &mut self.shown.content[top * width..bottom * width];
        if up > 0 {
            cells.rotate_left(by * width);
            let kept = cells.len() - by * width;
            cells[kept..].fill(Cell::EMPTY);
        } else {
            cells.rotate_right(by * width);
            cells[..by * width].fill(Cell::EMPTY);
        }
        Ok(())
    }
}

/// A quick hash for rows. A collision costs bytes only: what was moved wrongly differs from the next
/// frame and is drawn again.
#[derive(Default)]
struct Mix(u64);

impl Mix {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.add(value.into());
    }

    fn write_isize(&mut self, value: isize) {
        self.add(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn hashes(buffer: &Buffer) -> Vec<u64> {
    let width = usize::from(buffer.area.width).max(1);
    let hash = |row: &[Cell]| {
        let mut hasher = Mix::default();
        row.hash(&mut hasher);
        hasher.finish()
    };
    buffer.content.chunks(width).map(hash).collect()
}

/// The move that saves most rows; `None` when none is worth it.
fn find_move(shown: &[u64], next: &[u64]) -> Option<Move> {
    let furthest = FURTHEST.min(shown.len().saturating_sub(WORTH_MOVING)) as isize;
    let distances = (1..=furthest).flat_map(|by| [by, -by]);
    distances
        .filter_map(|up| longest_run(shown, next, up))
        .max_by_key(|(saved, found)| (*saved, std::cmp::Reverse(found.up.unsigned_abs())))
        .filter(|(saved, _)| *saved >= WORTH_MOVING)
        .map(|(_, found)| found)
}

/// The longest block that went up by `up` rows, with the number of rows it saves.
fn longest_run(shown: &[u64], next: &[u64], up: isize) -> Option<(usize, Move)> {
    let mut best: Option<(usize, Move)> = None;
    let (mut start, mut saved) = (0, 0);
    for at in 0..=next.len() {
        let from = at.checked_add_signed(up).and_then(|from| shown.get(from));
        if at < next.len() && from == Some(&next[at]) {
            saved += usize::from(shown[at] != next[at]);
            continue;
        }
        if at > start && best.is_none_or(|(most, _)| saved > most) {
            let (top, bottom) = if up > 0 {
                (start, at + up.unsigned_abs())
            } else {
                (start - up.unsigned_abs(), at)
            };
            best = Some((saved, Move { top, bottom, up }));
        }
        (start, saved) = (at + 1, 0);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;
    use ratatui::style::{Color, Style};

    /// What a terminal shows after these frames, row by row.
    fn emulated(frames: &[Vec<String>], width: u16, height: u16) -> (Vec<String>, usize) {
        let mut bytes = Vec::new();
        let mut presenter = Presenter::new(&mut bytes);
        let area = Rect { x: 0, y: 0, width, height };
        for rows in frames {
            presenter
                .draw(area, |_, buffer| {
                    for (y, row) in (0..height).zip(rows) {
                        let style = Style::new().bg(Color::Indexed(row.len() as u8));
                        buffer.set_string(0, y, row, style);
                    }
                    None
                })
                .unwrap();
        }
        let (rows, columns) = (height.try_into().unwrap(), width.try_into().unwrap());
        let mut parser = vt100::Parser::new(rows, columns, 0);
        parser.process(&bytes);
        let shown = parser.screen().rows(0, width).map(|row| row.trim_end().to_owned()).collect();
        (shown, bytes.len())
    }

    fn numbered(range: std::ops::Range<usize>) -> Vec<String> {
        range.map(|n| format!("row {n} 字 with some words")).collect()
    }

    proptest! {
        #[test]
        fn a_terminal_shows_the_last_frame_whatever_came_before(
            starts in proptest::collection::vec((0_usize..40, 0_usize..4), 1..6),
        ) {
            let frames: Vec<Vec<String>> = starts
                .iter()
                .map(|(start, fixed)| {
                    let mut rows = numbered(*start..*start + 12);
                    for row in &mut rows[12 - fixed..] {
                        *row = "fixed".to_owned();
                    }
                    rows
                })
                .collect();
            let (shown, _) = emulated(&frames, 40, 12);
            prop_assert_eq!(&shown, frames.last().unwrap());
        }
    }

    #[test]
    fn scrolling_by_a_row_costs_about_a_row() {
        let still = emulated(&[numbered(0..12)], 40, 12).1;
        let moved = emulated(&[numbered(0..12), numbered(1..13)], 40, 12).1;
        assert!(moved - still < still / 4, "{moved} {still}");
    }

    #[test]
    fn a_block_that_went_up_or_down_is_found_and_small_changes_are_not_worth_it() {
        let shown = [1, 2, 3, 4, 5, 6, 90, 91];
        let up = find_move(&shown, &[2, 3, 4, 5, 6, 7, 90, 91]);
        assert_eq!(up, Some(Move { top: 0, bottom: 6, up: 1 }));
        let down = find_move(&shown, &[0, 7, 1, 2, 3, 4, 90, 91]);
        assert_eq!(down, Some(Move { top: 0, bottom: 6, up: -2 }));
        assert_eq!(find_move(&shown, &[1, 2, 3, 4, 5, 7, 90, 92]), None);
        assert_eq!(find_move(&shown, &shown), None);
        assert_eq!(find_move(&[], &[]), None);
    }
}
