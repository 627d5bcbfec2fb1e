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
    let mut lead = Line::of("❯ ", Role::Prompt);
    let rest = Line::of("  ", Role::User);
    let mut line = Line::default();
    if let Some(mark) = mark {
        line.add(mark, Ink::new(Role::Dim).with(Ink::ITALIC));
        line.add(" · ", Role::Dim);
    }
    let mut at = 0;
    for words in text.split('\n') {
        line.push(words, Ink::new(Role::User), at);
        wrap::soft(&std::mem::take(&mut line), look.columns, &lead, &rest, &mut rows);
        lead = rest.clone();
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
