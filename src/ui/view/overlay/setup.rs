//! Ways to a usable model.

use ratatui::layout::{Position, Rect};

use super::{input, inside, option};
use crate::ui::store::setup::SetupPanel;
use crate::ui::text::role::Role;
use crate::ui::view::paint::{Canvas, Piece};

/// Rows of rule, title, reason and the line of keys.
const FRAME: usize = 4;

/// Rows it would like.
pub(super) fn height(panel: &SetupPanel) -> usize {
    FRAME + panel.offers().len() + usize::from(panel.key_line().is_some())
}

/// Draws it.
pub(super) fn draw(panel: &SetupPanel, area: Rect, canvas: &mut Canvas<'_>) -> Option<Position> {
    canvas.rule(area, 0, Role::Border);
    let inner = inside(area);
    canvas.row(inner, 0, &[Piece::new(Role::Title, "Choose a model").bold()]);
    canvas.row(inner, 1, &[Piece::new(Role::Dim, panel.reason())]);
    let typing = panel.key_line();
    let room = usize::from(area.height).saturating_sub(FRAME + usize::from(typing.is_some()));
    let first = (panel.selected() + 1).saturating_sub(room);
    let mut row = 2;
    for (at, offer) in panel.offers().iter().enumerate().skip(first).take(room) {
        canvas.row(inner, row, &option(at + 1, &offer.label, at == panel.selected()));
        row += 1;
    }
    let mut caret = None;
    if let Some(line) = typing {
        caret = input(canvas, inner, row, "    key: ", line, true);
        row += 1;
    }
    let keys = if panel.is_sent() {
        "starting…"
    } else if typing.is_some() {
        "paste the key · enter saves it · esc back"
    } else {
        "↑↓ and enter choose · ctrl+c twice leaves"
    };
    canvas.row(inner, row, &[Piece::new(Role::Dim, keys)]);
    caret
}
