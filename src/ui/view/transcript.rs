//! Stand-in for the transcript's drawing; replaced when the text branch is merged.
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::ui::store::scroll::{Scroll, Settled};
use crate::ui::store::transcript::{CellId, CellKind, Transcript};
use crate::ui::theme::Theme;

/// Rows on screen.
#[derive(Debug, Default)]
pub struct TranscriptLayout {
    rows: Vec<(CellId, String)>,
}

impl TranscriptLayout {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lays out.
    pub fn prepare(
        &mut self,
        transcript: &Transcript,
        _scroll: &Scroll,
        _width: u16,
        height: u16,
        _theme: &Theme,
        _now_ms: u64,
    ) -> Settled {
        self.rows.clear();
        for cell in transcript.cells() {
            let text = match &cell.kind {
                CellKind::User { text, .. } => format!("❯ {text}"),
                CellKind::Assistant { text, .. }
                | CellKind::Thinking { text, .. }
                | CellKind::Notice { text, .. }
                | CellKind::Summary { text } => text.clone(),
                CellKind::Tool(tool) => format!("{} {}", tool.name, tool.title),
                CellKind::Retry { error, .. } => error.clone(),
            };
            self.rows.extend(text.lines().map(|line| (cell.id, line.to_owned())));
        }
        let over = self.rows.len().saturating_sub(usize::from(height));
        self.rows.drain(..over);
        Settled::default()
    }

    /// The cell of a row.
    pub fn hit(&self, row: u16) -> Option<CellId> {
        self.rows.get(usize::from(row)).map(|(id, _)| *id)
    }
}

/// Draws.
pub fn draw(layout: &TranscriptLayout, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    for (row, (_, text)) in (area.y..area.bottom()).zip(&layout.rows) {
        buf.set_stringn(
            area.x,
            row,
            text,
            usize::from(area.width),
            ratatui::style::Style::default(),
        );
    }
}
