//! A file's change as rows: line numbers, marks (so that colour is never the only sign), and the
//! changed words of lines that belong together. Words are compared only for rows that are shown.

use std::ops::Range;
use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

use crate::kernel::message::{DiffLine, FileDiff, Hunk};

use super::role::{Ink, Role};
use super::row::{Line, Row};
use super::{sanitize, wrap};

/// Word comparison of one pair of lines gives up after this.
const DEADLINE: Duration = Duration::from_millis(20);
/// Longer lines are shown without changed words.
const MAX_LINE: usize = 1000;

/// `+3 −1`, the counts of a diff.
pub fn counts(diff: &FileDiff) -> Line {
    let mut line = Line::of(&format!("+{}", diff.added), Role::Added);
    line.add(" ", Role::Text);
    line.add(&format!("−{}", diff.removed), Role::Removed);
    line
}

/// The first `max` lines of the diff as rows, and how many lines were left out.
pub fn rows(diff: &FileDiff, columns: usize, lead: &Line, max: usize) -> (Vec<Row>, usize) {
    let digits = number_width(diff);
    let mut out = Vec::new();
    let (mut shown, mut left_out) = (0, 0);
    for (index, hunk) in diff.hunks.iter().enumerate() {
        let room = max.saturating_sub(shown).min(hunk.lines.len());
        left_out += hunk.lines.len() - room;
        if room == 0 {
            continue;
        }
        if index > 0 {
            let mut line = lead.clone();
            line.add(&format!("{:>digits$} ⋯", ""), Role::Faint);
            out.push(Row::new(line));
        }
        hunk_rows(hunk, room, digits, columns, lead, &mut out);
        shown += room;
    }
    (out, left_out)
}

fn number_width(diff: &FileDiff) -> usize {
    let last = diff
        .hunks
        .iter()
        .map(|hunk| hunk.old_start.max(hunk.new_start).saturating_add(hunk.lines.len() as u32));
    last.max().unwrap_or(1).to_string().len().max(2)
}

fn hunk_rows(
    hunk: &Hunk,
    room: usize,
    digits: usize,
    columns: usize,
    lead: &Line,
    out: &mut Vec<Row>,
) {
    let words = changed_words(&hunk.lines[..room]);
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    for (line, words) in hunk.lines[..room].iter().zip(words) {
        let (number, mark, text, look) = match line {
            DiffLine::Context(text) => (new, ' ', text, Look::CONTEXT),
            DiffLine::Removed(text) => (old, '-', text, Look::REMOVED),
            DiffLine::Added(text) => (new, '+', text, Look::ADDED),
        };
        old += u32::from(!matches!(line, DiffLine::Added(_)));
        new += u32::from(!matches!(line, DiffLine::Removed(_)));
        let mut first = lead.clone();
        first.add(&format!("{number:>digits$} "), Role::Gutter);
        first.add(&format!("{mark} "), look.text);
        let mut rest = lead.clone();
        rest.add(&" ".repeat(digits + 3), Role::Gutter);
        let start = out.len();
        wrap::hard(&inked(text, &words, look), columns, &first, &rest, out);
        for row in &mut out[start..] {
            row.fill = look.fill;
        }
    }
}

#[derive(Clone, Copy)]
struct Look {
    text: Role,
    word: Role,
    fill: Option<Role>,
}

impl Look {
    const CONTEXT: Self = Self { text: Role::Dim, word: Role::Dim, fill: None };
    const ADDED: Self =
        Self { text: Role::Added, word: Role::AddedWord, fill: Some(Role::AddedFill) };
    const REMOVED: Self =
        Self { text: Role::Removed, word: Role::RemovedWord, fill: Some(Role::RemovedFill) };
}

fn inked(text: &str, words: &[Range<usize>], look: Look) -> Line {
    let mut line = Line::default();
    let mut at = 0;
    for word in words {
        line.add(&shown(&text[at..word.start]), look.text);
        line.add(&shown(&text[word.clone()]), Ink::new(look.word).with(Ink::BOLD));
        at = word.end;
    }
    line.add(&shown(&text[at..]), look.text);
    line
}

/// Hidden characters of a file are shown, not dropped: a diff is what one agrees to.
fn shown(text: &str) -> String {
    let parts: Vec<_> = text.split('\t').map(sanitize::visible).collect();
    parts.join("\t")
}

/// For each line the byte ranges that changed, where removed and added lines stand in pairs.
fn changed_words(lines: &[DiffLine]) -> Vec<Vec<Range<usize>>> {
    let mut words = vec![Vec::new(); lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let removed = count(&lines[at..], |line| matches!(line, DiffLine::Removed(_)));
        let added = count(&lines[at + removed..], |line| matches!(line, DiffLine::Added(_)));
        if removed > 0 && removed == added {
            for pair in at..at + removed {
                if let (DiffLine::Removed(old), DiffLine::Added(new)) =
                    (&lines[pair], &lines[pair + removed])
                {
                    let (gone, come) = compare(old, new);
                    words[pair] = gone;
                    words[pair + removed] = come;
                }
            }
        }
        at += (removed + added).max(1);
    }
    words
}

fn count(lines: &[DiffLine], is: impl Fn(&DiffLine) -> bool) -> usize {
    lines.iter().take_while(|line| is(line)).count()
}

fn compare(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    if old.len().max(new.len()) > MAX_LINE {
        return (Vec::new(), Vec::new());
    }
    let diff =
        TextDiff::configure().algorithm(Algorithm::Patience).timeout(DEADLINE).diff_words(old, new);
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let (mut old_at, mut new_at, mut same) = (0, 0, 0);
    for change in diff.iter_all_changes() {
        let len = change.value().len();
        match change.tag() {
            ChangeTag::Equal => {
                same += len;
                old_at += len;
                new_at += len;
            }
            ChangeTag::Delete => {
                extend(&mut gone, old_at..old_at + len);
                old_at += len;
            }
            ChangeTag::Insert => {
                extend(&mut come, new_at..new_at + len);
                new_at += len;
            }
        }
    }
    // Lines with little in common are two lines, not one changed line.
    if same * 3 < old.len().max(new.len()) {
        return (Vec::new(), Vec::new());
    }
    (gone, come)
}

fn extend(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}
