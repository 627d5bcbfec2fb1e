//! Tools without a form of their own: first line and the beginning of the result.

use crate::ui::store::transcript::ToolCell;
use crate::ui::text::row::Row;

use super::Look;
use super::output::{self, Side};

const SHORT_ROWS: usize = 3;

/// First line and the first rows of the result.
pub fn rows(tool: &ToolCell, look: Look) -> Vec<Row> {
    let mut rows = vec![output::head(tool, &[], look)];
    rows.extend(output::body(&tool.output, Side::Head, SHORT_ROWS, look));
    rows
}
