//! Paths as the model writes them: joined to the workspace, cleaned by letters alone, and shown
//! relative to the workspace again. Nothing here asks the disk but [`real`].

use std::io;
use std::path::{Component, Path, PathBuf};

/// The absolute form of `path`, with `.` and `..` taken out by letters. `~` is an ordinary name.
pub fn absolute(workspace: &Path, path: &str) -> PathBuf {
    clean(&workspace.join(path))
}

/// Takes `.`, `..` and doubled slashes out of an absolute path.
pub fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// The path as people and the model see it: relative inside the workspace, else absolute.
pub fn shown(workspace: &Path, path: &Path) -> String {
    match path.strip_prefix(workspace) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Where `path` really is, links resolved. For a file that does not exist yet: its deepest
/// existing folder resolved, with the rest appended. A link that points nowhere is an error,
/// because writing through it would create a file at a place that nobody named.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    match std::fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    if path.symlink_metadata().is_ok() {
        let text = format!("{} is a link that points to nothing", path.display());
        return Err(io::Error::other(text));
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(real(parent)?.join(name)),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}
