//! Rows by cell and piece, bounded in bytes; what was not used longest goes first. Pieces that
//! can't change any more are laid out once per width.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ui::store::transcript::{Cell, CellId, CellKind};
use crate::ui::text::highlight::{Asking, Highlighter};
use crate::ui::text::outline::{Outline, Piece};
use crate::ui::text::row::Row;
use crate::ui::view::cell::{self, Extent, Look};

use super::Work;

/// Bytes of rows kept.
const KEPT_BYTES: usize = 4 * 1024 * 1024;
/// Outlines kept.
const KEPT_DOCS: usize = 256;

#[derive(Debug)]
struct Entry {
    stamp: Stamp,
    rows: Arc<[Row]>,
    weight: usize,
    used: u64,
    /// The highlighter's count when the piece was drawn plain for now.
    waits: Option<u64>,
}

/// What rows were made from; equal stamps mean equal rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    version: u32,
    open: bool,
    columns: u16,
    extent: Extent,
}

#[derive(Debug, Default)]
struct Doc {
    base: u32,
    fed: usize,
    finished: bool,
    outline: Outline,
    used: u64,
}

/// All rows that are kept.
#[derive(Debug, Default)]
pub(super) struct Cache {
    entries: HashMap<(CellId, u32), Entry>,
    docs: HashMap<CellId, Doc>,
    pub(super) highlighter: Highlighter,
    frame: u64,
    weight: usize,
    work: Work,
}

impl Cache {
    pub(super) fn begin_frame(&mut self) {
        self.frame += 1;
    }

    /// Drops everything but the colours.
    pub(super) fn forget(&mut self) {
        self.entries.clear();
        self.docs.clear();
        self.weight = 0;
    }

    /// Drops what is over the limits, but nothing of the current frame.
    pub(super) fn end_frame(&mut self) {
        let frame = self.frame;
        if self.weight > KEPT_BYTES {
            let mut ages: Vec<(u64, usize, (CellId, u32))> =
                self.entries.iter().map(|(key, entry)| (entry.used, entry.weight, *key)).collect();
            ages.sort_unstable();
            for (used, weight, key) in ages {
                if self.weight <= KEPT_BYTES / 2 || used == frame {
                    break;
                }
                self.weight -= weight;
                self.entries.remove(&key);
            }
        }
        if self.docs.len() > KEPT_DOCS {
            self.docs.retain(|_, doc| doc.used + 16 > frame);
        }
    }

    pub(super) fn work(&self) -> Work {
        let kept_rows = self.entries.values().map(|entry| entry.rows.len()).sum();
        Work { kept_bytes: self.weight, kept_rows, ..self.work }
    }

    /// How many pieces a cell has, at least one.
    pub(super) fn pieces(&mut self, cell: &Cell, extent: Extent) -> usize {
        let Some(text) = cell::document(&cell.kind, extent) else { return 1 };
        let doc = self.doc(cell, text);
        (doc.closed().len() + usize::from(doc.open(text).is_some())).max(1)
    }

    /// The piece that holds a byte of the cell's source.
    pub(super) fn piece_at(&mut self, cell: &Cell, extent: Extent, offset: u32) -> usize {
        let Some(text) = cell::document(&cell.kind, extent) else { return 0 };
        let doc = self.doc(cell, text);
        let mut count = doc.closed().partition_point(|piece| piece.start <= offset);
        if doc.open(text).is_some_and(|piece| piece.start <= offset) {
            count += 1;
        }
        count.saturating_sub(1)
    }

    /// The rows of one piece.
    pub(super) fn rows(
        &mut self,
        cell: &Cell,
        extent: Extent,
        index: usize,
        columns: u16,
        now_ms: u64,
    ) -> Arc<[Row]> {
        let text = cell::document(&cell.kind, extent);
        let (piece, open) = match text {
            Some(text) => self.piece(cell, text, index),
            None => (None, true),
        };
        let version = if open { cell.version } else { cell.base };
        let stamp = Stamp { version, open, columns, extent };
        let key = (cell.id, index as u32);
        let generation = self.highlighter.generation();
        let frame = self.frame;
        if !cell.is_animated()
            && let Some(entry) = self.entries.get_mut(&key)
            && entry.stamp == stamp
            && entry.waits.is_none_or(|seen| seen == generation)
        {
            entry.used = frame;
            return Arc::clone(&entry.rows);
        }
        let look = Look { columns: usize::from(columns), now_ms, extent };
        let (rows, waits) = match (text, piece) {
            (Some(text), Some(piece)) => self.document_rows(cell, text, piece, index, look),
            (Some(_), None) => (Vec::new(), false),
            (None, _) => (cell::rows(&cell.kind, look), false),
        };
        self.keep(key, stamp, rows, waits.then_some(generation))
    }

    fn piece(&mut self, cell: &Cell, text: &str, index: usize) -> (Option<Piece>, bool) {
        let doc = self.doc(cell, text);
        match doc.closed().get(index) {
            Some(piece) => (Some(*piece), false),
            None => (doc.open(text), true),
        }
    }

    fn document_rows(
        &mut self,
        cell: &Cell,
        text: &str,
        piece: Piece,
        index: usize,
        look: Look,
    ) -> (Vec<Row>, bool) {
        let Some(doc) = self.docs.get(&cell.id) else { return (Vec::new(), false) };
        if let CellKind::Thinking { .. } = cell.kind {
            let rows = cell::thinking::piece_rows(text, &doc.outline, index, piece, look.columns);
            return (rows, false);
        }
        let mut colours = Asking { highlighter: &mut self.highlighter, missing: false };
        let rows = cell::assistant::piece_rows(
            text,
            &doc.outline,
            index,
            piece,
            look.columns,
            &mut colours,
        );
        (rows, colours.missing)
    }

    fn keep(
        &mut self,
        key: (CellId, u32),
        stamp: Stamp,
        rows: Vec<Row>,
        waits: Option<u64>,
    ) -> Arc<[Row]> {
        self.work.pieces += 1;
        self.work.rows += rows.len() as u64;
        let weight = rows.iter().map(Row::weight).sum::<usize>() + size_of::<Entry>();
        let rows: Arc<[Row]> = rows.into();
        let entry = Entry { stamp, rows: Arc::clone(&rows), weight, used: self.frame, waits };
        self.weight += weight;
        if let Some(old) = self.entries.insert(key, entry) {
            self.weight -= old.weight;
        }
        rows
    }

    /// The outline of a document cell, brought up to its text.
    fn doc(&mut self, cell: &Cell, text: &str) -> &Outline {
        let doc = self.docs.entry(cell.id).or_default();
        if doc.base != cell.base || doc.fed > text.len() {
            *doc = Doc { base: cell.base, ..Doc::default() };
        }
        doc.used = self.frame;
        if doc.fed < text.len() {
            doc.outline.feed(text);
            doc.fed = text.len();
        }
        if !doc.finished && !cell.is_streaming() {
            doc.outline.finish(text);
            doc.finished = true;
        }
        &doc.outline
    }
}
