//! Agents at work: their newest steps while they run, the beginning of the report afterwards.

use crate::ui::store::transcript::ToolCell;
use crate::ui::text::row::Row;

use super::output::{self, Side};
use super::{Extent, Look};

/// Rows of the live view: eight agents with their newest step each.
const LIVE_ROWS: usize = 16;
const SHORT_ROWS: usize = 6;

/// First line, then steps or report.
pub fn rows(tool: &ToolCell, look: Look) -> Vec<Row> {
    let mut rows = vec![output::head(tool, &[], look)];
    if tool.is_running() {
        let look = Look { extent: Extent::Short, ..look };
        rows.extend(output::body(&tool.output, Side::Tail, LIVE_ROWS, look));
    } else {
        rows.extend(output::body(&tool.output, Side::Head, SHORT_ROWS, look));
    }
    rows
}
