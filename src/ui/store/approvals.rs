//! Questions about calls, in the order they came. The shown one never changes under the user, and
//! it takes keys only after a quiet moment: what was typed for the composer must not answer it.

use std::collections::VecDeque;

use crossterm::event::KeyCode;

use super::line::Line;
use crate::kernel::command::Answer;
use crate::kernel::event::{Approval, Preview};
use crate::kernel::message::{CallId, DiffLine, FileDiff};
use crate::ui::keymap::Chord;
use crate::ui::text::width::{TAB, width};
use crate::ui::text::{sanitize, wrap};

/// A panel takes keys this long after it appeared and after the last key before, in milliseconds.
pub const GUARD_MS: u64 = 500;
/// A second Esc within this time stops the run, in milliseconds.
pub const DOUBLE_MS: u64 = 1000;

/// Letters that follow each other faster than this are one word, in milliseconds: a key of the panel
/// at its start was meant as a letter.
const BURST_MS: u64 = 600;

/// Which page of the panel is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// What, why and where, cut to the panel.
    #[default]
    Summary,
    /// The whole command or diff; arrows scroll.
    Full,
    /// Why it asks, with the parts that were judged.
    Why,
}

/// The colour of a line of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Plain.
    Text,
    /// Less important.
    Dim,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// A place in a file.
    Place,
    /// Danger.
    Danger,
}

/// What a key in the panel led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing but a change of the panel.
    Stay,
    /// The shown call was answered; it is gone from the list.
    Answered(CallId, Answer),
    /// The shown plan was agreed to; it is gone from the list.
    Agreed {
        /// The call that shows it.
        id: CallId,
        /// Whether edits need no question from now on.
        edits: bool,
    },
    /// The run should stop.
    Abort,
}

/// The open questions.
#[derive(Debug, Default)]
pub struct Approvals {
    waiting: VecDeque<Approval>,
    shown_ms: u64,
    armed: bool,
    selected: usize,
    words: Line,
    page: Page,
    scroll: usize,
    denied_ms: Option<u64>,
    /// Keys of the panel typed in quick succession, and when the last one was.
    burst: (String, u64),
}

impl Approvals {
    /// The shown question.
    pub fn shown(&self) -> Option<&Approval> {
        self.waiting.front()
    }

    /// How many wait behind it.
    pub fn behind(&self) -> usize {
        self.waiting.len().saturating_sub(1)
    }

    /// The selected option, from 0.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// The refusal being written.
    pub fn words(&self) -> &Line {
        &self.words
    }

    /// The page.
    pub fn page(&self) -> Page {
        self.page
    }

    /// Rows scrolled away at the top of the page.
    pub fn scroll(&self) -> usize {
        self.scroll
    }

    /// Adds a question.
    pub fn push(&mut self, approval: Approval, now_ms: u64) {
        self.waiting.push_back(approval);
        if self.waiting.len() == 1 {
            self.show(now_ms);
        }
    }

    /// A question was closed from outside.
    pub fn close(&mut self, id: &CallId, now_ms: u64) {
        let shown = self.shown().is_some_and(|shown| &shown.call.id == id);
        self.waiting.retain(|approval| &approval.call.id != id);
        if shown {
            self.show(now_ms);
        }
    }

    /// All questions are void.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.words.take();
    }

    fn show(&mut self, now_ms: u64) {
        self.shown_ms = now_ms;
        self.armed = false;
        self.words.take();
        self.page = Page::Summary;
        self.scroll = 0;
        self.burst = (String::new(), 0);
        // What could destroy much must be chosen, not confirmed.
        self.selected = match self.shown() {
            Some(approval) if approval.danger => self.options().len() - 1,
            _ => 0,
        };
    }

    /// Whether the panel takes this key. Once it was left alone for [`GUARD_MS`] it takes all.
    pub fn takes_key(&mut self, now_ms: u64, last_key_ms: Option<u64>) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        let quiet_since = last_key_ms.unwrap_or(0).max(self.shown_ms);
        self.armed |= now_ms.saturating_sub(quiet_since) >= GUARD_MS;
        self.armed
    }

    /// Whether pasted text belongs to the refusal; a paste never answers.
    pub fn takes_paste(&self) -> bool {
        !self.waiting.is_empty() && !self.words.is_empty()
    }

    /// Adds pasted text to the refusal.
    pub fn paste(&mut self, text: &str) {
        self.words.insert(text);
    }

    /// Whether Esc right after a refusal should stop the run.
    pub fn is_second_escape(&self, now_ms: u64) -> bool {
        self.denied_ms.is_some_and(|at| now_ms.saturating_sub(at) <= DOUBLE_MS)
    }

    /// The options, as shown.
    pub fn options(&self) -> Vec<String> {
        if self.is_plan() {
            return [
                "Yes, carry it out",
                "Yes, and accept its edits",
                "No (or type what to change)",
            ]
            .map(str::to_owned)
            .to_vec();
        }
        let mut options = vec!["Yes, once".to_owned()];
        if let Some(rule) = self.shown().and_then(|approval| approval.rule.as_deref()) {
            options.push(format!("Always: {}", sanitize::visible(rule)));
        }
        options.push("No (or type what to do instead)".to_owned());
        options
    }

    /// Handles a key that the panel takes. `width` is that of the text, for scrolling.
    pub fn key(&mut self, chord: Chord, width: u16, now_ms: u64) -> Outcome {
        if chord.code == KeyCode::Esc {
            return self.escape(now_ms);
        }
        if !self.words.is_empty() {
            if chord.code == KeyCode::Enter {
                let words = self.words.take();
                return self.answer(Answer::Deny { words: Some(words) }, now_ms);
            }
            self.words.key(chord);
            return Outcome::Stay;
        }
        match chord.code {
            KeyCode::Enter => return self.confirm(now_ms),
            KeyCode::Up | KeyCode::Down => self.vertical(chord.code == KeyCode::Down, width),
            KeyCode::Home => self.scroll = 0,
            KeyCode::End => self.scroll = self.last_scroll(width),
            KeyCode::Char(c) if chord.printable().is_some() => self.printable(c, chord, now_ms),
            _ => {}
        }
        Outcome::Stay
    }

    fn escape(&mut self, now_ms: u64) -> Outcome {
        if self.is_second_escape(now_ms) {
            return Outcome::Abort;
        }
        if self.page != Page::Summary {
            self.turn_to(Page::Summary);
            return Outcome::Stay;
        }
        self.denied_ms = Some(now_ms);
        self.answer(Answer::Deny { words: None }, now_ms)
    }

    fn printable(&mut self, c: char, chord: Chord, now_ms: u64) {
        let (typed, last_ms) = &mut self.burst;
        if now_ms.saturating_sub(*last_ms) > BURST_MS {
            typed.clear();
        }
        *last_ms = now_ms;
        let before = typed.clone();
        typed.push(c);
        if let Some(digit) = c.to_digit(10).map(|digit| digit as usize)
            && (1..=self.options().len()).contains(&digit)
        {
            self.selected = digit - 1;
            return;
        }
        match c {
            'd' => self.toggle(Page::Full),
            'w' => self.toggle(Page::Why),
            ' ' => {}
            _ => {
                self.selected = self.options().len() - 1;
                // Whoever writes "don't" at once did not mean the key `d`.
                if !before.is_empty() {
                    self.turn_to(Page::Summary);
                    self.words.insert(&before);
                }
                self.words.key(chord);
            }
        }
    }

    fn vertical(&mut self, down: bool, width: u16) {
        if self.page == Page::Summary {
            let last = self.options().len() - 1;
            self.selected =
                if down { (self.selected + 1).min(last) } else { self.selected.saturating_sub(1) };
        } else if down {
            self.scroll = (self.scroll + 1).min(self.last_scroll(width));
        } else {
            self.scroll = self.scroll.saturating_sub(1);
        }
    }

    fn last_scroll(&self, width: u16) -> usize {
        self.body(width).len().saturating_sub(1)
    }

    fn toggle(&mut self, page: Page) {
        self.turn_to(if self.page == page { Page::Summary } else { page });
    }

    fn turn_to(&mut self, page: Page) {
        self.page = page;
        self.scroll = 0;
    }

    fn is_plan(&self) -> bool {
        let preview = self.shown().and_then(|approval| approval.preview.as_ref());
        matches!(preview, Some(Preview::Plan { .. }))
    }

    fn confirm(&mut self, now_ms: u64) -> Outcome {
        if self.is_plan() && self.selected < 2 {
            let edits = self.selected == 1;
            return match self.answer(Answer::Once, now_ms) {
                Outcome::Answered(id, _) => Outcome::Agreed { id, edits },
                other => other,
            };
        }
        let remembered = self.shown().is_some_and(|approval| approval.rule.is_some());
        let answer = match self.selected {
            0 => Answer::Once,
            1 if remembered => Answer::Always,
            _ => Answer::Deny { words: None },
        };
        self.answer(answer, now_ms)
    }

    fn answer(&mut self, answer: Answer, now_ms: u64) -> Outcome {
        let Some(approval) = self.waiting.pop_front() else { return Outcome::Stay };
        self.show(now_ms);
        Outcome::Answered(approval.call.id, answer)
    }

    /// The title line.
    pub fn title(&self) -> String {
        let Some(approval) = self.shown() else { return String::new() };
        let title = match &approval.preview {
            Some(Preview::Command { .. }) => "Run this command?".to_owned(),
            Some(Preview::Plan { .. }) => "Carry this plan out?".to_owned(),
            Some(Preview::Diff(diff)) => {
                let verb = if diff.created { "Create" } else { "Change" };
                let path = sanitize::visible(&diff.path);
                format!("{verb} {path}?  +{} −{}", diff.added, diff.removed)
            }
            None => format!("Allow {}?", sanitize::visible(&approval.call.name)),
        };
        match self.behind() {
            0 => title,
            more => format!("{title}  ({more} more waiting)"),
        }
    }

    /// The rows of the page in force, wrapped to `width` cells with nothing hidden.
    pub fn body(&self, width: u16) -> Vec<(Tone, String)> {
        let Some(approval) = self.shown() else { return Vec::new() };
        let lines = match self.page {
            Page::Summary | Page::Full => what(approval),
            Page::Why => why(approval),
        };
        let mut rows = Vec::new();
        for (tone, line) in lines {
            for range in wrap::hard_ranges(&line, usize::from(width.max(1))) {
                rows.push((tone, line[range].to_owned()));
            }
        }
        rows
    }

    /// Lines that stand under the body on the summary page.
    pub fn notes(&self) -> Vec<(Tone, String)> {
        let Some(approval) = self.shown() else { return Vec::new() };
        let mut notes = Vec::new();
        if approval.danger {
            notes.push((Tone::Danger, "! this could destroy much".to_owned()));
        }
        if !approval.reason.is_empty() {
            notes.push((Tone::Dim, format!("why: {}", sanitize::visible(&approval.reason))));
        }
        // The workspace itself goes without saying.
        if let Some(Preview::Command { workdir, .. }) = &approval.preview
            && !matches!(workdir.as_str(), "" | ".")
        {
            notes.push((Tone::Dim, format!("in: {}", sanitize::visible(workdir))));
        }
        notes
    }
}

fn what(approval: &Approval) -> Vec<(Tone, String)> {
    match &approval.preview {
        Some(Preview::Command { command, .. }) => {
            shown_lines(command).map(|line| (Tone::Text, line)).collect()
        }
        Some(Preview::Diff(diff)) => diff_lines(diff),
        Some(Preview::Plan { text }) => shown_lines(text).map(|line| (Tone::Text, line)).collect(),
        None => {
            let args = serde_json::to_string_pretty(&approval.call.args).unwrap_or_default();
            shown_lines(&args).map(|line| (Tone::Text, line)).collect()
        }
    }
}

fn why(approval: &Approval) -> Vec<(Tone, String)> {
    let mut lines = vec![(Tone::Text, sanitize::visible(&approval.reason).into_owned())];
    // The one file of a diff stands in the title.
    let is_file = approval.parts.len() == 1 && matches!(approval.preview, Some(Preview::Diff(_)));
    let parts = if is_file { &[] } else { approval.parts.as_slice() };
    if !parts.is_empty() {
        lines.push((Tone::Dim, "judged one by one:".to_owned()));
    }
    for part in parts {
        let tone = if part.starts_with('✓') { Tone::Dim } else { Tone::Text };
        lines.extend(shown_lines(part).map(|line| (tone, format!("  {line}"))));
    }
    if let Some(rule) = &approval.rule {
        lines.push((Tone::Dim, format!("\"always\" saves: {}", sanitize::visible(rule))));
    }
    lines
}

fn shown_lines(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('\n').map(|line| sanitize::visible(line).into_owned())
}

/// A line of a file: tabs as blanks up to the next stop, everything else hidden written out.
fn code_line(text: &str) -> String {
    let mut line = String::new();
    for (index, part) in text.split('\t').enumerate() {
        if index > 0 {
            let stop = TAB - width(&line) % TAB;
            line.extend(std::iter::repeat_n(' ', stop));
        }
        line.push_str(&sanitize::visible(part));
    }
    line
}

fn diff_lines(diff: &FileDiff) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    for hunk in &diff.hunks {
        lines.push((Tone::Place, format!("@@ line {}", hunk.new_start)));
        for line in &hunk.lines {
            lines.push(match line {
                DiffLine::Context(text) => (Tone::Text, format!("  {}", code_line(text))),
                DiffLine::Removed(text) => (Tone::Removed, format!("- {}", code_line(text))),
                DiffLine::Added(text) => (Tone::Added, format!("+ {}", code_line(text))),
            });
        }
    }
    lines
}
