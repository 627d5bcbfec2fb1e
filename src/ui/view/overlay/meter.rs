//! The page of the context: one bar for the whole window, then a row for each source.

use ratatui::layout::Rect;

use super::{inside, keys};
use crate::ui::store::meter::{MeterPanel, MeterRow, RowKind};
use crate::ui::store::overlay::FRAME;
use crate::ui::text::role::Role;
use crate::ui::text::width::{pad, truncate, width};
use crate::ui::view::paint::{Canvas, Piece, short_number};

/// Widest name of a row, in cells.
const NAME: usize = 24;
/// Cells of a number of tokens and of its share.
const NUMBERS: usize = 13;

/// Rows it would like.
pub(super) fn height(panel: &MeterPanel, _width: u16) -> usize {
    panel.rows().len() + FRAME + 1
}

/// Draws it.
pub(super) fn draw(panel: &MeterPanel, area: Rect, canvas: &mut Canvas<'_>) {
    canvas.rule(area, 0, Role::Border);
    let inner = inside(area);
    canvas.row(inner, 0, &[Piece::new(Role::Title, panel.title()).bold()]);
    canvas.row(inner, 1, &whole(panel, usize::from(inner.width)));
    let rows = panel.rows();
    let room = usize::from(area.height).saturating_sub(FRAME + 1);
    let first = panel.scroll.min(rows.len().saturating_sub(room));
    let columns = usize::from(inner.width);
    let names = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0).min(NAME);
    for (at, row) in rows.iter().skip(first).take(room).enumerate() {
        canvas.row(inner, at + 2, &line(row, panel.report.window, names, columns));
    }
    let left = rows.len().saturating_sub(first + room);
    let more = format!("↓ {left} more");
    let hints: &[&str] = if left == 0 {
        &["esc closes", "/compact makes room"]
    } else {
        &["esc closes", &more, "/compact makes room"]
    };
    keys(canvas, inner, rows.len().min(room) + 2, hints);
}

/// The window from its beginning to its end: what is in use, what is free, what is kept free. Each
/// has its own sign, so that the bar reads without colours.
fn whole(panel: &MeterPanel, columns: usize) -> Vec<Piece> {
    let report = &panel.report;
    let cells = |tokens: u64| cells(tokens, report.window, columns);
    let used = cells(report.used);
    let reserve = cells(report.reserve).min(columns - used);
    let free = columns - used - reserve;
    vec![
        Piece::new(role(RowKind::Used), "█".repeat(used)),
        Piece::new(role(RowKind::Free), "░".repeat(free)),
        Piece::new(role(RowKind::Reserve), "▒".repeat(reserve)),
    ]
}

/// Cells of a share, at least one for anything at all.
fn cells(tokens: u64, window: u64, columns: usize) -> usize {
    let share = (tokens * columns as u64).div_ceil(window.max(1)) as usize;
    share.min(columns)
}

fn line(row: &MeterRow, window: u64, names: usize, columns: usize) -> Vec<Piece> {
    let name = pad(&truncate(&row.name, names), names);
    let tokens = short_number(row.tokens);
    let numbers = match row.kind {
        RowKind::Saved => format!("  {tokens:>6} saved"),
        _ => format!("  {tokens:>6} {:>3}%", row.tokens * 100 / window.max(1)),
    };
    let mut pieces = vec![Piece::new(Role::Text, name), Piece::new(Role::Dim, numbers)];
    let room = columns.saturating_sub(names + NUMBERS + 2);
    if row.kind != RowKind::Saved && room >= 8 {
        let sign = match row.kind {
            RowKind::Free => "░",
            RowKind::Reserve => "▒",
            RowKind::Used | RowKind::Saved => "█",
        };
        let bar = sign.repeat(cells(row.tokens, window, room));
        pieces.push(Piece::new(role(row.kind), format!("  {bar}")));
    }
    pieces
}

fn role(kind: RowKind) -> Role {
    match kind {
        RowKind::Used => Role::Accent,
        RowKind::Free => Role::Faint,
        RowKind::Reserve => Role::Dim,
        RowKind::Saved => Role::Success,
    }
}
