//! Messages that wait, on one line above the composer.

use ratatui::layout::Rect;

use super::paint::{Canvas, Piece};
use crate::ui::store::Store;
use crate::ui::store::queue::{mark, word};
use crate::ui::text::role::Role;
use crate::ui::text::width::truncate;

/// Longest shown part of a message, in cells.
const SHOWN: usize = 40;

/// Draws the line.
pub fn line(store: &Store, area: Rect, canvas: &mut Canvas<'_>) {
    let mut pieces = Vec::new();
    for item in &store.queue {
        pieces.push(Piece::new(Role::Accent, format!("{} {} ", mark(item.kind), word(item.kind))));
        pieces.push(Piece::new(Role::Dim, format!("{}   ", quoted(&item.text))));
    }
    for text in &store.pending {
        pieces.push(Piece::new(Role::Accent, "… waits "));
        pieces.push(Piece::new(Role::Dim, format!("{}   ", quoted(text))));
    }
    canvas.row(area, 0, &pieces);
}

fn quoted(text: &str) -> String {
    let line = text.trim().replace('\n', " ");
    format!("\"{}\"", truncate(&line, SHOWN))
}
