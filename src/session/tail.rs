//! The end of a session file after a crash: a stub without a line end, a run of NUL bytes from a
//! power loss, a whole record that lacks only its line end.

use super::record;

/// What must be done to the end of a file before anything is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Bytes from the start that stay.
    pub keep: usize,
    /// Whether the last kept record still needs its line end.
    pub needs_newline: bool,
    /// Bytes that are cut.
    pub cut: usize,
}

/// Judges the end of a file's content.
pub fn examine(content: &[u8]) -> Tail {
    let start = content.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let rest = &content[start..];
    let text = rest.len() - rest.iter().rev().take_while(|b| **b == 0).count();
    // A record that was written but for its line end is whole; nothing of it is lost.
    let whole = text > 0 && record::parse(&rest[..text]).is_ok();
    let keep = if whole { start + text } else { start };
    Tail { keep, needs_newline: whole, cut: content.len() - keep }
}
