//! Moving through rows without laying out more than is passed: up and down by rows, to an anchor,
//! and from a top row to a full screen.

use std::sync::Arc;

use crate::ui::store::scroll::{Anchor, Position, Scroll, Settled};
use crate::ui::store::transcript::{Cell, CellKind, Transcript};
use crate::ui::text::row::Row;
use crate::ui::view::cell::{self, Extent};

use super::Shown;
use super::cache::Cache;

/// A row: cell, piece of the cell, row of the piece. Blank rows above a cell count as rows of its
/// first piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    cell: usize,
    piece: usize,
    row: usize,
}

/// One walk over the transcript of a frame.
pub(super) struct Walk<'a> {
    pub(super) transcript: &'a Transcript,
    pub(super) cache: &'a mut Cache,
    pub(super) columns: u16,
    pub(super) now_ms: u64,
}

impl Walk<'_> {
    /// The top row for that scroll state, at most so far down that the screen is full.
    pub(super) fn top(&mut self, scroll: &Scroll, height: usize) -> Place {
        let lowest = self.up(self.end(), height);
        let from = match scroll.position() {
            Position::Latest => lowest,
            Position::At(anchor) => self.locate(anchor),
        };
        let moved = match scroll.pending() {
            0 => from,
            rows if rows < 0 => self.up(from, rows.unsigned_abs()),
            rows => self.down(from, rows.unsigned_abs()),
        };
        moved.min(lowest)
    }

    /// Collects rows from `top` until the screen is full.
    pub(super) fn fill(&mut self, top: Place, height: usize, out: &mut Vec<Shown>) -> Settled {
        let mut settled = Settled { top: self.anchor(top), at_end: true, fits: true };
        let mut place = top;
        while place.cell < self.transcript.cells().len() {
            let (gap, rows) = self.rows(place.cell, place.piece);
            let cell = &self.transcript.cells()[place.cell];
            let margin = self.margin(cell);
            for row in place.row..gap + rows.len() {
                if out.len() == height {
                    settled.at_end = false;
                    break;
                }
                let index = row.checked_sub(gap);
                out.push(Shown { cell: cell.id, rows: Arc::clone(&rows), index, margin });
            }
            if !settled.at_end {
                break;
            }
            place = self.next_piece(place);
        }
        let first = Place { cell: 0, piece: 0, row: 0 };
        settled.fits = settled.at_end && top == first;
        settled
    }

    fn end(&self) -> Place {
        Place { cell: self.transcript.cells().len(), piece: 0, row: 0 }
    }

    fn extent(&self, cell: &Cell) -> Extent {
        cell::extent(cell, self.transcript)
    }

    fn margin(&self, cell: &Cell) -> u16 {
        let document = match cell.kind {
            CellKind::Assistant { .. } => true,
            CellKind::Thinking { .. } => self.extent(cell) == Extent::Full,
            CellKind::User { .. }
            | CellKind::Tool(_)
            | CellKind::Retry { .. }
            | CellKind::Notice { .. }
            | CellKind::Summary { .. } => false,
        };
        if document { cell::assistant::margin(usize::from(self.columns)) as u16 } else { 0 }
    }

    /// Blank rows above a piece, and its rows.
    fn rows(&mut self, index: usize, piece: usize) -> (usize, Arc<[Row]>) {
        let cell = &self.transcript.cells()[index];
        let extent = self.extent(cell);
        let rows = self.cache.rows(cell, extent, piece, self.columns, self.now_ms);
        let gap = if piece == 0 && !rows.is_empty() { self.gap(index) } else { 0 };
        (gap, rows)
    }

    fn gap(&self, index: usize) -> usize {
        let cells = self.transcript.cells();
        let Some(above) = index.checked_sub(1).map(|above| &cells[above]) else { return 0 };
        let compact = |cell: &Cell| cell::is_compact(cell, self.extent(cell));
        usize::from(!(compact(above) && compact(&cells[index])))
    }

    fn height(&mut self, index: usize, piece: usize) -> usize {
        let (gap, rows) = self.rows(index, piece);
        gap + rows.len()
    }

    fn piece_count(&mut self, index: usize) -> usize {
        let cell = &self.transcript.cells()[index];
        let extent = self.extent(cell);
        self.cache.pieces(cell, extent)
    }

    fn next_piece(&mut self, place: Place) -> Place {
        if place.piece + 1 < self.piece_count(place.cell) {
            Place { piece: place.piece + 1, row: 0, ..place }
        } else {
            Place { cell: place.cell + 1, piece: 0, row: 0 }
        }
    }

    /// The row `rows` above `from`, or the first row.
    fn up(&mut self, from: Place, rows: usize) -> Place {
        let mut place = from;
        let mut left = rows;
        loop {
            if left <= place.row {
                place.row -= left;
                return place;
            }
            left -= place.row;
            if place.piece > 0 {
                place.piece -= 1;
            } else if place.cell > 0 {
                place.cell -= 1;
                place.piece = self.piece_count(place.cell) - 1;
            } else {
                return Place { cell: 0, piece: 0, row: 0 };
            }
            place.row = self.height(place.cell, place.piece);
        }
    }

    /// The row `rows` below `from`, or the end.
    fn down(&mut self, from: Place, rows: usize) -> Place {
        let mut place = from;
        let mut left = rows;
        while place.cell < self.transcript.cells().len() {
            let height = self.height(place.cell, place.piece);
            if place.row + left < height {
                place.row += left;
                return place;
            }
            left -= height.saturating_sub(place.row);
            place = self.next_piece(place);
        }
        place
    }

    fn locate(&mut self, anchor: Anchor) -> Place {
        let index = self.transcript.place(anchor.cell);
        let Some(cell) = self.transcript.cells().get(index) else { return self.end() };
        if cell.id != anchor.cell {
            return Place { cell: index, piece: 0, row: 0 };
        }
        let extent = self.extent(cell);
        let piece = self.cache.piece_at(cell, extent, anchor.offset);
        let (gap, rows) = self.rows(index, piece);
        let last = rows.partition_point(|row| row.src.start <= anchor.offset).saturating_sub(1);
        let start = rows.get(last).map_or(0, |row| row.src.start);
        // Blank rows above the cell share the first byte with its first row.
        let first = match rows.partition_point(|row| row.src.start < start) {
            0 => 0,
            first => first + gap,
        };
        let row = (first + usize::from(anchor.nth)).min(last + gap);
        Place { cell: index, piece, row }
    }

    fn anchor(&mut self, place: Place) -> Option<Anchor> {
        let cell = self.transcript.cells().get(place.cell)?.id;
        let (gap, rows) = self.rows(place.cell, place.piece);
        let row = place.row.saturating_sub(gap);
        let offset = rows.get(row).map_or(0, |row| row.src.start);
        let first = match rows.partition_point(|row| row.src.start < offset) {
            0 => 0,
            first => first + gap,
        };
        let nth = place.row.saturating_sub(first).min(usize::from(u16::MAX)) as u16;
        Some(Anchor { cell, offset, nth })
    }
}
