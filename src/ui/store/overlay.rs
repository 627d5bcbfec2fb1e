//! Panels that the user opens: pages of text, the queue, the question before trust.

use crossterm::event::KeyCode;

use super::queue::QueuePanel;
use super::slash::SLASH;
use crate::ui::action::ACTIONS;
use crate::ui::keymap::Chord;

/// The open panel.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// Lines to read.
    Text(TextPanel),
    /// The queue.
    Queue(QueuePanel),
    /// Whether trust may be chosen with shift+tab.
    Trust {
        /// Whether "yes" is selected.
        yes: bool,
    },
}

/// A page of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextPanel {
    /// Its title.
    pub title: String,
    /// Left and right column; a line with an empty right column is plain.
    pub lines: Vec<(String, String)>,
    /// Lines scrolled away at the top.
    pub scroll: usize,
}

impl TextPanel {
    /// Handles a key; false closes the panel.
    pub fn key(&mut self, chord: Chord) -> bool {
        let last = self.lines.len().saturating_sub(1);
        match chord.code {
            KeyCode::Up | KeyCode::Char('k') => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j' | ' ') => self.scroll = (self.scroll + 1).min(last),
            KeyCode::Home => self.scroll = 0,
            KeyCode::End => self.scroll = last,
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q' | '?') => return false,
            _ => {}
        }
        true
    }
}

/// The page of keys and commands, made from their tables.
pub fn help() -> TextPanel {
    let mut lines = Vec::new();
    for row in ACTIONS.iter().filter(|row| !row.help.is_empty()) {
        lines.push((row.keys.join(", "), row.help.to_owned()));
    }
    lines.push((String::new(), String::new()));
    for command in SLASH {
        lines.push((format!("/{} {}", command.name, command.args), command.help.to_owned()));
    }
    TextPanel { title: "Keys and commands".to_owned(), lines, scroll: 0 }
}
