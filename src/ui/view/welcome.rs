//! The card on an empty conversation: what this is, where it works, three first steps.

use ratatui::layout::Rect;

use super::paint::{Canvas, Piece};
use crate::ui::store::Store;
use crate::ui::text::role::Role;
use crate::ui::text::wrap::soft_ranges;

const TIPS: [(&str, &str); 3] = [
    ("enter", "asks; while it works, enter steers it and esc stops it"),
    ("shift+tab", "changes how much may happen without asking"),
    ("?", "shows all keys and commands"),
];

/// Columns of the words before the texts.
const LEFT: usize = 11;

/// Rows of the card with its margins, for a screen of that width.
pub fn height(store: &Store, width: u16) -> u16 {
    u16::try_from(rows(store, width.saturating_sub(2)).len() + 2).unwrap_or(u16::MAX)
}

/// Draws the card.
pub fn draw(store: &Store, area: Rect, canvas: &mut Canvas<'_>) {
    let margin = u16::from(area.height > 8);
    let inner = Rect {
        x: area.x + 2.min(area.width),
        width: area.width.saturating_sub(2),
        y: area.y + margin,
        height: area.height.saturating_sub(margin),
    };
    for (at, pieces) in rows(store, inner.width).iter().enumerate() {
        canvas.row(inner, at, pieces);
    }
}

fn rows(store: &Store, width: u16) -> Vec<Vec<Piece>> {
    let status = &store.status;
    let mut rows = vec![vec![
        Piece::new(Role::Accent, "codebot ").bold(),
        Piece::new(Role::Dim, env!("CARGO_PKG_VERSION")),
    ]];
    if !status.workspace.is_empty() {
        rows.push(fact("workspace", &status.workspace));
    }
    match &status.model {
        Some(_) if status.demo => rows.push(fact("model", "scripted demo: no key, no network")),
        Some(model) => rows.push(fact("model", &model.model.to_string())),
        None if store.setup.is_some() => {}
        None => rows.push(fact("model", "starting…")),
    }
    rows.push(Vec::new());
    for (key, text) in TIPS {
        let room = usize::from(width).saturating_sub(LEFT).max(1);
        for (at, range) in soft_ranges(text, room).into_iter().enumerate() {
            let key = if at == 0 { key } else { "" };
            let left = format!("{key:<LEFT$}");
            rows.push(vec![Piece::new(Role::Key, left), Piece::new(Role::Dim, &text[range])]);
        }
    }
    rows
}

fn fact(name: &str, value: &str) -> Vec<Piece> {
    let left = format!("{name:<LEFT$}");
    vec![Piece::new(Role::Dim, left), Piece::new(Role::Text, value)]
}
