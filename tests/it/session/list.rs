//! Listing sessions and finding the one to go on with.

use std::fs;
use std::path::{Path, PathBuf};

use codebot::kernel::message::{Message, Timestamp};
use codebot::session::index::{find, list, list_all, newest};
use codebot::session::journal::SessionJournal;
use codebot::session::place;

use super::support::*;

/// A session of `cwd` whose prompt came `minute` minutes after the start.
async fn session(state: &Path, cwd: &str, id: &str, minute: i64, text: &str) -> PathBuf {
    let journal = SessionJournal::create(&new_session(state, Path::new(cwd), id));
    let mut message = user("u1", text);
    if let Message::User(user) = &mut message {
        user.at = Timestamp(START.0 + minute * 60_000);
    }
    append(&journal, &said(message)).await;
    journal.path().to_path_buf()
}

#[tokio::test]
async fn sessions_of_a_directory_come_newest_first_with_title_and_count() {
    let state = tempfile::tempdir().unwrap();
    session(state.path(), "/p/a", "one", 5, "\n  first\twords \nmore").await;
    session(state.path(), "/p/a", "two", 9, &"long ".repeat(40)).await;
    session(state.path(), "/p/a", "three", 7, "third").await;
    session(state.path(), "/p/b", "other", 99, "elsewhere").await;
    let listing = list(state.path(), Path::new("/p/a"));
    let ids: Vec<&str> = listing.sessions.iter().map(|info| info.id.as_str()).collect();
    assert_eq!(ids, ["two", "three", "one"]);
    assert_eq!(listing.sessions[2].title, "firstwords");
    assert_eq!(listing.sessions[0].title.chars().count(), 80);
    assert_eq!(listing.sessions[1].messages, Some(1));
    assert_eq!(listing.sessions[1].created, START);
    assert_eq!(listing.sessions[1].updated, Timestamp(START.0 + 420_000));
    assert_eq!(listing.sessions[1].cwd, "/p/a");
    assert!(listing.skipped.is_empty());
    assert_eq!(newest(state.path(), Path::new("/p/a")).unwrap().id, "two");
    assert_eq!(newest(state.path(), Path::new("/p/c")), None);
    assert_eq!(list_all(state.path()).sessions.len(), 4);
    assert_eq!(find(state.path(), "oth").unwrap().title, "elsewhere");
}

/// case F03
#[tokio::test]
async fn unreadable_files_are_named_and_later_formats_listed_but_not_opened() {
    let state = tempfile::tempdir().unwrap();
    session(state.path(), "/p/a", "one", 5, "first").await;
    let dir = place::project_dir(state.path(), Path::new("/p/a"));
    fs::write(dir.join("20300101T000000Z-bad.jsonl"), "{bad\n").unwrap();
    fs::write(dir.join("notes.txt"), "not ours").unwrap();
    fs::create_dir(dir.join("20300101T000000Z-dir.jsonl")).unwrap();
    let later = format!(
        "{}\n{}\n",
        r#"{"record":"session","format":2,"id":"new","created":9000000000000}"#,
        line(user("u1", "from tomorrow"))
    );
    fs::write(dir.join("20300101T000000Z-new.jsonl"), later).unwrap();
    let listing = list(state.path(), Path::new("/p/a"));
    assert_eq!(listing.skipped.len(), 2, "{:?}", listing.skipped);
    let new = listing.sessions.iter().find(|info| info.id == "new").unwrap();
    assert!(!new.can_open);
    assert_eq!(newest(state.path(), Path::new("/p/a")).unwrap().id, "one");
}

/// case F02: the list and the context agree on the newest message.
#[tokio::test]
async fn large_files_are_known_by_their_head_and_end() {
    let state = tempfile::tempdir().unwrap();
    let path = session(state.path(), "/p/a", "big", 1, "the title").await;
    let mut content = fs::read(&path).unwrap();
    for n in 0..40 {
        content.extend(line(assistant(&format!("a{n}"), &"x".repeat(20_000), &[])).bytes());
        content.push(b'\n');
    }
    content.extend([0; 300]);
    content.push(b'\n');
    let mut last = user("u2", "the end");
    if let Message::User(user) = &mut last {
        user.at = Timestamp(START.0 + 77_000_000);
    }
    content.extend(line(last).bytes());
    fs::write(&path, content).unwrap();
    let info = newest(state.path(), Path::new("/p/a")).unwrap();
    assert_eq!(info.title, "the title");
    assert_eq!(info.updated, Timestamp(START.0 + 77_000_000));
    assert_eq!(info.messages, None);
}
