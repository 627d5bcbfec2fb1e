//! Lists sessions and finds the one to go on with. Reads only the head and the end of large files;
//! a file that can't be read is named with the reason and never in the way of the others.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::place;
use super::record::{self, FORMAT, Header, Line};
use crate::kernel::message::{Message, Origin, Timestamp, text_of};
use crate::kernel::ports::Record;

/// Files up to this many bytes are read whole.
const WHOLE_BYTES: u64 = 256 * 1024;
/// Bytes read from the end of a larger file.
const TAIL_BYTES: u64 = 64 * 1024;
/// Bytes read at most in search of the first prompt (a pasted picture may stand before it).
const HEAD_BYTES: u64 = 8 * 1024 * 1024;
/// Longest title, in characters.
const TITLE_CHARS: usize = 80;

/// A session as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its file.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// Where it worked.
    pub cwd: String,
    /// First line of the first prompt, at most 80 characters; empty when there is none.
    pub title: String,
    /// When it began.
    pub created: Timestamp,
    /// When its newest message was committed.
    pub updated: Timestamp,
    /// Messages in it; unknown for files larger than 256 KB.
    pub messages: Option<usize>,
    /// Whether this program can open it; a later format is only listed.
    pub can_open: bool,
}

/// Sessions, newest first, and what could not be listed.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Newest first.
    pub sessions: Vec<SessionInfo>,
    /// Unreadable files with the reason.
    pub skipped: Vec<(PathBuf, String)>,
}

/// The sessions of one working directory.
pub fn list(state_dir: &Path, cwd: &Path) -> Listing {
    let mut listing = Listing::default();
    read_dir(&place::project_dir(state_dir, cwd), &mut listing);
    listing.sort();
    listing
}

/// The sessions of all working directories.
pub fn list_all(state_dir: &Path) -> Listing {
    let mut listing = Listing::default();
    for entry in fs::read_dir(place::sessions_dir(state_dir)).into_iter().flatten().flatten() {
        read_dir(&entry.path(), &mut listing);
    }
    listing.sort();
    listing
}

/// The newest session of a working directory that this program can open.
pub fn newest(state_dir: &Path, cwd: &Path) -> Option<SessionInfo> {
    list(state_dir, cwd).sessions.into_iter().find(|info| info.can_open)
}

/// The session whose id starts with `id`, of any working directory; the newest of several.
pub fn find(state_dir: &Path, id: &str) -> Option<SessionInfo> {
    list_all(state_dir).sessions.into_iter().find(|info| info.id.starts_with(id))
}

impl Listing {
    fn sort(&mut self) {
        self.sessions.sort_by(|a, b| (b.updated, &b.path).cmp(&(a.updated, &a.path)));
    }
}

fn read_dir(dir: &Path, listing: &mut Listing) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        match describe(&path) {
            Ok(info) => listing.sessions.push(info),
            Err(reason) => listing.skipped.push((path, reason)),
        }
    }
}

/// What the head and the end of a file tell.
#[derive(Default)]
struct Glance {
    header: Option<Header>,
    title: Option<String>,
    updated: Option<Timestamp>,
    messages: usize,
    readable: bool,
}

fn describe(path: &Path) -> Result<SessionInfo, String> {
    // Opening a pipe would wait for its other end, so look first.
    let meta = fs::metadata(path).map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("not a regular file".to_owned());
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    let whole = meta.len() <= WHOLE_BYTES;
    let mut glance = Glance::default();
    glance.read(file, meta.len(), whole).map_err(|error| error.to_string())?;
    if !glance.readable {
        return Err("no line of it is a record".to_owned());
    }
    let header = glance.header.unwrap_or_else(|| Header {
        format: FORMAT,
        id: place::id_of(path),
        ..Header::default()
    });
    Ok(SessionInfo {
        path: path.to_path_buf(),
        id: header.id,
        cwd: header.cwd,
        title: glance.title.unwrap_or_default(),
        created: header.created,
        updated: glance.updated.unwrap_or_else(|| modified(&meta)),
        messages: whole.then_some(glance.messages),
        can_open: header.format == FORMAT,
    })
}

fn modified(meta: &fs::Metadata) -> Timestamp {
    let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Timestamp(since.map_or(0, |since| since.as_millis() as i64))
}

impl Glance {
    fn read(&mut self, mut file: File, len: u64, whole: bool) -> io::Result<()> {
        let mut head = BufReader::new((&file).take(if whole { len } else { HEAD_BYTES }));
        let mut line = Vec::new();
        while head.read_until(b'\n', &mut line)? > 0 {
            self.line(&line);
            line.clear();
            if !whole && self.title.is_some() {
                break;
            }
        }
        if whole {
            return Ok(());
        }
        self.updated = None;
        file.seek(SeekFrom::Start(len.saturating_sub(TAIL_BYTES)))?;
        let mut end = Vec::new();
        file.read_to_end(&mut end)?;
        // The first piece is the end of a longer line.
        end.split(|b| *b == b'\n').skip(1).for_each(|line| self.line(line));
        Ok(())
    }

    fn line(&mut self, line: &[u8]) {
        for piece in line.split(|b| *b == 0) {
            match record::parse(piece) {
                Ok(Line::Header(header)) => {
                    self.header.get_or_insert(header);
                }
                Ok(Line::Record(record)) => self.record(&record),
                Ok(Line::Unknown(_)) => {}
                Err(_) => continue,
            }
            self.readable = true;
        }
    }

    fn record(&mut self, record: &Record) {
        let Record::Message { message } = record else { return };
        self.messages += 1;
        self.updated = self.updated.max(Some(message.at()));
        if let Message::User(user) = message
            && user.origin == Origin::Prompt
            && self.title.is_none()
        {
            self.title = Some(title(&text_of(&user.blocks)));
        }
    }
}

fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(TITLE_CHARS).collect()
}
