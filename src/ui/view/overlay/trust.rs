//! The one question before trust enters the circle of modes.

use ratatui::layout::Rect;

use super::{inside, option};
use crate::ui::text::role::Role;
use crate::ui::view::paint::{Canvas, Piece};

/// Rows it would like.
pub(super) const HEIGHT: usize = 7;

/// Draws it.
pub(super) fn draw(yes: bool, area: Rect, canvas: &mut Canvas<'_>) {
    canvas.rule(area, 0, Role::ModeTrust);
    let inner = inside(area);
    canvas.row(inner, 0, &[Piece::new(Role::Title, "Switch to trust?").bold()]);
    let texts = [
        "Commands and edits then run without asking. Files outside the workspace,",
        "secrets and commands that could destroy much still ask.",
    ];
    for (at, text) in texts.iter().enumerate() {
        canvas.row(inner, at + 1, &[Piece::new(Role::Text, text)]);
    }
    canvas.row(inner, 3, &option(1, "Yes, trust this session", yes));
    canvas.row(inner, 4, &option(2, "No", !yes));
    canvas.row(inner, 5, &[Piece::new(Role::Dim, "enter confirms · esc leaves the mode as it is")]);
}
