//! Stands around the running of tools and keeps what they change: a file that a tool names, before
//! its change; for a command everything in the workspace that it might change, by a look around
//! before and after. What changed goes into the journal and the log. Its costs: one reading of the
//! file for an edit; for a command two walks, and a reading of what is new since the last one.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use futures_util::future::BoxFuture;

use super::log::Log;
use super::look::{keep, look};
use super::plan::{self, Plan};
use super::scan::{MOST_TIME, scan};
use super::store::Store;
use crate::kernel::checkpoint::{Change, FileState, Past};
use crate::kernel::error::JournalError;
use crate::kernel::message::{Message, MessageId, ToolCall};
use crate::kernel::ports::{
    Access, CallContext, Durability, Journal, Middleware, Onward, Record, ToolOutcome,
};
use crate::tools::paths;

/// Bytes that are read at most before one command.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Whether a command line is known to only look, asked with its folder.
pub type OnlyLooks = Arc<dyn Fn(&str, &Path) -> bool + Send + Sync>;

/// Keeps what tools change. Clones share everything.
#[derive(Clone)]
pub struct Keeper(Arc<Inner>);

struct Inner {
    store: Store,
    roots: Vec<PathBuf>,
    only_looks: OnlyLooks,
    journal: OnceLock<Arc<dyn Journal>>,
    log: Mutex<Log>,
    index: Mutex<Index>,
}

/// The workspace as it was seen last.
#[derive(Default)]
struct Index {
    known: HashMap<PathBuf, Known>,
    cut: Option<&'static str>,
}

struct Known {
    mark: String,
    state: FileState,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("roots", &self.0.roots).finish_non_exhaustive()
    }
}

impl Keeper {
    /// Keeps copies in `store`; commands are covered in `roots` (resolved), in none of them when
    /// there is no root.
    pub fn new(store: Store, roots: Vec<PathBuf>, only_looks: OnlyLooks) -> Self {
        Self(Arc::new(Inner {
            store,
            roots,
            only_looks,
            journal: OnceLock::new(),
            log: Mutex::default(),
            index: Mutex::default(),
        }))
    }

    /// The session's journal and what it already tells. Returns the journal to use in its place:
    /// it notices when a turn begins. Once per keeper.
    pub fn attach(&self, journal: Arc<dyn Journal>, past: Vec<Past>) -> Arc<dyn Journal> {
        *self.log() = Log::of(past);
        let journal = self.0.journal.get_or_init(|| journal);
        Arc::new(Noted { inner: Arc::clone(journal), keeper: self.clone() })
    }

    /// The copies.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The log of changes.
    pub fn log(&self) -> MutexGuard<'_, Log> {
        self.0.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What going back to that turn would do to files. Blocking.
    pub fn plan(&self, turn: &MessageId) -> Plan {
        let log = self.log().clone();
        plan::make(&log, turn, &self.0.store)
    }

    /// Why changes by commands are not all covered; `None` when they are, as far as it is known.
    pub fn cut(&self) -> Option<&'static str> {
        if self.0.roots.is_empty() {
            return Some("changes by commands are not covered: this folder is no project");
        }
        // A look around may be under way; it will say so itself the next time.
        self.0.index.try_lock().ok().and_then(|index| index.cut)
    }

    fn begin(&self, turn: &MessageId) {
        self.log().begin(turn.clone());
        let is_new = self.0.index.try_lock().is_ok_and(|index| index.known.is_empty());
        if is_new && !self.0.roots.is_empty() {
            // While the model thinks, so that the first command need not wait.
            let inner = Arc::clone(&self.0);
            tokio::task::spawn_blocking(move || inner.refresh());
        }
    }

    async fn record(&self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        if let Some(journal) = self.0.journal.get() {
            let record = Record::Checkpoint { changes: changes.clone() };
            if let Err(error) = journal.append(&record, Durability::Buffered).await {
                // The same disk refuses the result next, which everybody hears of.
                tracing::warn!(%error, "a change of files is not in the journal");
            }
        }
        self.log().push(changes);
    }

    async fn files(&self, paths: Vec<PathBuf>, run: BoxFuture<'_, ToolOutcome>) -> ToolOutcome {
        let inner = Arc::clone(&self.0);
        let before = blocking(move || {
            let real = paths.into_iter().filter_map(|path| paths::real(&path).ok());
            real.map(|path| (keep(&path, &inner.store), path)).collect::<Vec<_>>()
        });
        let before = before.await.unwrap_or_default();
        let outcome = run.await;
        let compare = move |(was, path): (FileState, PathBuf)| {
            let now = look(&path).state;
            (was != now).then_some(Change { path, was, now })
        };
        let changes = blocking(move || before.into_iter().filter_map(compare).collect()).await;
        self.record(changes.unwrap_or_default()).await;
        outcome
    }

    async fn command(&self, run: BoxFuture<'_, ToolOutcome>) -> ToolOutcome {
        let inner = Arc::clone(&self.0);
        let covered = blocking(move || inner.refresh()).await.is_some();
        let outcome = run.await;
        if covered {
            let inner = Arc::clone(&self.0);
            let changes = blocking(move || inner.collect()).await;
            self.record(changes.unwrap_or_default()).await;
        }
        outcome
    }
}

impl Inner {
    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies what is new since the last look around.
    fn refresh(&self) {
        let mut index = self.index();
        let found = scan(&self.roots);
        index.cut = found.cut;
        index.known.retain(|path, _| found.marks.contains_key(path));
        let (end, mut bytes) = (Instant::now() + MOST_TIME, 0);
        for (path, mark) in found.marks {
            if index.known.get(&path).is_some_and(|known| known.mark == mark) {
                continue;
            }
            let state = if bytes > MOST_BYTES || Instant::now() > end {
                index.cut = Some("only as many files as could be copied in time are covered");
                let reason = "was not copied in time".to_owned();
                FileState::Unkept { reason, mark: mark.clone() }
            } else {
                keep(&path, &self.store)
            };
            if let FileState::File { bytes: size, .. } = &state {
                bytes += size;
            }
            // What was not copied is tried again the next time.
            let missed = matches!(state, FileState::Unkept { .. }) && bytes > MOST_BYTES;
            let mark = if missed { String::new() } else { mark };
            index.known.insert(path, Known { mark, state });
        }
    }

    /// What became of the workspace since the last look around.
    fn collect(&self) -> Vec<Change> {
        let mut index = self.index();
        let found = scan(&self.roots);
        let mut changes = Vec::new();
        let whole = index.cut.is_none() && found.cut.is_none();
        for (path, mark) in &found.marks {
            let was = match index.known.get(path) {
                Some(known) if known.mark == *mark => continue,
                Some(known) => known.state.clone(),
                None if whole => FileState::Absent,
                None => continue,
            };
            let now = keep(path, &self.store);
            let known = Known { mark: mark.clone(), state: now.clone() };
            index.known.insert(path.clone(), known);
            if was != now {
                changes.push(Change { path: path.clone(), was, now });
            }
        }
        let gone: Vec<PathBuf> = index
            .known
            .keys()
            .filter(|path| !found.marks.contains_key(*path))
            .filter(|path| look(path).state == FileState::Absent)
            .cloned()
            .collect();
        for path in gone {
            if let Some(known) = index.known.remove(&path) {
                changes.push(Change { path, was: known.state, now: FileState::Absent });
            }
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }
}

impl Middleware for Keeper {
    fn around<'a>(
        &'a self,
        call: ToolCall,
        context: CallContext,
        onward: Onward<'a>,
    ) -> BoxFuture<'a, ToolOutcome> {
        let access = onward.access(&call);
        let mut written = Vec::new();
        let mut commands = false;
        for access in access {
            match access {
                Access::Write(path) => written.push(path),
                Access::Shell { command, workdir } => {
                    commands |= !(self.0.only_looks)(&command, &workdir);
                }
                Access::Read(_) | Access::Network(_) | Access::Unconfined => {}
            }
        }
        let run = onward.run(call, context);
        if commands && !self.0.roots.is_empty() {
            Box::pin(self.command(run))
        } else if written.is_empty() {
            run
        } else {
            Box::pin(self.files(written, run))
        }
    }
}

/// The session's journal; the log hears when the user speaks.
#[derive(Debug)]
struct Noted {
    inner: Arc<dyn Journal>,
    keeper: Keeper,
}

impl Journal for Noted {
    fn append<'a>(
        &'a self,
        record: &'a Record,
        durability: Durability,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            self.inner.append(record, durability).await?;
            if let Record::Message { message: Message::User(user) } = record
                && user.origin.is_user_written()
            {
                self.keeper.begin(&user.id);
            }
            Ok(())
        })
    }
}

/// Runs file work off the async workers; `None` when the program ends or the work failed.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
