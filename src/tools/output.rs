//! How long results are cut and where the rest goes. Every cut falls between graphemes, so that no
//! letter or emoji is torn apart.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use unicode_segmentation::GraphemeCursor;

use crate::config::private;
use crate::kernel::message::CallId;

/// Bytes above which a result is saved and shortened.
pub const LIMIT: usize = 30 * 1024;
/// Characters kept from the beginning of a shortened result.
pub const HEAD_CHARS: usize = 1500;
/// Characters kept from its end.
pub const TAIL_CHARS: usize = 500;
/// Characters of one line that are shown.
pub const LINE_CHARS: usize = 2000;

/// The longest beginning of `text` with at most `chars` characters that ends between graphemes.
/// Where the first grapheme alone is longer it is cut between characters.
pub fn head(text: &str, chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars) else { return text };
    match grapheme_border(text, end, Side::Before) {
        0 => &text[..end],
        border => &text[..border],
    }
}

/// The longest end of `text` with at most `chars` characters that begins between graphemes.
pub fn tail(text: &str, chars: usize) -> &str {
    if chars == 0 {
        return "";
    }
    let Some((start, _)) = text.char_indices().nth_back(chars - 1) else { return text };
    match grapheme_border(text, start, Side::After) {
        border if border == text.len() => &text[start..],
        border => &text[border..],
    }
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// The nearest grapheme border at `index` or on that side of it.
fn grapheme_border(text: &str, index: usize, side: Side) -> usize {
    let mut cursor = GraphemeCursor::new(index, text.len(), true);
    if matches!(cursor.is_boundary(text, 0), Ok(true)) {
        return index;
    }
    let found = match side {
        Side::Before => cursor.prev_boundary(text, 0),
        Side::After => cursor.next_boundary(text, 0),
    };
    found.ok().flatten().unwrap_or(index)
}

/// The nearest character border at or before `index`.
pub fn floor(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// The nearest character border at or after `index`.
pub fn ceil(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index += 1;
    }
    index
}

/// A number of bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

/// `1 line`, `2 lines`.
pub fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Beginning and end of a long text with a line between them that says what is missing.
pub fn ends(head_of: &str, tail_of: &str, left_out: &str) -> String {
    let head = head(head_of, HEAD_CHARS);
    let tail = tail(tail_of, TAIL_CHARS);
    let gap = if head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{gap}[… {left_out} …]\n{tail}")
}

/// Saves a text that is too long and returns its ends with the path.
pub fn limited(text: &str, dir: &Path, tool: &str, id: &CallId) -> String {
    let saved = save(text, dir, tool, id);
    let lines = count(text.lines().count() as u64, "line");
    let whole = format!("{lines}, {} in all; {}", size(text.len() as u64), saved_as(&saved));
    ends(text, text, &whole)
}

/// Saves a text and returns its path.
///
/// # Errors
/// The system's.
pub fn save(text: &str, dir: &Path, tool: &str, id: &CallId) -> io::Result<PathBuf> {
    create(dir, tool, id).and_then(|(path, mut file)| {
        file.write_all(text.as_bytes())?;
        Ok(path)
    })
}

/// Where the whole text is, or why it is nowhere.
pub fn saved_as(saved: &io::Result<PathBuf>) -> String {
    match saved {
        Ok(path) => format!("full text saved as {}, read it with offset and limit", path.display()),
        Err(error) => format!("the full text could not be saved: {error}"),
    }
}

/// Creates the file for a saved result, readable only by its owner.
pub fn create(dir: &Path, tool: &str, id: &CallId) -> io::Result<(PathBuf, File)> {
    private::make_dir(dir)?;
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let id: String = id.as_str().chars().filter(is_plain).take(64).collect();
    for number in 0..1000 {
        let suffix = if number == 0 { String::new() } else { format!("-{number}") };
        let path = dir.join(format!("{tool}-{id}{suffix}.txt"));
        match private::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(|file| (path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
