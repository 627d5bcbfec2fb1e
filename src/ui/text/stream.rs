//! Rows of one piece of an [`Outline`]: what a streaming answer is drawn with. The same piece
//! gives the same rows whether the text came at once or byte by byte.

use super::code::{self, Colours};
use super::markdown;
use super::outline::{CODE_PART, Fence, Outline, Piece, PieceKind, may_close};
use super::row::{Line, Row, settle_sources};

/// Blocks larger than this stay plain.
const COLOUR_MAX: usize = 512 * 1024;

/// The rows of a piece. `first` says that nothing stands above it, `open` that more may come.
pub fn piece_rows(
    text: &str,
    outline: &Outline,
    piece: Piece,
    first: bool,
    open: bool,
    columns: usize,
    colours: &mut dyn Colours,
) -> Vec<Row> {
    let (start, end) = (piece.start as usize, (piece.end as usize).min(text.len()));
    let mut rows = Vec::new();
    let mut gap = !first;
    match piece.kind {
        PieceKind::Prose { glued } => {
            gap &= !glued;
            let source = text.get(start..end).unwrap_or_default();
            let colours: &mut dyn Colours = if open { &mut code::Plain } else { colours };
            rows = markdown::render(source, piece.start, columns, colours);
        }
        PieceKind::Code { fence, part } => {
            gap &= part == 0;
            if let Some(fence) = outline.fence(fence) {
                code_rows(text, fence, piece, part, columns, colours, &mut rows);
            }
        }
    }
    if gap && !rows.is_empty() {
        rows.insert(0, Row { src: piece.start..piece.start, ..Row::default() });
    }
    settle_sources(&mut rows, piece.start);
    rows
}

fn code_rows(
    text: &str,
    fence: &Fence,
    piece: Piece,
    part: u32,
    columns: usize,
    colours: &mut dyn Colours,
    rows: &mut Vec<Row>,
) {
    let lead = Line::default();
    let lang = code::language(text.get(fence.info.clone()).unwrap_or_default());
    if part == 0 && !lang.is_empty() {
        rows.push(code::header(lang, columns, &lead));
    }
    let coloured = if fence.closed { block_colours(text, fence, lang, colours) } else { None };
    let from = (piece.start as usize).max(fence.body.start);
    let limit = if fence.closed { fence.body.end } else { text.len() };
    let to = (piece.end as usize).min(limit);
    let Some(body) = text.get(from..to.max(from)) else { return };
    let mut at = from;
    for (index, line) in body.split_inclusive('\n').enumerate() {
        let words = line.strip_suffix('\n').unwrap_or(line);
        let under_way = !fence.closed && at >= fence.body.end;
        if !(under_way && may_close(words, fence)) {
            let code = code::dedent(words, fence.indent);
            let src = (at + words.len() - code.len()) as u32;
            let number = (part * CODE_PART) as usize + index;
            let inks = coloured.as_ref().and_then(|block| block.lines.get(number));
            code::line_rows(code, src, inks.map(|line| &**line), columns, &lead, rows);
        }
        at += line.len();
    }
    if part == 0 && rows.is_empty() {
        code::line_rows("", piece.start, None, columns, &lead, rows);
    }
}

fn block_colours(
    text: &str,
    fence: &Fence,
    lang: &str,
    colours: &mut dyn Colours,
) -> Option<std::sync::Arc<code::Coloured>> {
    let body = text.get(fence.body.clone())?;
    if lang.is_empty() || body.len() > COLOUR_MAX {
        return None;
    }
    if fence.indent == 0 {
        return colours.colours(lang, body);
    }
    let lines: String =
        body.split_inclusive('\n').map(|line| code::dedent(line, fence.indent)).collect();
    colours.colours(lang, &lines)
}

/// All rows of a finished text.
pub fn rows(text: &str, columns: usize, colours: &mut dyn Colours) -> Vec<Row> {
    let outline = Outline::of(text);
    let mut out = Vec::new();
    for piece in outline.closed() {
        let first = out.is_empty();
        out.extend(piece_rows(text, &outline, *piece, first, false, columns, colours));
    }
    out
}
