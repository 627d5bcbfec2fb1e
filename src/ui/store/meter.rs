//! The page that shows where the tokens of the context go: rows with a share each, most of them with
//! a bar. Only numbers; the view draws them.

use crossterm::event::KeyCode;

use super::overlay::{FRAME, most_rows};
use crate::app::service::ContextReport;
use crate::ui::keymap::Chord;

/// A row of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterRow {
    /// What it counts.
    pub name: String,
    /// Tokens.
    pub tokens: u64,
    /// What the tokens are.
    pub kind: RowKind,
}

/// What the tokens of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// In use.
    Used,
    /// Not in use.
    Free,
    /// Kept free.
    Reserve,
    /// No longer in use.
    Saved,
}

/// The page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeterPanel {
    /// What it shows.
    pub report: ContextReport,
    /// Rows scrolled away at the top.
    pub scroll: usize,
}

impl MeterPanel {
    /// The page of a report.
    pub fn new(report: ContextReport) -> Self {
        Self { report, scroll: 0 }
    }

    /// For example `Context: 43% of 183616 usable tokens`.
    pub fn title(&self) -> String {
        let usable = self.report.window.saturating_sub(self.report.reserve);
        let percent = (self.report.used * 100).div_ceil(usable.max(1));
        format!("Context: {percent}% of {usable} usable tokens")
    }

    /// The rows under the bar of the whole window.
    pub fn rows(&self) -> Vec<MeterRow> {
        let row = |name: &str, tokens: u64, kind: RowKind| MeterRow {
            name: name.to_owned(),
            tokens,
            kind,
        };
        let report = &self.report;
        let used = report.sources.iter().map(|(name, tokens)| row(name, *tokens, RowKind::Used));
        let mut rows: Vec<_> = used.collect();
        rows.push(row("free", report.free, RowKind::Free));
        rows.push(row("reserve", report.reserve, RowKind::Reserve));
        let saved = report.steps.iter().map(|(name, tokens)| row(name, *tokens, RowKind::Saved));
        rows.extend(saved);
        rows
    }

    /// Handles a key on a screen of that height; false closes the page.
    pub fn key(&mut self, chord: Chord, height: u16) -> bool {
        let room = usize::from(most_rows(height)).saturating_sub(FRAME + 1);
        let last = self.rows().len().saturating_sub(room);
        match chord.code {
            KeyCode::Up | KeyCode::Char('k') => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll = (self.scroll + 1).min(last),
            KeyCode::Home => self.scroll = 0,
            KeyCode::End => self.scroll = last,
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q') => return false,
            _ => {}
        }
        true
    }
}
