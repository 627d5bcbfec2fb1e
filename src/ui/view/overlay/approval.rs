//! A question about a call: what it would do, why it asks, what each answer means.

use ratatui::layout::{Position, Rect};

use super::{input, inside, keys};
use crate::ui::store::Store;
use crate::ui::store::approvals::{Approvals, Page, Tone};
use crate::ui::text::role::Role;
use crate::ui::text::wrap::{hard_ranges, soft_ranges};
use crate::ui::view::paint::{Canvas, Piece};

/// Rows of rule, title and the line of keys.
const FRAME: usize = 3;
/// Cells before an option's text.
const INDENT: u16 = 4;
/// Most rows of one option.
const OPTION_ROWS: usize = 3;

fn text_width(width: u16) -> u16 {
    width.saturating_sub(4)
}

/// Rows it would like.
pub(super) fn height(store: &Store, width: u16) -> usize {
    let approvals = &store.approvals;
    let notes = notes(store, width).len();
    FRAME + approvals.body(text_width(width)).len() + notes + options(store, width).len()
}

/// The notes of the summary page, wrapped.
fn notes(store: &Store, width: u16) -> Vec<(Tone, String)> {
    if store.approvals.page() != Page::Summary {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for (tone, text) in store.approvals.notes() {
        for range in soft_ranges(&text, usize::from(width.saturating_sub(2))) {
            rows.push((tone, text[range].to_owned()));
        }
    }
    rows
}

/// The options, wrapped; the mark and the number stand before the first row of each. A rule longer
/// than [`OPTION_ROWS`] stands in full on the page that says why.
fn options(store: &Store, width: u16) -> Vec<Piece> {
    let mut rows = Vec::new();
    for (index, text) in store.approvals.options().iter().enumerate() {
        let selected = store.approvals.selected() == index;
        let role = if selected { Role::Accent } else { Role::Text };
        let ranges = hard_ranges(text, usize::from(width.saturating_sub(INDENT + 2)));
        for (at, range) in ranges.iter().take(OPTION_ROWS).enumerate() {
            let start = match at {
                0 => format!("{} {} ", if selected { "❯" } else { " " }, index + 1),
                _ => " ".repeat(usize::from(INDENT)),
            };
            // The last row gets all that is left; what does not fit is cut with a mark.
            let end = if at + 1 == OPTION_ROWS { text.len() } else { range.end };
            rows.push(Piece::new(role, format!("{start}{}", &text[range.start..end])));
        }
    }
    rows
}

/// Draws it.
pub(super) fn draw(store: &Store, area: Rect, canvas: &mut Canvas<'_>) -> Option<Position> {
    let approvals = &store.approvals;
    let danger = approvals.shown().is_some_and(|shown| shown.danger);
    canvas.rule(area, 0, if danger { Role::Danger } else { Role::Warning });
    let inner = inside(area);
    canvas.row(inner, 0, &[Piece::new(Role::Title, approvals.title()).bold()]);
    let options = options(store, area.width);
    let room = usize::from(area.height).saturating_sub(FRAME + options.len());
    let mut notes = notes(store, area.width);
    let mut body = approvals.body(text_width(area.width));
    // What is asked comes before why; a note gives way to the first rows of the text.
    let wanted = notes.len();
    notes.truncate(room.saturating_sub(body.len().min(3)));
    if notes.len() < wanted
        && let Some((_, last)) = notes.last_mut()
    {
        last.push_str(" …");
    }
    let shown = room - notes.len();
    let is_cut = body.len() > shown;
    cut(&mut body, approvals.scroll(), shown);
    let mut row = 1;
    for (tone, text) in body.iter().take(shown) {
        canvas.row(inner, row, &[Piece::new(Role::Text, "  "), Piece::new(role(*tone), text)]);
        row += 1;
    }
    for (tone, text) in &notes {
        canvas.row(inner, row, &[Piece::new(role(*tone), text)]);
        row += 1;
    }
    for option in options {
        canvas.row(inner, row, &[option]);
        row += 1;
    }
    if !approvals.words().is_empty() {
        return input(canvas, inner, row, "No: ", approvals.words(), false);
    }
    keys(canvas, inner, row, hints(approvals, is_cut));
    None
}

fn hints(approvals: &Approvals, is_cut: bool) -> &'static [&'static str] {
    match approvals.page() {
        Page::Summary if is_cut => &["enter confirms", "esc refuses", "d all", "w why"],
        Page::Summary => &["enter confirms", "esc refuses", "w why"],
        Page::Full if approvals.chooses() => {
            &["enter confirms", "x rejects", "e edits it", "←→ place", "esc back", "↑↓ scroll"]
        }
        Page::Full => &["enter confirms", "esc or d back", "↑↓ scroll"],
        Page::Why => &["enter confirms", "esc or w back", "↑↓ scroll"],
    }
}

/// Keeps `shown` rows from `scroll` on; the last one says how many more there are.
fn cut(body: &mut Vec<(Tone, String)>, scroll: usize, shown: usize) {
    body.drain(..scroll.min(body.len()));
    if body.len() > shown {
        let kept = shown.saturating_sub(1);
        let more = body.len() - kept;
        body.truncate(kept);
        body.push((Tone::Place, format!("… {more} more lines")));
    }
}

fn role(tone: Tone) -> Role {
    match tone {
        Tone::Text => Role::Text,
        Tone::Dim => Role::Dim,
        Tone::Added => Role::Added,
        Tone::Removed => Role::Removed,
        Tone::Place => Role::Accent,
        Tone::Danger => Role::Danger,
    }
}
