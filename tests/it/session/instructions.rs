//! Finding instruction files and what they import.

use std::fs;
use std::path::{Path, PathBuf};

use codebot::prompt::instructions::{Found, MAX_BYTES, Places, find};

/// A user's folder and a project with a git root.
struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["config", "repo/.git", "repo/src/deep"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn find(&self, start: &str) -> Found {
        let start = self.path(start);
        let root = codebot::app::branch::workspace(&start, None);
        let closed = |path: &Path| path.ends_with(".env");
        find(Places { config_dir: &self.path("config"), root, start: &start }, &closed)
    }
}

fn texts(found: &Found) -> Vec<&str> {
    found.files.iter().map(|file| file.text.as_str()).collect()
}

#[test]
fn files_come_from_general_to_specific_and_stop_at_the_git_root() {
    let tree = Tree::new();
    tree.put("AGENTS.md", "outside").put("config/AGENTS.md", "user");
    tree.put("repo/AGENTS.md", "root").put("repo/CLAUDE.md", "second choice");
    tree.put("repo/src/CLAUDE.md", "src").put("repo/src/deep/AGENTS.md", "deep");
    let found = tree.find("repo/src/deep");
    assert_eq!(texts(&found), ["user", "root", "src", "deep"]);
    assert!(found.notices.is_empty(), "{:?}", found.notices);
    assert_eq!(texts(&tree.find("repo")), ["user", "root"]);
}

#[test]
fn without_git_only_the_start_counts() {
    let tree = Tree::new();
    fs::remove_dir(tree.path("repo/.git")).unwrap();
    tree.put("repo/AGENTS.md", "root").put("repo/src/AGENTS.md", "src");
    assert_eq!(texts(&tree.find("repo/src")), ["src"]);
}

#[test]
fn imports_follow_their_file_and_each_file_comes_once() {
    let tree = Tree::new();
    tree.put(
        "repo/AGENTS.md",
        "see @src/a.md, and @src/b.md.\nmail me@x.org, ask @anna\n`@src/no.md`\n```\n@src/no.md\n```\n",
    );
    tree.put("repo/src/a.md", "a @b.md").put("repo/src/b.md", "b @a.md @../AGENTS.md");
    tree.put("repo/src/no.md", "no");
    let found = tree.find("repo");
    assert_eq!(texts(&found)[1..], ["a @b.md", "b @a.md @../AGENTS.md"]);
    assert!(found.notices.is_empty(), "{:?}", found.notices);
}

#[test]
fn imports_end_at_depth_five() {
    let tree = Tree::new();
    tree.put("repo/AGENTS.md", "0 @1.md");
    for n in 1..8 {
        tree.put(&format!("repo/{n}.md"), format!("{n} @{}.md", n + 1));
    }
    let found = tree.find("repo");
    assert_eq!(found.files.len(), 6, "{:?}", texts(&found));
    assert_eq!(found.notices, ["@6.md is left out: imports are more than 5 deep"]);
}

#[test]
fn nothing_outside_the_tree_is_read_for_a_project() {
    let tree = Tree::new();
    tree.put("secret.md", "secret");
    std::os::unix::fs::symlink(tree.path("secret.md"), tree.path("repo/link.md")).unwrap();
    let absolute = tree.path("secret.md").display().to_string();
    tree.put("repo/AGENTS.md", format!("@../secret.md @link.md @{absolute} @~/x.md"));
    let found = tree.find("repo");
    assert_eq!(found.files.len(), 1);
    assert_eq!(found.notices.len(), 4, "{:?}", found.notices);
    // Nor through the file itself.
    fs::remove_file(tree.path("repo/AGENTS.md")).unwrap();
    std::os::unix::fs::symlink(tree.path("secret.md"), tree.path("repo/AGENTS.md")).unwrap();
    let found = tree.find("repo");
    assert!(found.files.is_empty() && found.notices.len() == 1, "{found:?}");
}

#[test]
fn the_users_own_file_may_be_a_link() {
    let tree = Tree::new();
    tree.put("dotfile.md", "mine");
    std::os::unix::fs::symlink(tree.path("dotfile.md"), tree.path("config/AGENTS.md")).unwrap();
    assert_eq!(texts(&tree.find("repo")), ["mine"]);
}

#[test]
fn a_long_file_is_cut_between_characters_with_a_notice() {
    let tree = Tree::new();
    tree.put("repo/AGENTS.md", "ä".repeat(MAX_BYTES));
    let found = tree.find("repo");
    assert!(found.files[0].text.ends_with("ä\n[cut at 32 KB]"));
    assert!(found.files[0].text.len() <= MAX_BYTES + 20);
    assert_eq!(found.notices.len(), 1);
}

#[test]
fn files_that_cannot_be_read_are_named_and_left_out() {
    let tree = Tree::new();
    fs::create_dir(tree.path("repo/AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("gone", tree.path("repo/src/AGENTS.md")).unwrap();
    tree.put("repo/src/deep/AGENTS.md", b"\xef\xbb\xbfok\xff\0");
    let found = tree.find("repo/src/deep");
    assert_eq!(texts(&found), ["ok\u{fffd}"]);
    assert_eq!(found.notices.len(), 2, "{:?}", found.notices);
}

/// case F14
#[test]
fn a_deleted_start_directory_has_no_instructions() {
    let tree = Tree::new();
    let gone = tree.path("gone");
    let places = Places { config_dir: Path::new("/no/config"), root: &gone, start: &gone };
    let found = find(places, &|_| false);
    assert_eq!(found, Found::default());
}

#[test]
fn no_project_makes_us_read_a_closed_file() {
    let tree = Tree::new();
    tree.put("repo/.env", "KEY=1").put("repo/AGENTS.md", "see @.env and @./src/../.env");
    let found = tree.find("repo");
    assert_eq!(texts(&found), ["see @.env and @./src/../.env"]);
    assert!(found.notices.iter().all(|notice| notice.contains("may hold credentials")));
    assert_eq!(found.notices.len(), 2, "{:?}", found.notices);
    fs::remove_file(tree.path("repo/AGENTS.md")).unwrap();
    std::os::unix::fs::symlink(".env", tree.path("repo/AGENTS.md")).unwrap();
    assert!(tree.find("repo").files.is_empty());
}
