//! Writing: when the file appears, what stands in it, who may read it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use codebot::kernel::ports::{Durability, Journal};
use codebot::session::journal::{SessionJournal, fresh_id};
use codebot::session::place;
use codebot::session::replay::{OpenError, load};

use super::support::*;

#[tokio::test]
async fn a_session_without_a_record_leaves_no_file() {
    let state = tempfile::tempdir().unwrap();
    let journal = journal(state.path(), "s1");
    assert!(!journal.is_used().await);
    assert!(!state.path().join("sessions").exists());
    append(&journal, &said(user("u1", "hello"))).await;
    assert!(journal.is_used().await);
    assert!(journal.path().exists());
}

#[tokio::test]
async fn the_file_begins_with_its_header_and_has_one_object_a_line() {
    let state = tempfile::tempdir().unwrap();
    let k1 = call("k1", "bash");
    let records =
        [said(user("u1", "a\nb")), intent(1, 0, &k1), discarded(1, &[&k1]), said(note("n", "x"))];
    let path = written(state.path(), &records).await;
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["record"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session", "message", "intent", "discarded", "message"]);
    assert_eq!(lines[0]["format"], 1);
    assert_eq!(lines[0]["created"], START.0);
    assert_eq!(lines[0]["cwd"], "/some/project");
    assert_eq!(lines[0]["model"], "demo/m");
    assert!(path.file_name().unwrap().to_str().unwrap().ends_with("Z-s1.jsonl"));
}

#[tokio::test]
async fn a_resumed_session_goes_on_in_the_same_file() {
    let state = tempfile::tempdir().unwrap();
    let path = written(state.path(), &[said(user("u1", "one"))]).await;
    let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
    assert_eq!(loaded.header.id, "s1");
    assert_eq!(journal.id(), "s1");
    append(&journal, &said(assistant("a1", "two", &[]))).await;
    drop(journal);
    let again = load(&path).unwrap();
    assert_eq!(texts(&again.history), ["one", "two"]);
    assert!(again.warnings.is_empty(), "{:?}", again.warnings);
}

#[tokio::test]
async fn records_handed_in_at_once_stand_in_that_order() {
    let state = tempfile::tempdir().unwrap();
    let journal = journal(state.path(), "s1");
    let records: Vec<_> = (0..40).map(|n| said(user(&format!("u{n}"), &n.to_string()))).collect();
    let writes: Vec<_> =
        records.iter().map(|record| journal.append(record, Durability::Buffered)).collect();
    for result in futures_util::future::join_all(writes).await {
        result.unwrap();
    }
    let expected: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    assert_eq!(texts(&load(journal.path()).unwrap().history), expected);
}

/// case F07, within one process.
#[tokio::test]
async fn an_open_session_is_busy_and_free_when_its_journal_is_dropped() {
    let state = tempfile::tempdir().unwrap();
    let journal = journal(state.path(), "s1");
    append(&journal, &said(user("u1", "one"))).await;
    let path = journal.path().to_path_buf();
    let busy = SessionJournal::resume(&path, &|_| true).unwrap_err();
    assert_eq!(busy, OpenError::Busy { path: path.clone() });
    // Looking at it stays possible.
    assert_eq!(load(&path).unwrap().history.len(), 1);
    drop(journal);
    SessionJournal::resume(&path, &|_| true).unwrap();
}

/// case F14
#[tokio::test]
async fn a_deleted_working_directory_does_not_keep_a_session_from_starting() {
    let state = tempfile::tempdir().unwrap();
    let work = tempfile::tempdir().unwrap();
    let cwd = work.path().join("d");
    fs::create_dir(&cwd).unwrap();
    fs::remove_dir(&cwd).unwrap();
    let journal = SessionJournal::create(&new_session(state.path(), &cwd, "s1"));
    append(&journal, &said(user("u1", "one"))).await;
    assert_eq!(load(journal.path()).unwrap().history.len(), 1);
}

/// case F14
#[tokio::test]
async fn a_session_file_deleted_while_in_use_is_an_error_and_not_silence() {
    let state = tempfile::tempdir().unwrap();
    let journal = journal(state.path(), "s1");
    append(&journal, &said(user("u1", "one"))).await;
    fs::remove_dir_all(state.path().join("sessions")).unwrap();
    let record = said(user("u2", "two"));
    let error = journal.append(&record, Durability::Flush).await.unwrap_err();
    assert!(error.to_string().contains("deleted while in use"), "{error}");
}

#[tokio::test]
async fn a_state_directory_that_cannot_be_made_is_an_error_with_the_path() {
    let state = tempfile::tempdir().unwrap();
    let blocked = state.path().join("file");
    fs::write(&blocked, "").unwrap();
    let journal = journal(&blocked, "s1");
    let record = said(user("u1", "one"));
    let error = journal.append(&record, Durability::Flush).await.unwrap_err();
    assert!(error.path.contains("s1.jsonl"), "{error}");
    assert!(!journal.is_used().await);
    // Once the way is free, the same journal writes header and record.
    fs::remove_file(&blocked).unwrap();
    append(&journal, &record).await;
    assert_eq!(load(journal.path()).unwrap().history.len(), 1);
}

#[test]
fn every_absolute_path_has_a_folder_of_its_own() {
    let paths = ["/a/b-c", "/a-b/c", "/a/b c", "/a/b_c", "/A/b-c", "/", "/a/b/c", "/ä", "/ö"];
    let mut names: Vec<String> = paths.iter().map(|p| place::project_name(Path::new(p))).collect();
    // Two names that differ only in bytes that are not UTF-8.
    for byte in [0xFE_u8, 0xFF] {
        let path = [b'/', b'x', byte];
        names.push(place::project_name(Path::new(std::ffi::OsStr::from_bytes(&path))));
    }
    let distinct: std::collections::HashSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    assert!(names[0].starts_with("b-c-"));
    assert!(names.iter().all(|n| n.len() < 100 && !n.contains('/')), "{names:?}");
}

#[test]
fn a_link_and_its_directory_share_their_sessions() {
    let work = tempfile::tempdir().unwrap();
    let real = work.path().join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, work.path().join("link")).unwrap();
    assert_eq!(place::project_name(&work.path().join("link")), place::project_name(&real));
}

#[test]
fn fresh_ids_differ() {
    let ids: std::collections::HashSet<String> = (0..200).map(|_| fresh_id()).collect();
    assert_eq!(ids.len(), 200);
}

#[tokio::test]
async fn a_resumed_file_that_others_could_read_is_closed_to_them() {
    let state = tempfile::tempdir().unwrap();
    let path = written(state.path(), &[said(user("u1", "one"))]).await;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let _journal = SessionJournal::resume(&path, &|_| true).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
