//! Changes of files: counts in the first line, the diff below it.

use crate::kernel::event::Preview;
use crate::kernel::message::{Detail, FileDiff};
use crate::ui::store::transcript::ToolCell;
use crate::ui::text::diff;
use crate::ui::text::role::Role;
use crate::ui::text::row::{Line, Row};

use super::output::{self, Side};
use super::{Extent, Look};

const SHORT_LINES: usize = 16;
const FULL_LINES: usize = 2000;

/// First line, then the diff, or the words of a failure.
pub fn rows(tool: &ToolCell, look: Look) -> Vec<Row> {
    let Some(diff) = change_of(tool) else {
        let mut rows = vec![output::head(tool, &[], look)];
        rows.extend(output::body(&tool.output, Side::Head, usize::from(!tool.is_running()), look));
        return rows;
    };
    let mut facts = vec![format!("+{} −{}", diff.added, diff.removed)];
    if diff.created {
        facts.insert(0, "new file".to_owned());
    }
    let mut rows = vec![output::head(tool, &facts, look)];
    if tool.has_failed() || is_refused(tool) {
        rows.extend(output::body(&tool.output, Side::Head, 2, look));
        return rows;
    }
    let max = if look.extent == Extent::Full { FULL_LINES } else { SHORT_LINES };
    let lead = Line::of("  ", Role::Text);
    let (body, left) = diff::rows(diff, look.columns, &lead, max);
    rows.extend(body);
    if left > 0 {
        rows.push(output::more(left, &Line::of("    ", Role::Faint), look));
    }
    rows
}

fn is_refused(tool: &ToolCell) -> bool {
    !tool.is_running() && tool.detail.is_none()
}

fn change_of(tool: &ToolCell) -> Option<&FileDiff> {
    match (&tool.detail, &tool.preview) {
        (Some(Detail::Diff(diff)), _) | (_, Some(Preview::Diff(diff))) => Some(diff),
        _ => None,
    }
}
