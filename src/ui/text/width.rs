//! Columns of text, measured grapheme by grapheme exactly as the terminal buffer draws them.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Distance of tab stops in columns. Four keeps code readable in narrow panes.
pub const TAB: usize = 4;

/// Whether each byte is one visible column.
pub fn is_ascii_printable(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

/// Columns of one grapheme cluster. Control characters take none; they are never drawn.
pub fn grapheme_width(grapheme: &str) -> usize {
    if grapheme.len() == 1 {
        return usize::from(is_ascii_printable(grapheme));
    }
    if grapheme.contains(char::is_control) {
        return 0;
    }
    // The half-width sound marks take a column of their own in terminals.
    let marks = grapheme.chars().filter(|c| matches!(c, '\u{ff9e}' | '\u{ff9f}')).count();
    grapheme.width() + marks
}

/// Columns of a text.
pub fn width(text: &str) -> usize {
    if is_ascii_printable(text) {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// The longest beginning, in bytes, that takes at most `columns`.
pub fn fitting(text: &str, columns: usize) -> usize {
    if text.len() <= columns && is_ascii_printable(text) {
        return text.len();
    }
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme_width(grapheme);
        if used > columns {
            return at;
        }
    }
    text.len()
}

/// The text in at most `columns`, its end replaced by `…` when it is too long.
pub fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    if fitting(text, columns) == text.len() {
        return Cow::Borrowed(text);
    }
    if columns == 0 {
        return Cow::Borrowed("");
    }
    Cow::Owned(format!("{}…", &text[..fitting(text, columns - 1)]))
}

/// The text in at most `columns`, its beginning replaced by `…` when it is too long. For paths.
pub fn truncate_start(text: &str, columns: usize) -> Cow<'_, str> {
    let total = width(text);
    if total <= columns {
        return Cow::Borrowed(text);
    }
    if columns == 0 {
        return Cow::Borrowed("");
    }
    let mut left = total;
    for (at, grapheme) in text.grapheme_indices(true) {
        if left < columns {
            return Cow::Owned(format!("…{}", &text[at..]));
        }
        left -= grapheme_width(grapheme);
    }
    Cow::Borrowed("…")
}

/// The text followed by blanks up to `columns`.
pub fn pad(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    let mut out = String::with_capacity(text.len() + blanks);
    out.push_str(text);
    out.extend(std::iter::repeat_n(' ', blanks));
    out
}
