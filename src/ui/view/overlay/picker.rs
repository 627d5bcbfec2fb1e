//! A list to choose from: title and count, what is typed to filter, the entries with their columns,
//! one line about the selected entry, the keys.

use ratatui::layout::{Position, Rect};

use super::{input, inside, keys, option_of};
use crate::app::service::Entry;
use crate::ui::store::picker::Picker;
use crate::ui::text::role::Role;
use crate::ui::text::width::{pad, truncate, width};
use crate::ui::view::paint::{Canvas, Piece};

/// Rows of rule, title and the line of keys.
const FRAME: usize = 3;
/// Cells of the marks before an entry.
const MARKS: usize = 4;
/// Cells between two columns.
const GAP: usize = 2;
/// A panel of so few rows inside is a low one.
const LOW: u16 = 3;
/// Fewest rows of entries before the lines above them are dropped.
const FEW: usize = 3;

/// Rows it would like.
pub(super) fn height(picker: &Picker) -> usize {
    let Some(listing) = picker.listing() else { return FRAME + 1 };
    let entries = listing.entries.len().max(1);
    FRAME + usize::from(listing.filter) + listing.preface.len() + entries + notes(&listing.entries)
}

/// Draws it and says where the cursor stands.
pub(super) fn draw(picker: &Picker, area: Rect, canvas: &mut Canvas<'_>) -> Option<Position> {
    canvas.rule(area, 0, Role::Border);
    let inner = inside(area);
    let Some(listing) = picker.listing() else {
        canvas.row(inner, 0, &[Piece::new(Role::Dim, "looking…")]);
        keys(canvas, inner, 1, &["esc closes"]);
        return None;
    };
    let shown = picker.shown();
    canvas.row(inner, 0, &[Piece::new(Role::Title, &listing.title).bold()]);
    if shown.len() < listing.entries.len() {
        let count = format!("{} of {}", shown.len(), listing.entries.len());
        canvas.row_right(inner, 0, &[Piece::new(Role::Dim, count)]);
    }
    let mut row = 1;
    let mut caret = None;
    // Where there are too few rows an empty line gives way to an entry.
    if listing.filter && (inner.height > LOW || !picker.filter().is_empty()) {
        caret = input(canvas, inner, row, "› ", picker.filter(), false);
        row += 1;
    }
    let room = usize::from(inner.height).saturating_sub(row + 1);
    let notes = notes(&listing.entries).min(room.saturating_sub(1));
    let room = room - notes;
    let preface = listing.preface.len().min(room.saturating_sub(shown.len().clamp(1, FEW)));
    for line in listing.preface.iter().take(preface) {
        canvas.row(inner, row, &[Piece::new(Role::Text, line)]);
        row += 1;
    }
    entries(picker, &shown, row, room - preface, inner, canvas);
    // The foot stands still while the filter changes how many entries there are.
    row = usize::from(inner.height).saturating_sub(notes + 1);
    if notes > 0 {
        let note = picker.current().map_or("", |entry| entry.note.as_str());
        canvas.row(inner, row, &[Piece::new(Role::Dim, note)]);
        row += 1;
    }
    if let Some(question) = picker.question() {
        canvas.row(inner, row, &[Piece::new(Role::Warning, question)]);
    } else {
        let hints = picker.hints();
        let hints: Vec<&str> = hints.iter().map(String::as_str).collect();
        keys(canvas, inner, row, &hints);
    }
    caret
}

/// Rows of the line about the selected entry.
fn notes(entries: &[Entry]) -> usize {
    usize::from(entries.iter().any(|entry| !entry.note.is_empty()))
}

/// Draws as many entries as fit around the selected one.
fn entries(
    picker: &Picker,
    shown: &[&Entry],
    row: usize,
    room: usize,
    inner: Rect,
    canvas: &mut Canvas<'_>,
) {
    let Some(listing) = picker.listing() else { return };
    if shown.is_empty() {
        let text =
            if listing.entries.is_empty() { &listing.empty } else { "nothing fits what is typed" };
        canvas.row(inner, row, &[Piece::new(Role::Dim, text)]);
        return;
    }
    let first = (picker.selected() + 1).saturating_sub(room.max(1));
    let widths = Widths::of(shown, usize::from(inner.width).saturating_sub(MARKS));
    let digits = shown.len().to_string().len();
    for (at, entry) in shown.iter().enumerate().skip(first).take(room) {
        let chosen = at == picker.selected();
        let mut pieces = if listing.filter {
            marks(entry, chosen)
        } else {
            option_of(at + 1, digits, "", chosen)
        };
        let role = if chosen { Role::Accent } else { Role::Text };
        pieces.push(Piece::new(role, pad(&truncate(&entry.title, widths.title), widths.title)));
        pieces.extend(widths.columns.iter().enumerate().map(|(at, wide)| {
            let text = entry.columns.get(at).map_or("", String::as_str);
            Piece::new(
                Role::Dim,
                format!("{}{}", " ".repeat(GAP), pad(&truncate(text, *wide), *wide)),
            )
        }));
        canvas.row(inner, row + at - first, &pieces);
    }
}

/// Which entry is selected, and which is in force.
fn marks(entry: &Entry, chosen: bool) -> Vec<Piece> {
    let select = if chosen { "❯ " } else { "  " };
    let force = if entry.current { "● " } else { "  " };
    vec![Piece::new(Role::Accent, select), Piece::new(Role::Success, force)]
}

/// Cells of the parts of an entry.
struct Widths {
    title: usize,
    columns: Vec<usize>,
}

impl Widths {
    /// Every name whole where that leaves room for columns; the last columns go first.
    fn of(shown: &[&Entry], room: usize) -> Self {
        let title = shown.iter().map(|entry| width(&entry.title)).max().unwrap_or(0);
        let count = shown.iter().map(|entry| entry.columns.len()).max().unwrap_or(0);
        let wide = |at: usize| {
            shown.iter().filter_map(|entry| entry.columns.get(at)).map(|text| width(text)).max()
        };
        let mut columns: Vec<usize> = (0..count).map(|at| wide(at).unwrap_or(0)).collect();
        let least = title.min(room.div_ceil(2));
        while columns.iter().map(|column| column + GAP).sum::<usize>() + least > room {
            if columns.pop().is_none() {
                break;
            }
        }
        let beside: usize = columns.iter().map(|column| column + GAP).sum();
        Self { title: title.min(room.saturating_sub(beside)), columns }
    }
}
