//! Where a path really leads: roots, links, places. Paths are compared by component after links
//! were followed on both sides; a file that does not exist yet counts by its deepest existing
//! parent, a link that leads nowhere by where it points.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::sensitive::{self, Use};

/// Links followed before a path counts as endless.
const MAX_LINKS: usize = 40;

/// What a path is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Below one of the roots.
    Workspace,
    /// Our own files that may be read without asking.
    InternalRead,
    /// Our own files that may be read and written without asking.
    InternalWrite,
    /// Neither.
    Outside,
    /// Asks always, wherever it lies; the text says what it is.
    Sensitive(&'static str),
}

/// The roots and our own folders, links resolved.
#[derive(Clone, Debug, Default)]
pub struct Places {
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    internal_read: Vec<PathBuf>,
    internal_write: Vec<PathBuf>,
    own_config: Vec<PathBuf>,
}

impl Places {
    /// Resolves all folders once. The first root is the workspace.
    pub fn new(
        roots: &[PathBuf],
        home: Option<&Path>,
        internal_read: &[PathBuf],
        internal_write: &[PathBuf],
        own_config: &[PathBuf],
    ) -> Self {
        let all = |list: &[PathBuf]| list.iter().filter_map(|p| resolve(p)).collect();
        Self {
            roots: all(roots),
            home: home.map(Path::to_path_buf),
            internal_read: all(internal_read),
            internal_write: all(internal_write),
            own_config: all(own_config),
        }
    }

    /// The roots; the first is the workspace.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The workspace.
    pub fn workspace(&self) -> &Path {
        self.roots.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// The home directory as configured.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Whether a resolved path lies below a root.
    pub fn in_roots(&self, resolved: &Path) -> bool {
        self.roots.iter().any(|root| resolved.starts_with(root))
    }

    /// Judges an absolute path as the system would open it. A path that can't be resolved is
    /// outside.
    pub fn place(&self, path: &Path, usage: Use) -> Place {
        let Some(real) = resolve(path) else { return Place::Outside };
        if self.own_config.iter().any(|own| real.starts_with(own)) && !self.is_internal(&real) {
            return Place::Sensitive("codebot's own configuration");
        }
        let root = self.roots.iter().find(|root| real.starts_with(root));
        let internal = root.is_none() && self.is_internal(&real);
        if !internal {
            // Both the name that was asked for and the file it leads to must be harmless.
            let asked = root.map_or(path, |root| path.strip_prefix(root).unwrap_or(path));
            let led = root.map_or(real.as_path(), |root| real.strip_prefix(root).unwrap_or(&real));
            if let Some(what) = sensitive::what(led, usage).or(sensitive::what(asked, usage)) {
                return Place::Sensitive(what);
            }
        }
        match root {
            Some(_) => Place::Workspace,
            None if self.internal_write.iter().any(|p| real.starts_with(p)) => Place::InternalWrite,
            None if internal => Place::InternalRead,
            None => Place::Outside,
        }
    }

    fn is_internal(&self, real: &Path) -> bool {
        self.internal_read.iter().chain(&self.internal_write).any(|p| real.starts_with(p))
    }

    /// A path for people: relative to the workspace where it lies inside.
    pub fn shown(&self, path: &Path) -> String {
        let real = resolve(path).unwrap_or_else(|| path.to_path_buf());
        let short = real.strip_prefix(self.workspace()).unwrap_or(&real);
        if short.as_os_str().is_empty() { ".".to_owned() } else { short.display().to_string() }
    }
}

/// Follows every link of an absolute path in the order the system does; parts that do not exist
/// are kept. `None` for relative paths and endless links.
pub fn resolve(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let mut todo: Vec<OsString> = parts(path);
    let mut out = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = todo.pop() {
        if part == ".." {
            out.pop();
            continue;
        }
        let next = out.join(&part);
        let link = std::fs::symlink_metadata(&next).is_ok_and(|meta| meta.file_type().is_symlink());
        if !link {
            out = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return None;
        }
        let to = std::fs::read_link(&next).ok()?;
        if to.is_absolute() {
            out = PathBuf::from("/");
        }
        todo.extend(parts(&to));
    }
    Some(out)
}

/// Components in reverse order, without `/` and `.`.
fn parts(path: &Path) -> Vec<OsString> {
    let mut out: Vec<OsString> = path
        .components()
        .filter(|c| matches!(c, Component::Normal(_) | Component::ParentDir))
        .map(|c| c.as_os_str().to_owned())
        .collect();
    out.reverse();
    out
}
