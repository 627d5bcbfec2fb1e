//! One file as it is now: plain, a link, absent, or something that is not copied. Never follows a
//! link, never waits for the other end of a pipe.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use super::store::{Store, name_of};
use crate::kernel::checkpoint::FileState;

/// Bytes of the largest file that is copied.
pub const LARGEST: u64 = 8 * 1024 * 1024;

/// A file and, when it is plain, its content.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What it is.
    pub state: FileState,
    /// What is in it; nothing unless it is plain.
    pub content: Option<Vec<u8>>,
}

/// Looks at a file.
pub fn look(path: &Path) -> Seen {
    match plain(path) {
        Ok(seen) => seen,
        Err(error) => Seen { state: other(path, &error), content: None },
    }
}

/// Looks at a file and keeps a copy of it.
pub fn keep(path: &Path, store: &Store) -> FileState {
    let seen = look(path);
    let Some(content) = seen.content else { return seen.state };
    match store.put(&content) {
        Ok(_) => seen.state,
        Err(error) => {
            let reason = format!("could not be copied: {error}");
            FileState::Unkept { reason, mark: name_of(&content) }
        }
    }
}

fn plain(path: &Path) -> io::Result<Seen> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if let Some(reason) = unkept(&found) {
        let state = FileState::Unkept { reason: reason.to_owned(), mark: mark(&found) };
        return Ok(Seen { state, content: None });
    }
    let content = read(file)?;
    if content.len() as u64 > LARGEST {
        let state = FileState::Unkept { reason: TOO_LARGE.to_owned(), mark: mark(&found) };
        return Ok(Seen { state, content: None });
    }
    let copy = name_of(&content);
    let bytes = content.len() as u64;
    let state = FileState::File { copy, mode: found.mode() & 0o7777, bytes };
    Ok(Seen { state, content: Some(content) })
}

const TOO_LARGE: &str = "is larger than the 8 MB that are copied";

fn unkept(found: &Metadata) -> Option<&'static str> {
    if found.is_dir() {
        Some("is a folder")
    } else if !found.is_file() {
        Some("is a device, pipe or socket")
    } else if found.len() > LARGEST {
        Some(TOO_LARGE)
    } else {
        None
    }
}

fn read(file: File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut content)?;
    Ok(content)
}

/// What could not be opened as a file.
fn other(path: &Path, error: &io::Error) -> FileState {
    if let Ok(target) = std::fs::read_link(path) {
        return FileState::Link { target };
    }
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileState::Absent,
        _ => {
            let mark = std::fs::symlink_metadata(path).map(|found| mark(&found));
            let reason = format!("can't be read: {error}");
            FileState::Unkept { reason, mark: mark.unwrap_or_default() }
        }
    }
}

/// Tells states of a file apart without its content.
pub fn mark(found: &Metadata) -> String {
    format!(
        "{}:{}:{}:{}.{}:{}.{}:{:o}",
        found.dev(),
        found.ino(),
        found.size(),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
        found.mode()
    )
}
