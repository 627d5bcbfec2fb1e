//! The log of changes: which file became what, and where in it each of the user's turns began. From
//! it follows what a file was when a turn began and what it should be now. Pure.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::kernel::checkpoint::{Change, FileState, Past};
use crate::kernel::message::MessageId;

/// The log of a session.
#[derive(Clone, Debug, Default)]
pub struct Log {
    changes: Vec<Change>,
    starts: HashMap<MessageId, usize>,
}

/// What a file was, and what we left it as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// When the turn began.
    pub then: FileState,
    /// After the last change that we know of.
    pub left: FileState,
}

impl Log {
    /// The log of a session that goes on.
    pub fn of(past: Vec<Past>) -> Self {
        let mut log = Self::default();
        for step in past {
            match step {
                Past::Turn(id) => log.begin(id),
                Past::Changed(changes) => log.push(changes),
            }
        }
        log
    }

    /// The user said this.
    pub fn begin(&mut self, turn: MessageId) {
        self.starts.entry(turn).or_insert(self.changes.len());
    }

    /// Files became others.
    pub fn push(&mut self, changes: Vec<Change>) {
        self.changes.extend(changes);
    }

    /// The files that changed since the turn began, by path.
    pub fn since(&self, turn: &MessageId) -> BTreeMap<&Path, Span> {
        let mut spans = BTreeMap::new();
        for change in self.after(turn) {
            let span = || Span { then: change.was.clone(), left: change.now.clone() };
            spans
                .entry(change.path.as_path())
                .and_modify(|span: &mut Span| span.left = change.now.clone())
                .or_insert_with(span);
        }
        spans
    }

    /// How many files changed since the turn began. Asks no disk.
    pub fn count_since(&self, turn: &MessageId) -> usize {
        self.after(turn).iter().map(|change| &change.path).collect::<HashSet<&PathBuf>>().len()
    }

    fn after(&self, turn: &MessageId) -> &[Change] {
        let from = self.starts.get(turn).copied().unwrap_or(self.changes.len());
        self.changes.get(from..).unwrap_or_default()
    }
}
