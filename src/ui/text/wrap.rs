//! Breaks lines into rows: at the places Unicode allows (so that no closing mark starts a row), by
//! force on grapheme borders where a word is wider than the row. `soft` keeps words together and
//! drops the blanks at a break, `hard` fills every column and keeps each byte.

use std::ops::Range;

use unicode_linebreak::{BreakOpportunity, linebreaks};
use unicode_segmentation::UnicodeSegmentation;

use super::row::{Line, NO_SOURCE, Row, source_of};
use super::width::{grapheme_width, is_ascii_printable, width};

/// Wraps a line at words. `first` stands in front of the first row, `rest` in front of the others;
/// both count towards `columns`. An empty line gives one row.
pub fn soft(line: &Line, columns: usize, first: &Line, rest: &Line, out: &mut Vec<Row>) {
    let room = columns.saturating_sub(first.width().max(rest.width())).max(1);
    push_rows(line, &soft_ranges(&line.text, room), first, rest, out);
}

/// Wraps a line at the last column that fits, blanks included.
pub fn hard(line: &Line, columns: usize, first: &Line, rest: &Line, out: &mut Vec<Row>) {
    let room = columns.saturating_sub(first.width().max(rest.width())).max(1);
    push_rows(line, &hard_ranges(&line.text, room), first, rest, out);
}

fn push_rows(line: &Line, ranges: &[Range<usize>], first: &Line, rest: &Line, out: &mut Vec<Row>) {
    for (index, range) in ranges.iter().enumerate() {
        let mut row = if index == 0 { first.clone() } else { rest.clone() };
        // The marks in front may themselves have a source; only the text's counts here.
        for run in &mut row.runs {
            run.src = NO_SOURCE;
        }
        row.append(line, range.clone());
        let src = source_of(&row).unwrap_or(0..0);
        out.push(Row { line: row, fill: None, src });
    }
}

/// Byte ranges of the rows of `text`, at most `columns` wide, blanks at breaks left out.
pub fn soft_ranges(text: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(1);
    let ascii = is_ascii_printable(text);
    if ascii && text.len() <= columns {
        return vec![trimmed(text, 0..text.len())];
    }
    let mut fold = Fold { text, columns, rows: Vec::new(), start: 0, col: 0, blank: true };
    let mut at = 0;
    if ascii {
        while at < text.len() {
            let end = ascii_segment(text.as_bytes(), at);
            fold.segment(at..end);
            at = end;
        }
    } else {
        for (end, kind) in linebreaks(text) {
            fold.segment(at..end);
            at = end;
            if kind == BreakOpportunity::Mandatory && end < text.len() {
                fold.close(end);
            }
        }
    }
    fold.finish()
}

/// Byte ranges of the rows of `text`, each as wide as fits.
pub fn hard_ranges(text: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(1);
    let mut rows = Vec::with_capacity(text.len() / columns + 1);
    if is_ascii_printable(text) {
        let mut at = 0;
        while text.len() - at > columns {
            rows.push(at..at + columns);
            at += columns;
        }
        rows.push(at..text.len());
        return rows;
    }
    let (mut start, mut col) = (0, 0);
    for (at, grapheme) in text.grapheme_indices(true) {
        let wide = grapheme_width(grapheme);
        if col + wide > columns && at > start {
            rows.push(start..at);
            start = at;
            col = 0;
        }
        col += wide;
    }
    rows.push(start..text.len());
    rows
}

/// End of the segment that begins at `at`: behind the blanks after a word, or behind a hyphen
/// between two words.
fn ascii_segment(bytes: &[u8], at: usize) -> usize {
    let mut i = at;
    while i < bytes.len() && bytes[i] != b' ' {
        let hyphen = bytes[i] == b'-' && i > at && bytes[i - 1].is_ascii_alphanumeric();
        i += 1;
        if hyphen && bytes.get(i).is_some_and(u8::is_ascii_alphabetic) {
            return i;
        }
    }
    while i < bytes.len() && bytes[i] == b' ' {
        i += 1;
    }
    i
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let kept = text[range.clone()].trim_end_matches([' ', '\n']).len();
    range.start..range.start + kept
}

struct Fold<'a> {
    text: &'a str,
    columns: usize,
    rows: Vec<Range<usize>>,
    start: usize,
    col: usize,
    /// Whether the row under way holds nothing but blanks.
    blank: bool,
}

impl Fold<'_> {
    fn segment(&mut self, range: Range<usize>) {
        let words = trimmed(self.text, range.clone());
        let wide = width(&self.text[words.clone()]);
        if self.col + wide > self.columns {
            if !self.blank {
                self.close(range.start);
            } else if self.columns < self.col + 2 {
                // An indent that leaves no room is dropped rather than shown as an empty row.
                self.start = range.start;
                self.col = 0;
            }
        }
        if self.col + wide > self.columns {
            self.force(words.clone());
        } else {
            self.col += wide;
        }
        self.blank &= words.is_empty();
        self.col += width(&self.text[words.end..range.end]);
    }

    /// Fills rows with the graphemes of one word.
    fn force(&mut self, word: Range<usize>) {
        let text = self.text;
        for (offset, grapheme) in text[word.clone()].grapheme_indices(true) {
            let at = word.start + offset;
            let wide = grapheme_width(grapheme);
            if self.col + wide > self.columns && at > self.start {
                self.rows.push(self.start..at);
                self.start = at;
                self.col = 0;
            }
            self.col += wide;
        }
    }

    fn close(&mut self, at: usize) {
        self.rows.push(trimmed(self.text, self.start..at));
        self.start = at;
        self.col = 0;
        self.blank = true;
    }

    fn finish(mut self) -> Vec<Range<usize>> {
        let last = trimmed(self.text, self.start..self.text.len());
        if !last.is_empty() || self.rows.is_empty() {
            self.rows.push(last);
        }
        self.rows
    }
}
