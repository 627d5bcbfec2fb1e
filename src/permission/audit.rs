//! The audit log: one JSON line for every decision. A log that can't be written never stops or
//! changes a decision.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::config::private;

/// Bytes after which the log is moved to `<name>.1` and begun anew.
const MAX_BYTES: u64 = 1024 * 1024;
/// Full logs that are kept, the newest as `.1`.
const KEPT: u32 = 4;
/// Characters kept of what was decided on.
const MAX_TEXT: usize = 2000;

/// One decision.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entry<'a> {
    /// The tool.
    pub tool: &'a str,
    /// `allow`, `ask`, `deny`, or the user's answer.
    pub verdict: &'a str,
    /// The rule, place or mode that decided.
    pub by: &'a str,
    /// The mode in force.
    pub mode: &'a str,
    /// The commands or paths.
    pub what: &'a str,
}

#[derive(Serialize)]
struct Line<'a> {
    at: String,
    #[serde(flatten)]
    entry: Entry<'a>,
}

/// The log.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    open: Mutex<Option<(File, u64)>>,
}

impl Audit {
    /// A log at `path`; the file is made with the first entry.
    pub fn new(path: PathBuf) -> Self {
        Self { path, open: Mutex::new(None) }
    }

    /// Appends an entry. Failures are reported to the program's own log only.
    pub fn write(&self, entry: Entry<'_>) {
        let short: String = entry.what.chars().take(MAX_TEXT).collect();
        let entry = Entry { what: &short, ..entry };
        let line = Line { at: jiff::Timestamp::now().to_string(), entry };
        let written =
            serde_json::to_vec(&line).map_err(std::io::Error::from).and_then(|mut bytes| {
                bytes.push(b'\n');
                self.append(&bytes)
            });
        if let Err(error) = written {
            tracing::warn!("cannot write the audit log {}: {error}", self.path.display());
        }
    }

    fn append(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_some_and(|(_, size)| size + bytes.len() as u64 > MAX_BYTES) {
            *open = None;
            self.rotate()?;
        }
        if open.is_none() {
            *open = Some(self.start()?);
        }
        if let Some((file, size)) = open.as_mut() {
            file.write_all(bytes)?;
            *size += bytes.len() as u64;
        }
        Ok(())
    }

    /// Moves every full log one on; the oldest is overwritten. Another session may have done it a
    /// moment ago: what is small is left where it is.
    fn rotate(&self) -> std::io::Result<()> {
        if std::fs::metadata(&self.path).is_ok_and(|found| found.len() < MAX_BYTES / 2) {
            return Ok(());
        }
        let numbered = |number: u32| self.path.with_extension(number.to_string());
        for number in (1..KEPT).rev() {
            match std::fs::rename(numbered(number), numbered(number + 1)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        std::fs::rename(&self.path, numbered(1))
    }

    fn start(&self) -> std::io::Result<(File, u64)> {
        let file = private::append_to(&self.path)?;
        let size = file.metadata()?.len();
        Ok((file, size))
    }
}
