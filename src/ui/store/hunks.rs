//! The places of a shown change, one by one: which is looked at, which are wanted, which the user
//! rewrote. The answer is made from it; what it means for the file is the tool's business.

use crate::kernel::command::{Answer, HunkChoice};
use crate::kernel::message::{DiffLine, FileDiff, Hunk};

/// The choices about the shown change.
#[derive(Clone, Debug, Default)]
pub struct Hunks {
    choices: Vec<HunkChoice>,
    at: usize,
    /// The place that is in the editor now.
    editing: Option<usize>,
}

impl Hunks {
    /// All places of a change, wanted.
    pub fn of(diff: Option<&FileDiff>) -> Self {
        let places = diff.map_or(0, |diff| diff.hunks.len());
        Self { choices: vec![HunkChoice::Keep; places], at: 0, editing: None }
    }

    /// Whether there is a place to choose.
    pub fn is_empty(&self) -> bool {
        self.choices.is_empty()
    }

    /// The place that is looked at, from 0.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What is said beside a place.
    pub fn mark(&self, place: usize) -> &'static str {
        match self.choices.get(place) {
            Some(HunkChoice::Reject) => "✗ rejected",
            Some(HunkChoice::Edit(_)) => "✎ edited",
            Some(HunkChoice::Keep) | None => "✓",
        }
    }

    /// What the user wrote in a place, when they did.
    pub fn written(&self, place: usize) -> Option<&str> {
        match self.choices.get(place) {
            Some(HunkChoice::Edit(text)) => Some(text),
            _ => None,
        }
    }

    /// The place before or after.
    pub fn step(&mut self, forward: bool) {
        let last = self.choices.len().saturating_sub(1);
        self.at = if forward { (self.at + 1).min(last) } else { self.at.saturating_sub(1) };
    }

    /// Rejects the place, or wants it again.
    pub fn toggle(&mut self) {
        if let Some(choice) = self.choices.get_mut(self.at) {
            *choice = match choice {
                HunkChoice::Reject => HunkChoice::Keep,
                HunkChoice::Keep | HunkChoice::Edit(_) => HunkChoice::Reject,
            };
        }
    }

    /// The text of the place for the editor, as it would become.
    pub fn edit(&mut self, diff: &FileDiff) -> Option<String> {
        let text = match self.written(self.at) {
            Some(text) => text.to_owned(),
            None => after(diff.hunks.get(self.at)?),
        };
        self.editing = Some(self.at);
        Some(text)
    }

    /// The editor is done; false when it was not about a place.
    pub fn edited(&mut self, text: Option<&str>, diff: Option<&FileDiff>) -> bool {
        let Some(place) = self.editing.take() else { return false };
        let before = diff.and_then(|diff| diff.hunks.get(place)).map(after);
        if let (Some(text), Some(choice)) = (text, self.choices.get_mut(place)) {
            let same = before.as_deref() == Some(text);
            *choice = if same { HunkChoice::Keep } else { HunkChoice::Edit(text.to_owned()) };
        }
        true
    }

    /// The answer that a yes is. Nothing wanted is a refusal.
    pub fn answer(&self) -> Answer {
        let all = |wanted: fn(&HunkChoice) -> bool| self.choices.iter().all(wanted);
        if all(|choice| *choice == HunkChoice::Keep) {
            Answer::Once
        } else if all(|choice| *choice == HunkChoice::Reject) {
            Answer::Deny { words: None }
        } else {
            Answer::Partly { hunks: self.choices.clone() }
        }
    }
}

/// A place as it would become, without the final line end.
fn after(hunk: &Hunk) -> String {
    let lines = hunk.lines.iter().filter_map(|line| match line {
        DiffLine::Context(text) | DiffLine::Added(text) => Some(text.as_str()),
        DiffLine::Removed(_) => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}
