//! Reads a session file back into a history. Lines that can't be read are skipped and named, never
//! fatal; what a crash left open is answered by [`super::rounds`]. The file is not changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::record::{self, FORMAT, Header, Line};
use super::{place, rounds, tail};
use crate::kernel::checkpoint::Past;
use crate::kernel::compaction::Compaction;
use crate::kernel::message::{CallId, Message, ModelRef};
use crate::kernel::ports::{Effort, Record};

/// A session as it was read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The header; rebuilt from the file's name when its line is lost.
    pub header: Header,
    /// The conversation, every call answered.
    pub history: Vec<Message>,
    /// Calls that were started and whose outcome nobody recorded.
    pub open_intents: Vec<CallId>,
    /// One line each for people: what was skipped, cut or answered in place of a tool.
    pub warnings: Vec<String>,
    /// Changes of the view that are in force, in order.
    pub compactions: Vec<Compaction>,
    /// What it has been through as far as files are concerned.
    pub past: Vec<Past>,
    /// The model that was chosen last, and how hard it was to think.
    pub switched: Option<(ModelRef, Option<Effort>)>,
    /// Whether the session ended while planning.
    pub planning: bool,
}

/// Why a session can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("session {path} is in use by another codebot; close it there or start a new session")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A later program wrote it.
    #[error("session {path} has format {found}, this program reads {FORMAT}; use a newer codebot")]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Nothing in it can be read as a session.
    #[error("{path} is not a session file: {reason}")]
    NotASession {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The system refused.
    #[error("cannot read the session file {path}: {message}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        message: String,
    },
}

impl OpenError {
    /// A refusal of the system.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), message: error.to_string() }
    }
}

/// Reads a session; every call without an intent counts as not started.
pub fn load(path: &Path) -> Result<Loaded, OpenError> {
    load_with(path, &|_| true)
}

/// Reads a session. `has_side_effects` says by a tool's name whether its calls leave an intent
/// before they start; calls of the others may have been under way without one.
pub fn load_with(
    path: &Path,
    has_side_effects: &dyn Fn(&str) -> bool,
) -> Result<Loaded, OpenError> {
    let content = fs::read(path).map_err(|error| OpenError::io(path, &error))?;
    from_bytes(path, &content, has_side_effects)
}

/// The same for content that was read already.
pub fn from_bytes(
    path: &Path,
    content: &[u8],
    has_side_effects: &dyn Fn(&str) -> bool,
) -> Result<Loaded, OpenError> {
    let mut lines = read_lines(content);
    let header = lines.header.take().unwrap_or_else(|| {
        lines.warnings.push("the header line is lost; its facts come from the file's name".into());
        Header { format: FORMAT, id: place::id_of(path), ..Header::default() }
    });
    if header.format != FORMAT {
        return Err(OpenError::UnknownVersion { path: path.into(), found: header.format });
    }
    if lines.readable == 0 {
        let reason = "no line of it is a record".to_owned();
        return Err(OpenError::NotASession { path: path.into(), reason });
    }
    let switched = lines.records.iter().rev().find_map(|record| match record {
        Record::Switched { model, effort, .. } => Some((model.clone(), *effort)),
        _ => None,
    });
    let planning = lines.records.iter().rev().find_map(|record| match record {
        Record::Planning { on, .. } => Some(*on),
        _ => None,
    });
    let repaired = rounds::rebuild(&lines.records, has_side_effects);
    lines.warnings.extend(repaired.warnings);
    Ok(Loaded {
        header,
        history: repaired.history,
        open_intents: repaired.open_intents,
        warnings: lines.warnings,
        compactions: repaired.compactions,
        past: past(&lines.records),
        switched,
        planning: planning.unwrap_or_default(),
    })
}

/// The turns of the user and the changes of files, in order.
fn past(records: &[Record]) -> Vec<Past> {
    let step = |record: &Record| match record {
        Record::Message { message: Message::User(user) } => {
            user.origin.is_user_written().then(|| Past::Turn(user.id.clone()))
        }
        Record::Checkpoint { changes } | Record::Rewind { changes, .. } => {
            Some(Past::Changed(changes.clone()))
        }
        _ => None,
    };
    records.iter().filter_map(step).collect()
}

/// The records of a file in order, before anything is repaired.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// The header, when its line can be read.
    pub header: Option<Header>,
    /// The loop's records.
    pub records: Vec<Record>,
    /// What was skipped, one line each.
    pub warnings: Vec<String>,
    /// How many lines were understood, the header and unknown kinds included.
    pub readable: usize,
}

/// Reads all lines of a file's content.
pub fn read_lines(content: &[u8]) -> Lines {
    let end = tail::examine(content);
    let mut lines = Lines::default();
    let mut unknown: Vec<String> = Vec::new();
    for (index, line) in content[..end.keep].split(|b| *b == b'\n').enumerate() {
        read_line(index + 1, line, &mut lines, &mut unknown);
    }
    if end.cut > 0 {
        let cut = end.cut;
        lines
            .warnings
            .push(format!("the last {cut} bytes are an unfinished record and were left out"));
    }
    if !unknown.is_empty() {
        let count = unknown.len();
        unknown.sort_unstable();
        unknown.dedup();
        let kinds = unknown.join(", ");
        lines.warnings.push(format!("{count} records of unknown kinds were left alone: {kinds}"));
    }
    lines
}

/// A power loss may leave NUL bytes before, after or between records of one line.
fn read_line(number: usize, line: &[u8], lines: &mut Lines, unknown: &mut Vec<String>) {
    let nuls = line.split(|b| *b == 0).count() - 1;
    if nuls > 0 {
        lines.warnings.push(format!("line {number}: {nuls} NUL bytes were skipped"));
    }
    for piece in line.split(|b| *b == 0) {
        if piece.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match record::parse(piece) {
            Ok(Line::Header(header)) => {
                lines.header.get_or_insert(header);
                lines.readable += 1;
            }
            Ok(Line::Record(record)) => {
                lines.records.push(*record);
                lines.readable += 1;
            }
            Ok(Line::Unknown(kind)) => {
                unknown.push(kind);
                lines.readable += 1;
            }
            Err(reason) => lines.warnings.push(format!("line {number} was skipped: {reason}")),
        }
    }
}
