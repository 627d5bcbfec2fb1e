//! What stands in the workspace and how the system marks it: names and marks, no content. Bounded in
//! files and in time; passes over what ignore files name, version control folders and the usual
//! heaps of generated files. What it did not reach is said.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::WalkBuilder;

use super::look;

/// Most files that are looked at.
pub const MOST_FILES: usize = 10_000;
/// Most time that a look around takes.
pub const MOST_TIME: Duration = Duration::from_secs(2);

/// Folders that are never entered.
const SKIPPED: [&str; 7] =
    [".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".codebot"];

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Files and links with their marks.
    pub marks: HashMap<PathBuf, String>,
    /// Why it is not all; `None` when it is.
    pub cut: Option<&'static str>,
}

/// Looks around in these folders.
pub fn scan(roots: &[PathBuf]) -> Scan {
    let end = Instant::now() + MOST_TIME;
    let mut found = Scan::default();
    for root in roots {
        for entry in walk(root).flatten() {
            if !entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink()) {
                continue;
            }
            if found.marks.len() >= MOST_FILES {
                found.cut = Some("only the first 10,000 files are covered");
                return found;
            }
            if Instant::now() >= end {
                found.cut = Some("only what was reached within 2 s is covered");
                return found;
            }
            if let Ok(meta) = std::fs::symlink_metadata(entry.path()) {
                found.marks.insert(entry.into_path(), look::mark(&meta));
            }
        }
    }
    found
}

fn walk(root: &Path) -> ignore::Walk {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        .parents(false)
        .require_git(false)
        .git_global(false)
        .follow_links(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(|entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            let name = entry.file_name().to_str().unwrap_or_default();
            let heap = name == "target" && entry.path().join("CACHEDIR.TAG").exists();
            entry.depth() == 0 || !is_dir || !(SKIPPED.contains(&name) || heap)
        });
    builder.build()
}
