//! Panels in place of composer and footer. One file per panel; each says how many rows it wants and
//! draws itself into what it gets.

mod approval;
mod limit;
mod meter;
mod picker;
mod question;
mod queue;
mod setup;
mod text;
mod trust;

use ratatui::layout::{Position, Rect};

use super::paint::{Canvas, Piece};
use crate::ui::store::Store;
use crate::ui::store::focus::{Focus, focus};
use crate::ui::store::line::Line;
use crate::ui::store::overlay::Overlay;
use crate::ui::text::role::Role;
use crate::ui::text::width::width;

/// Rows the open panel would like.
pub fn height(store: &Store, width: u16) -> u16 {
    let rows = match (focus(store), &store.setup, &store.overlay) {
        (Focus::Approval, ..) => approval::height(store, width),
        (Focus::Question, ..) => {
            store.question.as_ref().map_or(0, |panel| question::height(panel, width))
        }
        (Focus::Setup, Some(panel), _) => setup::height(panel, width),
        (_, _, Some(Overlay::Text(panel))) => text::height(panel, width),
        (_, _, Some(Overlay::Context(panel))) => meter::height(panel, width),
        (_, _, Some(Overlay::Queue(_))) => queue::height(store),
        (_, _, Some(Overlay::List(panel))) => picker::height(panel),
        (_, _, Some(Overlay::Trust { .. })) => trust::height(width),
        (_, _, Some(Overlay::Limit(panel))) => limit::height(panel, width),
        _ => 0,
    };
    u16::try_from(rows).unwrap_or(u16::MAX)
}

/// Draws the open panel and says where the hardware cursor stands.
pub fn draw(store: &Store, area: Rect, canvas: &mut Canvas<'_>) -> Option<Position> {
    canvas.clear(area);
    match (focus(store), &store.setup, &store.overlay) {
        (Focus::Approval, ..) => approval::draw(store, area, canvas),
        (Focus::Question, ..) => {
            store.question.as_ref().and_then(|panel| question::draw(panel, area, canvas))
        }
        (Focus::Setup, Some(panel), _) => setup::draw(panel, area, canvas),
        (_, _, Some(Overlay::Text(panel))) => {
            text::draw(panel, area, canvas);
            None
        }
        (_, _, Some(Overlay::Context(panel))) => {
            meter::draw(panel, area, canvas);
            None
        }
        (_, _, Some(Overlay::Queue(panel))) => queue::draw(store, panel, area, canvas),
        (_, _, Some(Overlay::List(panel))) => picker::draw(panel, area, canvas),
        (_, _, Some(Overlay::Limit(panel))) => limit::draw(panel, area, canvas),
        (_, _, Some(Overlay::Trust { yes })) => {
            trust::draw(*yes, area, canvas);
            None
        }
        _ => None,
    }
}

/// The panel's inside: one cell of margin on both sides, under the rule.
fn inside(area: Rect) -> Rect {
    Rect {
        x: area.x + 1.min(area.width),
        y: area.y + 1.min(area.height),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(1),
    }
}

/// One option of a list; the selected one has a mark.
fn option(number: usize, text: &str, selected: bool) -> Vec<Piece> {
    option_of(number, 1, text, selected)
}

/// One option of a list whose numbers have up to `digits` digits.
fn option_of(number: usize, digits: usize, text: &str, selected: bool) -> Vec<Piece> {
    let (mark, role) = if selected { ("❯ ", Role::Accent) } else { ("  ", Role::Text) };
    vec![Piece::new(role, format!("{mark}{number:>digits$} ")), Piece::new(role, text)]
}

/// The line of keys: the most important first, as many as fit whole.
fn keys(canvas: &mut Canvas<'_>, area: Rect, row: usize, parts: &[&str]) {
    let mut line = String::new();
    for part in parts {
        let dot = if line.is_empty() { "" } else { " · " };
        if !line.is_empty() && width(&line) + width(dot) + width(part) > usize::from(area.width) {
            break;
        }
        line.push_str(dot);
        line.push_str(part);
    }
    canvas.row(area, row, &[Piece::new(Role::Dim, line)]);
}

/// A line being typed after a label; returns the caret's cell. A long line shows its end.
fn input(
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: usize,
    label: &str,
    line: &Line,
    masked: bool,
) -> Option<Position> {
    let hide = |text: &str| {
        if masked { "•".repeat(text.chars().count()) } else { text.to_owned() }
    };
    let y = u16::try_from(row).ok().filter(|row| *row < area.height)?;
    let room = usize::from(area.width).saturating_sub(width(label) + 1);
    let mut before = hide(line.before());
    while width(&before) > room {
        before.remove(0);
    }
    let after = hide(&line.text()[line.before().len()..]);
    let used =
        canvas.row(area, row, &[Piece::new(Role::Accent, label), Piece::new(Role::Text, &before)]);
    let x = area.x + used.min(area.width.saturating_sub(1));
    let rest = Rect { x, width: area.right().saturating_sub(x), ..area };
    canvas.row(rest, row, &[Piece::new(Role::Text, after)]);
    Some(Position { x, y: area.y + y })
}
