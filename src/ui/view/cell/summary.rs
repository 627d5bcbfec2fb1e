//! The end of a run in one dim line.

use crate::ui::text::role::Role;
use crate::ui::text::row::{Line, Row};
use crate::ui::text::wrap;

use super::{Look, assistant};

/// The line beside the margin of answers.
pub fn rows(text: &str, look: Look) -> Vec<Row> {
    let lead = Line::of(&" ".repeat(assistant::margin(look.columns)), Role::Faint);
    let mut rows = Vec::new();
    wrap::soft(&Line::of(text, Role::Faint), look.columns, &lead, &lead, &mut rows);
    rows
}
