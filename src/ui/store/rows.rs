//! Soft wrap for text that is being edited: every byte belongs to one row, nothing is dropped, and
//! no grapheme cluster is split, so a caret can stand anywhere.

use std::ops::Range;

use unicode_linebreak::{BreakOpportunity, linebreaks};
use unicode_segmentation::UnicodeSegmentation;

use crate::ui::text::width::width;

/// Tab stops, in cells.
const TAB: usize = 4;

/// One visual row: a piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Index of the line.
    pub line: usize,
    /// The piece.
    pub bytes: Range<usize>,
}

/// Cells that `cluster` takes at column `column`.
pub fn cells(cluster: &str, column: usize) -> usize {
    if cluster == "\t" { TAB - column % TAB } else { width(cluster) }
}

/// Cells of a piece that starts a row.
pub fn width_of(text: &str) -> usize {
    text.graphemes(true).fold(0, |x, cluster| x + cells(cluster, x))
}

/// Wraps `lines` to `columns` cells (at least one cluster per row).
pub fn rows(lines: &[String], columns: usize) -> Vec<Row> {
    let mut out = Vec::with_capacity(lines.len());
    for (line, text) in lines.iter().enumerate() {
        for bytes in wrap_line(text, columns) {
            out.push(Row { line, bytes });
        }
    }
    out
}

/// The pieces of one line without line breaks.
pub fn wrap_line(text: &str, columns: usize) -> Vec<Range<usize>> {
    if text.len() <= columns && text.is_ascii() && !text.contains('\t') {
        return std::iter::once(0..text.len()).collect();
    }
    let breaks: Vec<usize> = linebreaks(text)
        .filter(|(_, kind)| *kind == BreakOpportunity::Allowed)
        .map(|(at, _)| at)
        .collect();
    let mut pieces = Vec::new();
    let (mut start, mut x, mut next_break) = (0, 0, 0);
    let mut last_break = None;
    for (at, cluster) in text.grapheme_indices(true) {
        while breaks.get(next_break).is_some_and(|&b| b <= at) {
            last_break = Some(breaks[next_break]).filter(|&b| b > start);
            next_break += 1;
        }
        while x + cells(cluster, x) > columns && at > start {
            let cut = last_break.take().unwrap_or(at);
            pieces.push(start..cut);
            start = cut;
            x = width_of(&text[start..at]);
        }
        x += cells(cluster, x);
    }
    pieces.push(start..text.len());
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_move_to_the_next_row_and_long_ones_are_cut() {
        let text = "one two threefourfive";
        let rows: Vec<_> = wrap_line(text, 8).into_iter().map(|r| &text[r]).collect();
        assert_eq!(rows, ["one two ", "threefou", "rfive"]);
    }

    proptest! {
        #[test]
        fn rows_cover_the_text_and_fit(text in "[ a-z\\täé你👨‍👩‍👧]{0,60}", columns in 1usize..20) {
            let pieces = wrap_line(&text, columns);
            let joined: String = pieces.iter().map(|r| &text[r.clone()]).collect();
            prop_assert_eq!(&joined, &text);
            for piece in pieces {
                let piece = &text[piece];
                prop_assert!(
                    width_of(piece) <= columns || piece.graphemes(true).count() <= 1
                );
            }
        }
    }
}
