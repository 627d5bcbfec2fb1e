//! Copies of file contents, named by what is in them: the same content is kept once. Bodies are
//! compressed, for their owner only, and looked through when they are read back. When there are too
//! many bytes, the copies that were not needed for the longest time go.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use tempfile::NamedTempFile;

use super::look::LARGEST;
use crate::config::private;

/// How hard bodies are pressed: the level that costs about as much time as reading the file.
const LEVEL: i32 = 1;

/// A folder of copies.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    most: u64,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    bytes: u64,
    dropped: u64,
}

impl Store {
    /// The copies in `dir`, which is made when first needed; at most about `most` bytes of them.
    pub fn open(dir: impl Into<PathBuf>, most: u64) -> Self {
        let store = Self { dir: dir.into(), most, held: Mutex::default() };
        let bytes = store.copies().iter().map(|copy| copy.bytes).sum();
        store.edit(|held| held.bytes = bytes);
        store.make_room();
        store
    }

    /// Keeps this content; returns its name.
    ///
    /// # Errors
    /// Those of the system; nothing is half kept.
    pub fn put(&self, content: &[u8]) -> io::Result<String> {
        let name = name_of(content);
        let path = self.path(&name);
        if let Ok(known) = File::options().append(true).open(&path) {
            // It is needed again, so it is not among the oldest. Failing that it is still there.
            let _old = known.set_modified(SystemTime::now());
            return Ok(name);
        }
        let folder = path.parent().unwrap_or(&self.dir);
        private::make_dir(folder)?;
        let body = zstd::bulk::compress(content, LEVEL)?;
        let mut temp = NamedTempFile::new_in(folder)?;
        temp.write_all(&body)?;
        temp.persist(&path).map_err(|error| error.error)?;
        let full = self.edit(|held| {
            held.bytes += body.len() as u64;
            held.bytes > self.most
        });
        if full {
            self.make_room();
        }
        Ok(name)
    }

    /// The content of that name.
    ///
    /// # Errors
    /// When there is no such copy, or it is not what its name says.
    pub fn get(&self, name: &str) -> io::Result<Vec<u8>> {
        let file = File::open(self.path(name))?;
        let mut content = Vec::new();
        zstd::stream::read::Decoder::new(file)?.take(LARGEST + 1).read_to_end(&mut content)?;
        if name_of(&content) == name {
            Ok(content)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "the copy is damaged"))
        }
    }

    /// Whether there is a copy of that name.
    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// How many copies went to make room since this store was opened.
    pub fn dropped(&self) -> u64 {
        self.edit(|held| held.dropped)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name.get(..2).unwrap_or("_")).join(name)
    }

    /// Drops the oldest until a fifth is free.
    fn make_room(&self) {
        if self.edit(|held| held.bytes <= self.most) {
            return;
        }
        let mut copies = self.copies();
        copies.sort_by_key(|copy| copy.used);
        let mut bytes: u64 = copies.iter().map(|copy| copy.bytes).sum();
        let mut dropped = 0;
        for copy in copies {
            if bytes <= self.most / 5 * 4 {
                break;
            }
            if fs::remove_file(&copy.path).is_ok() {
                bytes -= copy.bytes;
                dropped += 1;
            }
        }
        self.edit(|held| {
            held.bytes = bytes;
            held.dropped += dropped;
        });
    }

    fn copies(&self) -> Vec<Copy> {
        let folders = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
        files.flatten().filter_map(|file| Copy::at(&file.path())).collect()
    }

    fn edit<T>(&self, change: impl FnOnce(&mut Held) -> T) -> T {
        change(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A kept file.
struct Copy {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl Copy {
    fn at(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        let used = found.modified().ok()?;
        Some(Self { path: path.to_path_buf(), bytes: found.len(), used })
    }
}

/// The name of a content.
pub fn name_of(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}
