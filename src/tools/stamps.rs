//! What was seen of which file: the state a file had when it was read, how much of it was read, and
//! what a preview showed. A file may be overwritten only in the state in which it was seen whole.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::Tools;
use crate::kernel::command::HunkChoice;
use crate::kernel::message::CallId;

/// Previews whose call never ran are forgotten when there are this many.
const PREVIEWS: usize = 256;

/// What is known of a file in its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Never read.
    Nothing,
    /// Read, but it has changed since.
    Changed,
    /// A part was read in this state.
    Partly,
    /// All of it was read in this state.
    Fully,
}

/// What a preview found: the call may only act on the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where the file really is.
    pub path: PathBuf,
    /// Hash of its content; `None` when there was no file.
    pub hash: Option<u64>,
}

/// The memory of a session.
#[derive(Debug, Default)]
pub struct Stamps {
    files: Mutex<HashMap<PathBuf, Stamp>>,
    previews: Mutex<HashMap<CallId, Seen>>,
    choices: Mutex<HashMap<CallId, Vec<HunkChoice>>>,
}

#[derive(Debug)]
struct Stamp {
    hash: u64,
    full: bool,
    /// Ranges of lines that were shown, counted from 0, merged and in order.
    ranges: Vec<(u64, u64)>,
}

impl Stamps {
    /// The lines from `start` to before `end` of `total` were shown, each of them whole.
    pub fn read(&self, path: &Path, hash: u64, start: u64, end: u64, total: u64) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = fresh(&mut files, path, hash);
        stamp.ranges.push((start, end));
        stamp.ranges = merged(std::mem::take(&mut stamp.ranges));
        stamp.full |= total == 0 || stamp.ranges.first().is_some_and(|r| *r == (0, total));
    }

    /// Something of the file was shown, but not in whole lines.
    pub fn glimpsed(&self, path: &Path, hash: u64) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        fresh(&mut files, path, hash);
    }

    /// The model itself wrote the whole file.
    pub fn wrote(&self, path: &Path, hash: u64) {
        let stamp = Stamp { hash, full: true, ranges: Vec::new() };
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.to_owned(), stamp);
    }

    /// The model itself changed a part of the file: what it had seen it still knows.
    pub fn edited(&self, path: &Path, old: u64, new: u64) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let full = files.get(path).is_some_and(|stamp| stamp.full && stamp.hash == old);
        files.insert(path.to_owned(), Stamp { hash: new, full, ranges: Vec::new() });
    }

    /// Forgets what was seen: the conversation in which it was seen is another one now.
    pub fn clear(&self) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What is known of the file whose content has this hash now.
    pub fn known(&self, path: &Path, hash: u64) -> Known {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        match files.get(path) {
            None => Known::Nothing,
            Some(stamp) if stamp.hash != hash => Known::Changed,
            Some(stamp) if stamp.full => Known::Fully,
            Some(_) => Known::Partly,
        }
    }

    /// Remembers which places of a call's preview the user wants.
    pub fn chose(&self, id: &CallId, hunks: Vec<HunkChoice>) {
        self.choices.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), hunks);
    }

    /// Which places of the call's preview the user wants, once; nothing for all of them.
    pub fn take_choice(&self, id: &CallId) -> Option<Vec<HunkChoice>> {
        self.choices.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// Remembers what a call's preview was made from.
    pub fn previewed(&self, id: &CallId, seen: Seen) {
        let mut previews = self.previews.lock().unwrap_or_else(PoisonError::into_inner);
        if previews.len() >= PREVIEWS {
            previews.clear();
        }
        previews.insert(id.clone(), seen);
    }

    /// What the call's preview was made from, once.
    pub fn take_preview(&self, id: &CallId) -> Option<Seen> {
        self.previews.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

impl Tools {
    /// Forgets which files were read: the conversation in which it was done is another one now.
    pub fn forget_reads(&self) {
        self.bench.stamps.clear();
    }
}

/// The present state of a file as the system tells it: device, inode, size, times. `None` when it
/// can't be looked at.
pub async fn fingerprint(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let found = tokio::fs::metadata(path).await.ok()?;
    Some(format!(
        "{}:{}:{}:{}.{}:{}.{}",
        found.dev(),
        found.ino(),
        found.size(),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec()
    ))
}

/// The stamp for this state of the file; an older state is forgotten.
fn fresh<'a>(files: &'a mut HashMap<PathBuf, Stamp>, path: &Path, hash: u64) -> &'a mut Stamp {
    let empty = || Stamp { hash, full: false, ranges: Vec::new() };
    let stamp = files.entry(path.to_owned()).or_insert_with(empty);
    if stamp.hash != hash {
        *stamp = empty();
    }
    stamp
}

fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut out: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match out.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    out
}
