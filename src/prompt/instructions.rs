//! Finds instruction files: `AGENTS.md`, else `CLAUDE.md`, of the user and of every folder from the
//! git root down to the start, with the files they import. What can't be read is named and left
//! out; nothing outside the tree is read on behalf of a project.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Names looked for in a folder; the first that exists is taken.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Most bytes taken of one file.
pub const MAX_BYTES: usize = 32 * 1024;
/// How deep imports may go.
const MAX_DEPTH: usize = 5;
/// Most files in all.
const MAX_FILES: usize = 32;

/// One instruction file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its path for people and the model.
    pub path: String,
    /// Its text, cut to [`MAX_BYTES`].
    pub text: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// General to specific; an imported file follows the one that names it.
    pub files: Vec<Instruction>,
    /// One line each for people: cut, unreadable, refused.
    pub notices: Vec<String>,
}

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The user's folder.
    pub config_dir: &'a Path,
    /// The workspace: nothing above it is read.
    pub root: &'a Path,
    /// Where the session starts, in `root`.
    pub start: &'a Path,
}

/// The user's own system prompt: `SYSTEM.md` of the user's folder replaces ours, `APPEND_SYSTEM.md`
/// follows it. A project has neither: a checkout is written by others. Blocking.
pub fn own_prompt(config_dir: &Path) -> (Option<String>, Option<String>, Vec<String>) {
    let mut notices = Vec::new();
    let mut take = |name: &str| {
        let path = config_dir.join(name);
        if fs::symlink_metadata(&path).is_err() {
            return None;
        }
        let shown = path.display();
        match read(&path) {
            Ok((text, cut)) => {
                if cut {
                    notices.push(format!("{shown} is longer than 32 KB; the rest is left out"));
                }
                Some(text)
            }
            Err(error) => {
                notices.push(format!("{shown} can't be read: {error}"));
                None
            }
        }
    };
    let (replace, append) = (take("SYSTEM.md"), take("APPEND_SYSTEM.md"));
    (replace, append, notices)
}

/// Reads all instruction files for a session. Blocking. What is `closed`, credentials for example, no
/// project can make us read.
pub fn find(places: Places<'_>, closed: &dyn Fn(&Path) -> bool) -> Found {
    let mut search = Search { closed, found: Found::default(), seen: HashSet::new() };
    // The user's own folder may be made of links to elsewhere.
    search.folder(places.config_dir, None);
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (root, start) = (real(places.root), real(places.start));
    let mut folders: Vec<&Path> =
        start.ancestors().take_while(|dir| dir.starts_with(&root)).collect();
    folders.reverse();
    for folder in folders {
        search.folder(folder, Some(&root));
    }
    search.found
}

struct Search<'a> {
    closed: &'a dyn Fn(&Path) -> bool,
    found: Found,
    seen: HashSet<PathBuf>,
}

impl Search<'_> {
    fn folder(&mut self, dir: &Path, tree: Option<&Path>) {
        let exists = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
        if let Some(path) = NAMES.iter().map(|name| dir.join(name)).find(exists) {
            // Imports of the user's files stay in the user's folder.
            let own = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
            self.file(&path, tree, tree.unwrap_or(&own), 0);
        }
    }

    /// Takes a file and what it imports. `tree` is where the file itself must be, `imports` where
    /// its imports must be.
    fn file(&mut self, path: &Path, tree: Option<&Path>, imports: &Path, depth: usize) {
        let shown = path.display().to_string();
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) => return self.notice(&shown, &format!("can't be read: {error}")),
        };
        if tree.is_some_and(|tree| !real.starts_with(tree)) {
            return self.notice(&shown, "leads out of the project and is left out");
        }
        if tree.is_some() && (self.closed)(&real) {
            return self.notice(&shown, "may hold credentials and is left out");
        }
        if !self.seen.insert(real.clone()) {
            return;
        }
        if self.found.files.len() >= MAX_FILES {
            return self.notice(&shown, "is left out: too many instruction files");
        }
        let (text, cut) = match read(&real) {
            Ok(content) => content,
            Err(error) => return self.notice(&shown, &format!("can't be read: {error}")),
        };
        if cut {
            self.notice(&shown, "is longer than 32 KB; the rest is left out");
        }
        let named = imported(&text);
        self.found.files.push(Instruction { path: shown, text });
        let dir = path.parent().unwrap_or(path);
        for name in named {
            self.import(&dir.join(&name), &name, imports, depth + 1);
        }
    }

    fn import(&mut self, path: &Path, name: &str, tree: &Path, depth: usize) {
        // `@someone` in prose is no import, and no mistake either.
        let is_path = name.contains('/') || name.to_ascii_lowercase().ends_with(".md");
        if !is_path && !path.is_file() {
            return;
        }
        if depth > MAX_DEPTH {
            return self.notice(&format!("@{name}"), "is left out: imports are more than 5 deep");
        }
        self.file(path, Some(tree), tree, depth);
    }

    fn notice(&mut self, path: &str, what: &str) {
        self.found.notices.push(format!("{path} {what}"));
    }
}

/// A file's text, cut between characters, and whether it was cut.
fn read(path: &Path) -> io::Result<(String, bool)> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let cut = bytes.len() > MAX_BYTES;
    let mut text = String::from_utf8_lossy(&bytes).replace('\0', "");
    text = text.trim_start_matches('\u{feff}').to_owned();
    if cut {
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        text.push_str("\n[cut at 32 KB]");
    }
    Ok((text, cut))
}

/// The paths of `@path` words outside code blocks and code spans, in order.
fn imported(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced {
            // Every second piece between backticks is code.
            let prose = line.split('`').step_by(2);
            names.extend(prose.flat_map(str::split_whitespace).filter_map(import_word));
        }
    }
    names
}

fn import_word(word: &str) -> Option<String> {
    let name = word.strip_prefix('@')?.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
    (!name.is_empty()).then(|| name.to_owned())
}
