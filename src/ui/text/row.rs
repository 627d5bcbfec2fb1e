//! Styled text before and after wrapping: a `Line` is of any width, a `Row` fits the screen. Both
//! remember which bytes of their source they show, so that a place in the text survives a resize.

use std::ops::Range;

use super::role::{Ink, Role};
use super::width::{TAB, width};

/// Marks text that stands in no source (bullets, bars, blanks).
pub const NO_SOURCE: u32 = u32::MAX;

/// A stretch of equal ink. It begins where the one before ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// End in bytes of the text.
    pub end: u32,
    /// How it is written.
    pub ink: Ink,
    /// Place of its first byte in the source, or [`NO_SOURCE`].
    pub src: u32,
}

/// Styled text of any width without line ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The text; no tabs, no control characters.
    pub text: String,
    /// Its inks, covering all of it.
    pub runs: Vec<Run>,
}

impl Line {
    /// A line of one ink without a source.
    pub fn of(text: &str, ink: impl Into<Ink>) -> Self {
        let mut line = Self::default();
        line.add(text, ink);
        line
    }

    /// Appends text without a source.
    pub fn add(&mut self, text: &str, ink: impl Into<Ink>) {
        self.push(text, ink.into(), NO_SOURCE);
    }

    /// Appends text that stands at `src` in the source. Tabs become blanks up to the next stop.
    pub fn push(&mut self, text: &str, ink: Ink, src: u32) {
        let mut rest = text;
        let mut at = src;
        let mut column = None;
        while let Some(tab) = rest.find('\t') {
            let before = column.unwrap_or_else(|| width(&self.text)) + width(&rest[..tab]);
            self.push_plain(&rest[..tab], ink, at);
            let blanks = TAB - before % TAB;
            column = Some(before + blanks);
            self.push_plain(&"    "[..blanks], ink, moved(at, tab));
            at = moved(at, tab + 1);
            rest = &rest[tab + 1..];
        }
        self.push_plain(rest, ink, at);
    }

    fn push_plain(&mut self, text: &str, ink: Ink, src: u32) {
        if text.is_empty() {
            return;
        }
        let start = self.text.len() as u32;
        self.text.push_str(text);
        let end = self.text.len() as u32;
        let begin = self.runs.iter().rev().nth(1).map_or(0, |run| run.end);
        if let Some(last) = self.runs.last_mut() {
            let follows = if last.src == NO_SOURCE {
                src == NO_SOURCE
            } else {
                src == last.src + (start - begin)
            };
            if last.ink == ink && follows {
                last.end = end;
                return;
            }
        }
        self.runs.push(Run { end, ink, src });
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Columns it takes.
    pub fn width(&self) -> usize {
        width(&self.text)
    }

    /// Appends the bytes `range` of another line.
    pub fn append(&mut self, other: &Self, range: Range<usize>) {
        let mut start = 0;
        for run in &other.runs {
            let end = run.end as usize;
            let from = start.max(range.start);
            let to = end.min(range.end);
            if from < to {
                let text = other.text.get(from..to).unwrap_or_default();
                self.push_plain(text, run.ink, moved(run.src, from - start));
            }
            start = end;
            if start >= range.end {
                break;
            }
        }
    }

    /// Pieces of equal ink.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, Ink)> {
        pieces(&self.text, &self.runs)
    }
}

fn moved(src: u32, by: usize) -> u32 {
    if src == NO_SOURCE { NO_SOURCE } else { src + by as u32 }
}

fn pieces<'a>(text: &'a str, runs: &'a [Run]) -> impl Iterator<Item = (&'a str, Ink)> {
    let mut start = 0;
    runs.iter().map(move |run| {
        let end = run.end as usize;
        let piece = text.get(start..end).unwrap_or_default();
        start = end;
        (piece, run.ink)
    })
}

/// One row of the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// What stands in it.
    pub line: Line,
    /// Background of the whole row.
    pub fill: Option<Role>,
    /// Bytes of the source it shows; empty at the right place when it shows none.
    pub src: Range<u32>,
}

impl Row {
    /// A row of that line; its source is taken from the line's runs.
    pub fn new(line: Line) -> Self {
        let src = source_of(&line).unwrap_or(0..0);
        Self { line, fill: None, src }
    }

    /// A row with a background.
    #[must_use]
    pub fn filled(mut self, fill: Role) -> Self {
        self.fill = Some(fill);
        self
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.line.text
    }

    /// Bytes it holds in memory, roughly.
    pub fn weight(&self) -> usize {
        size_of::<Self>() + self.line.text.capacity() + self.line.runs.capacity() * size_of::<Run>()
    }
}

/// The bytes of the source from the first to the last run that has one.
pub fn source_of(line: &Line) -> Option<Range<u32>> {
    let mut start = 0;
    let mut found: Option<Range<u32>> = None;
    for run in &line.runs {
        if run.src != NO_SOURCE {
            let end = run.src + (run.end - start);
            found = Some(match found {
                Some(range) => range.start.min(run.src)..range.end.max(end),
                None => run.src..end,
            });
        }
        start = run.end;
    }
    found
}

/// Makes the source places of rows grow from top to bottom; rows without a source take the end of
/// the row before them (or `base` at the top).
pub fn settle_sources(rows: &mut [Row], base: u32) {
    let mut at = base;
    for row in rows {
        if source_of(&row.line).is_none() && row.src.is_empty() {
            row.src = at..at;
        }
        row.src.start = row.src.start.max(at);
        row.src.end = row.src.end.max(row.src.start);
        at = row.src.start;
    }
}
