//! Pure drawing: state in, cells of the terminal out. No I/O, no clock, no change of state.

pub mod cell;
pub mod composer;
pub mod hints;
pub mod layout;
pub mod overlay;
pub mod paint;
pub mod queue;
pub mod status;
pub mod transcript;
pub mod welcome;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::store::Store;
use super::text::role::Role;
use layout::regions;
use paint::{Canvas, Piece};
use transcript::TranscriptLayout;

/// Draws the whole screen and says where the hardware cursor stands; `None` hides it.
pub fn draw(
    store: &Store,
    rows: &TranscriptLayout,
    area: Rect,
    buf: &mut Buffer,
) -> Option<Position> {
    let area = area.intersection(buf.area);
    let regions = regions(store, area);
    let mut canvas = Canvas::new(buf, &store.theme);
    if regions.tiny {
        canvas.row(area, 0, &[Piece::new(Role::Dim, "window too small")]);
        return None;
    }
    welcome::draw(store, regions.card, &mut canvas);
    transcript::draw(rows, regions.transcript, canvas.buffer());
    status::run_line(store, regions.run, &mut canvas);
    queue::line(store, regions.queue, &mut canvas);
    let more = |canvas: &mut Canvas<'_>| {
        transcript::draw_more(rows, regions.transcript, regions.rule(), canvas.buffer());
    };
    if !regions.panel.is_empty() {
        let caret = overlay::draw(store, regions.panel, &mut canvas);
        more(&mut canvas);
        return caret;
    }
    hints::menu(store, regions.menu, &mut canvas);
    let rule = paint::mode_role(store.status.mode);
    canvas.rule(regions.top_rule, 0, rule);
    canvas.rule(regions.bottom_rule, 0, rule);
    more(&mut canvas);
    status::footer(store, regions.footer, &mut canvas);
    let caret = composer::draw(store, regions.composer, &mut canvas);
    caret.filter(|_| store.closing_since().is_none())
}
