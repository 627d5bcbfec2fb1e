//! One JSON file that several processes may change: a lock beside it, read again under the lock,
//! replaced as a whole, for its owner only. A file that can't be understood is set aside and named,
//! never written over; one of a newer program is left alone.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::private;

/// Format of the files that this program writes.
pub const VERSION: u32 = 1;
/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The file of a `T`, which has a field `version`.
#[derive(Clone, Debug)]
pub struct Shelf<T> {
    path: PathBuf,
    holds: PhantomData<fn() -> T>,
}

/// What was read, and a line about what went wrong on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taken<T> {
    /// The content; empty when there is none that can be used.
    pub value: T,
    /// A line for people.
    pub warning: Option<String>,
}

enum Content<T> {
    Good(T),
    Absent,
    /// It can't be understood.
    Broken,
    /// It must not be touched: a newer program's, or unreadable.
    Closed(String),
}

impl<T: Serialize + DeserializeOwned + Default> Shelf<T> {
    /// The shelf at that path. Nothing is read or made.
    pub fn at(path: PathBuf) -> Self {
        Self { path, holds: PhantomData }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file. Blocking.
    pub fn read(&self) -> Taken<T> {
        match self.look() {
            Content::Good(value) => Taken { value, warning: None },
            Content::Absent => Taken::default(),
            Content::Closed(warning) => Taken { value: T::default(), warning: Some(warning) },
            // Another process may be about to mend it: look again when nobody writes.
            Content::Broken => match self.lock().map(|_lock| self.take_under_lock()) {
                Ok(Ok(taken)) => taken,
                Ok(Err(warning)) => Taken { value: T::default(), warning: Some(warning) },
                Err(error) => {
                    Taken { value: T::default(), warning: Some(self.failed("lock", &error)) }
                }
            },
        }
    }

    /// Changes the file by what `change` does to its content. Blocking.
    ///
    /// # Errors
    /// One line, when it can't be read, locked or written; it is as it was then.
    pub fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> Result<Taken<R>, String> {
        let _lock = self.lock().map_err(|error| self.failed("lock", &error))?;
        let Taken { mut value, warning } = self.take_under_lock()?;
        let made = change(&mut value);
        let bytes = serde_json::to_vec_pretty(&value).map_err(|error| error.to_string())?;
        private::replace(&self.path, &bytes).map_err(|error| self.failed("write", &error))?;
        Ok(Taken { value: made, warning })
    }

    fn take_under_lock(&self) -> Result<Taken<T>, String> {
        match self.look() {
            Content::Good(value) => Ok(Taken { value, warning: None }),
            Content::Absent => Ok(Taken::default()),
            Content::Closed(warning) => Err(warning),
            Content::Broken => {
                let aside = set_aside(&self.path).map_err(|error| self.failed("move", &error))?;
                let warning = format!(
                    "{} could not be understood and was set aside as {}",
                    self.path.display(),
                    aside.display()
                );
                Ok(Taken { value: T::default(), warning: Some(warning) })
            }
        }
    }

    fn look(&self) -> Content<T> {
        match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Content::Absent,
            Ok(found) if found.len() > MAX_BYTES => {
                return Content::Closed(format!(
                    "{} has more than 4 MB and is left alone; make it smaller",
                    self.path.display()
                ));
            }
            _ => {}
        }
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) => return Content::Closed(self.failed("read", &error)),
        };
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(&bytes) else {
            return Content::Broken;
        };
        let version = value.get("version").and_then(serde_json::Value::as_u64);
        if version.is_some_and(|version| version > u64::from(VERSION)) {
            return Content::Closed(format!(
                "{} was written by a newer codebot and is left alone",
                self.path.display()
            ));
        }
        serde_json::from_value(value).map_or(Content::Broken, Content::Good)
    }

    fn lock(&self) -> io::Result<File> {
        lock_beside(&self.path)
    }

    fn failed(&self, doing: &str, error: &io::Error) -> String {
        format!("cannot {doing} {}: {error}", self.path.display())
    }
}

/// Waits for the lock of a file; it is free again when the value is dropped.
pub(super) fn lock_beside(path: &Path) -> io::Result<File> {
    let lock = private::append_to(&path.with_extension("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Gives a broken file a name of its own, which no other file has.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let aside = path.with_extension(format!("broken-{number}"));
        if std::fs::symlink_metadata(&aside).is_err() {
            std::fs::rename(path, &aside)?;
            return Ok(aside);
        }
        number += 1;
    }
}
