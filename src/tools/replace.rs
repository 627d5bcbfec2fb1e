//! Puts new bytes in the place of a file so that a reader, a crash or a full disk finds the old
//! ones or the new ones and nothing between. The folder is opened once, without following links,
//! and everything happens inside it. A file with several names, of another owner or mounted by itself
//! is written in place, because a new file would not be the same.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use crate::kernel::error::ToolError;

use super::files::{self, io_error};

/// Puts `bytes` at `path`, a resolved path. `expected` is the hash of what stands there, `None`
/// when nothing does; anything else found right before the change refuses it.
pub fn replace(
    path: &Path,
    shown: &str,
    bytes: &[u8],
    expected: Option<u64>,
) -> Result<(), ToolError> {
    let failed = |error: io::Error| match error.downcast::<Refused>() {
        Ok(refused) => refused.into_tool_error(shown),
        Err(error) => io_error("write", shown, &error),
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(ToolError::new("IsFolder", format!("{shown} is a folder")));
    };
    let name = Path::new(name);
    let folder = Folder::open(parent).map_err(failed)?;
    match folder.current(name).map_err(failed)? {
        Some((_, found)) if must_stay(&found) => folder.overwrite(name, bytes, expected),
        Some((_, found)) => match folder.swap(name, bytes, expected, Some(&found)) {
            // A file that is mounted by itself, as containers do, cannot be renamed over.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                folder.overwrite(name, bytes, expected)
            }
            done => done,
        },
        None => folder.swap(name, bytes, expected, None),
    }
    .map_err(failed)
}

/// Why the change was not made although the system would have allowed it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Refused {
    #[error("changed")]
    Changed,
    #[error("read-only")]
    ReadOnly,
}

impl Refused {
    fn into_tool_error(self, shown: &str) -> ToolError {
        match self {
            Self::Changed => changed(shown),
            Self::ReadOnly => {
                let text = format!("{shown} or its folder is read-only by its mode bits");
                ToolError::new("PermissionDenied", text)
            }
        }
    }
}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        Self::other(refused)
    }
}

/// The refusal of a change to a file that is not what it was.
pub fn changed(shown: &str) -> ToolError {
    let text = format!("{shown} has changed since it was read; nothing was written, read it again");
    ToolError::new("Changed", text)
}

/// An open folder.
struct Folder(OwnedFd);

impl Folder {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = Self(open_without_links(path, flags)?);
        let mode = rustix::fs::fstat(&folder.0)?.st_mode;
        check_writable(mode)?;
        Ok(folder)
    }

    /// The file of that name as it is now.
    fn current(&self, name: &Path) -> io::Result<Option<(File, std::fs::Metadata)>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            // A link took the place of the file.
            Err(Errno::LOOP) => return Err(Refused::Changed.into()),
            Err(error) => return Err(error.into()),
        };
        let found = file.metadata()?;
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        check_writable(found.mode())?;
        Ok(Some((file, found)))
    }

    fn check(&self, name: &Path, expected: Option<u64>) -> io::Result<()> {
        let now = match self.current(name)? {
            Some((file, found)) => Some(files::hash(&files::read_all(file, found.len())?)),
            None => None,
        };
        if now == expected { Ok(()) } else { Err(Refused::Changed.into()) }
    }

    /// Writes a new file beside the old one and renames it over it.
    fn swap(
        &self,
        name: &Path,
        bytes: &[u8],
        expected: Option<u64>,
        old: Option<&std::fs::Metadata>,
    ) -> io::Result<()> {
        let mut beside = Beside::create(self)?;
        beside.file.write_all(bytes)?;
        if let Some(old) = old {
            keep_owner(&beside.file, old);
            rustix::fs::fchmod(&beside.file, Mode::from_raw_mode(old.mode() & 0o7777))?;
        }
        beside.file.sync_all()?;
        self.check(name, expected)?;
        beside.rename(name, expected.is_none())?;
        // The rename is done; a folder that cannot be flushed does not undo it.
        let _ = rustix::fs::fsync(&self.0);
        Ok(())
    }

    /// Writes over the old bytes. Space is claimed first and the old bytes come back on a failure.
    fn overwrite(&self, name: &Path, bytes: &[u8], expected: Option<u64>) -> io::Result<()> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.0, name, flags, Mode::empty())?);
        let old = files::read_all(file.try_clone()?, file.metadata()?.len())?;
        if Some(files::hash(&old)) != expected {
            return Err(Refused::Changed.into());
        }
        let done = claim(&file, bytes.len() as u64).and_then(|()| put(&mut file, bytes));
        if done.is_err() {
            let _ = put(&mut file, &old);
        }
        done
    }
}

fn put(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

#[cfg(target_os = "linux")]
fn claim(file: &File, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    let keep = rustix::fs::FallocateFlags::KEEP_SIZE;
    match rustix::fs::fallocate(file, keep, 0, len) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
        // Some file systems cannot claim space; then the write itself finds out.
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn claim(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Asks the mode bits, so that a file marked read-only stays so for root too.
fn check_writable(mode: u32) -> io::Result<()> {
    if mode & 0o222 == 0 { Err(Refused::ReadOnly.into()) } else { Ok(()) }
}

/// Whether a new file in its place would not be the same: it has other names, or an owner that
/// only root could give it back to.
fn must_stay(found: &std::fs::Metadata) -> bool {
    let user = rustix::process::geteuid();
    found.nlink() > 1 || !user.is_root() && found.uid() != user.as_raw()
}

/// Gives the new file the owner and group of the old one, where the system allows it.
fn keep_owner(file: &File, old: &std::fs::Metadata) {
    let same = file.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (old.uid(), old.gid()));
    if !same {
        let (uid, gid) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
        let _ = rustix::fs::fchown(file, Some(uid), Some(gid));
    }
}

#[cfg(target_os = "linux")]
fn open_without_links(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let resolve = rustix::fs::ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve) {
        Ok(folder) => Ok(folder),
        Err(Errno::LOOP) => Err(Refused::Changed.into()),
        // Older kernels, and sandboxes that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => open_plainly(path, flags),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    open_plainly(path, flags)
}

fn open_plainly(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Opens a folder by a resolved path, without following a link that took the place of a part of it.
///
/// # Errors
/// Those of the system, or that the path now holds a link.
pub fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    open_without_links(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)
}

/// A new file beside the one to replace; it goes away unless it was renamed.
struct Beside<'a> {
    folder: &'a Folder,
    name: String,
    file: File,
    renamed: bool,
}

impl<'a> Beside<'a> {
    fn create(folder: &'a Folder) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!(".codebot-{}-{number}.tmp", std::process::id());
            // 0666 and the umask: what any program's new file gets.
            match rustix::fs::openat(&folder.0, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(file) => return Ok(Self { folder, name, file: file.into(), renamed: false }),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn rename(&mut self, to: &Path, fresh: bool) -> io::Result<()> {
        let folder = &self.folder.0;
        if fresh {
            // A link fails where a file has come up meanwhile; a rename would replace it.
            match rustix::fs::linkat(folder, &self.name, folder, to, AtFlags::empty()) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => return Err(Refused::Changed.into()),
                // Not every file system has links.
                Err(_) => {}
            }
        }
        rustix::fs::renameat(folder, &self.name, folder, to)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = rustix::fs::unlinkat(&self.folder.0, &self.name, AtFlags::empty());
        }
    }
}
