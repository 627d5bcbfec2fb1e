//! Commands: live tail with a byte counter while they run, the last lines once they ended.

use crate::kernel::event::Preview;
use crate::kernel::message::{CallStatus, Detail};
use crate::ui::store::transcript::{ToolCell, ToolState, bytes_text};
use crate::ui::text::role::{Ink, Role};
use crate::ui::text::row::{Line, Row};
use crate::ui::text::{sanitize, wrap};

use super::output::{self, Side};
use super::{Extent, Look};

const LIVE_ROWS: usize = 8;
const SHORT_ROWS: usize = 5;
/// Above this the counter says something the tail does not.
const COUNTER_FROM: u64 = 1000;
/// From this size on an ended command shows its size: not all of it is kept to be counted in lines.
const LARGE_FROM: u64 = 64 * 1024;

/// First line, the whole command when opened, output.
pub fn rows(tool: &ToolCell, look: Look) -> Vec<Row> {
    let mut facts = Vec::new();
    if let Some(Detail::Shell { exit, .. }) = &tool.detail {
        match exit {
            Some(0) => {}
            Some(code) => facts.push(format!("exit {code}")),
            // The word of the state says it already.
            None if was_stopped(tool) => {}
            None => facts.push("killed".to_owned()),
        }
    }
    let from = if tool.is_running() { COUNTER_FROM } else { LARGE_FROM };
    if tool.bytes >= from {
        facts.push(bytes_text(tool.bytes));
    }
    let mut rows = vec![output::head(tool, &facts, look)];
    if look.extent == Extent::Full {
        command_rows(tool, look, &mut rows);
    }
    let short = if tool.is_running() { LIVE_ROWS } else { SHORT_ROWS };
    if tool.is_running() {
        let look = Look { extent: Extent::Short, ..look };
        let mut live = output::body(&tool.output, Side::Tail, short, look);
        // How much scrolled by stands in the counter; the tail is all there is to open.
        if live.len() > short {
            live.remove(0);
        }
        rows.extend(live);
    } else {
        rows.extend(output::body(own_output(tool), Side::Tail, short, look));
    }
    rows
}

fn was_stopped(tool: &ToolCell) -> bool {
    use CallStatus::{Cancelled, TimedOut};
    matches!(tool.state, ToolState::Ended { status: Cancelled | TimedOut, .. })
}

/// The output without the exit code that the first line already shows.
fn own_output(tool: &ToolCell) -> &str {
    let output = tool.output.trim_end();
    let Some(Detail::Shell { exit: Some(code), .. }) = &tool.detail else { return output };
    let rest = output.strip_suffix(&format!("exit code {code}")).unwrap_or(output);
    if rest.is_empty() || rest.ends_with('\n') { rest } else { output }
}

fn command_rows(tool: &ToolCell, look: Look, rows: &mut Vec<Row>) {
    let Some(Preview::Command { command, .. }) = &tool.preview else { return };
    if !command.trim_end().contains('\n') && !tool.title.ends_with('…') {
        return;
    }
    let (first, rest) = (Line::of("  $ ", Role::Prompt), Line::of("    ", Role::Prompt));
    let shown = sanitize::visible(command);
    let mut lead = &first;
    for words in shown.trim_end().split('\n') {
        let line = Line::of(words, Ink::new(Role::CodeText));
        wrap::hard(&line, look.columns, lead, &rest, rows);
        lead = &rest;
    }
}
