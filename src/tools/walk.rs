//! Which files a search looks at: what ignore files name is left out whether or not there is a git
//! repository, and so are hidden entries, version control folders and the usual heaps of generated
//! files; links are never followed. A folder that is named explicitly is searched even so.
//!
//! Ignore files above the workspace do not count: a home folder kept in git often ignores all.

use std::fmt::Write;
use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkBuilder};
use tokio_util::sync::CancellationToken;

use crate::kernel::error::ToolError;

use super::{closest, files};

/// A search that takes longer shows what it has.
const DEADLINE: Duration = Duration::from_secs(30);

/// Folders that are never entered unless they are named.
const SKIPPED: [&str; 6] = [".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"];

/// Why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It was cancelled.
    Cancelled,
    /// It took too long.
    TooLong,
}

/// One search.
#[derive(Debug)]
pub struct Search {
    /// The top of the workspace.
    pub workspace: PathBuf,
    /// Where to look.
    pub root: PathBuf,
    /// Whether hidden entries count.
    pub hidden: bool,
    /// Stops it.
    pub cancel: CancellationToken,
}

impl Search {
    /// Calls `visit` for every file below the root, in the order of names.
    pub fn files(&self, mut visit: impl FnMut(&Path)) -> Option<Halt> {
        let end = Instant::now() + DEADLINE;
        for entry in self.builder().build() {
            if self.cancel.is_cancelled() {
                return Some(Halt::Cancelled);
            }
            if Instant::now() >= end {
                return Some(Halt::TooLong);
            }
            // What cannot be read is left out, as in every search tool.
            let Ok(entry) = entry else { continue };
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if is_file && entry.path().starts_with(&self.root) {
                visit(entry.path());
            }
        }
        None
    }

    fn builder(&self) -> WalkBuilder {
        if self.root == self.workspace || !self.is_reachable() {
            return self.plain(&self.root, None);
        }
        self.plain(&self.workspace, Some(self.root.clone()))
    }

    /// Whether a walk from the workspace comes to the root, or something on the way is ignored.
    fn is_reachable(&self) -> bool {
        let Ok(below) = self.root.strip_prefix(&self.workspace) else { return false };
        let mut builder = self.plain(&self.workspace, Some(self.root.clone()));
        builder.max_depth(Some(below.components().count()));
        builder.build().flatten().any(|entry| entry.path() == self.root)
    }

    /// A walk from `from`, held to the way to `target` and what is below it.
    fn plain(&self, from: &Path, target: Option<PathBuf>) -> WalkBuilder {
        let mut builder = WalkBuilder::new(from);
        builder
            .hidden(!self.hidden)
            .parents(false)
            .require_git(false)
            .git_global(false)
            .follow_links(false)
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .filter_entry(move |entry| {
                let path = entry.path();
                let on_way =
                    |target: &PathBuf| path.starts_with(target) || target.starts_with(path);
                target.as_ref().is_none_or(on_way) && !is_skipped(entry)
            });
        builder
    }
}

fn is_skipped(entry: &DirEntry) -> bool {
    if entry.depth() == 0 || !entry.file_type().as_ref().is_some_and(FileType::is_dir) {
        return false;
    }
    let Some(name) = entry.file_name().to_str() else { return false };
    if name == "target" {
        let beside = entry.path().parent().map(|parent| parent.join("Cargo.toml"));
        return beside.is_some_and(|path| path.exists())
            || entry.path().join("CACHEDIR.TAG").exists();
    }
    SKIPPED.contains(&name)
}

/// A clear error when there is nothing to search.
pub fn check_root(root: &Path, shown: &str) -> Result<std::fs::Metadata, ToolError> {
    std::fs::metadata(root).map_err(|error| {
        let mut error = files::io_error("open", shown, &error);
        let near = closest::names(root);
        if error.kind == "NotFound" && !near.is_empty() {
            let _ = write!(error.message, "; near it: {}", near.join(", "));
        }
        error
    })
}

/// The line that tells of an early end.
pub fn halted(halt: Option<Halt>) -> &'static str {
    match halt {
        Some(Halt::TooLong) => "[stopped after 30 s; narrow the path or the pattern]\n",
        Some(Halt::Cancelled) | None => "",
    }
}
