//! Lines of the application: a mark that tells the level without colour, then the words.

use crate::app::service::Level;
use crate::ui::text::role::{Ink, Role};
use crate::ui::text::row::{Line, Row};
use crate::ui::text::wrap;

use super::Look;

/// The words behind the mark of their level.
pub fn rows(level: Level, text: &str, look: Look) -> Vec<Row> {
    let (mark, role, ink) = match level {
        Level::Info => ("· ", Role::Info, Role::Dim),
        Level::Warning => ("▲ ", Role::Warning, Role::Text),
        Level::Error => ("✗ ", Role::Error, Role::Error),
    };
    let mut first = Line::of(mark, Ink::new(role).with(Ink::BOLD));
    let rest = Line::of("  ", role);
    let mut rows = Vec::new();
    let mut at = 0;
    for words in text.split('\n') {
        let mut line = Line::default();
        line.push(words, Ink::new(ink), at);
        wrap::soft(&line, look.columns, &first, &rest, &mut rows);
        first = rest.clone();
        at += words.len() as u32 + 1;
    }
    rows
}
