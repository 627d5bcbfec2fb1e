//! A one-line text with a caret, for refusals, keys and queue edits. Moves and deletes whole
//! grapheme clusters.

use crossterm::event::{KeyCode, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use crate::ui::keymap::Chord;

/// The text and the caret's byte offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    text: String,
    caret: usize,
}

impl Line {
    /// A line with the caret at its end. Line breaks become spaces.
    pub fn new(text: &str) -> Self {
        let text = text.replace('\n', " ");
        Self { caret: text.len(), text }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part before the caret.
    pub fn before(&self) -> &str {
        &self.text[..self.caret]
    }

    /// Whether nothing was typed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Empties it and returns what was there.
    pub fn take(&mut self) -> String {
        self.caret = 0;
        std::mem::take(&mut self.text)
    }

    /// Inserts at the caret; line breaks become spaces.
    pub fn insert(&mut self, text: &str) {
        let text = text.replace(['\n', '\t'], " ");
        self.text.insert_str(self.caret, &text);
        self.caret += text.len();
    }

    /// Handles an editing key; false when it is none.
    pub fn key(&mut self, chord: Chord) -> bool {
        if let Some(c) = chord.printable() {
            let mut bytes = [0; 4];
            self.insert(c.encode_utf8(&mut bytes));
            return true;
        }
        match (chord.code, chord.mods) {
            (KeyCode::Backspace, _) => {
                let start = self.previous();
                self.text.replace_range(start..self.caret, "");
                self.caret = start;
            }
            (KeyCode::Delete, _) => {
                let end = self.next();
                self.text.replace_range(self.caret..end, "");
            }
            (KeyCode::Left, KeyModifiers::NONE) => self.caret = self.previous(),
            (KeyCode::Right, KeyModifiers::NONE) => self.caret = self.next(),
            (KeyCode::Home, _) | (KeyCode::Char('a'), KeyModifiers::CONTROL) => self.caret = 0,
            (KeyCode::End, _) | (KeyCode::Char('e'), KeyModifiers::CONTROL) => {
                self.caret = self.text.len();
            }
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => {
                self.text.replace_range(..self.caret, "");
                self.caret = 0;
            }
            _ => return false,
        }
        true
    }

    fn previous(&self) -> usize {
        self.before().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn next(&self) -> usize {
        let after = &self.text[self.caret..];
        self.caret + after.graphemes(true).next().map_or(0, str::len)
    }
}
