//! The sample workspace of the demo: a small shell project with one honest fault, written to a
//! temporary folder that goes away with its guard. It needs `sh` and the core utilities only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The command the script runs in the workspace; a permission rule may name it.
pub const TEST_COMMAND: &str = "sh tests/run.sh";

/// Files of the project: path and content.
const FILES: [(&str, &str); 6] = [
    ("README.md", include_str!("../../assets/demo/workspace/README.md")),
    ("src/tally.sh", include_str!("../../assets/demo/workspace/src/tally.sh")),
    ("tests/run.sh", include_str!("../../assets/demo/workspace/tests/run.sh")),
    ("tests/plain.txt", include_str!("../../assets/demo/workspace/tests/plain.txt")),
    ("tests/gaps.txt", include_str!("../../assets/demo/workspace/tests/gaps.txt")),
    ("tests/empty.txt", include_str!("../../assets/demo/workspace/tests/empty.txt")),
];

/// A sample workspace on disk; dropping it removes the folder.
#[derive(Debug)]
pub struct SampleWorkspace {
    /// Owns the folder.
    _folder: TempDir,
    path: PathBuf,
}

impl SampleWorkspace {
    /// Writes the project to a fresh folder under the system's temporary directory.
    ///
    /// # Errors
    ///
    /// The directory is missing, full or not writable.
    pub fn create() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("codebot-demo-").tempdir()?;
        // Some systems reach their temporary directory through a link; tools compare real paths.
        let path = folder.path().canonicalize()?;
        for (name, content) in FILES {
            write(&path.join(name), content)?;
        }
        Ok(Self { _folder: folder, path })
    }

    /// The root of the project, with links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn write(path: &Path, content: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, content)
}
