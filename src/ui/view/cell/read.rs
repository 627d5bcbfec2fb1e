//! Files that were read: one line with the count; opened, what the model got.

use crate::kernel::message::Detail;
use crate::ui::store::transcript::ToolCell;
use crate::ui::text::row::Row;

use super::Look;
use super::output::{self, Side};

/// First line; output only when opened or when it did not work.
pub fn rows(tool: &ToolCell, look: Look) -> Vec<Row> {
    let mut facts = Vec::new();
    if let Some(Detail::File { lines, total_lines }) = &tool.detail {
        facts.push(match (lines, total_lines) {
            (1, 1) => "1 line".to_owned(),
            (shown, all) if shown == all => format!("{all} lines"),
            (shown, all) => format!("{shown} of {all} lines"),
        });
    }
    let mut rows = vec![output::head(tool, &facts, look)];
    rows.extend(output::body(&tool.output, Side::Head, 0, look));
    rows
}
