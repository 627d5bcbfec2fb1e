//! Reasoning: one dim line that says what it is about, opened the whole text in the same tone.

use crate::ui::text::code::Plain;
use crate::ui::text::outline::{Outline, Piece};
use crate::ui::text::role::{Ink, Role};
use crate::ui::text::row::{Line, Row};
use crate::ui::text::{stream, width};

use super::{Look, assistant};

/// The one line of folded reasoning.
pub fn head(text: &str, streaming: bool, look: Look) -> Row {
    let (word, about) = if streaming {
        ("thinking… ", text.trim_end().lines().next_back().unwrap_or_default())
    } else {
        ("thought ", text.trim_start().lines().next().unwrap_or_default())
    };
    let about = about.trim().trim_matches(['#', '*', ' ']);
    let mut line = Line::of("✻ ", Role::Faint);
    line.add(word, Role::Thinking);
    let room = look.columns.saturating_sub(line.width());
    // A live line shows the newest words.
    let about =
        if streaming { width::truncate_start(about, room) } else { width::truncate(about, room) };
    line.add(&about, Role::Faint);
    Row::new(line)
}

/// The rows of one piece of opened reasoning, to be drawn beside the margin of answers.
pub fn piece_rows(
    text: &str,
    outline: &Outline,
    index: usize,
    piece: Piece,
    columns: usize,
) -> Vec<Row> {
    let room = columns.saturating_sub(assistant::margin(columns)).max(1);
    let open = index >= outline.closed().len();
    let mut rows = stream::piece_rows(text, outline, piece, index == 0, open, room, &mut Plain);
    for row in &mut rows {
        row.fill = None;
        for run in &mut row.line.runs {
            run.ink = Ink { role: Role::Thinking, shape: run.ink.shape };
        }
    }
    if index == 0 {
        let title = Line::of("✻ thinking", Role::Thinking);
        rows.insert(0, Row::new(title));
    }
    rows
}
