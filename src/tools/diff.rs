//! Differences of two texts as hunks for people and as a short text for the model.

use std::fmt::Write;
use std::time::{Duration, Instant};

use similar::{ChangeTag, DiffOp, TextDiff};

use crate::kernel::message::{DiffLine, FileDiff, Hunk};

use super::output;

/// After this the rest counts as replaced; text with nothing in common would take seconds.
const DEADLINE: Duration = Duration::from_millis(200);
/// Unchanged lines around a change.
pub(super) const CONTEXT: usize = 3;
/// Lines of the text for the model.
const TEXT_LINES: usize = 60;
/// Characters of one of them.
const TEXT_CHARS: usize = 300;

/// The change of the file shown as `path`; `old` is `None` when it does not exist yet.
pub fn of(path: &str, old: Option<&str>, new: &str) -> FileDiff {
    let created = old.is_none();
    let deadline = Instant::now() + DEADLINE;
    let diff = TextDiff::configure().deadline(deadline).diff_lines(old.unwrap_or_default(), new);
    let mut out = FileDiff { path: path.to_owned(), created, ..FileDiff::default() };
    for group in diff.grouped_ops(CONTEXT) {
        let Some(first) = group.first() else { continue };
        let mut hunk = Hunk {
            old_start: line_number(first.old_range().start),
            new_start: line_number(first.new_range().start),
            lines: Vec::new(),
        };
        for op in &group {
            push(&diff, op, &mut hunk, &mut out);
        }
        out.hunks.push(hunk);
    }
    out
}

fn line_number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

fn push(diff: &TextDiff<'_, '_, str>, op: &DiffOp, hunk: &mut Hunk, out: &mut FileDiff) {
    for change in diff.iter_changes(op) {
        let value: &str = change.value();
        let line = value.strip_suffix('\n').unwrap_or(value);
        let line = line.strip_suffix('\r').unwrap_or(line).to_owned();
        hunk.lines.push(match change.tag() {
            ChangeTag::Equal => DiffLine::Context(line),
            ChangeTag::Delete => {
                out.removed += 1;
                DiffLine::Removed(line)
            }
            ChangeTag::Insert => {
                out.added += 1;
                DiffLine::Added(line)
            }
        });
    }
}

/// All lines, to be changed in place.
pub fn texts(diff: &mut FileDiff) -> impl Iterator<Item = &mut String> {
    diff.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines).map(|line| match line {
        DiffLine::Context(text) | DiffLine::Removed(text) | DiffLine::Added(text) => text,
    })
}

/// The hunks as text, cut after some sixty lines.
pub fn text(diff: &FileDiff) -> String {
    let mut out = String::new();
    let all: usize = diff.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let mut shown = 0;
    for hunk in &diff.hunks {
        if shown >= TEXT_LINES {
            break;
        }
        let _ = writeln!(out, "@@ line {} @@", hunk.new_start);
        for line in hunk.lines.iter().take(TEXT_LINES - shown) {
            let (sign, text) = match line {
                DiffLine::Context(text) => (' ', text),
                DiffLine::Removed(text) => ('-', text),
                DiffLine::Added(text) => ('+', text),
            };
            let _ = writeln!(out, "{sign}{}", output::head(text, TEXT_CHARS));
            shown += 1;
        }
    }
    if shown < all {
        let _ = writeln!(
            out,
            "[{} of the diff not shown]",
            output::count((all - shown) as u64, "line")
        );
    }
    out
}
