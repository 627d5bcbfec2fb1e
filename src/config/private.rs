//! Files and folders for their owner only, whatever the umask says: sessions, answers, logs, keys.
//! Every room that keeps something may use it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tempfile::NamedTempFile;

/// Mode bits of folders.
const FOLDER: u32 = 0o700;
/// Mode bits of files.
const FILE: u32 = 0o600;

/// Makes a folder and its missing parents. Folders that exist stay as they are.
pub fn make_dir(dir: &Path) -> io::Result<()> {
    if dir.as_os_str().is_empty() || dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        make_dir(parent)?;
    }
    match DirBuilder::new().mode(FOLDER).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        Err(error) => Err(error),
        // The umask may have taken the owner's own bits.
        Ok(()) => fs::set_permissions(dir, Permissions::from_mode(FOLDER)),
    }
}

/// Creates a file that must not exist yet, for reading and appending.
pub fn create_new(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create_new(true).mode(FILE).open(path)?;
    file.set_permissions(Permissions::from_mode(FILE))?;
    Ok(file)
}

/// Opens an existing file for reading and appending, and closes it to others.
pub fn open_existing(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).open(path)?;
    close_to_others(&file)?;
    Ok(file)
}

/// Opens a file for appending; makes it and its folder when they are missing.
pub fn append_to(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        make_dir(dir)?;
    }
    let file = OpenOptions::new().create(true).append(true).mode(FILE).open(path)?;
    close_to_others(&file)?;
    Ok(file)
}

/// Puts a new file in the place of the old one: a reader or a crash finds the one or the other.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temp = NamedTempFile::new_in(dir)?;
    temp.write_all(bytes)?;
    temp.as_file().set_permissions(Permissions::from_mode(FILE))?;
    temp.as_file().sync_all()?;
    temp.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn close_to_others(file: &File) -> io::Result<()> {
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(FILE))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_for_its_owner_and_what_exists_keeps_its_content() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("a/b/file");
        append_to(&file).unwrap().write_all(b"one\n").unwrap();
        assert_eq!((mode(&file), mode(&home.path().join("a"))), (FILE, FOLDER));
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        append_to(&file).unwrap().write_all(b"two\n").unwrap();
        assert_eq!((mode(&file), fs::read_to_string(&file).unwrap()), (FILE, "one\ntwo\n".into()));
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        open_existing(&file).unwrap().write_all(b"three\n").unwrap();
        assert_eq!(mode(&file), FILE);
        assert_eq!(create_new(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        replace(&file, b"new").unwrap();
        assert_eq!((mode(&file), fs::read_to_string(&file).unwrap()), (FILE, "new".into()));
        assert!(make_dir(&file).is_err());
    }
}
