//! Notes on one project: `MEMORY.md`, whose beginning every session is told, and one file a topic,
//! recalled when the user's words are about it. Plain files that the user may edit; names are checked,
//! nothing outside the folder is read or written.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::shelf::lock_beside;
use super::words;
use crate::config::private;

/// The page that every session is told.
pub const MAIN: &str = "MEMORY";
/// Lines of it in the prompt.
pub const LINES: usize = 200;
/// Characters of it in the prompt, whatever its lines are.
const CHARS: usize = 20_000;
/// Topics of one recall.
pub const RECALLED: usize = 5;
/// Characters of one recalled topic.
const EXCERPT: usize = 600;
/// Most bytes of a note.
pub const MAX_BYTES: usize = 64 * 1024;
/// Most topics that are looked through.
const MOST: usize = 200;

/// The notes of one project.
#[derive(Clone, Debug)]
pub struct Notes {
    dir: PathBuf,
}

impl Notes {
    /// The notes in that folder; it is made when the first is written.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The file of a topic; without one, of the main page.
    ///
    /// # Errors
    /// When the name can't be a topic's.
    pub fn file(&self, topic: Option<&str>) -> Result<PathBuf, String> {
        let name = topic.map(str::trim).filter(|topic| !topic.is_empty()).unwrap_or(MAIN);
        let name = name.strip_suffix(".md").unwrap_or(name);
        if name.eq_ignore_ascii_case(MAIN) {
            return Ok(self.dir.join("MEMORY.md"));
        }
        let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            return Err(format!("`{name}` is no name for a topic (letters, digits, - and _)"));
        }
        Ok(self.dir.join(format!("{}.md", name.to_lowercase())))
    }

    /// A note. Blocking.
    ///
    /// # Errors
    /// One line, when there is none or it can't be read.
    pub fn read(&self, topic: Option<&str>) -> Result<String, String> {
        let path = self.file(topic)?;
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let topics = self.topics();
                let known = if topics.is_empty() { "none yet".into() } else { topics.join(", ") };
                Err(format!("there is no such note; there are: {known}"))
            }
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    }

    /// Replaces a note, or adds lines at its end. Blocking.
    ///
    /// # Errors
    /// One line, when the name is none, the note gets too long, or it can't be written.
    pub fn write(&self, topic: Option<&str>, text: &str, append: bool) -> Result<PathBuf, String> {
        let path = self.file(topic)?;
        let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
        let _lock = lock_beside(&path).map_err(failed)?;
        let mut whole = match std::fs::read_to_string(&path) {
            Ok(before) if append => before,
            Ok(_) => String::new(),
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        if !whole.is_empty() && !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push_str(text.trim_end());
        whole.push('\n');
        if whole.len() > MAX_BYTES {
            return Err("the note would have more than 64 KB; put part of it into a topic".into());
        }
        private::replace(&path, whole.as_bytes()).map_err(failed)?;
        Ok(path)
    }

    /// Takes a topic away. Blocking.
    ///
    /// # Errors
    /// One line, when there is none or it can't be removed.
    pub fn remove(&self, topic: &str) -> Result<(), String> {
        let path = self.file(Some(topic))?;
        std::fs::remove_file(&path)
            .map_err(|error| format!("cannot remove {}: {error}", path.display()))
    }

    /// The names of all topics, sorted. Blocking.
    pub fn topics(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return Vec::new() };
        let name = |path: PathBuf| {
            let is_note = path.extension().is_some_and(|ext| ext == "md") && path.is_file();
            let stem = path.file_stem()?.to_str()?.to_owned();
            (is_note && stem != MAIN).then_some(stem)
        };
        let mut names: Vec<String> = entries.filter_map(|entry| name(entry.ok()?.path())).collect();
        names.sort();
        names.truncate(MOST);
        names
    }

    /// The beginning of the main page; `None` without one. Blocking.
    pub fn head(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.dir.join("MEMORY.md")).ok()?;
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let mut head = lines[..lines.len().min(LINES)].join("\n");
        let cut = head.char_indices().nth(CHARS).map(|(at, _)| at);
        if let Some(at) = cut {
            head.truncate(at);
        }
        if cut.is_some() || lines.len() > LINES {
            head.push_str("\n[the rest: memory_read]");
        }
        (!head.trim().is_empty()).then_some(head)
    }

    /// The topics that share most terms with the user's words, best first, each with its beginning.
    /// Blocking.
    pub fn recall(&self, said: &str) -> Vec<(String, String)> {
        let wanted = words::terms(said);
        let mut hits: Vec<(usize, String, String)> = Vec::new();
        for topic in self.topics() {
            let Ok(text) = self.read(Some(&topic)) else { continue };
            let of_it = words::terms(&format!("{} {text}", topic.replace(['-', '_'], " ")));
            let score = of_it.intersection(&wanted).count();
            if score > 0 {
                hits.push((score, topic, text));
            }
        }
        hits.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        hits.truncate(RECALLED);
        hits.into_iter().map(|(_, topic, text)| (topic, excerpt(&text))).collect()
    }

    /// Where the notes are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

fn excerpt(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(EXCERPT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
