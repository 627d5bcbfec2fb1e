//! The draft, wrapped, with its mark; says where the caret is, so that the hardware cursor and the
//! input method's window stand there.

use ratatui::layout::{Position, Rect};
use unicode_segmentation::UnicodeSegmentation;

use super::paint::{Canvas, Piece};
use crate::ui::store::Store;
use crate::ui::store::keys::MARK;
use crate::ui::store::rows::{Row, cells};
use crate::ui::text::role::Role;

/// Draws the composer and returns the caret's cell.
pub fn draw(store: &Store, area: Rect, canvas: &mut Canvas<'_>) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    let text =
        Rect { x: area.x + MARK.min(area.width), width: area.width.saturating_sub(MARK), ..area };
    canvas.row(area, 0, &[Piece::new(Role::Prompt, "❯ ")]);
    let rows = store.composer.rows(text.width);
    let (caret_row, caret_column) = store.composer.caret(&rows);
    let height = usize::from(area.height);
    let first = (caret_row + 1).saturating_sub(height);
    if store.composer.is_empty() {
        canvas.row(text, 0, &[Piece::new(Role::Placeholder, example(store, text.width))]);
    }
    for (at, row) in rows.iter().skip(first).take(height).enumerate() {
        canvas.row(text, at, &pieces(store, row));
    }
    let x = text.x + u16::try_from(caret_column).unwrap_or(u16::MAX).min(text.width.max(1) - 1);
    let y = area.y + u16::try_from(caret_row - first).unwrap_or(0).min(area.height - 1);
    Some(Position { x, y })
}

/// What may be written here, in words that fit.
fn example(store: &Store, columns: u16) -> &'static str {
    let (long, short) = if store.activity.is_busy() {
        ("enter steers the run, tab queues for after it", "enter steers, tab queues")
    } else {
        ("ask for something, / for commands, ? for keys", "ask, / commands, ? keys")
    };
    if long.len() <= usize::from(columns) { long } else { short }
}

/// A row with tabs as blanks and pills in their own colour.
fn pieces(store: &Store, row: &Row) -> Vec<Piece> {
    let line = &store.composer.lines()[row.line];
    let pills = store.composer.pill_ranges(row.line);
    let mut pieces = Vec::new();
    let mut shown = String::new();
    let mut role = Role::Text;
    let mut x = 0;
    for (at, cluster) in line[row.bytes.clone()].grapheme_indices(true) {
        let at = at + row.bytes.start;
        let here =
            if pills.iter().any(|pill| pill.contains(&at)) { Role::Accent } else { Role::Text };
        if here != role && !shown.is_empty() {
            pieces.push(Piece::new(role, std::mem::take(&mut shown)));
        }
        role = here;
        let wide = cells(cluster, x);
        if cluster == "\t" {
            shown.extend(std::iter::repeat_n(' ', wide));
        } else {
            shown.push_str(cluster);
        }
        x += wide;
    }
    pieces.push(Piece::new(role, shown));
    pieces
}
