//! Remembered answers: rules saved with "always", in memory for the session and in one JSON file
//! keyed by workspace. A file that can't be read is set aside and counts as empty, so damage only
//! ever leads to more questions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::private;

/// Format of the file that this program writes.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    workspaces: BTreeMap<String, Vec<String>>,
}

impl Default for File {
    fn default() -> Self {
        Self { version: VERSION, workspaces: BTreeMap::new() }
    }
}

/// The rules of one workspace.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
    workspace: String,
    rules: Vec<String>,
}

impl Store {
    /// Reads the rules of `workspace` (links resolved) from the file at `path`. The second value
    /// warns about a file that was set aside.
    pub fn open(path: &Path, workspace: &Path) -> (Self, Option<String>) {
        let workspace = workspace.to_string_lossy().into_owned();
        let (file, warning) = read(path);
        let rules = file.workspaces.get(&workspace).cloned().unwrap_or_default();
        (Self { path: path.to_path_buf(), workspace, rules }, warning)
    }

    /// The rules, oldest first.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// Adds a rule in memory; false when it was there.
    pub fn add(&mut self, rule: &str) -> bool {
        let new = !self.rules.iter().any(|known| known == rule);
        if new {
            self.rules.push(rule.to_owned());
        }
        new
    }

    /// Takes a rule out of memory; false when it was not there.
    pub fn remove(&mut self, rule: &str) -> bool {
        let before = self.rules.len();
        self.rules.retain(|known| known != rule);
        before != self.rules.len()
    }

    /// Writes one change to the file, keeping what other sessions saved meanwhile.
    ///
    /// # Errors
    /// Names the file and the system's words.
    pub fn save(&self, added: &[String], removed: &[String]) -> Result<(), String> {
        let failed = |error: std::io::Error| {
            format!("cannot save permissions to {}: {error}", self.path.display())
        };
        let lock = private::append_to(&self.path.with_extension("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let (mut file, _) = read(&self.path);
        let rules = file.workspaces.entry(self.workspace.clone()).or_default();
        rules.retain(|rule| !removed.contains(rule));
        for rule in added {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
        write(&self.path, &file).map_err(failed)
    }
}

fn read(path: &Path) -> (File, Option<String>) {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return (File::default(), None);
        }
        Err(error) => {
            let warning = format!(
                "cannot read saved permissions from {}: {error}; nothing is remembered",
                path.display()
            );
            return (File::default(), Some(warning));
        }
    };
    match serde_json::from_slice::<File>(&bytes) {
        Ok(file) if file.version == VERSION => (file, None),
        _ => {
            let aside = path.with_extension("broken");
            let moved = std::fs::rename(path, &aside);
            let place = if moved.is_ok() { &aside } else { path };
            let warning = format!(
                "saved permissions could not be understood and were set aside as {}; nothing is \
                 remembered",
                place.display()
            );
            (File::default(), Some(warning))
        }
    }
}

fn write(path: &Path, file: &File) -> std::io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(file)?;
    bytes.push(b'\n');
    private::replace(path, &bytes)
}
