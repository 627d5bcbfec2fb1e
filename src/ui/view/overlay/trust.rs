//! The one question before trust enters the circle of modes.

use ratatui::layout::Rect;

use super::{inside, keys, option};
use crate::ui::text::role::Role;
use crate::ui::text::wrap::soft_ranges;
use crate::ui::view::paint::{Canvas, Piece};

/// Rows of rule, title, two options and the line of keys.
const FRAME: usize = 5;
const TEXT: &str = "Commands and edits then run without asking. Files outside the workspace, \
                    secrets and commands that could destroy much still ask.";

/// Rows it would like.
pub(super) fn height(width: u16) -> usize {
    FRAME + soft_ranges(TEXT, usize::from(width.saturating_sub(2))).len()
}

/// Draws it.
pub(super) fn draw(yes: bool, area: Rect, canvas: &mut Canvas<'_>) {
    canvas.rule(area, 0, Role::ModeTrust);
    let inner = inside(area);
    canvas.row(inner, 0, &[Piece::new(Role::Title, "Switch to trust?").bold()]);
    let room = usize::from(area.height).saturating_sub(FRAME);
    let mut row = 1;
    for range in soft_ranges(TEXT, usize::from(inner.width)).into_iter().take(room) {
        canvas.row(inner, row, &[Piece::new(Role::Text, &TEXT[range])]);
        row += 1;
    }
    canvas.row(inner, row, &option(1, "Yes, trust this session", yes));
    canvas.row(inner, row + 1, &option(2, "No", !yes));
    keys(canvas, inner, row + 2, &["enter confirms", "esc leaves the mode as it is"]);
}
