//! The model's list of what is to be done: a row for each, with its state.

use crate::kernel::message::{Detail, TodoState};
use crate::ui::store::todos::mark;
use crate::ui::store::transcript::ToolCell;
use crate::ui::text::role::Role;
use crate::ui::text::row::{Line, Row};
use crate::ui::text::{sanitize, wrap};

use super::output::{self, Side};
use super::{Extent, Look};

/// Rows of a list that nobody opened.
const SHORT: usize = 12;

/// First line, then the list; the words of a failure instead.
pub fn rows(tool: &ToolCell, look: Look) -> Vec<Row> {
    let Some(Detail::Todos { todos }) = &tool.detail else {
        let mut rows = vec![output::head(tool, &[], look)];
        rows.extend(output::body(&tool.output, Side::Head, 3, look));
        return rows;
    };
    let done = todos.iter().filter(|todo| todo.state == TodoState::Completed).count();
    let mut rows = vec![output::head(tool, &[format!("{done} of {} done", todos.len())], look)];
    let most = if look.extent == Extent::Full { usize::MAX } else { SHORT };
    for todo in todos.iter().take(most) {
        let (sign, words) = match todo.state {
            TodoState::Pending => (Role::Dim, Role::Text),
            TodoState::InProgress => (Role::Accent, Role::Accent),
            TodoState::Completed => (Role::Success, Role::Dim),
        };
        let lead = Line::of(&format!("  {} ", mark(todo.state)), sign);
        let text = Line::of(&sanitize::clean_line(&todo.content), words);
        wrap::hard(&text, look.columns, &lead, &Line::of("    ", Role::Text), &mut rows);
    }
    if let Some(left) = todos.len().checked_sub(most).filter(|left| *left > 0) {
        rows.push(output::more(left, &Line::of("    ", Role::Faint), look));
    }
    rows
}
