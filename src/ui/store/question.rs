//! The panel of the model's questions: one at a time, options by digit or arrows, words of one's own
//! in the last row. Takes keys only after it was left alone for a moment, as approvals do.

use crossterm::event::{KeyCode, KeyModifiers};

use super::approvals::GUARD_MS;
use super::line::Line;
use crate::kernel::message::CallId;
use crate::kernel::question::{Question, Replies, Reply};
use crate::ui::keymap::Chord;

/// The panel's state.
#[derive(Clone, Debug)]
pub struct QuestionPanel {
    id: CallId,
    questions: Vec<Question>,
    drafts: Vec<Draft>,
    at: usize,
    shown_ms: u64,
    armed: bool,
}

/// What is chosen so far.
#[derive(Clone, Debug, Default)]
struct Draft {
    selected: usize,
    chosen: Vec<usize>,
    words: Line,
}

/// What a key led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The panel took it.
    Stay,
    /// The questions are answered, or declined.
    Done(Replies),
}

impl QuestionPanel {
    /// A panel for these questions, of which there is at least one.
    pub fn new(id: CallId, questions: Vec<Question>, now_ms: u64) -> Self {
        let drafts = vec![Draft::default(); questions.len()];
        Self { id, questions, drafts, at: 0, shown_ms: now_ms, armed: false }
    }

    /// The call that asks.
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// The question that is shown.
    pub fn question(&self) -> Option<&Question> {
        self.questions.get(self.at)
    }

    /// Its place, from 1, and how many there are.
    pub fn place(&self) -> (usize, usize) {
        (self.at + 1, self.questions.len())
    }

    /// The selected row; the one after the options is for words.
    pub fn selected(&self) -> usize {
        self.drafts.get(self.at).map_or(0, |draft| draft.selected)
    }

    /// Whether an option is chosen.
    pub fn is_chosen(&self, option: usize) -> bool {
        self.drafts.get(self.at).is_some_and(|draft| draft.chosen.contains(&option))
    }

    /// The words of one's own.
    pub fn words(&self) -> Option<&Line> {
        self.drafts.get(self.at).map(|draft| &draft.words)
    }

    /// Whether words are being written.
    pub fn writes(&self) -> bool {
        self.question().is_some_and(|question| self.selected() == question.options.len())
    }

    /// Whether the panel takes this key. Once it was left alone for a moment it takes all.
    pub fn takes_key(&mut self, now_ms: u64, last_key_ms: Option<u64>) -> bool {
        let quiet_since = last_key_ms.unwrap_or(0).max(self.shown_ms);
        self.armed |= now_ms.saturating_sub(quiet_since) >= GUARD_MS;
        self.armed
    }

    /// Adds pasted text to the words, once the panel takes keys.
    pub fn paste(&mut self, text: &str) -> bool {
        let writes = self.writes() && self.armed;
        if let (true, Some(draft)) = (writes, self.drafts.get_mut(self.at)) {
            draft.words.insert(text);
        }
        writes
    }

    /// Handles a key.
    pub fn key(&mut self, chord: Chord) -> Outcome {
        let (last, multiple) = match self.question() {
            Some(question) => (question.options.len(), question.multiple),
            None => return Outcome::Done(Replies::Declined),
        };
        let writes = self.writes();
        let Some(draft) = self.drafts.get_mut(self.at) else { return Outcome::Stay };
        match chord.code {
            KeyCode::Esc => return Outcome::Done(Replies::Declined),
            KeyCode::Up => draft.selected = draft.selected.checked_sub(1).unwrap_or(last),
            KeyCode::Down => {
                draft.selected = if draft.selected == last { 0 } else { draft.selected + 1 }
            }
            KeyCode::BackTab => self.at = self.at.saturating_sub(1),
            KeyCode::Tab => self.at = (self.at + 1).min(self.questions.len() - 1),
            KeyCode::Left if !writes => self.at = self.at.saturating_sub(1),
            KeyCode::Right if !writes => self.at = (self.at + 1).min(self.questions.len() - 1),
            KeyCode::Enter => return self.enter(),
            KeyCode::Char(' ') if multiple && !writes => draft.toggle(),
            KeyCode::Char(c) if !writes && chord.mods == KeyModifiers::NONE => {
                return self.letter(c, last, multiple);
            }
            _ if writes => {
                draft.words.key(chord);
            }
            _ => {}
        }
        Outcome::Stay
    }

    /// A digit chooses; anything else begins words of one's own.
    fn letter(&mut self, c: char, last: usize, multiple: bool) -> Outcome {
        let Some(draft) = self.drafts.get_mut(self.at) else { return Outcome::Stay };
        let place = c.to_digit(10).and_then(|digit| (digit as usize).checked_sub(1));
        let Some(place) = place.filter(|place| *place <= last) else {
            draft.selected = last;
            draft.words.insert(c.encode_utf8(&mut [0; 4]));
            return Outcome::Stay;
        };
        draft.selected = place;
        if place == last {
            return Outcome::Stay;
        }
        if multiple {
            draft.toggle();
            return Outcome::Stay;
        }
        self.enter()
    }

    /// Takes the selected row as the answer and goes to the next question without one; after the
    /// last the answers are given.
    fn enter(&mut self) -> Outcome {
        let Some(question) = self.questions.get(self.at) else { return Outcome::Stay };
        let Some(draft) = self.drafts.get_mut(self.at) else { return Outcome::Stay };
        let options = question.options.len();
        if draft.selected < options {
            if !question.multiple {
                draft.chosen = vec![draft.selected];
                draft.words.take();
            } else if draft.chosen.is_empty() {
                draft.toggle();
            }
        } else if draft.words.text().trim().is_empty() {
            return Outcome::Stay;
        } else if !question.multiple {
            draft.chosen.clear();
        }
        match self.drafts.iter().position(|draft| !draft.is_answered()) {
            Some(next) => {
                self.at = next;
                Outcome::Stay
            }
            None => Outcome::Done(Replies::Answered(self.replies())),
        }
    }

    fn replies(&self) -> Vec<Reply> {
        let reply = |(question, draft): (&Question, &Draft)| {
            let label = |at: &usize| question.options.get(*at).map(|o| o.label.trim().to_owned());
            let words = draft.words.text().trim();
            Reply {
                chosen: draft.chosen.iter().filter_map(label).collect(),
                words: (!words.is_empty()).then(|| words.to_owned()),
            }
        };
        self.questions.iter().zip(&self.drafts).map(reply).collect()
    }
}

impl Draft {
    fn toggle(&mut self) {
        let before = self.chosen.len();
        self.chosen.retain(|at| *at != self.selected);
        if self.chosen.len() == before {
            self.chosen.push(self.selected);
            self.chosen.sort_unstable();
        }
    }

    fn is_answered(&self) -> bool {
        !self.chosen.is_empty() || !self.words.text().trim().is_empty()
    }
}
