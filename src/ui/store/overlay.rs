//! Panels that the user opens: pages of text, the queue, the question before trust.

use crossterm::event::KeyCode;

use super::limit::LimitPanel;
use super::meter::MeterPanel;
use super::picker::Picker;
use super::queue::QueuePanel;
use super::slash::SLASH;
use crate::ui::action::ACTIONS;
use crate::ui::keymap::Chord;
use crate::ui::text::width::{pad, truncate, width};
use crate::ui::text::wrap::soft_ranges;

/// Rows of a page that are not text: rule, title and the line of keys.
pub const FRAME: usize = 3;
/// A panel may have this many rows even where that is more than two thirds of the screen: a
/// question must be readable on a low one too.
const LOW_ROWS: u16 = 12;
/// Rows that stay above a panel.
const ABOVE: u16 = 2;
/// What the mouse does, for the page of keys.
const MOUSE: [(&str, &str); 3] = [
    ("wheel", "scroll the conversation"),
    ("click", "open or fold a result; lead back to the newest line"),
    ("shift+drag", "select text the terminal's own way"),
];
/// Widest left column of a page, in cells.
const LEFT: usize = 34;

/// Most rows of a panel on a screen of that height.
pub fn most_rows(height: u16) -> u16 {
    let share = (u32::from(height) * 2 / 3) as u16;
    share.max(LOW_ROWS.min(height.saturating_sub(ABOVE)))
}

/// The open panel.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// Lines to read.
    Text(TextPanel),
    /// Where the tokens of the context go.
    Context(MeterPanel),
    /// The queue.
    Queue(QueuePanel),
    /// A list to choose from.
    List(Picker),
    /// What to do at a limit.
    Limit(LimitPanel),
    /// Whether trust may be chosen with shift+tab.
    Trust {
        /// Whether "yes" is selected.
        yes: bool,
    },
}

impl Overlay {
    /// Whether the panel takes this key. One that opens by itself must not take what was typed for
    /// the composer.
    pub fn takes_key(&mut self, now_ms: u64, last_key_ms: Option<u64>) -> bool {
        match self {
            Self::Limit(panel) => panel.takes_key(now_ms, last_key_ms),
            Self::Text(_)
            | Self::Context(_)
            | Self::Queue(_)
            | Self::List(_)
            | Self::Trust { .. } => true,
        }
    }
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
    /// The lines as rows of `columns` cells: the right column wrapped beside the left one.
    pub fn rows(&self, columns: usize) -> Vec<(String, String)> {
        let left = self.lines.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
        let left = left.min(LEFT).min(columns * 2 / 5);
        let mut rows = Vec::new();
        for (name, text) in &self.lines {
            let ranges = soft_ranges(text, columns.saturating_sub(left + 2));
            for (at, range) in ranges.into_iter().enumerate() {
                let name = if at == 0 { truncate(name, left) } else { "".into() };
                rows.push((pad(&name, left + 2), text[range].to_owned()));
            }
        }
        rows
    }

    /// Handles a key on a screen of that size; false closes the panel.
    pub fn key(&mut self, chord: Chord, size: (u16, u16)) -> bool {
        let rows = self.rows(usize::from(size.0.saturating_sub(2))).len();
        let room = usize::from(most_rows(size.1)).saturating_sub(FRAME);
        let last = rows.saturating_sub(room);
        let page = room.saturating_sub(1).max(1);
        match chord.code {
            KeyCode::Up | KeyCode::Char('k') => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll = (self.scroll + 1).min(last),
            KeyCode::Char('b') => self.scroll = self.scroll.saturating_sub(page),
            KeyCode::Char(' ') => self.scroll = (self.scroll + page).min(last),
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
    lines.extend(MOUSE.map(|(does, help)| (does.to_owned(), help.to_owned())));
    lines.push((String::new(), String::new()));
    for command in SLASH {
        let name = format!("/{} {}", command.name, command.args);
        lines.push((name.trim_end().to_owned(), command.help.to_owned()));
    }
    TextPanel { title: "Keys and commands".to_owned(), lines, scroll: 0 }
}
