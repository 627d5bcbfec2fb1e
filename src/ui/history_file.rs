//! The file of earlier prompts: one JSON string per line, appended. Reading and writing happen off
//! the screen's task; a line that can't be read is skipped, a file that can't be written is told
//! once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::store::history::LIMIT;

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
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut line = serde_json::to_string(entry)?;
    line.push('\n');
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    // One write: lines of two programs do not mix.
    file.write_all(line.as_bytes())
}

fn rewrite(path: &Path, entries: &[String]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    for entry in entries {
        serde_json::to_writer(&mut file, entry)?;
        file.write_all(b"\n")?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Says for people what went wrong with the file.
pub fn complaint(path: &Path, error: &io::Error) -> String {
    format!("cannot use the prompt history {}: {error}", path.display())
}
