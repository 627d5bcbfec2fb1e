//! The git branch of a folder, read from git's own files: no process is started for it.

use std::path::{Path, PathBuf};

/// The current branch, or the first eight digits of a detached commit; `None` outside of git.
pub fn current(folder: &Path) -> Option<String> {
    let head = std::fs::read_to_string(git_dir(folder)?.join("HEAD")).ok()?;
    let head = head.trim();
    match head.strip_prefix("ref: ") {
        Some(reference) => Some(reference.trim_start_matches("refs/heads/").to_owned()),
        None => head.get(..8).map(str::to_owned),
    }
}

/// The root of the git work tree that holds `folder`.
pub fn root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|at| at.join(".git").exists())
}

/// The folder with `HEAD`: `.git` itself, or where a work tree's `.git` file points.
fn git_dir(folder: &Path) -> Option<PathBuf> {
    let root = root(folder)?;
    let entry = root.join(".git");
    if entry.is_dir() {
        return Some(entry);
    }
    let text = std::fs::read_to_string(&entry).ok()?;
    let target = text.trim().strip_prefix("gitdir: ")?;
    Some(root.join(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_read_from_head_also_below_the_root_and_in_a_linked_work_tree() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        assert_eq!(current(at), None);
        std::fs::create_dir_all(at.join(".git/worktrees/w")).unwrap();
        std::fs::create_dir_all(at.join("src/deep")).unwrap();
        std::fs::create_dir_all(at.join("w")).unwrap();
        std::fs::write(at.join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        assert_eq!(current(&at.join("src/deep")).as_deref(), Some("feature/x"));
        std::fs::write(at.join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(current(at).as_deref(), Some("01234567"));
        std::fs::write(at.join("w/.git"), "gitdir: ../.git/worktrees/w\n").unwrap();
        std::fs::write(at.join(".git/worktrees/w/HEAD"), "ref: refs/heads/side\n").unwrap();
        assert_eq!(current(&at.join("w")).as_deref(), Some("side"));
    }
}
