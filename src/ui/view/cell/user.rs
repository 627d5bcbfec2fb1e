//! Words of the user: a mark and a quiet background.

use crate::ui::text::role::{Ink, Role};
use crate::ui::text::row::{Line, Row};
use crate::ui::text::wrap;

use super::{Extent, Look};

/// Rows shown of a message that is folded.
const SHORT: usize = 8;
/// Rows shown of an opened message.
const FULL: usize = 4000;

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
    let max = if look.extent == Extent::Full { FULL } else { SHORT };
    let mut at = 0;
    let mut lines = text.split('\n');
    for words in lines.by_ref() {
        line.push(first_bytes(words, max, look), Ink::new(Role::User), at);
        wrap::soft(&std::mem::take(&mut line), look.columns, &lead, &rest, &mut rows);
        lead = rest.clone();
        at += words.len() as u32 + 1;
        if rows.len() > max {
            break;
        }
    }
    let left = lines.count();
    if left > 0 || rows.len() > max + 1 {
        rows.truncate(max);
        rows.push(super::output::more(left + 1, &rest, look));
    }
    for row in &mut rows {
        row.fill = Some(Role::UserFill);
    }
    rows
}

/// Enough of a line for `max` rows; a pasted line of megabytes is not wrapped to its end.
fn first_bytes(words: &str, max: usize, look: Look) -> &str {
    // A column takes at most a cluster of some 32 bytes.
    let enough = (max + 2).saturating_mul(look.columns.max(1)).saturating_mul(32);
    &words[..words.floor_char_boundary(enough)]
}
