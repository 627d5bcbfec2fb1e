//! Ways to a usable model.

use ratatui::layout::{Position, Rect};

use super::{input, inside, keys, option_of};
use crate::ui::store::setup::SetupPanel;
use crate::ui::text::role::Role;
use crate::ui::text::wrap::soft_ranges;
use crate::ui::view::paint::{Canvas, Piece};

/// Rows of rule, title and the line of keys.
const FRAME: usize = 3;
/// Most rows of the reason.
const REASON_ROWS: usize = 3;

/// The reason, wrapped.
fn reason(panel: &SetupPanel, width: u16) -> Vec<&str> {
    let text = panel.reason();
    let ranges = soft_ranges(text, usize::from(width.saturating_sub(2)));
    ranges.into_iter().take(REASON_ROWS).map(|range| &text[range]).collect()
}

/// Rows it would like.
pub(super) fn height(panel: &SetupPanel, width: u16) -> usize {
    let typing = usize::from(panel.key_line().is_some());
    FRAME + reason(panel, width).len() + panel.offers().len() + typing
}

/// Draws it.
pub(super) fn draw(panel: &SetupPanel, area: Rect, canvas: &mut Canvas<'_>) -> Option<Position> {
    canvas.rule(area, 0, Role::Border);
    let inner = inside(area);
    canvas.row(inner, 0, &[Piece::new(Role::Title, "Set up a provider").bold()]);
    let typing = panel.key_line();
    let frame = FRAME + usize::from(typing.is_some());
    let mut reason = reason(panel, area.width);
    // On a low screen the reason gives way to what can be chosen.
    let spare = usize::from(area.height).saturating_sub(frame + panel.offers().len().min(3));
    reason.truncate(spare);
    let mut row = 1;
    for text in &reason {
        canvas.row(inner, row, &[Piece::new(Role::Dim, text)]);
        row += 1;
    }
    let room = usize::from(area.height).saturating_sub(frame + reason.len());
    let first = (panel.selected() + 1).saturating_sub(room);
    let digits = if panel.offers().len() > 9 { 2 } else { 1 };
    for (at, offer) in panel.offers().iter().enumerate().skip(first).take(room) {
        let selected = at == panel.selected();
        canvas.row(inner, row, &option_of(at + 1, digits, &offer.label, selected));
        row += 1;
    }
    let mut caret = None;
    if let Some(line) = typing {
        caret = input(canvas, inner, row, &format!("{:1$}key: ", "", 3 + digits), line, true);
        row += 1;
    }
    let below = panel.offers().len().saturating_sub(first + room);
    let more = format!("↓ {below} more");
    let leave = if panel.closes() { "esc closes" } else { "ctrl+c twice leaves" };
    let hints: &[&str] = if panel.is_sent() {
        &["one moment…", "esc back"]
    } else if typing.is_some() {
        &["paste the key or its variable's name", "enter tries it", "esc back"]
    } else if below > 0 {
        &[&more, "↑↓ and enter choose", leave]
    } else {
        &["↑↓ and enter choose", leave]
    };
    keys(canvas, inner, row, hints);
    caret
}
