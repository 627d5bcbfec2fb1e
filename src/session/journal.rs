//! The durable record of a live session. The file appears with the first record, stays locked while
//! the journal lives, and always ends after a whole line: a write that fails is taken back.

use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use super::record::{self, FORMAT, Header};
use super::replay::{self, Loaded, OpenError};
use super::{place, tail};
use crate::config::private;
use crate::kernel::error::JournalError;
use crate::kernel::message::Timestamp;
use crate::kernel::ports::{Durability, Journal, Record};

/// What a new session's header says.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Where the state of this program stands.
    pub state_dir: PathBuf,
    /// The working directory; need not exist any more.
    pub cwd: PathBuf,
    /// The session's id, see [`fresh_id`].
    pub id: String,
    /// Now.
    pub created: Timestamp,
    /// `provider/model`.
    pub model: String,
}

/// A session id: eight hexadecimal digits from the system's randomness.
pub fn fresh_id() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{:08x}", random as u32)
}

/// Appends to one session file. A second process that wants the same file is refused.
#[derive(Clone, Debug)]
pub struct SessionJournal {
    path: PathBuf,
    id: String,
    /// Fair, so records are written in the order in which they were handed in.
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
enum State {
    /// Nothing was recorded yet; there is no file.
    Unused(Header),
    /// The file is ours.
    Open(Log),
}

#[derive(Debug)]
struct Log {
    file: File,
    /// Bytes up to the end of the last whole record.
    good: u64,
    /// A failed write could not be taken back; must happen before the next one.
    dirty: bool,
    /// The folder entry is not on disk yet.
    fresh: bool,
}

impl SessionJournal {
    /// A journal for a new session. Touches no file before the first record.
    pub fn create(new: &NewSession) -> Self {
        let dir = place::project_dir(&new.state_dir, &new.cwd);
        let header = Header {
            format: FORMAT,
            id: new.id.clone(),
            cwd: new.cwd.to_string_lossy().into_owned(),
            created: new.created,
            app: env!("CARGO_PKG_VERSION").to_owned(),
            model: new.model.clone(),
        };
        Self {
            path: dir.join(place::file_name(new.created, &new.id)),
            id: new.id.clone(),
            state: Arc::new(Mutex::new(State::Unused(header))),
        }
    }

    /// Opens a session to go on with it: takes the lock, cuts a torn end, reads the history.
    /// Blocking. `has_side_effects` as in [`replay::load_with`].
    pub fn resume(
        path: &Path,
        has_side_effects: &dyn Fn(&str) -> bool,
    ) -> Result<(Self, Loaded), OpenError> {
        let io = |error: io::Error| OpenError::io(path, &error);
        let mut file = private::open_existing(path).map_err(io)?;
        if !lock(&file).map_err(io)? {
            return Err(OpenError::Busy { path: path.to_path_buf() });
        }
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(io)?;
        let loaded = replay::from_bytes(path, &content, has_side_effects)?;
        let good = mend(&mut file, &content).map_err(io)?;
        let log = Log { file, good, dirty: false, fresh: false };
        let journal = Self {
            path: path.to_path_buf(),
            id: loaded.header.id.clone(),
            state: Arc::new(Mutex::new(State::Open(log))),
        };
        Ok((journal, loaded))
    }

    /// Where the session stands or will stand.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether anything was recorded, so that there is a file to go on with.
    pub async fn is_used(&self) -> bool {
        matches!(*self.state.lock().await, State::Open(_))
    }

    async fn write(&self, line: Vec<u8>, durability: Durability) -> io::Result<()> {
        let mut state = Arc::clone(&self.state).lock_owned().await;
        let path = self.path.clone();
        // Runs to its end even when the caller is dropped, so no record is left half written.
        tokio::task::spawn_blocking(move || state.append(&path, &line, durability))
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}

impl Journal for SessionJournal {
    fn append<'a>(
        &'a self,
        record: &'a Record,
        durability: Durability,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            let result = match record::record_line(record) {
                Ok(line) => self.write(line, durability).await,
                Err(error) => Err(io::Error::other(error)),
            };
            result.map_err(|error| JournalError {
                path: self.path.display().to_string(),
                message: describe(&error),
            })
        })
    }
}

/// The system's words with the remedy where there is one.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "the disk is full; free some space and go on".to_owned(),
        io::ErrorKind::QuotaExceeded => "the disk quota is used up; free some space".to_owned(),
        io::ErrorKind::FileTooLarge => {
            "the file may not grow further (file size limit); raise the limit".to_owned()
        }
        _ => error.to_string(),
    }
}

impl State {
    fn append(&mut self, path: &Path, line: &[u8], durability: Durability) -> io::Result<()> {
        match self {
            Self::Open(log) => log.append(path, line, durability),
            Self::Unused(header) => {
                let mut bytes = record::header_line(header).map_err(io::Error::other)?;
                bytes.extend_from_slice(line);
                let log = begin(path, &bytes, durability)?;
                *self = Self::Open(log);
                Ok(())
            }
        }
    }
}

/// Makes the file with its first lines, or leaves none.
fn begin(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<Log> {
    if let Some(dir) = path.parent() {
        private::make_dir(dir)?;
    }
    let file = private::create_new(path)?;
    let mut log = Log { file, good: 0, dirty: false, fresh: true };
    let result = lock(&log.file).and_then(|_| log.append(path, bytes, durability));
    if result.is_err() {
        let _gone_already = fs::remove_file(path);
    }
    result.map(|()| log)
}

impl Log {
    fn append(&mut self, path: &Path, line: &[u8], durability: Durability) -> io::Result<()> {
        if self.file.metadata()?.nlink() == 0 {
            return Err(io::Error::other("it was deleted while in use; start a new session"));
        }
        if self.dirty {
            self.take_back()?;
        }
        if let Err(error) = self.write(path, line, durability) {
            self.dirty = true;
            // A second failure is dealt with before the next record.
            let _still_dirty = self.take_back();
            return Err(error);
        }
        self.good += line.len() as u64;
        Ok(())
    }

    fn write(&mut self, path: &Path, line: &[u8], durability: Durability) -> io::Result<()> {
        self.file.write_all(line)?;
        if durability == Durability::Buffered {
            return Ok(());
        }
        self.file.sync_data()?;
        if self.fresh {
            sync_dir(path);
            self.fresh = false;
        }
        Ok(())
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.good)?;
        self.dirty = false;
        Ok(())
    }
}

/// Puts the folder entry on disk. Some file systems refuse this; the record itself is safe.
fn sync_dir(path: &Path) {
    if let Some(dir) = path.parent().and_then(|dir| File::open(dir).ok()) {
        let _best_effort = dir.sync_all();
    }
}

/// How long a lock may take to be given up. A child process shares our open files between its fork
/// and its exec, so a lock that was just dropped can live on for a moment.
const LOCK_PATIENCE: Duration = Duration::from_millis(300);

/// Takes the advisory lock; false when another holder keeps it. The system frees it when its holder
/// dies. File systems without locks go unlocked. Blocking.
fn lock(file: &File) -> io::Result<bool> {
    let step = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if waited >= LOCK_PATIENCE => return Ok(false),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(step);
                waited += step;
            }
            Err(TryLockError::Error(error)) => {
                let unsupported = error.kind() == io::ErrorKind::Unsupported;
                return if unsupported { Ok(true) } else { Err(error) };
            }
        }
    }
}

/// Makes the file end after a whole line; returns its length then.
fn mend(file: &mut File, content: &[u8]) -> io::Result<u64> {
    let end = tail::examine(content);
    let mut good = end.keep as u64;
    if end.cut > 0 {
        file.set_len(good)?;
    }
    if end.needs_newline {
        file.write_all(b"\n")?;
        good += 1;
    }
    Ok(good)
}
