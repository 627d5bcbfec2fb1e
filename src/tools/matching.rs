//! Finds the text that an edit names. First as it is; then with the line ends of the file; then
//! letting typographic characters and white space at line ends differ; then whole lines whatever
//! their white space. The tolerant ways need a single place that is like enough, and say what they
//! did, and they never touch a byte outside of it.

use std::ops::Range;

use super::closest::likeness;
use super::files::{is_crlf, to_crlf};

/// Texts above this are only searched exactly.
const TOLERANT_BYTES: usize = 4 * 1024 * 1024;
/// How alike a tolerantly matched place must be.
const FLOOR: f64 = 0.6;

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The places, in order and apart.
    pub places: Vec<Range<usize>>,
    /// What goes there.
    pub new: String,
    /// How the place differs from what was asked, when it does.
    pub tolerance: Option<&'static str>,
}

/// Why nothing can be replaced.
#[derive(Debug, PartialEq, Eq)]
pub enum Miss {
    /// It is not there.
    Nowhere,
    /// It is there more than once; the byte offsets.
    Several(Vec<usize>),
}

/// Finds `old` in `text`.
pub fn find(text: &str, old: &str, new: &str, all: bool) -> Result<Found, Miss> {
    let crlf = is_crlf(text);
    let fitted = if crlf { to_crlf(new) } else { new.to_owned() };
    let exact = |old: &str| -> Option<Result<Found, Miss>> {
        let places = if all { apart(text, old) } else { anywhere(text, old) };
        let found = |places| Found { places, new: fitted.clone(), tolerance: None };
        match places.len() {
            0 => None,
            1 => Some(Ok(found(places))),
            _ if all => Some(Ok(found(places))),
            _ => Some(Err(Miss::Several(places.iter().map(|place| place.start).collect()))),
        }
    };
    if let Some(result) = exact(old) {
        return result;
    }
    if crlf && let Some(result) = exact(&to_crlf(old)) {
        return result;
    }
    if text.len() > TOLERANT_BYTES {
        return Err(Miss::Nowhere);
    }
    only(folded(text, old))
        .map(|place| Found {
            places: vec![place],
            new: fitted.clone(),
            tolerance: Some("white space at line ends or typographic characters differ"),
        })
        .or_else(|miss| match miss {
            Miss::Several(_) => Err(miss),
            Miss::Nowhere => lines(text, old, &fitted),
        })
}

/// All places that do not overlap, from the left.
fn apart(text: &str, old: &str) -> Vec<Range<usize>> {
    text.match_indices(old).map(|(at, _)| at..at + old.len()).collect()
}

/// All places, overlapping ones too: each of them could be the one that was meant.
fn anywhere(text: &str, old: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(old) {
        let start = from + at;
        places.push(start..start + old.len());
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    places
}

fn only(mut places: Vec<Range<usize>>) -> Result<Range<usize>, Miss> {
    match places.len() {
        0 => Err(Miss::Nowhere),
        1 => Ok(places.remove(0)),
        _ => Err(Miss::Several(places.iter().map(|place| place.start).collect())),
    }
}

/// A text in plain characters and without white space at line ends, with the way back.
struct Folded {
    text: String,
    /// For every byte of `text` the offset of its character in the original.
    origin: Vec<usize>,
}

impl Folded {
    fn new(text: &str) -> Self {
        let mut folded = Self { text: String::new(), origin: Vec::new() };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let body = line.trim_end();
            for (at, c) in body.char_indices() {
                folded.push(fold(c), start + at);
            }
            if line.ends_with('\n') {
                folded.push('\n', start + line.len() - 1);
            }
            start += line.len();
        }
        folded
    }

    fn push(&mut self, c: char, origin: usize) {
        self.text.push(c);
        self.origin.extend(std::iter::repeat_n(origin, c.len_utf8()));
    }
}

fn folded(text: &str, old: &str) -> Vec<Range<usize>> {
    let wanted = Folded::new(old).text;
    if wanted.trim().is_empty() {
        return Vec::new();
    }
    let folded = Folded::new(text);
    let back = |place: Range<usize>| {
        let last = folded.origin[place.end - 1];
        let length = text[last..].chars().next().map_or(0, char::len_utf8);
        folded.origin[place.start]..last + length
    };
    let alike = |place: &Range<usize>| likeness(&text[place.clone()], old) >= FLOOR;
    anywhere(&folded.text, &wanted).into_iter().map(back).filter(alike).collect()
}

/// The plain twin of a typographic character.
fn fold(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c if c.is_whitespace() && c != '\t' && c != '\r' => ' ',
        c => c,
    }
}

/// A line without regard to white space, but for where words end.
fn squashed(line: &str) -> String {
    let folded: String = line.chars().map(fold).collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whole lines that are the same but for white space, re-indented like the place.
fn lines(text: &str, old: &str, new: &str) -> Result<Found, Miss> {
    let wanted: Vec<String> = old.lines().map(squashed).collect();
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let have: Vec<String> = text.split('\n').map(squashed).collect();
    let place = |first: usize| -> Range<usize> {
        let next = first + wanted.len();
        let end = starts.get(next).copied().unwrap_or(text.len());
        let with_end = &text[starts[first]..end];
        let body = with_end.strip_suffix('\n').unwrap_or(with_end);
        let body = body.strip_suffix('\r').unwrap_or(body);
        let length = if old.ends_with('\n') { with_end.len() } else { body.len() };
        starts[first]..starts[first] + length
    };
    let places = have
        .windows(wanted.len().max(1))
        .enumerate()
        .filter(|(_, window)| *window == wanted.as_slice())
        .map(|(first, _)| place(first))
        .filter(|place| likeness(&unindented(&text[place.clone()]), &unindented(old)) >= FLOOR)
        .collect();
    let place = only(places)?;
    let (from, to) = (indent(old), indent(&text[place.clone()]));
    let (new, tolerance) = if from == to {
        (new.to_owned(), "white space differs")
    } else {
        (reindented(new, from, to), "white space differs; the new text was indented like the place")
    };
    Ok(Found { places: vec![place], new, tolerance: Some(tolerance) })
}

fn unindented(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

/// The white space before the first line that has more than that.
fn indent(text: &str) -> &str {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    &line[..line.len() - line.trim_start().len()]
}

/// Every line that began with `from` begins with `to`; lines with less keep nothing of it.
fn reindented(new: &str, from: &str, to: &str) -> String {
    let mut out = String::new();
    for line in new.split_inclusive('\n') {
        if line.trim().is_empty() {
            out.push_str(line);
            continue;
        }
        let common = line.chars().zip(from.chars()).take_while(|(a, b)| a == b);
        let common: usize = common.map(|(c, _)| c.len_utf8()).sum();
        out.push_str(to);
        out.push_str(&line[common..]);
    }
    out
}
