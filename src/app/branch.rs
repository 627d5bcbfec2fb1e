//! The git work tree around a folder and its branch, read from git's own files: no process is started
//! for it.

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

/// The workspace of `folder`: the root of the git work tree that holds it, else the folder itself. A
/// root counts only when it lies below the home directory or beside it: dotfiles kept in git do not
/// make all of a home a workspace. And its `.git` must belong to the user or to the folder's owner, so
/// that nobody widens a workspace from the folder above, as anybody could in `/tmp`.
pub fn workspace<'a>(folder: &'a Path, home: Option<&Path>) -> &'a Path {
    let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_path_buf()));
    let counts = |root: &&Path| {
        let is_wide = home.as_ref().is_some_and(|home| home.starts_with(root));
        !is_wide && is_trusted(root, folder)
    };
    root(folder).filter(counts).unwrap_or(folder)
}

fn is_trusted(root: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = |path: &Path| std::fs::symlink_metadata(path).map(|found| found.uid()).ok();
    let git = owner(&root.join(".git"));
    git == Some(rustix::process::geteuid().as_raw()) || git.is_some() && git == owner(folder)
}

/// The root of the git work tree that holds `folder`.
fn root(folder: &Path) -> Option<&Path> {
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
    #[test]
    fn a_git_root_is_the_workspace_unless_it_holds_the_home_directory() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(at.join("home/code/project/.git")).unwrap();
        std::fs::create_dir_all(at.join("home/code/project/src")).unwrap();
        std::fs::create_dir_all(at.join("home/code/notes")).unwrap();
        std::fs::create_dir_all(at.join("home/.git")).unwrap();
        std::fs::create_dir_all(at.join(".git")).unwrap();
        let home = at.join("home");
        let workspace = |name: &str| {
            let folder = at.join(name);
            workspace(&folder, Some(&home)).strip_prefix(&at).unwrap().to_path_buf()
        };
        assert_eq!(workspace("home/code/project/src"), Path::new("home/code/project"));
        assert_eq!(workspace("home/code/notes"), Path::new("home/code/notes"));
        assert_eq!(workspace("home"), Path::new("home"));
        // Also when the home is reached through a link.
        std::os::unix::fs::symlink(&home, at.join("alias")).unwrap();
        let notes = at.join("home/code/notes");
        assert_eq!(super::workspace(&notes, Some(&at.join("alias"))), notes);
        assert_eq!(super::workspace(&notes, None), home);
    }
}
