//! A page of text in two columns, such as the key help.

use ratatui::layout::Rect;

use super::inside;
use crate::ui::store::overlay::{FRAME, TextPanel};
use crate::ui::text::role::Role;
use crate::ui::view::paint::{Canvas, Piece};

/// Rows it would like.
pub(super) fn height(panel: &TextPanel, width: u16) -> usize {
    panel.rows(usize::from(width.saturating_sub(2))).len() + FRAME
}

/// Draws it.
pub(super) fn draw(panel: &TextPanel, area: Rect, canvas: &mut Canvas<'_>) {
    canvas.rule(area, 0, Role::Border);
    let inner = inside(area);
    canvas.row(inner, 0, &[Piece::new(Role::Title, &panel.title).bold()]);
    let room = usize::from(area.height).saturating_sub(FRAME);
    let rows = panel.rows(usize::from(inner.width));
    let last = rows.len().saturating_sub(room);
    let first = panel.scroll.min(last);
    for (at, (name, text)) in rows.iter().skip(first).take(room).enumerate() {
        canvas.row(inner, at + 1, &[Piece::new(Role::Key, name), Piece::new(Role::Text, text)]);
    }
    let keys = match last - first {
        0 if first == 0 => "esc closes".to_owned(),
        0 => "↑ scrolls back · esc closes".to_owned(),
        1 => "↓ 1 more line · esc closes".to_owned(),
        more => format!("↓ {more} more lines, space pages · esc closes"),
    };
    canvas.row(inner, rows.len().min(room) + 1, &[Piece::new(Role::Dim, keys)]);
}
