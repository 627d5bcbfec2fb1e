//! Words of the user: a mark and a quiet background.

use crate::ui::text::role::{Ink, Role};
use crate::ui::text::row::{Line, Row};
use crate::ui::text::wrap;

use super::Look;

/// Rows shown of a long message that was folded.
const SHORT: usize = 6;

/// The words behind their mark; steering and follow-ups say what they are.
pub fn rows(text: &str, mark: Option<&str>, look: Look) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut first = Line::of("❯ ", Role::Prompt);
    let rest = Line::of("  ", Role::User);
    if let Some(mark) = mark {
        first.add(mark, Ink::new(Role::Dim).with(Ink::ITALIC));
        first.add(" · ", Role::Dim);
    }
    let mut at = 0;
    for words in text.split('\n') {
        let mut line = Line::default();
        line.push(words, Ink::new(Role::User), at);
        let start = rows.len();
        wrap::soft(&line, look.columns, &first, &rest, &mut rows);
        // A mark in front of the first row must not narrow the rows below it.
        if start == 0 && rows.len() > 1 && mark.is_some() {
            rows.clear();
            let mut marked = Line::default();
            marked.append(&first, 2..first.text.len());
            let lead = Line::of("❯ ", Role::Prompt);
            marked.append(&line, 0..line.text.len());
            wrap::soft(&marked, look.columns, &lead, &rest, &mut rows);
        }
        first = rest.clone();
        at += words.len() as u32 + 1;
    }
    if look.extent == super::Extent::Short && rows.len() > SHORT {
        let left = rows.len() - SHORT;
        rows.truncate(SHORT);
        rows.push(super::output::more(left, &rest, look));
    }
    for row in &mut rows {
        row.fill = Some(Role::UserFill);
    }
    rows
}
