//! Rows of code blocks: the language above, lines on a filled background, coloured when colours
//! are at hand. Colouring never changes what stands where, so the height stays.

use std::sync::Arc;

use super::role::{Ink, Role};
use super::row::{Line, Row};
use super::wrap;

/// The colours of a block, one list of `(end byte, role)` a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coloured {
    /// Lines in order, counted from the first of the block.
    pub lines: Vec<Box<[(u32, Role)]>>,
}

/// Where colours come from. `None` means: not now, draw it plain.
pub trait Colours {
    /// The colours of a closed block.
    fn colours(&mut self, lang: &str, code: &str) -> Option<Arc<Coloured>>;
}

/// No colours at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Colours for Plain {
    fn colours(&mut self, _lang: &str, _code: &str) -> Option<Arc<Coloured>> {
        None
    }
}

/// The first word of a fence's info string.
pub fn language(info: &str) -> &str {
    let word = info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
    word.trim_matches(['.', '}'])
}

/// The row that names the language.
pub fn header(lang: &str, columns: usize, lead: &Line) -> Row {
    let mut line = lead.clone();
    line.add("  ", Role::Faint);
    let room = columns.saturating_sub(line.width());
    line.add(&super::width::truncate(lang, room), Role::Faint);
    Row::new(line).filled(Role::CodeFill)
}

/// The rows of one line of code; `src` is its place in the source.
pub fn line_rows(
    code: &str,
    src: u32,
    colours: Option<&[(u32, Role)]>,
    columns: usize,
    lead: &Line,
    out: &mut Vec<Row>,
) {
    let mut line = Line::default();
    let mut at = 0;
    for (end, role) in colours.unwrap_or_default() {
        let end = (*end as usize).min(code.len());
        if let Some(piece) = code.get(at..end) {
            line.push(piece, Ink::new(*role), src + at as u32);
            at = end;
        }
    }
    line.push(&code[at..], Ink::new(Role::CodeText), src + at as u32);
    let mut lead = lead.clone();
    lead.add("  ", Role::CodeText);
    let first = out.len();
    wrap::hard(&line, columns, &lead, &lead, out);
    for row in &mut out[first..] {
        row.fill = Some(Role::CodeFill);
        if row.src == (0..0) {
            row.src = src..src;
        }
    }
}

/// Takes up to `indent` blanks off a line.
pub fn dedent(line: &str, indent: usize) -> &str {
    let blanks = line.bytes().take(indent).take_while(|byte| *byte == b' ').count();
    &line[blanks..]
}
