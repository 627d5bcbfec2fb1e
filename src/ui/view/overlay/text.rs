//! A page of text in two columns, such as the key help.

use ratatui::layout::Rect;

use super::inside;
use crate::ui::store::overlay::TextPanel;
use crate::ui::text::role::Role;
use crate::ui::text::width::{pad, truncate, width};
use crate::ui::view::paint::{Canvas, Piece};

/// Rows of rule, title and the line of keys.
const FRAME: usize = 3;
/// Widest left column, in cells.
const LEFT: usize = 34;

/// Rows it would like.
pub(super) fn height(panel: &TextPanel) -> usize {
    panel.lines.len() + FRAME
}

/// Draws it.
pub(super) fn draw(panel: &TextPanel, area: Rect, canvas: &mut Canvas<'_>) {
    canvas.rule(area, 0, Role::Border);
    let inner = inside(area);
    canvas.row(inner, 0, &[Piece::new(Role::Title, &panel.title).bold()]);
    let room = usize::from(area.height).saturating_sub(FRAME);
    let half = usize::from(inner.width) / 2;
    let left = panel.lines.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let left = left.min(LEFT).min(half);
    let last = panel.lines.len().saturating_sub(room);
    let first = panel.scroll.min(last);
    for (at, (name, text)) in panel.lines.iter().skip(first).take(room).enumerate() {
        let name = pad(&truncate(name, left), left + 2);
        canvas.row(inner, at + 1, &[Piece::new(Role::Key, name), Piece::new(Role::Text, text)]);
    }
    let keys = match last - first {
        0 => "esc closes".to_owned(),
        more => format!("esc closes · ↓ {more} more lines"),
    };
    canvas.row(inner, panel.lines.len().min(room) + 1, &[Piece::new(Role::Dim, keys)]);
}
