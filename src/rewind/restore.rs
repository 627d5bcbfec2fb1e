//! Puts one file back. The folder is opened without following a link, so what was swapped in after
//! the change leads nowhere; the file is only touched in the state in which the plan saw it.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};

use super::look::{Seen, look};
use super::store::Store;
use crate::kernel::checkpoint::FileState;
use crate::tools::{files, paths, replace};

/// Makes the file at `path` what `target` says, if it still is what `found` says. Blocking.
///
/// # Errors
/// One line; the file is as it was then.
pub fn restore(
    path: &Path,
    found: &FileState,
    target: &FileState,
    store: &Store,
) -> Result<(), String> {
    let now = look(path);
    if now.state != *found {
        return Err("it has changed just now".to_owned());
    }
    stays(path)?;
    match target {
        FileState::Absent => remove(path),
        FileState::Link { target } => {
            remove(path)?;
            link(path, target)
        }
        FileState::File { copy, mode, .. } => {
            let content = store.get(copy).map_err(|error| format!("its copy: {error}"))?;
            write(path, &now, &content, *mode)
        }
        FileState::Unkept { reason, .. } => Err(format!("it {reason}")),
    }
}

/// Refuses a path that leads elsewhere than it did.
fn stays(path: &Path) -> Result<(), String> {
    let parent = path.parent().ok_or("it has no folder")?;
    let real = paths::real(parent).map_err(|error| format!("its folder: {error}"))?;
    if real == parent { Ok(()) } else { Err(format!("its folder now leads to {}", real.display())) }
}

fn write(path: &Path, now: &Seen, content: &[u8], mode: u32) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(text)?;
        stays(path)?;
    }
    if matches!(now.state, FileState::Link { .. }) {
        remove(path)?;
    }
    let expected = now.content.as_deref().map(files::hash);
    let shown = path.display().to_string();
    replace::replace(path, &shown, content, expected).map_err(|error| error.message)?;
    let folder = replace::open_folder(path.parent().unwrap_or(path)).map_err(text)?;
    let name = Path::new(path.file_name().unwrap_or_default());
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, name, flags, Mode::empty()).map_err(io::Error::from);
    let file = File::from(file.map_err(text)?);
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode)).map_err(|error| error.to_string())
}

fn remove(path: &Path) -> Result<(), String> {
    let Some(parent) = path.parent().filter(|parent| parent.exists()) else { return Ok(()) };
    let folder = replace::open_folder(parent).map_err(|error| error.to_string())?;
    let name = Path::new(path.file_name().unwrap_or_default());
    match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(error) => Err(io::Error::from(error).to_string()),
    }
}

fn link(path: &Path, target: &Path) -> Result<(), String> {
    let parent = path.parent().ok_or("it has no folder")?;
    std::fs::create_dir_all(parent).map_err(|error| error.to_string())?;
    stays(path)?;
    let folder = replace::open_folder(parent).map_err(|error| error.to_string())?;
    let name = Path::new(path.file_name().unwrap_or_default());
    rustix::fs::symlinkat(target, &folder, name).map_err(|error| io::Error::from(error).to_string())
}
