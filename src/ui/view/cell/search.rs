//! Searches and listings: one line with the number of hits; opened, the hits.

use crate::kernel::message::Detail;
use crate::ui::store::transcript::ToolCell;
use crate::ui::text::row::Row;

use super::Look;
use super::output::{self, Side};

/// First line; hits only when opened.
pub fn rows(tool: &ToolCell, look: Look) -> Vec<Row> {
    let mut facts = Vec::new();
    if let Some(Detail::Hits { total, shown }) = &tool.detail {
        facts.push(match (shown, total) {
            (_, 0) => "nothing found".to_owned(),
            (1, 1) => "1 hit".to_owned(),
            (shown, all) if shown == all => format!("{all} hits"),
            (shown, all) => format!("{shown} of {all} hits"),
        });
    }
    let mut rows = vec![output::head(tool, &facts, look)];
    rows.extend(output::body(&tool.output, Side::Head, 0, look));
    rows
}
