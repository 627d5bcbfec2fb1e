//! `write`, and how files are replaced.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use codebot::kernel::message::{CallStatus, Detail, DiffLine};
use codebot::kernel::ports::Toolbox;
use serde_json::json;

use super::{Desk, call, context, detail, diff_of, text};

fn mode(desk: &Desk, name: &str) -> u32 {
    std::fs::metadata(desk.path(name)).unwrap().mode() & 0o7777
}

fn set_mode(desk: &Desk, name: &str, mode: u32) {
    std::fs::set_permissions(desk.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// case C20
#[tokio::test]
async fn a_new_file_is_created_with_its_parent_folders() {
    let desk = Desk::new();
    let outcome =
        desk.call("write", json!({"file_path": "new/deep/x.txt", "content": "a\nb\n"})).await;
    assert_eq!(text(&outcome), "created new/deep/x.txt, 2 lines");
    assert_eq!(desk.text("new/deep/x.txt"), "a\nb\n");
    let Detail::Diff(diff) = detail(&outcome) else { panic!() };
    assert!(diff.created && diff.added == 2 && diff.path == "new/deep/x.txt");
    desk.assert_tidy();
}

#[tokio::test]
async fn an_existing_file_must_have_been_read_whole() {
    let desk = Desk::new();
    desk.put("a.txt", "1\n2\n3\n");
    let args = json!({"file_path": "a.txt", "content": "new"});
    assert!(desk.fails("write", args.clone()).await.contains("NotRead"));
    desk.ok("read", json!({"file_path": "a.txt"})).await;
    desk.ok("write", args.clone()).await;
    assert_eq!(desk.text("a.txt"), "new");
    desk.ok("write", json!({"file_path": "a.txt", "content": "newer"})).await;
    assert_eq!(desk.text("a.txt"), "newer");
}

/// scenario 206
#[tokio::test]
async fn a_partial_read_allows_an_edit_but_no_overwrite() {
    let desk = Desk::new();
    desk.put("a.txt", "1\n2\n3\n");
    desk.ok("read", json!({"file_path": "a.txt", "limit": 2})).await;
    let refused = desk.fails("write", json!({"file_path": "a.txt", "content": "x"})).await;
    assert!(refused.contains("only in part"), "{refused}");
    desk.edit("a.txt", "2", "two").await;
    let refused = desk.fails("write", json!({"file_path": "a.txt", "content": "x"})).await;
    assert!(refused.contains("NotRead"), "{refused}");
}

#[tokio::test]
async fn a_file_read_in_pieces_counts_as_read_whole() {
    let desk = Desk::new();
    desk.put("a.txt", "1\n2\n3\n4\n");
    desk.ok("read", json!({"file_path": "a.txt", "offset": 3})).await;
    desk.ok("read", json!({"file_path": "a.txt", "limit": 2})).await;
    desk.ok("write", json!({"file_path": "a.txt", "content": "x"})).await;
}

#[tokio::test]
async fn a_file_with_a_cut_line_does_not_count_as_read_whole() {
    let desk = Desk::new();
    desk.put("a.txt", "y".repeat(3000));
    desk.ok("read", json!({"file_path": "a.txt"})).await;
    desk.fails("write", json!({"file_path": "a.txt", "content": "x"})).await;
}

/// case C13 and scenario 204
#[tokio::test]
async fn what_changed_outside_is_neither_overwritten_nor_edited() {
    let desk = Desk::new();
    let path = desk.put("f", "a\nb\n");
    desk.ok("read", json!({"file_path": "f"})).await;
    std::fs::write(&path, "a\nb\nextra\n").unwrap();
    let refused = desk.fails("write", json!({"file_path": "f", "content": "a\nb\n"})).await;
    assert!(refused.contains("changed since it was read"), "{refused}");
    assert!(desk.edit_fails("f", "a", "A").await.contains("changed since"));
    assert_eq!(desk.text("f"), "a\nb\nextra\n");
    desk.ok("read", json!({"file_path": "f"})).await;
    desk.edit("f", "a\nb", "A\nb").await;
    assert_eq!(desk.text("f"), "A\nb\nextra\n");
}

/// case C14
#[tokio::test]
async fn the_content_decides_and_not_the_time_of_the_last_change() {
    let desk = Desk::new();
    let path = desk.put("f", "a\n");
    let old = std::fs::metadata(&path).unwrap().modified().unwrap();
    desk.ok("read", json!({"file_path": "f"})).await;
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(old + std::time::Duration::from_secs(5)).unwrap();
    desk.edit("f", "a", "b").await;
    desk.ok("read", json!({"file_path": "f"})).await;
    std::fs::write(&path, "c\n").unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(old - std::time::Duration::from_secs(5)).unwrap();
    desk.edit_fails("f", "c", "d").await;
}

/// scenario 207
#[tokio::test]
async fn a_file_that_changes_while_the_approval_is_open_is_not_touched() {
    let desk = Desk::new();
    let path = desk.put("f", "a\nb\n");
    let edit = call("edit", json!({"file_path": "f", "edits": [{"old": "a", "new": "A"}]}));
    let preview = desk.tools.preview(&edit).await.unwrap();
    assert_eq!(diff_of(preview).added, 1);
    assert_eq!(desk.text("f"), "a\nb\n", "a preview writes nothing");
    std::fs::write(&path, "a\nother\n").unwrap();
    let outcome = desk.tools.run(edit, context()).await;
    assert_eq!(outcome.status, CallStatus::Error);
    assert!(text(&outcome).contains("changed"), "{}", text(&outcome));
    let create = call("write", json!({"file_path": "g", "content": "mine"}));
    assert!(diff_of(desk.tools.preview(&create).await.unwrap()).created);
    std::fs::write(desk.path("g"), "theirs").unwrap();
    assert_eq!(desk.tools.run(create, context()).await.status, CallStatus::Error);
    assert_eq!(desk.text("g"), "theirs");
    desk.assert_tidy();
}

#[tokio::test]
async fn a_parent_swapped_for_a_link_while_the_approval_is_open_is_not_followed() {
    let desk = Desk::new();
    desk.put("dir/f", "a\n");
    desk.put("other/f", "a\n");
    let edit = call("edit", json!({"file_path": "dir/f", "edits": [{"old": "a", "new": "A"}]}));
    desk.tools.preview(&edit).await.unwrap();
    std::fs::rename(desk.path("dir"), desk.path("moved")).unwrap();
    symlink(desk.path("other"), desk.path("dir")).unwrap();
    let outcome = desk.tools.run(edit, context()).await;
    assert!(text(&outcome).contains("now leads to"), "{}", text(&outcome));
    assert_eq!(desk.text("other/f"), "a\n");
}

/// case C18 and scenario 208
#[tokio::test]
async fn mode_bits_stay_and_new_files_follow_the_umask() {
    let desk = Desk::new();
    for (name, bits) in [("run.sh", 0o755), ("sec.txt", 0o600)] {
        desk.put(name, "a\n");
        set_mode(&desk, name, bits);
        desk.edit(name, "a", "b").await;
        assert_eq!(mode(&desk, name), bits);
        desk.ok("read", json!({"file_path": name})).await;
        desk.ok("write", json!({"file_path": name, "content": "c"})).await;
        assert_eq!(mode(&desk, name), bits);
    }
    desk.ok("write", json!({"file_path": "new.txt", "content": ""})).await;
    let plain = desk.put("plain.txt", "");
    assert_eq!(mode(&desk, "new.txt"), std::fs::metadata(plain).unwrap().mode() & 0o7777);
}

/// scenario 208
#[tokio::test]
async fn byte_order_mark_and_line_ends_of_an_existing_file_stay() {
    let desk = Desk::new();
    desk.put("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n");
    desk.ok("read", json!({"file_path": "a.txt"})).await;
    desk.ok("write", json!({"file_path": "a.txt", "content": "one\n2\n3"})).await;
    assert_eq!(desk.bytes("a.txt"), b"\xef\xbb\xbfone\r\n2\r\n3");
}

/// scenario 208
#[tokio::test]
async fn links_are_followed_to_the_real_file_and_stay_links() {
    let desk = Desk::new();
    desk.put("real/f.txt", "a\n");
    symlink("real/f.txt", desk.path("link")).unwrap();
    desk.edit("link", "a", "b").await;
    assert_eq!(desk.text("real/f.txt"), "b\n");
    assert!(desk.path("link").symlink_metadata().unwrap().is_symlink());
    symlink("nowhere", desk.path("dangling")).unwrap();
    let error = desk.fails("write", json!({"file_path": "dangling", "content": "x"})).await;
    assert!(error.contains("points to nothing"), "{error}");
    assert!(!desk.path("nowhere").exists());
    symlink("self", desk.path("self")).unwrap();
    desk.fails("write", json!({"file_path": "self", "content": "x"})).await;
}

/// case C17
#[tokio::test]
async fn a_file_with_two_names_is_written_in_place() {
    let desk = Desk::new();
    desk.put("f", "a long line to begin with\nb\n");
    std::fs::hard_link(desk.path("f"), desk.path("g")).unwrap();
    desk.edit("f", "a long line to begin with", "A").await;
    assert_eq!(desk.text("g"), "A\nb\n");
    let inode = |name: &str| std::fs::metadata(desk.path(name)).unwrap().ino();
    assert_eq!(inode("f"), inode("g"));
}

/// case C20
#[tokio::test]
async fn what_cannot_be_written_says_why_and_leaves_nothing_behind() {
    let desk = Desk::new();
    desk.put("ro.txt", "a\n");
    set_mode(&desk, "ro.txt", 0o444);
    assert!(desk.edit_fails("ro.txt", "a", "b").await.contains("read-only"));
    assert_eq!(desk.text("ro.txt"), "a\n");
    std::fs::create_dir(desk.path("locked")).unwrap();
    set_mode(&desk, "locked", 0o555);
    let error = desk.fails("write", json!({"file_path": "locked/x", "content": "x"})).await;
    assert!(error.contains("read-only") || error.contains("permission denied"), "{error}");
    set_mode(&desk, "locked", 0o755);
    std::fs::create_dir(desk.path("src")).unwrap();
    assert!(
        desk.fails("write", json!({"file_path": "src/", "content": "x"})).await.contains("folder")
    );
    let error = desk.fails("write", json!({"file_path": "ro.txt/x", "content": "x"})).await;
    assert!(error.contains("a part of the path is a file"), "{error}");
    assert!(desk.edit_fails("no/such.txt", "a", "b").await.contains("NotFound"));
    assert!(!desk.path("no").exists(), "edit creates no folder");
    desk.assert_tidy();
}

/// scenario 208
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_leaves_the_old_file_as_it_was() {
    let desk = Desk::new();
    let mount = desk.path("small");
    std::fs::create_dir(&mount).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "none"])
        .arg(&mount)
        .stderr(std::process::Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        // Mounting needs rights that ordinary users do not have.
        return;
    }
    desk.put("small/f", "old\n");
    desk.put("small/h", "hard\n");
    std::fs::hard_link(desk.path("small/h"), desk.path("small/i")).unwrap();
    desk.ok("read", json!({"file_path": "small/f"})).await;
    desk.ok("read", json!({"file_path": "small/h"})).await;
    let big = "x".repeat(200_000);
    let error = desk.fails("write", json!({"file_path": "small/f", "content": big})).await;
    let error_hard = desk.fails("write", json!({"file_path": "small/h", "content": big})).await;
    let (now, now_hard) = (desk.text("small/f"), desk.text("small/i"));
    desk.assert_tidy();
    let _ = std::process::Command::new("umount").arg(&mount).status();
    assert!(error.contains("NoSpace") && error_hard.contains("NoSpace"), "{error} {error_hard}");
    assert_eq!((now.as_str(), now_hard.as_str()), ("old\n", "hard\n"));
}

/// case C18
#[tokio::test]
async fn the_owner_of_a_file_stays() {
    let desk = Desk::new();
    let path = desk.put("f", "a\n");
    if std::os::unix::fs::chown(&path, Some(12_345), Some(12_345)).is_err() {
        // Only root can give files away.
        return;
    }
    desk.edit("f", "a", "b").await;
    let found = std::fs::metadata(path).unwrap();
    assert_eq!((found.uid(), found.gid()), (12_345, 12_345));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_that_is_mounted_by_itself_is_written_in_place() {
    let desk = Desk::new();
    let (path, source) = (desk.put("f", ""), desk.put("source", "a\n"));
    let mounted = std::process::Command::new("mount")
        .arg("--bind")
        .args([&source, &path])
        .stderr(std::process::Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        // Mounting needs rights that ordinary users do not have.
        return;
    }
    let args = json!({"file_path": "f", "edits": [{"old": "a", "new": "b"}]});
    let outcome = desk.call("edit", args).await;
    let _ = std::process::Command::new("umount").arg(&path).status();
    assert_eq!(outcome.status, CallStatus::Ok, "{}", text(&outcome));
    assert_eq!(desk.text("source"), "b\n");
    desk.assert_tidy();
}

#[tokio::test]
async fn secrets_are_masked_in_diffs_and_in_refusals() {
    let desk = Desk::with(|config| config.secret_values = vec!["sk-test-000111".into()]);
    desk.put(".env", "A=1\nKEY=sk-test-000111\n");
    let args = json!({"file_path": ".env", "edits": [{"old": "A=1", "new": "A=2"}]});
    let outcome = desk.call("edit", args).await;
    assert!(!text(&outcome).contains("sk-test"), "{}", text(&outcome));
    assert!(!format!("{:?}", outcome.detail).contains("sk-test"));
    assert!(desk.text(".env").contains("sk-test-000111"), "the file keeps it");
    let edits = json!([{"old": "KEY=sk-test-000222", "new": "x"}]);
    let miss = call("edit", json!({"file_path": ".env", "edits": edits}));
    let error = desk.tools.preview(&miss).await.unwrap_err();
    assert!(error.message.contains("KEY=[secret]"), "{error}");
}

#[tokio::test]
async fn a_failed_preview_names_the_tool_problem_and_writes_nothing() {
    let desk = Desk::new();
    desk.put("a.txt", "1\n");
    let write = call("write", json!({"file_path": "a.txt", "content": "x"}));
    let error = desk.tools.preview(&write).await.unwrap_err();
    assert_eq!(error.kind, "NotRead");
    assert_eq!(desk.text("a.txt"), "1\n");
}

#[tokio::test]
async fn other_encodings_are_not_overwritten_as_utf8() {
    let desk = Desk::new();
    desk.put("l.txt", b"caf\xe9\n");
    desk.ok("read", json!({"file_path": "l.txt"})).await;
    desk.fails("write", json!({"file_path": "l.txt", "content": "x"})).await;
    assert_eq!(desk.bytes("l.txt"), b"caf\xe9\n");
}

#[tokio::test]
async fn the_diff_has_three_lines_of_context_and_counts() {
    let desk = Desk::new();
    let old = super::lines(1..21, |n| n.to_string());
    desk.put("a.txt", &old);
    desk.ok("read", json!({"file_path": "a.txt"})).await;
    let args = json!({"file_path": "a.txt", "content": old.replace("10\n", "ten\n10b\n")});
    let outcome = desk.call("write", args).await;
    let Detail::Diff(diff) = detail(&outcome) else { panic!() };
    assert_eq!((diff.added, diff.removed, diff.hunks.len()), (2, 1, 1));
    let hunk = &diff.hunks[0];
    assert_eq!((hunk.old_start, hunk.new_start, hunk.lines.len()), (7, 7, 9));
    assert_eq!(hunk.lines[3], DiffLine::Removed("10".into()));
    assert_eq!(hunk.lines[8], DiffLine::Context("13".into()));
}
