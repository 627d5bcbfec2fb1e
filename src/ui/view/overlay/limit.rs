//! What to do about a run that reached one of its caps.

use ratatui::layout::{Position, Rect};

use super::{input, inside, keys, option};
use crate::ui::store::limit::LimitPanel;
use crate::ui::text::role::Role;
use crate::ui::text::wrap::soft_ranges;
use crate::ui::view::paint::{Canvas, Piece};

/// Rows of rule, three options and the line of keys.
const FRAME: usize = 5;

fn title(panel: &LimitPanel, width: u16) -> Vec<String> {
    let title = panel.title();
    let ranges = soft_ranges(&title, usize::from(width.saturating_sub(2)));
    ranges.into_iter().map(|range| title[range].to_owned()).collect()
}

/// Rows it would like.
pub(super) fn height(panel: &LimitPanel, width: u16) -> usize {
    FRAME + title(panel, width).len()
}

/// Draws it.
pub(super) fn draw(panel: &LimitPanel, area: Rect, canvas: &mut Canvas<'_>) -> Option<Position> {
    canvas.rule(area, 0, Role::Warning);
    let inner = inside(area);
    let room = usize::from(area.height).saturating_sub(FRAME).max(1);
    let mut row = 0;
    for line in title(panel, area.width).into_iter().take(room) {
        canvas.row(inner, row, &[Piece::new(Role::Title, line).bold()]);
        row += 1;
    }
    for (at, text) in panel.options().iter().enumerate() {
        canvas.row(inner, row, &option(at + 1, text, at == panel.selected()));
        row += 1;
    }
    if let Some(line) = panel.edit() {
        return input(canvas, inner, row, panel.label(), line, false);
    }
    keys(canvas, inner, row, &["enter confirms", "esc stops here", "e another amount"]);
    None
}
