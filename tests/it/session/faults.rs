//! Files that a crash, a power loss or another version left behind.

use std::fs;

use codebot::session::journal::SessionJournal;
use codebot::session::replay::{OpenError, load};

use super::support::*;

/// case F01
#[tokio::test]
async fn a_torn_last_record_is_cut_before_the_next_append() {
    let state = tempfile::tempdir().unwrap();
    let good = [header(), line(user("u1", "one")), line(assistant("a1", "two", &[]))].join("\n");
    let path = file(state.path(), format!("{good}\n{{\"type\":\"assistant\",\"te"));
    let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
    assert_eq!(texts(&loaded.history), ["one", "two"]);
    assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
    append(&journal, &said(user("u2", "three"))).await;
    drop(journal);
    let again = load(&path).unwrap();
    assert_eq!(texts(&again.history), ["one", "two", "three"]);
    assert!(again.warnings.is_empty(), "told once: {:?}", again.warnings);
}

/// case F01
#[tokio::test]
async fn a_whole_record_without_its_line_end_is_kept() {
    let state = tempfile::tempdir().unwrap();
    let path = file(state.path(), format!("{}\n{}", header(), line(user("u1", "one"))));
    let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
    assert_eq!(texts(&loaded.history), ["one"]);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    append(&journal, &said(user("u2", "two"))).await;
    assert_eq!(texts(&load(&path).unwrap().history), ["one", "two"]);
}

/// case F02
#[test]
fn lines_after_a_run_of_nul_bytes_are_used() {
    let state = tempfile::tempdir().unwrap();
    let nuls = "\0".repeat(300);
    let one = line(user("u1", "one"));
    let two = line(user("u2", "two"));
    let path = file(state.path(), format!("{}\n{one}\n{nuls}\n{two}\n", header()));
    let loaded = load(&path).unwrap();
    assert_eq!(texts(&loaded.history), ["one", "two"]);
    assert_eq!(loaded.warnings, ["line 3: 300 NUL bytes were skipped"]);
    let glued = file(state.path(), format!("{}\n{one}\n{{\"rec{nuls}{two}\n", header()));
    let loaded = load(&glued).unwrap();
    assert_eq!(texts(&loaded.history), ["one", "two"]);
    assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
}

/// case F02
#[tokio::test]
async fn a_nul_tail_is_cut_before_the_next_append() {
    let state = tempfile::tempdir().unwrap();
    for stub in ["", "{\"record\":\"mess"] {
        let nuls = "\0".repeat(4096);
        let one = line(user("u1", "one"));
        let path = file(state.path(), format!("{}\n{one}\n{stub}{nuls}", header()));
        let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
        assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
        append(&journal, &said(user("u2", "two"))).await;
        drop(journal);
        assert!(!fs::read(&path).unwrap().contains(&0));
        assert_eq!(texts(&load(&path).unwrap().history), ["one", "two"]);
    }
}

/// case F03
#[tokio::test]
async fn bad_lines_in_the_middle_are_skipped_named_and_left_in_the_file() {
    let state = tempfile::tempdir().unwrap();
    let lines = [
        header(),
        line(user("u1", "one")),
        line(assistant("a1", "two", &[])),
        "{bad".to_owned(),
        r#"{"record":"from_later","data":1}"#.to_owned(),
        r#"{"record":"message","message":{"role":"user","id":"u9"}}"#.to_owned(),
        r#"["not","an","object"]"#.to_owned(),
        line(user("u2", "three")),
        line(assistant("a2", "four", &[])),
        String::new(),
        String::new(),
    ];
    let path = file(state.path(), lines.join("\n"));
    let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
    assert_eq!(texts(&loaded.history), ["one", "two", "three", "four"]);
    let warnings = loaded.warnings.join("\n");
    for expected in ["line 4 ", "line 6 ", "line 7 ", "1 records of unknown kinds", "from_later"] {
        assert!(warnings.contains(expected), "{expected} in {warnings}");
    }
    append(&journal, &said(user("u3", "five"))).await;
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\n{bad\n"), "kept aside, not deleted");
    assert_eq!(texts(&load(&path).unwrap().history).len(), 5);
}

/// case F03
#[test]
fn a_lost_header_costs_only_its_facts() {
    let state = tempfile::tempdir().unwrap();
    let path = file(state.path(), format!("\0\0\0\n{}\n", line(user("u1", "one"))));
    let loaded = load(&path).unwrap();
    assert_eq!(loaded.header.id, "s1");
    assert_eq!(texts(&loaded.history), ["one"]);
}

/// case F04
#[tokio::test]
async fn line_ends_inside_texts_never_split_a_record() {
    let state = tempfile::tempdir().unwrap();
    let k1 = call("k1", "bash");
    let odd = "a\nb\r\nc\u{2028}d\u{2029}e\u{85}f\0g\u{1b}";
    let records = [said(user("u1", "go")), said(assistant("a1", "", std::slice::from_ref(&k1)))];
    let path = written(state.path(), &records).await;
    let (journal, _) = SessionJournal::resume(&path, &|_| true).unwrap();
    append(&journal, &said(result("t1", &k1, odd))).await;
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.split(|b| *b == b'\n').count(), 5);
    assert!(!bytes.contains(&0));
    let loaded = load(&path).unwrap();
    assert_eq!(loaded.history[2], result("t1", &k1, odd));
}

/// case F04
#[test]
fn half_a_surrogate_pair_written_by_others_does_not_lose_its_line() {
    let state = tempfile::tempdir().unwrap();
    let odd = line(user("u1", "X")).replace("\"X\"", r#""a\ud800b\udc00\\ud800 \ud83d\ude00""#);
    let path = file(state.path(), format!("{}\n{odd}\n", header()));
    let loaded = load(&path).unwrap();
    assert_eq!(texts(&loaded.history), ["a\u{fffd}b\u{fffd}\\ud800 😀"]);
}

#[test]
fn a_later_format_is_refused_by_its_number() {
    let state = tempfile::tempdir().unwrap();
    for header in [
        r#"{"record":"session","format":2,"id":"s1"}"#,
        r#"{"record":"session","format":7,"id":{"new":"shape"}}"#,
    ] {
        let path = file(state.path(), format!("{header}\n{}\n", line(user("u1", "one"))));
        let before = fs::read(&path).unwrap();
        let error = SessionJournal::resume(&path, &|_| true).unwrap_err();
        assert!(matches!(error, OpenError::UnknownVersion { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_file_without_any_record_is_no_session_and_stays_as_it_is() {
    let state = tempfile::tempdir().unwrap();
    for content in ["", "hello\nworld\n", "{\"a\":1}\n", "\0\0\0"] {
        let path = file(state.path(), content);
        let error = SessionJournal::resume(&path, &|_| true).unwrap_err();
        assert!(matches!(error, OpenError::NotASession { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}
