//! Tables: columns where they fit, columns with wrapped cells where they nearly fit, otherwise one
//! record a row (`header: value`). Widths count terminal columns, so that CJK stays aligned.

use pulldown_cmark::Alignment;

use super::role::{Ink, Role};
use super::row::{Line, Row};
use super::wrap;

/// A wrapped cell is at least this wide; below that the table becomes records.
const MIN_COLUMN: usize = 8;
const GAP: &str = " │ ";

/// A table as parsed.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// One entry a column.
    pub aligns: Vec<Alignment>,
    /// Header cells.
    pub head: Vec<Line>,
    /// Body cells.
    pub body: Vec<Vec<Line>>,
}

impl Table {
    /// The lines of the table, none wider than `columns` if that can be.
    pub fn lines(&self, columns: usize) -> Vec<Line> {
        match self.widths(columns) {
            Some(widths) => self.grid(&widths),
            None => self.records(columns),
        }
    }

    fn widths(&self, columns: usize) -> Option<Vec<usize>> {
        let mut widths = vec![1; self.aligns.len()];
        for row in std::iter::once(&self.head).chain(&self.body) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let room = columns.checked_sub(3 * widths.len().saturating_sub(1))?;
        let least: usize = widths.iter().map(|width| (*width).min(MIN_COLUMN)).sum();
        if least > room {
            return None;
        }
        for width in &mut widths {
            *width = (*width).min(room);
        }
        let mut total: usize = widths.iter().sum();
        while total > room {
            let widest = widths.iter_mut().max()?;
            *widest -= 1;
            total -= 1;
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize]) -> Vec<Line> {
        let mut out = Vec::new();
        self.grid_row(&self.head, widths, &mut out);
        let mut rule = Line::default();
        for (index, width) in widths.iter().enumerate() {
            if index > 0 {
                rule.add("─┼─", Role::Rule);
            }
            rule.add(&"─".repeat(*width), Role::Rule);
        }
        out.push(rule);
        for row in &self.body {
            self.grid_row(row, widths, &mut out);
        }
        out
    }

    fn grid_row(&self, row: &[Line], widths: &[usize], out: &mut Vec<Line>) {
        let none = Line::default();
        let cells: Vec<Vec<Row>> = widths
            .iter()
            .enumerate()
            .map(|(index, width)| {
                let mut rows = Vec::new();
                wrap::soft(row.get(index).unwrap_or(&none), *width, &none, &none, &mut rows);
                rows
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for y in 0..height {
            let mut line = Line::default();
            for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
                if index > 0 {
                    line.add(GAP, Role::Rule);
                }
                let part = cell.get(y).map_or(&none, |row| &row.line);
                let spare = width.saturating_sub(part.width());
                let left = match self.aligns.get(index) {
                    Some(Alignment::Right) => spare,
                    Some(Alignment::Center) => spare / 2,
                    _ => 0,
                };
                line.add(&" ".repeat(left), Role::Text);
                line.append(part, 0..part.text.len());
                line.add(&" ".repeat(spare - left), Role::Text);
            }
            out.push(line);
        }
    }

    fn records(&self, columns: usize) -> Vec<Line> {
        let mut out = Vec::new();
        let none = Line::default();
        let hang = Line::of("  ", Role::Text);
        for (number, row) in self.body.iter().enumerate() {
            if number > 0 {
                out.push(Line::of(&"─".repeat(columns.min(8)), Role::Rule));
            }
            for (index, cell) in row.iter().enumerate() {
                let mut line = Line::default();
                if let Some(head) = self.head.get(index) {
                    line.append(head, 0..head.text.len());
                    line.add(": ", Ink::new(Role::Text).with(Ink::BOLD));
                }
                line.append(cell, 0..cell.text.len());
                let mut rows = Vec::new();
                wrap::soft(&line, columns, &none, &hang, &mut rows);
                out.extend(rows.into_iter().map(|row| row.line));
            }
        }
        if self.body.is_empty() {
            let mut line = Line::default();
            for (index, head) in self.head.iter().enumerate() {
                if index > 0 {
                    line.add(GAP, Role::Rule);
                }
                line.append(head, 0..head.text.len());
            }
            let mut rows = Vec::new();
            wrap::soft(&line, columns, &none, &none, &mut rows);
            out.extend(rows.into_iter().map(|row| row.line));
        }
        out
    }
}
