//! Parts that tool cells share: the first line with state, name and main argument, and bounded
//! output beside a guide.

use std::borrow::Cow;

use crate::kernel::message::{CallStatus, Detail};
use crate::ui::store::transcript::{ToolCell, ToolState, duration_text};
use crate::ui::text::role::{Ink, Role};
use crate::ui::text::row::{Line, Row};
use crate::ui::text::{sanitize, width, wrap};

use super::{Extent, Look};

/// Rows of output in a failure that nobody opened.
const FAILED_ROWS: usize = 24;
/// Rows of one opened cell; what is above stays out.
const FULL_ROWS: usize = 4000;
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The guide beside output.
pub fn guide() -> Line {
    Line::of("  │ ", Role::Rule)
}

/// `● bash  cargo test  exit 1 · 2.1 s`: state, name, main argument, facts.
pub fn head(tool: &ToolCell, facts: &[String], look: Look) -> Row {
    let (mark, role) = state_mark(tool, look.now_ms);
    let mut line = Line::of(mark, Ink::new(role).with(Ink::BOLD));
    line.add(" ", Role::Text);
    line.add(&tool.name, Role::Tool);
    let mut tail = Line::default();
    for (index, fact) in all_facts(tool, facts, look).iter().enumerate() {
        tail.add(if index == 0 { "  " } else { " · " }, Role::Faint);
        tail.add(fact, fact_role(fact, tool));
    }
    let room = look.columns.saturating_sub(line.width() + tail.width() + 2);
    if !tool.title.is_empty() && room > 1 {
        line.add("  ", Role::Text);
        line.add(&shown_title(tool, room), Role::ToolTitle);
    }
    line.append(&tail, 0..tail.text.len());
    let fit = width::fitting(&line.text, look.columns);
    let mut cut = Line::default();
    cut.append(&line, 0..fit);
    Row::new(cut)
}

/// Of a path the end says more, of a command the beginning.
fn shown_title(tool: &ToolCell, room: usize) -> Cow<'_, str> {
    let title = match &tool.detail {
        Some(Detail::Diff(diff)) if !diff.path.is_empty() => sanitize::clean_line(&diff.path),
        _ => Cow::Borrowed(tool.title.as_str()),
    };
    let is_path = title.starts_with('/') || tool.detail.as_ref().is_some_and(is_file);
    let cut = if is_path { width::truncate_start } else { width::truncate };
    Cow::Owned(cut(&title, room).into_owned())
}

fn is_file(detail: &Detail) -> bool {
    matches!(detail, Detail::Diff(_) | Detail::File { .. })
}

fn fact_role(fact: &str, tool: &ToolCell) -> Role {
    if tool.state == ToolState::Asking && fact == "waits for you" {
        Role::Warning
    } else if fact.starts_with('+') {
        Role::Added
    } else if fact.starts_with('−') {
        Role::Removed
    } else {
        Role::Dim
    }
}

fn all_facts(tool: &ToolCell, facts: &[String], look: Look) -> Vec<String> {
    let mut all = Vec::new();
    let says_exit = matches!(tool.detail, Some(Detail::Shell { exit: Some(1..), .. }));
    if let Some(word) = state_word(tool).filter(|word| !(says_exit && *word == "failed")) {
        all.push(word.to_owned());
    }
    all.extend_from_slice(facts);
    let elapsed = match tool.state {
        ToolState::Running => Some(look.now_ms.saturating_sub(tool.started_ms) / 1000 * 1000),
        ToolState::Asking => None,
        ToolState::Ended { at_ms, .. } => Some(match &tool.detail {
            // Without the time it waited for an answer.
            Some(Detail::Shell { elapsed_ms, .. }) => *elapsed_ms,
            _ => at_ms.saturating_sub(tool.started_ms),
        }),
    };
    if let Some(ms) = elapsed.filter(|ms| *ms >= 1000) {
        let whole = tool.is_running() && ms < 60_000;
        all.push(if whole { format!("{} s", ms / 1000) } else { duration_text(ms) });
    }
    all
}

fn state_mark(tool: &ToolCell, now_ms: u64) -> (&'static str, Role) {
    match tool.state {
        ToolState::Running => (SPINNER[(now_ms / 120) as usize % SPINNER.len()], Role::Accent),
        ToolState::Asking => ("?", Role::Warning),
        ToolState::Ended { status, .. } => match status {
            CallStatus::Ok => ("●", Role::Success),
            CallStatus::Error | CallStatus::TimedOut | CallStatus::Panicked => ("✗", Role::Error),
            CallStatus::Denied | CallStatus::Skipped | CallStatus::Cancelled => ("○", Role::Dim),
        },
    }
}

fn state_word(tool: &ToolCell) -> Option<&'static str> {
    match tool.state {
        ToolState::Running => None,
        ToolState::Asking => Some("waits for you"),
        ToolState::Ended { status, .. } => match status {
            CallStatus::Ok => None,
            CallStatus::Error => Some("failed"),
            CallStatus::TimedOut => Some("timed out"),
            CallStatus::Panicked => Some("crashed"),
            CallStatus::Denied => Some("denied"),
            CallStatus::Skipped => Some("skipped"),
            CallStatus::Cancelled => Some("cancelled"),
        },
    }
}

/// Which end of an output is worth more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Its beginning.
    Head,
    /// Its end.
    Tail,
}

/// Output beside the guide, `short` rows of it unless the cell is opened.
pub fn body(text: &str, side: Side, short: usize, look: Look) -> Vec<Row> {
    let max = match look.extent {
        Extent::Short => short,
        Extent::Failed => FAILED_ROWS.max(short),
        Extent::Full => FULL_ROWS,
    };
    let text = text.trim_end();
    if text.is_empty() || max == 0 {
        return Vec::new();
    }
    match side {
        Side::Head => head_rows(text, max, look),
        Side::Tail => tail_rows(text, max, look),
    }
}

fn head_rows(text: &str, max: usize, look: Look) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut at = 0;
    let mut lines = text.split('\n');
    for words in lines.by_ref() {
        line_rows(words, at, look, &mut rows);
        at += words.len() + 1;
        // One row more than asked: a note about one line would take the place of that line.
        if rows.len() > max {
            break;
        }
    }
    let left = lines.count();
    if left == 0 && rows.len() <= max + 1 {
        return rows;
    }
    rows.truncate(max);
    rows.push(more(left + 1, &guide(), look));
    rows
}

fn tail_rows(text: &str, max: usize, look: Look) -> Vec<Row> {
    let mut parts: Vec<Vec<Row>> = Vec::new();
    let (mut count, mut end) = (0, text.len());
    let mut lines = text.rsplit('\n');
    for words in lines.by_ref() {
        let mut rows = Vec::new();
        line_rows(words, end - words.len(), look, &mut rows);
        count += rows.len();
        end = end.saturating_sub(words.len() + 1);
        parts.push(rows);
        // One row more than asked: a note about one line would take the place of that line.
        if count > max {
            break;
        }
    }
    let left = lines.count();
    let mut rows = Vec::new();
    if left == 0 && count <= max + 1 {
        rows.extend(parts.into_iter().rev().flatten());
        return rows;
    }
    rows.push(more(left + 1, &guide(), look));
    rows.extend(parts.into_iter().rev().flatten().skip(count.saturating_sub(max)));
    rows
}

fn line_rows(words: &str, at: usize, look: Look, rows: &mut Vec<Row>) {
    let mut line = Line::default();
    line.push(words, Ink::new(Role::Output), at as u32);
    wrap::hard(&line, look.columns, &guide(), &guide(), rows);
}

/// `… 12 more lines · Ctrl+O opens`.
pub fn more(left: usize, lead: &Line, look: Look) -> Row {
    let word = if left == 1 { "line" } else { "lines" };
    let hint = match look.extent {
        Extent::Full => "",
        Extent::Short | Extent::Failed => " · Ctrl+O opens",
    };
    let mut line = lead.clone();
    let text = format!("… {left} more {word}{hint}");
    let room = look.columns.saturating_sub(line.width());
    line.add(&width::truncate(&text, room), Role::Faint);
    Row::new(line)
}
