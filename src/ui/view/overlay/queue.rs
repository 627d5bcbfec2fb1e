//! The queue, to edit, reorder, drop or send now.

use ratatui::layout::{Position, Rect};

use super::{input, inside, keys};
use crate::ui::store::Store;
use crate::ui::store::queue::{QueuePanel, mark, word};
use crate::ui::text::role::Role;
use crate::ui::view::paint::{Canvas, Piece};

/// Rows of rule, title and the line of keys.
const FRAME: usize = 3;

/// Rows it would like.
pub(super) fn height(store: &Store) -> usize {
    FRAME + store.queue.len()
}

/// Draws it.
pub(super) fn draw(
    store: &Store,
    panel: &QueuePanel,
    area: Rect,
    canvas: &mut Canvas<'_>,
) -> Option<Position> {
    canvas.rule(area, 0, Role::Border);
    let inner = inside(area);
    canvas.row(inner, 0, &[Piece::new(Role::Title, "Messages that wait").bold()]);
    let room = usize::from(area.height).saturating_sub(FRAME);
    let selected = panel.selected(&store.queue);
    let first = (selected + 1).saturating_sub(room);
    let mut caret = None;
    for (at, item) in store.queue.iter().enumerate().skip(first).take(room) {
        let row = at - first + 1;
        let chosen = at == selected;
        let label = format!(
            "{}{} {:<6}",
            if chosen { "❯ " } else { "  " },
            mark(item.kind),
            word(item.kind)
        );
        if let Some(line) = panel.edit().filter(|_| chosen) {
            caret = input(canvas, inner, row, &label, line, false);
        } else {
            let role = if chosen { Role::Accent } else { Role::Text };
            let text = item.text.replace('\n', " ");
            canvas.row(inner, row, &[Piece::new(Role::Dim, label), Piece::new(role, text)]);
        }
    }
    let hints: &[&str] = if panel.edit().is_some() {
        &["enter saves", "esc leaves it as it was"]
    } else {
        &["esc closes", "e edit", "d drop", "tab kind", "s send now", "shift+↑↓ move"]
    };
    keys(canvas, inner, store.queue.len().min(room) + 1, hints);
    caret
}
