//! The menu of commands above the composer.

use ratatui::layout::Rect;

use super::paint::{Canvas, Piece};
use crate::ui::store::{Store, remember};
use crate::ui::text::role::Role;

/// The menu of commands, the selected one kept in sight.
pub fn menu(store: &Store, area: Rect, canvas: &mut Canvas<'_>) {
    let rows = store.menu.rows(store.composer.slash_word(), &store.skills);
    if remember::is_written(store) {
        canvas.row(area, 0, &[Piece::new(Role::Dim, format!("  {}", remember::HINT))]);
        return;
    }
    let selected = store.menu.selected(&rows);
    let height = usize::from(area.height);
    let first = (selected + 1).saturating_sub(height);
    for (at, row) in rows.iter().skip(first).take(height).enumerate() {
        let chosen = first + at == selected;
        let (mark, role) = if chosen { ("❯ ", Role::Accent) } else { ("  ", Role::Text) };
        let name = format!("{mark}/{} {}", row.name, row.args);
        canvas.row(
            area,
            at,
            &[Piece::new(role, format!("{name:<18}")), Piece::new(Role::Dim, row.help)],
        );
    }
}
