//! Settings inside a project that make harmless-looking commands run programs: a bare repository
//! laid out among the files, a toolchain folder of the project's own, a compiler wrapper. Where
//! such a thing is found, the command is no longer known to only look.

use std::path::Path;

/// Whether git, started in `dir`, would take ordinary project files for a repository (and with it
/// their `config`, which may name programs).
pub fn plants_git(dir: &Path) -> bool {
    for folder in dir.ancestors() {
        if folder.join(".git").symlink_metadata().is_ok() {
            return false;
        }
        // A `HEAD` is enough: the other parts may lie where a `commondir` file points.
        if folder.join("HEAD").symlink_metadata().is_ok() {
            return true;
        }
    }
    false
}

/// Whether a rust tool, started in `dir`, could run a program that the project brought along.
pub fn plants_rust(dir: &Path) -> bool {
    const SETTINGS: [(&str, &[&str]); 4] = [
        ("rust-toolchain.toml", &["path", "\\"]),
        ("rust-toolchain", &["path", "\\"]),
        (".cargo/config.toml", RISKY),
        (".cargo/config", RISKY),
    ];
    // A backslash may spell any of the words in another way.
    const RISKY: &[&str] = &[
        "rustc",
        "wrapper",
        "rustdoc",
        "credential",
        "include",
        "env",
        "git-fetch-with-cli",
        "\\",
    ];
    is_planted(dir, &SETTINGS)
}

/// Whether a version manager that stands before a tool could run a program of the project's own.
pub fn plants_versions(dir: &Path) -> bool {
    is_planted(dir, &[(".tool-versions", &["path:"])])
}

/// Whether one of these files, in `dir` or above it, holds one of its words.
fn is_planted(dir: &Path, settings: &[(&str, &[&str])]) -> bool {
    dir.ancestors().any(|folder| {
        settings.iter().any(|(name, words)| {
            // An unreadable file is as good as a hostile one; a missing one is fine.
            match std::fs::read_to_string(folder.join(name)) {
                Ok(text) => words.iter().any(|word| text.contains(word)),
                Err(error) => !matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ),
            }
        })
    })
}
