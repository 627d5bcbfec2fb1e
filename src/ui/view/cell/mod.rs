//! One file per kind of cell: content in, rows out. Rows carry roles, not colours. Answers and
//! opened reasoning are laid out piece by piece, everything else as a whole.

pub mod agent;
pub mod assistant;
pub mod bash;
pub mod edit;
pub mod notice;
pub mod output;
pub mod read;
pub mod retry;
pub mod search;
pub mod summary;
pub mod thinking;
pub mod todo;
pub mod tool;
pub mod user;

use crate::ui::store::transcript::{Cell, CellKind, Fold, ToolCell, Transcript};
use crate::ui::text::row::{Row, settle_sources};

/// How much of a cell is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The kind's short form.
    Short,
    /// A failure that nobody touched: open, but bounded.
    Failed,
    /// Everything.
    Full,
}

/// What a cell is drawn for.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Width of the transcript.
    pub columns: usize,
    /// The store's clock.
    pub now_ms: u64,
    /// How much to show.
    pub extent: Extent,
}

/// How much of that cell is shown now.
pub fn extent(cell: &Cell, transcript: &Transcript) -> Extent {
    if !transcript.is_open(cell) {
        return Extent::Short;
    }
    match &cell.kind {
        CellKind::Tool(tool) if tool.has_failed() && cell.fold != Some(Fold::Open) => {
            Extent::Failed
        }
        _ => Extent::Full,
    }
}

/// The source of a cell that is laid out piece by piece.
pub fn document(kind: &CellKind, extent: Extent) -> Option<&str> {
    match kind {
        CellKind::Assistant { text, .. } => Some(text),
        CellKind::Thinking { text, .. } if extent == Extent::Full => Some(text),
        CellKind::Thinking { .. }
        | CellKind::User { .. }
        | CellKind::Tool(_)
        | CellKind::Retry { .. }
        | CellKind::Notice { .. }
        | CellKind::Summary { .. } => None,
    }
}

/// The rows of a cell that is no document.
pub fn rows(kind: &CellKind, look: Look) -> Vec<Row> {
    let mut rows = match kind {
        CellKind::User { text, mark } => user::rows(text, *mark, look),
        CellKind::Thinking { text, streaming } => vec![thinking::head(text, *streaming, look)],
        CellKind::Tool(tool) => tool_rows(tool, look),
        CellKind::Retry { attempt, max, until_ms, error, done } => {
            let left = (!done).then(|| until_ms.saturating_sub(look.now_ms));
            retry::rows(*attempt, *max, left, error, look)
        }
        CellKind::Notice { level, text } => notice::rows(*level, text, look),
        CellKind::Summary { text } => summary::rows(text, look),
        CellKind::Assistant { .. } => Vec::new(),
    };
    settle_sources(&mut rows, 0);
    rows
}

fn tool_rows(tool: &ToolCell, look: Look) -> Vec<Row> {
    match kind_of(tool) {
        Kind::Agent => agent::rows(tool, look),
        Kind::Bash => bash::rows(tool, look),
        Kind::Edit => edit::rows(tool, look),
        Kind::Read => read::rows(tool, look),
        Kind::Search => search::rows(tool, look),
        Kind::Todo => todo::rows(tool, look),
        Kind::Other => tool::rows(tool, look),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Agent,
    Bash,
    Edit,
    Read,
    Search,
    Todo,
    Other,
}

fn kind_of(tool: &ToolCell) -> Kind {
    match tool.name.as_str() {
        "subagent" => Kind::Agent,
        "todo_write" => Kind::Todo,
        "bash" => Kind::Bash,
        "edit" | "write" | "multi_edit" | "patch" => Kind::Edit,
        "read" => Kind::Read,
        "grep" | "glob" | "ls" | "list" | "find" | "search" => Kind::Search,
        _ => Kind::Other,
    }
}

/// Whether the cell is one line that may stand right below another such line.
pub fn is_compact(cell: &Cell, extent: Extent) -> bool {
    match &cell.kind {
        CellKind::Tool(tool) => {
            extent == Extent::Short && matches!(kind_of(tool), Kind::Read | Kind::Search)
        }
        _ => false,
    }
}
