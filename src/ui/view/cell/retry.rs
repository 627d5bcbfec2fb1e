//! A wait before another attempt: how long and why. How to end it stands in the run line.

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
            line.add(&in_seconds(left), Role::Warning);
            line.add(&format!(" · {error}"), Role::Dim);
        }
        None => line.add(&format!("retry {attempt}/{max} · {error}"), Role::Dim),
    }
    let role = if left_ms.is_some() { Role::Warning } else { Role::Dim };
    let mut rows = Vec::new();
    let (first, rest) = (Line::of("⟳ ", role), Line::of("  ", role));
    wrap::soft(&line, look.columns, &first, &rest, &mut rows);
    rows
}

/// ` in 3 s`; ` now` once the time is over and the attempt has not yet begun.
pub fn in_seconds(left_ms: u64) -> String {
    match left_ms.div_ceil(1000) {
        0 => " now".to_owned(),
        seconds => format!(" in {seconds} s"),
    }
}
