//! A question of the model: what is asked, the options with what they mean, a row for words.

use ratatui::layout::{Position, Rect};

use super::{input, inside, keys};
use crate::ui::store::question::QuestionPanel;
use crate::ui::text::role::Role;
use crate::ui::text::sanitize::clean_line;
use crate::ui::text::width::width;
use crate::ui::text::wrap::soft_ranges;
use crate::ui::view::paint::{Canvas, Piece};

/// Rows of rule, title and the line of keys.
const FRAME: usize = 3;
/// Most rows of the question itself.
const QUESTION_ROWS: usize = 6;
/// Cells before an option's words.
const MARKS: usize = 6;

/// The rows of the panel's inside, and which of them the selected option begins.
struct Sheet {
    question: Vec<String>,
    /// Rows of each option: the label, then what it means.
    options: Vec<Vec<(Role, String)>>,
}

fn sheet(panel: &QuestionPanel, columns: usize) -> Sheet {
    let Some(question) = panel.question() else {
        return Sheet { question: Vec::new(), options: Vec::new() };
    };
    let text = clean_line(&question.question).into_owned();
    let rows = soft_ranges(&text, columns);
    let lines = rows.into_iter().take(QUESTION_ROWS).map(|range| text[range].to_owned()).collect();
    let options = question.options.iter().enumerate().map(|(at, option)| {
        let selected = at == panel.selected();
        let mark = if selected { "❯ " } else { "  " };
        let tick = match (question.multiple, panel.is_chosen(at)) {
            (true, true) => "☑ ",
            (true, false) => "☐ ",
            (false, true) => "● ",
            (false, false) => "  ",
        };
        let role = if selected { Role::Accent } else { Role::Text };
        let label = clean_line(&option.label);
        let mut rows = vec![(role, format!("{mark}{} {tick}{label}", at + 1))];
        let meaning = clean_line(&option.description).into_owned();
        let room = columns.saturating_sub(MARKS);
        for range in soft_ranges(&meaning, room) {
            if !meaning[range.clone()].is_empty() {
                rows.push((Role::Dim, format!("{:MARKS$}{}", "", &meaning[range])));
            }
        }
        rows
    });
    Sheet { question: lines, options: options.collect() }
}

/// Rows it would like.
pub(super) fn height(panel: &QuestionPanel, columns: u16) -> usize {
    let sheet = sheet(panel, usize::from(columns.saturating_sub(2)));
    FRAME + sheet.question.len() + sheet.options.iter().map(Vec::len).sum::<usize>() + 1
}

/// Draws it and says where the cursor stands.
pub(super) fn draw(panel: &QuestionPanel, area: Rect, canvas: &mut Canvas<'_>) -> Option<Position> {
    canvas.rule(area, 0, Role::Border);
    let inner = inside(area);
    let columns = usize::from(inner.width);
    let mut sheet = sheet(panel, columns);
    let (place, all) = panel.place();
    let header = panel.question().map_or("", |question| question.header.as_str());
    canvas.row(inner, 0, &[Piece::new(Role::Title, header).bold()]);
    if all > 1 {
        let text = format!("question {place} of {all}");
        if width(header) + width(&text) < columns {
            canvas.row_right(inner, 0, &[Piece::new(Role::Dim, text)]);
        }
    }
    // On a low screen what the options mean goes first, then the end of the question.
    let room = usize::from(inner.height).saturating_sub(2);
    let rows_of = |options: &[Vec<(Role, String)>]| options.iter().map(Vec::len).sum::<usize>() + 1;
    if sheet.question.len() + rows_of(&sheet.options) > room {
        for (at, option) in sheet.options.iter_mut().enumerate() {
            if at != panel.selected() {
                option.truncate(1);
            }
        }
    }
    if sheet.question.len() + rows_of(&sheet.options) > room {
        sheet.options.iter_mut().for_each(|option| option.truncate(1));
    }
    let spare = room.saturating_sub(rows_of(&sheet.options)).max(usize::from(room > 2));
    sheet.question.truncate(spare);
    let mut row = 1;
    for line in &sheet.question {
        canvas.row(inner, row, &[Piece::new(Role::Text, line)]);
        row += 1;
    }
    let room = (usize::from(inner.height) - 1).saturating_sub(row);
    let first = (panel.selected() + 1).saturating_sub(room);
    let mut caret = None;
    let end = row + room;
    for option in sheet.options.iter().skip(first) {
        for (role, text) in option {
            if row < end {
                canvas.row(inner, row, &[Piece::new(*role, text)]);
                row += 1;
            }
        }
    }
    if row < end {
        caret = own_words(panel, sheet.options.len(), inner, row, canvas);
    }
    let multiple = panel.question().is_some_and(|question| question.multiple);
    let foot = usize::from(inner.height).saturating_sub(1);
    let mut hints = vec!["enter answers"];
    if multiple && !panel.writes() {
        hints.push("space chooses");
    }
    hints.push("esc does not answer");
    if all > 1 {
        hints.push("tab next");
    }
    keys(canvas, inner, foot, &hints);
    caret
}

/// The row for words of one's own.
fn own_words(
    panel: &QuestionPanel,
    options: usize,
    inner: Rect,
    row: usize,
    canvas: &mut Canvas<'_>,
) -> Option<Position> {
    let number = options + 1;
    let words = panel.words()?;
    if panel.writes() {
        return input(canvas, inner, row, &format!("❯ {number}   "), words, false);
    }
    let text = if words.is_empty() { "something else: write it" } else { words.text() };
    canvas.row(inner, row, &[Piece::new(Role::Dim, format!("  {number}   {text}"))]);
    None
}
