//! A wait before another attempt: how long, why, and how to end it.

use crate::ui::text::role::{Ink, Role};
use crate::ui::text::row::{Line, Row};
use crate::ui::text::wrap;

use super::Look;

/// The line; `left_ms` is `None` when the wait is over.
pub fn rows(attempt: u32, max: u32, left_ms: Option<u64>, error: &str, look: Look) -> Vec<Row> {
    let mut line = Line::default();
    match left_ms {
        Some(left) => {
            line.add(&format!("retry {attempt}/{max}"), Ink::new(Role::Warning).with(Ink::BOLD));
            line.add(&format!(" in {} s", left.div_ceil(1000)), Role::Warning);
            line.add(&format!(" · {error} · "), Role::Dim);
            line.add("r", Role::Key);
            line.add(" retries now", Role::Dim);
        }
        None => line.add(&format!("retry {attempt}/{max} · {error}"), Role::Dim),
    }
    let role = if left_ms.is_some() { Role::Warning } else { Role::Dim };
    let mut rows = Vec::new();
    let (first, rest) = (Line::of("⟳ ", role), Line::of("  ", role));
    wrap::soft(&line, look.columns, &first, &rest, &mut rows);
    rows
}
