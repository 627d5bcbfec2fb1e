//! Answers: Markdown beside a margin, so that marks of other cells stand out.

use crate::ui::text::code::Colours;
use crate::ui::text::outline::{Outline, Piece};
use crate::ui::text::row::Row;
use crate::ui::text::stream;

/// Columns left of the text.
pub fn margin(columns: usize) -> usize {
    if columns < 24 { 0 } else { 2 }
}

/// The rows of one piece, to be drawn beside [`margin`].
pub fn piece_rows(
    text: &str,
    outline: &Outline,
    index: usize,
    piece: Piece,
    columns: usize,
    colours: &mut dyn Colours,
) -> Vec<Row> {
    let room = columns.saturating_sub(margin(columns)).max(1);
    let open = index >= outline.closed().len();
    stream::piece_rows(text, outline, piece, index == 0, open, room, colours)
}
