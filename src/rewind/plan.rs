//! What going back to a turn would do to files: which become what they were, by how many lines, which
//! somebody else has changed since, and which can't be brought back. Looks, changes nothing.

use std::path::{Path, PathBuf};

use super::log::Log;
use super::look::{Seen, look};
use super::store::Store;
use crate::kernel::checkpoint::FileState;
use crate::kernel::message::MessageId;
use crate::tools::{diff, files};

/// What a rewind would do to files.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Files that would change, by path.
    pub items: Vec<Item>,
    /// Files that can't be brought back, with the reason in words that continue "it …".
    pub lost: Vec<(PathBuf, String)>,
}

/// One file.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where it is.
    pub path: PathBuf,
    /// What it will be.
    pub target: FileState,
    /// What it is now.
    pub found: FileState,
    /// Whether it is not as we left it: somebody else has changed it since.
    pub changed_since: bool,
    /// Lines that come back and lines that go; `None` for what is no text.
    pub lines: Option<(usize, usize)>,
}

/// Makes the plan. Blocking.
pub fn make(log: &Log, turn: &MessageId, store: &Store) -> Plan {
    let mut plan = Plan::default();
    for (path, span) in log.since(turn) {
        let now = look(path);
        if now.state == span.then {
            continue;
        }
        if let Some(reason) = unreachable(&span.then, &now.state, store) {
            plan.lost.push((path.to_path_buf(), reason));
            continue;
        }
        plan.items.push(Item {
            path: path.to_path_buf(),
            lines: lines(path, &now, &span.then, store),
            changed_since: now.state != span.left,
            target: span.then,
            found: now.state,
        });
    }
    plan
}

/// Why a file can't become what it was.
fn unreachable(target: &FileState, found: &FileState, store: &Store) -> Option<String> {
    match (target, found) {
        (FileState::Unkept { reason, .. }, _) => Some(format!("{reason}, so there is no copy")),
        // What there is now would be lost: there is no copy of it to come back to.
        (_, FileState::Unkept { reason, .. }) => Some(format!("{reason} now")),
        (FileState::File { copy, .. }, _) if !store.has(copy) => {
            Some("is too long ago: its copy was dropped to make room".to_owned())
        }
        _ => None,
    }
}

fn lines(path: &Path, now: &Seen, target: &FileState, store: &Store) -> Option<(usize, usize)> {
    let text = |bytes: &[u8]| files::decode(bytes).map(|decoded| decoded.text);
    let old = match (&now.content, &now.state) {
        (Some(content), _) => text(content)?,
        (None, FileState::Absent) => String::new(),
        (None, _) => return None,
    };
    let new = match target {
        FileState::File { copy, .. } => text(&store.get(copy).ok()?)?,
        FileState::Absent => String::new(),
        FileState::Link { .. } | FileState::Unkept { .. } => return None,
    };
    let diff = diff::of(&path.to_string_lossy(), Some(&old), &new);
    Some((diff.added as usize, diff.removed as usize))
}
