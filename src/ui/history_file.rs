//! The file of earlier prompts: one JSON string per line, appended. Reading and writing happen off
//! the screen's task; a line that can't be read is skipped, a file that can't be written is told
//! once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use super::store::history::LIMIT;
use crate::config::private;

/// Reads the newest entries, oldest first. No file is no entries. A file that grew far beyond the
/// limit is cut.
pub fn load(path: &Path) -> io::Result<Vec<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut entries = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        if let Ok(entry) = serde_json::from_slice::<String>(&line?) {
            entries.push(entry);
        }
    }
    if entries.len() > LIMIT {
        let over = entries.len() - LIMIT;
        entries.drain(..over);
        if over > LIMIT / 2 {
            rewrite(path, &entries)?;
        }
    }
    Ok(entries)
}

/// Appends one entry; the file and its folder are for this user only.
pub fn append(path: &Path, entry: &str) -> io::Result<()> {
    let mut line = serde_json::to_string(entry)?;
    line.push('\n');
    // One write: lines of two programs do not mix.
    private::append_to(path)?.write_all(line.as_bytes())
}

fn rewrite(path: &Path, entries: &[String]) -> io::Result<()> {
    let mut bytes = Vec::new();
    for entry in entries {
        serde_json::to_writer(&mut bytes, entry)?;
        bytes.push(b'\n');
    }
    private::replace(path, &bytes)
}

/// Says for people what went wrong with the file.
pub fn complaint(path: &Path, error: &io::Error) -> String {
    format!("cannot use the prompt history {}: {error}", path.display())
}
