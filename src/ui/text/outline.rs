//! Cuts Markdown source into pieces that can be laid out one by one: line by line, looking only at
//! complete lines, so that text that streams in gives the same pieces however it is cut. A closed
//! piece never changes; only the open one at the end is drawn anew. Long pieces are cut as well
//! (fences every 64 lines, lists and paragraphs by size), which bounds the work of one frame.
//!
//! Pieces are parsed on their own: reference definitions reach only their own piece.

use std::ops::Range;

/// Lines of a code block in one piece.
pub const CODE_PART: u32 = 64;
/// A line of this many bytes without an end is cut.
const LINE_MAX: usize = 16 * 1024;
/// A list is cut before the next item once it has this many bytes.
const LIST_SOFT: usize = 2 * 1024;
/// A paragraph or quote is cut before its next line once it has this many bytes.
const TEXT_SOFT: usize = 16 * 1024;
/// Anything is cut once it has this many bytes (tables are kept whole until then).
const HARD: usize = 64 * 1024;

/// A part of the source that is laid out on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
    /// What it is.
    pub kind: PieceKind,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Markdown blocks.
    Prose {
        /// Goes on where the piece before was cut: no blank row between.
        glued: bool,
    },
    /// Lines of a fenced code block.
    Code {
        /// Which fence.
        fence: u32,
        /// Which part of it; a part has [`CODE_PART`] lines.
        part: u32,
    },
}

/// A fenced code block at top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    mark: u8,
    len: usize,
    /// Blanks before the opening fence; taken off every line.
    pub indent: usize,
    /// The words behind the opening fence.
    pub info: Range<usize>,
    /// The lines between the fences, without a line that is still being written.
    pub body: Range<usize>,
    /// Whether the closing fence was seen.
    pub closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text { bar: bool },
    List { content: usize },
    Quote,
    Indented,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    Prose {
        start: usize,
        glued: bool,
        shape: Shape,
    },
    Code {
        start: usize,
        fence: u32,
        part: u32,
        lines: u32,
    },
}

/// The pieces of a source that only grows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    pieces: Vec<Piece>,
    fences: Vec<Fence>,
    scanned: usize,
    blank: bool,
    glue: bool,
    open: Open,
}

impl Outline {
    /// The outline of a finished text.
    pub fn of(text: &str) -> Self {
        let mut outline = Self::default();
        outline.feed(text);
        outline.finish(text);
        outline
    }

    /// Takes in what was added; `text` is the whole source, its beginning as it was before.
    pub fn feed(&mut self, text: &str) {
        while let Some(end) = next_line(text, self.scanned) {
            self.take_line(text, self.scanned..end);
        }
    }

    /// Says that nothing follows.
    pub fn finish(&mut self, text: &str) {
        if self.scanned < text.len() {
            self.take_line(text, self.scanned..text.len());
        }
        self.close(text.len());
    }

    /// The closed pieces.
    pub fn closed(&self) -> &[Piece] {
        &self.pieces
    }

    /// The fence of that number.
    pub fn fence(&self, index: u32) -> Option<&Fence> {
        self.fences.get(index as usize)
    }

    /// The piece under way, up to the end of `text`.
    pub fn open(&self, text: &str) -> Option<Piece> {
        let end = text.len() as u32;
        let piece = match self.open {
            Open::Prose { start, glued, .. } => {
                Piece { start: start as u32, end, kind: PieceKind::Prose { glued } }
            }
            Open::Code { start, fence, part, .. } => {
                Piece { start: start as u32, end, kind: PieceKind::Code { fence, part } }
            }
            Open::Nothing if self.scanned < text.len() => Piece {
                start: self.scanned as u32,
                end,
                kind: PieceKind::Prose { glued: self.glue },
            },
            Open::Nothing => return None,
        };
        Some(piece)
    }

    fn take_line(&mut self, text: &str, line: Range<usize>) {
        self.scanned = line.end;
        let words = &text[line.clone()];
        if let Open::Code { .. } = self.open {
            self.code_line(words, line);
            return;
        }
        if words.trim().is_empty() {
            self.blank = true;
            return;
        }
        let indent = indent_of(words);
        if let Open::Prose { start, shape, .. } = self.open
            && let Some(glued) = self.cut_before(words, indent, shape, line.start - start)
        {
            self.close(line.start);
            self.glue = glued;
        }
        self.enter(words, indent, &line);
        self.blank = false;
        if !words.ends_with('\n') && line.len() > LINE_MAX / 2 {
            self.close(line.end);
            self.glue = true;
        }
    }

    fn code_line(&mut self, words: &str, line: Range<usize>) {
        let Open::Code { fence, part, lines, start } = self.open else { return };
        let Some(block) = self.fences.get_mut(fence as usize) else { return };
        if is_closing(words, block) {
            block.closed = true;
            self.close(line.end);
            return;
        }
        block.body.end = line.end;
        if lines + 1 < CODE_PART {
            self.open = Open::Code { start, fence, part, lines: lines + 1 };
        } else {
            self.close(line.end);
            self.open = Open::Code { start: line.end, fence, part: part + 1, lines: 0 };
        }
    }

    /// Whether a new piece begins at this line; `Some(true)` when it only goes on with the last.
    fn cut_before(&self, words: &str, indent: usize, shape: Shape, size: usize) -> Option<bool> {
        let inner = match shape {
            Shape::List { content } => indent >= content,
            _ => indent >= 4,
        };
        if !inner && (opening(words, indent).is_some() || is_heading(words)) {
            return Some(false);
        }
        let marker = marker_end(words, indent).is_some();
        let cut = match shape {
            Shape::List { .. } if inner => false,
            Shape::List { .. } if marker => size >= LIST_SOFT,
            Shape::Indented => self.blank && indent < 4,
            _ if self.blank => true,
            Shape::Quote => size >= TEXT_SOFT && words.trim_start().starts_with('>'),
            Shape::Text { bar } => size >= TEXT_SOFT && !bar,
            Shape::List { .. } => false,
        };
        (cut || size >= HARD).then_some(!self.blank)
    }

    fn enter(&mut self, words: &str, indent: usize, line: &Range<usize>) {
        let marker = (indent < 4).then(|| marker_end(words, indent)).flatten();
        if let Open::Prose { start, glued, shape } = self.open {
            let shape = match (shape, marker) {
                (Shape::List { content: old }, Some(content)) if indent < old => {
                    Shape::List { content }
                }
                (Shape::Text { .. }, Some(content)) => Shape::List { content },
                _ => shape,
            };
            self.open = Open::Prose { start, glued, shape };
            return;
        }
        let glued = std::mem::take(&mut self.glue);
        if let Some((mark, len)) = opening(words, indent) {
            self.open_fence(words, indent, mark, len, line);
            return;
        }
        let shape = match marker {
            Some(content) => Shape::List { content },
            None if indent >= 4 => Shape::Indented,
            None if words.trim_start().starts_with('>') => Shape::Quote,
            None => Shape::Text { bar: words.contains('|') },
        };
        self.open = Open::Prose { start: line.start, glued, shape };
        if is_heading(words) {
            self.close(line.end);
        }
    }

    fn open_fence(&mut self, words: &str, indent: usize, mark: u8, len: usize, at: &Range<usize>) {
        let info = words[indent + len..].trim();
        let from = at.start + indent + len;
        let skipped = words[indent + len..].len() - words[indent + len..].trim_start().len();
        let info = from + skipped..from + skipped + info.len();
        let body = at.end..at.end;
        let fence = self.fences.len() as u32;
        self.fences.push(Fence { mark, len, indent, info, body, closed: false });
        self.open = Open::Code { start: at.start, fence, part: 0, lines: 0 };
    }

    fn close(&mut self, end: usize) {
        let (start, kind) = match std::mem::take(&mut self.open) {
            Open::Nothing => return,
            Open::Prose { start, glued, .. } => (start, PieceKind::Prose { glued }),
            Open::Code { start, fence, part, .. } => (start, PieceKind::Code { fence, part }),
        };
        self.pieces.push(Piece { start: start as u32, end: end as u32, kind });
    }
}

/// The end of the line at `at`, its line end included; `None` while it is not complete.
fn next_line(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let window = rest.len().min(LINE_MAX);
    if let Some(end) = rest.as_bytes()[..window].iter().position(|byte| *byte == b'\n') {
        return Some(at + end + 1);
    }
    if rest.len() <= LINE_MAX {
        return None;
    }
    // Cut at a blank of the first half window, else at a character.
    let limit = rest.floor_char_boundary(LINE_MAX);
    let blank = rest[..limit].rfind(' ').filter(|cut| *cut > LINE_MAX / 2);
    Some(at + blank.map_or(limit, |cut| cut + 1))
}

/// Leading blanks; a tab counts as four.
fn indent_of(line: &str) -> usize {
    let mut indent = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => indent += 1,
            b'\t' => indent += 4 - indent % 4,
            _ => break,
        }
    }
    indent
}

/// The mark and length of an opening fence.
fn opening(line: &str, indent: usize) -> Option<(u8, usize)> {
    if indent >= 4 {
        return None;
    }
    let body = line.as_bytes().get(indent..)?;
    let mark = *body.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let len = body.iter().take_while(|byte| **byte == mark).count();
    let valid = len >= 3 && (mark == b'~' || !body[len..].contains(&b'`'));
    valid.then_some((mark, len))
}

fn is_closing(line: &str, fence: &Fence) -> bool {
    let indent = indent_of(line);
    let body = line.trim();
    indent < 4 && body.len() >= fence.len && body.bytes().all(|byte| byte == fence.mark)
}

/// Whether a line under way may still become the closing fence.
pub fn may_close(line: &str, fence: &Fence) -> bool {
    let body = line.trim();
    !body.is_empty() && indent_of(line) < 4 && body.bytes().all(|byte| byte == fence.mark)
}

fn is_heading(line: &str) -> bool {
    let body = line.trim_start_matches(' ');
    let level = body.bytes().take_while(|byte| *byte == b'#').count();
    line.len() - body.len() < 4
        && (1..=6).contains(&level)
        && body[level..].chars().next().is_none_or(char::is_whitespace)
}

/// The column where the content of a list item begins, when the line has a list mark.
fn marker_end(line: &str, indent: usize) -> Option<usize> {
    let body = line.trim_start().trim_end_matches(['\n', '\r']);
    let bytes = body.as_bytes();
    let len = match bytes.first()? {
        b'-' | b'+' | b'*' if is_rule(body) => return None,
        b'-' | b'+' | b'*' => 1,
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let dot = matches!(bytes.get(digits), Some(b'.' | b')'));
            (digits <= 9 && dot).then_some(digits + 1)?
        }
        _ => return None,
    };
    let blanks = bytes[len..].iter().take_while(|byte| **byte == b' ').count();
    match bytes.get(len) {
        None | Some(b'\t') => Some(indent + len + 1),
        Some(b' ') if blanks > 4 => Some(indent + len + 1),
        Some(b' ') => Some(indent + len + blanks),
        Some(_) => None,
    }
}

fn is_rule(body: &str) -> bool {
    let Some(mark) = body.chars().next() else { return false };
    body.chars().filter(|c| *c == mark).count() >= 3
        && body.chars().all(|c| c == mark || c == ' ' || c == '\t')
}
