//! Messages that wait for delivery, and the panel that edits them.

use crossterm::event::{KeyCode, KeyModifiers};

use super::line::Line;
use crate::kernel::command::QueueEdit;
use crate::kernel::event::{QueueItem, QueueKind};
use crate::ui::keymap::Chord;

/// The panel's state.
#[derive(Clone, Debug, Default)]
pub struct QueuePanel {
    selected: usize,
    edit: Option<Line>,
}

/// What a key in the panel led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing but a change of the panel.
    Stay,
    /// Close the panel.
    Close,
    /// Send these changes.
    Edit(Vec<QueueEdit>),
}

impl QueuePanel {
    /// The selected item's place among `items`.
    pub fn selected(&self, items: &[QueueItem]) -> usize {
        self.selected.min(items.len().saturating_sub(1))
    }

    /// The text being edited.
    pub fn edit(&self) -> Option<&Line> {
        self.edit.as_ref()
    }

    /// Adds pasted text to the edit under way.
    pub fn paste(&mut self, text: &str) -> bool {
        self.edit.as_mut().map(|line| line.insert(text)).is_some()
    }

    /// Handles a key.
    pub fn key(&mut self, chord: Chord, items: &[QueueItem]) -> Outcome {
        let at = self.selected(items);
        let Some(item) = items.get(at) else { return Outcome::Close };
        if let Some(line) = &mut self.edit {
            return match chord.code {
                KeyCode::Esc => {
                    self.edit = None;
                    Outcome::Stay
                }
                KeyCode::Enter => {
                    let text = line.take();
                    self.edit = None;
                    if text.trim().is_empty() {
                        return Outcome::Stay;
                    }
                    Outcome::Edit(vec![QueueEdit::Edit { id: item.id.clone(), text }])
                }
                _ => {
                    line.key(chord);
                    Outcome::Stay
                }
            };
        }
        self.command(chord, items, at, item)
    }

    fn command(
        &mut self,
        chord: Chord,
        items: &[QueueItem],
        at: usize,
        item: &QueueItem,
    ) -> Outcome {
        let id = item.id.clone();
        let moves = chord.mods.intersects(KeyModifiers::SHIFT | KeyModifiers::CONTROL);
        match chord.code {
            KeyCode::Esc | KeyCode::Char('q') => Outcome::Close,
            KeyCode::Up if moves => self.shift(items, at, false),
            KeyCode::Down if moves => self.shift(items, at, true),
            KeyCode::Char('K') => self.shift(items, at, false),
            KeyCode::Char('J') => self.shift(items, at, true),
            KeyCode::Up => self.select(at.saturating_sub(1)),
            KeyCode::Down => self.select((at + 1).min(items.len() - 1)),
            KeyCode::Enter | KeyCode::Char('e') => {
                self.edit = Some(Line::new(&item.text));
                Outcome::Stay
            }
            KeyCode::Delete | KeyCode::Backspace | KeyCode::Char('d') => {
                Outcome::Edit(vec![QueueEdit::Remove { id }])
            }
            KeyCode::Tab | KeyCode::Char('k') => {
                Outcome::Edit(vec![QueueEdit::SetKind { id, kind: other(item.kind) }])
            }
            KeyCode::Char('s') => Outcome::Edit(vec![
                QueueEdit::SetKind { id: id.clone(), kind: QueueKind::Steer },
                QueueEdit::Move { id, to: 0 },
            ]),
            _ => Outcome::Stay,
        }
    }

    fn select(&mut self, at: usize) -> Outcome {
        self.selected = at;
        Outcome::Stay
    }

    /// Moves the item within its own queue.
    fn shift(&mut self, items: &[QueueItem], at: usize, down: bool) -> Outcome {
        let item = &items[at];
        let place = items[..at].iter().filter(|other| other.kind == item.kind).count();
        let of_kind = items.iter().filter(|other| other.kind == item.kind).count();
        let to = if down { place + 1 } else { place.wrapping_sub(1) };
        if to >= of_kind {
            return Outcome::Stay;
        }
        self.selected = if down { at + 1 } else { at - 1 };
        Outcome::Edit(vec![QueueEdit::Move { id: item.id.clone(), to }])
    }
}

fn other(kind: QueueKind) -> QueueKind {
    match kind {
        QueueKind::Steer => QueueKind::FollowUp,
        QueueKind::FollowUp => QueueKind::Steer,
    }
}

/// The word for people.
pub fn word(kind: QueueKind) -> &'static str {
    match kind {
        QueueKind::Steer => "steer",
        QueueKind::FollowUp => "after",
    }
}

/// The mark in front of the word.
pub fn mark(kind: QueueKind) -> &'static str {
    match kind {
        QueueKind::Steer => "↳",
        QueueKind::FollowUp => "⤷",
    }
}
