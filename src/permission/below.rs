//! What lies in a folder that is about to be read as a whole: the first file in it that must not be
//! read unasked. Links are not followed, as the commands in question do not follow them either.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::PermissionGate;
use super::paths::resolve;
use super::sensitive::{self, Use};
use super::shell::sweep::Sweep;

/// Entries looked at before a folder counts as too large to be checked.
const MAX_ENTRIES: usize = 10_000;

/// Folders of tools, where nobody keeps credentials of their own.
const SKIPPED: [&str; 7] = [".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", "target"];

/// What was found in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Below {
    /// Nothing that may not be read.
    Free,
    /// A file that a deny rule closes.
    Denied(PathBuf),
    /// A file that always asks, with what it is.
    Private(PathBuf, &'static str),
    /// More files than are looked at.
    TooMany,
}

impl PermissionGate {
    /// Whether a search through many files has to pass over this one: it always asks, or a deny rule
    /// closes it. `path` is absolute, its folders free of links.
    pub fn is_closed(&self, path: &Path) -> bool {
        self.private(path).is_some() || self.is_denied(path)
    }

    fn private(&self, path: &Path) -> Option<&'static str> {
        let roots = self.places.roots();
        let inside = roots.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        sensitive::what(inside, Use::Read)
    }

    fn is_denied(&self, path: &Path) -> bool {
        self.deny.iter().any(|rule| rule.covers_read(path))
    }

    /// Looks through a folder of the workspace, the upper levels first.
    pub(super) fn below(&self, sweep: &Sweep) -> Below {
        // Outside the workspace the folder itself is asked for.
        let Some(folder) = resolve(&sweep.folder).filter(|real| self.places.in_roots(real)) else {
            return Below::Free;
        };
        let only = patterns(&sweep.reach.only);
        let mut found = Below::Free;
        let mut left = MAX_ENTRIES;
        let mut folders = VecDeque::from([folder]);
        while let Some(folder) = folders.pop_front() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let name = name.to_string_lossy();
                if name.starts_with('.') && !sweep.reach.hidden {
                    continue;
                }
                let Some(rest) = left.checked_sub(1) else {
                    return if found == Below::Free { Below::TooMany } else { found };
                };
                left = rest;
                let kind = entry.file_type();
                if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
                    if !SKIPPED.contains(&&*name) {
                        folders.push_back(path);
                    }
                } else if kind.is_ok_and(|kind| kind.is_file())
                    && only.as_ref().is_none_or(|set| set.is_match(&*name))
                {
                    if self.is_denied(&path) {
                        return Below::Denied(path);
                    }
                    if let Some(what) = self.private(&path).filter(|_| found == Below::Free) {
                        found = Below::Private(path, what);
                    }
                }
            }
        }
        found
    }
}

/// The patterns that speak of names; `None` when all files count.
fn patterns(texts: &[String]) -> Option<GlobSet> {
    // A pattern of several parts may mean any name.
    if texts.is_empty() || texts.iter().any(|text| text.contains('/')) {
        return None;
    }
    let mut set = GlobSetBuilder::new();
    for text in texts {
        set.add(Glob::new(text).ok()?);
    }
    set.build().ok()
}
