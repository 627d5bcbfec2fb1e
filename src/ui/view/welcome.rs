//! The card on an empty conversation: what this is, where it works, three first steps.

use ratatui::layout::Rect;

use super::paint::{Canvas, Piece};
use crate::ui::store::Store;
use crate::ui::text::role::Role;

const TIPS: [(&str, &str); 3] = [
    ("enter", "asks; while it works, enter steers it and esc stops it"),
    ("shift+tab", "changes how much may happen without asking"),
    ("?", "shows all keys and commands"),
];

/// Draws the card.
pub fn draw(store: &Store, area: Rect, canvas: &mut Canvas<'_>) {
    let inner = Rect {
        x: area.x + 2.min(area.width),
        width: area.width.saturating_sub(2),
        y: area.y + u16::from(area.height > 8),
        height: area.height.saturating_sub(u16::from(area.height > 8)),
    };
    let status = &store.status;
    let mut rows = vec![vec![
        Piece::new(Role::Accent, "codebot ").bold(),
        Piece::new(Role::Dim, env!("CARGO_PKG_VERSION")),
    ]];
    if !status.workspace.is_empty() {
        rows.push(fact("workspace", &status.workspace));
    }
    match &status.model {
        Some(model) if status.demo => {
            rows.push(fact("model", &format!("{} (scripted demo)", model.model)));
        }
        Some(model) => rows.push(fact("model", &model.model.to_string())),
        None if store.setup.is_some() => {}
        None => rows.push(fact("model", "starting…")),
    }
    rows.push(Vec::new());
    for (key, text) in TIPS {
        rows.push(vec![Piece::new(Role::Key, format!("{key:<10} ")), Piece::new(Role::Dim, text)]);
    }
    for (at, pieces) in rows.iter().enumerate() {
        canvas.row(inner, at, pieces);
    }
}

fn fact(name: &str, value: &str) -> Vec<Piece> {
    vec![Piece::new(Role::Dim, format!("{name:<10} ")), Piece::new(Role::Text, value)]
}
