//! Reasoning that a server left in the answer text between `<think>` tags. Only a tag at the very
//! start of the answer counts: a tag that the answer merely quotes stays text.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A piece of the answer after sorting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Answer text.
    Text(String),
    /// Reasoning.
    Thinking(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    Thinking,
    AfterThinking,
    Text,
}

/// Sorts streamed text; holds back only what may still become a tag.
#[derive(Debug, Default)]
pub struct ThinkSplit {
    state: State,
    held: String,
}

impl ThinkSplit {
    /// Sorts the next piece.
    pub fn push(&mut self, text: String) -> Vec<Piece> {
        if self.state == State::Text {
            return vec![Piece::Text(text)];
        }
        self.held.push_str(&text);
        let mut pieces = Vec::new();
        while self.advance(&mut pieces) {}
        pieces
    }

    /// What is still held back when the answer ends.
    pub fn finish(&mut self) -> Option<Piece> {
        let held = std::mem::take(&mut self.held);
        match self.state {
            _ if held.is_empty() => None,
            State::Thinking => Some(Piece::Thinking(held)),
            State::AfterThinking => None,
            State::Start | State::Text => Some(Piece::Text(held)),
        }
    }

    /// One step; false when more input is needed.
    fn advance(&mut self, pieces: &mut Vec<Piece>) -> bool {
        match self.state {
            State::Start => {
                let trimmed = self.held.trim_start();
                if let Some(rest) = trimmed.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.state = State::Thinking;
                    return true;
                }
                if OPEN.starts_with(trimmed) {
                    return false;
                }
                self.state = State::Text;
                true
            }
            State::Thinking => self.advance_thinking(pieces),
            State::AfterThinking => {
                let rest = self.held.trim_start().to_owned();
                self.held = rest;
                if !self.held.is_empty() {
                    self.state = State::Text;
                }
                !self.held.is_empty()
            }
            State::Text => {
                let text = std::mem::take(&mut self.held);
                if !text.is_empty() {
                    pieces.push(Piece::Text(text));
                }
                false
            }
        }
    }

    fn advance_thinking(&mut self, pieces: &mut Vec<Piece>) -> bool {
        if let Some(at) = self.held.find(CLOSE) {
            let rest = self.held.split_off(at);
            let thinking = std::mem::replace(&mut self.held, rest[CLOSE.len()..].to_owned());
            if !thinking.is_empty() {
                pieces.push(Piece::Thinking(thinking));
            }
            self.state = State::AfterThinking;
            return true;
        }
        let keep = (1..CLOSE.len()).rev().find(|n| self.held.ends_with(&CLOSE[..*n])).unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - keep);
        let thinking = std::mem::replace(&mut self.held, rest);
        if !thinking.is_empty() {
            pieces.push(Piece::Thinking(thinking));
        }
        false
    }
}
