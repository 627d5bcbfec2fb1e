//! What stays on the normal screen after leaving: the end of the conversation and how to go on.

use std::fmt::Write as _;

use super::store::Store;
use super::store::transcript::{CellKind, ToolState};
use super::text::sanitize;
use crate::kernel::message::CallStatus;

/// Most lines of the conversation that are printed.
const LINES: usize = 200;

/// The text to print; empty when nothing was said.
pub fn text(store: &Store) -> String {
    if store.transcript.is_empty() {
        return String::new();
    }
    let mut lines: Vec<String> = Vec::new();
    for cell in store.transcript.cells() {
        let before = lines.len();
        add(&cell.kind, &mut lines);
        if lines.len() > before {
            lines.push(String::new());
        }
    }
    let mut out = String::new();
    let over = lines.len().saturating_sub(LINES);
    if over > 0 {
        let _infallible = writeln!(out, "… {over} lines before\n");
    }
    for line in &lines[over..] {
        out.push_str(line);
        out.push('\n');
    }
    if !store.status.session.is_empty() && !store.status.demo {
        out.push_str("go on with: codebot -c\n");
    }
    out
}

fn add(kind: &CellKind, lines: &mut Vec<String>) {
    match kind {
        CellKind::User { text, .. } => {
            for (at, line) in text.lines().enumerate() {
                let mark = if at == 0 { "❯ " } else { "  " };
                lines.push(format!("{mark}{}", sanitize::clean_line(line)));
            }
        }
        CellKind::Assistant { text, .. } => {
            lines.extend(text.trim_end().lines().map(|l| sanitize::clean_line(l).into_owned()));
        }
        CellKind::Tool(tool) => {
            let end = match tool.state {
                ToolState::Ended { status: CallStatus::Ok, .. } => "",
                ToolState::Ended { .. } => "  (did not work)",
                ToolState::Running | ToolState::Asking => "  (not finished)",
            };
            let title = sanitize::clean_line(&tool.title).into_owned();
            lines.push(format!("● {} {title}{end}", sanitize::clean_line(&tool.name)));
        }
        CellKind::Notice { text, .. } | CellKind::Summary { text } => {
            lines.extend(text.lines().map(|line| sanitize::clean_line(line).into_owned()));
        }
        CellKind::Thinking { .. } | CellKind::Retry { .. } => {}
    }
}
