//! A page of text in two columns, such as the key help.

use ratatui::layout::Rect;

use super::{inside, keys};
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
    let left = last - first;
    let more = format!("↓ {left} more line{}", if left == 1 { "" } else { "s" });
    let hints: &[&str] = match (left, first) {
        (0, 0) => &["esc closes"],
        (0, _) => &["esc closes", "↑ scrolls back"],
        _ => &["esc closes", &more, "space pages"],
    };
    keys(canvas, inner, rows.len().min(room) + 1, hints);
}
