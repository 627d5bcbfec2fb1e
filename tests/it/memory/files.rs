//! The files: several writers, damage, notes on a project.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use codebot::kernel::message::Timestamp;
use codebot::memory::facts::{Category, Facts};
use codebot::memory::project::Notes;
use codebot::memory::shelf::Shelf;

fn add(shelf: &Shelf<Facts>, content: &str) -> Option<String> {
    let now = Timestamp(1000);
    let add = |facts: &mut Facts| facts.remember(content, Category::Knowledge, 0.8, "user", now);
    shelf.change(add).unwrap().warning
}

/// scenario F08: a file that can't be understood is set aside under a name of its own.
#[test]
fn a_corrupt_file_is_set_aside_with_a_warning_and_never_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("facts.json");
    let shelf = Shelf::<Facts>::at(path.clone());
    for damage in ["{\"version\":1,\"facts\":[", "not json"] {
        fs::write(&path, damage).unwrap();
        let taken = shelf.read();
        assert_eq!(taken.value, Facts::default());
        assert!(taken.warning.unwrap().contains("set aside as"));
        assert_eq!(shelf.read().warning, None);
    }
    assert_eq!(fs::read_to_string(dir.path().join("facts.broken-1")).unwrap().len(), 22);
    assert_eq!(fs::read_to_string(dir.path().join("facts.broken-2")).unwrap(), "not json");
    fs::write(&path, "broken again").unwrap();
    assert!(add(&shelf, "one").unwrap().contains("broken-3"), "a change says it too");
    assert_eq!(shelf.read().value.facts.len(), 1);
}

#[test]
fn a_file_of_a_newer_program_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("facts.json");
    fs::write(&path, "{\"version\": 9, \"memories\": [1]}").unwrap();
    let shelf = Shelf::<Facts>::at(path.clone());
    assert!(shelf.read().warning.unwrap().contains("newer codebot"));
    assert!(shelf.change(|_| ()).unwrap_err().contains("newer codebot"));
    assert!(fs::read_to_string(&path).unwrap().contains("memories"));
}

#[test]
fn two_writers_lose_nothing_and_the_file_is_for_its_owner() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/facts.json");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let shelf = Shelf::<Facts>::at(path.clone());
            scope.spawn(move || {
                for n in 0..5 {
                    // Each fact about something of its own, or it would replace another.
                    add(&shelf, &format!("alpha{writer}x{n} beta{writer}x{n}"));
                }
            });
        }
    });
    let facts = Shelf::<Facts>::at(path.clone()).read().value;
    assert_eq!(facts.facts.len(), 20);
    let mut ids: Vec<&str> = facts.facts.iter().map(|fact| fact.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 20);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn notes_have_a_main_page_and_topics_and_nothing_outside_their_folder() {
    let dir = tempfile::tempdir().unwrap();
    let notes = Notes::at(dir.path().join("memory"));
    assert_eq!(notes.head(), None);
    notes.write(None, "# Notes\nport 5433", false).unwrap();
    notes.write(None, "use make", true).unwrap();
    assert_eq!(notes.head().unwrap(), "# Notes\nport 5433\nuse make");
    let long = (0..300).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    notes.write(None, &long, false).unwrap();
    let head = notes.head().unwrap();
    assert_eq!(head.lines().count(), 201);
    assert!(head.ends_with("line 199\n[the rest: memory_read]"));
    for bad in ["../x", "a/b", "..", "a.b"] {
        assert!(notes.write(Some(bad), "x", false).is_err(), "{bad}");
    }
    assert!(notes.write(Some("big"), &"x".repeat(70_000), false).is_err());
    assert!(notes.read(Some("none")).unwrap_err().contains("there are"));
}

#[test]
fn the_topics_nearest_to_the_users_words_are_recalled() {
    let dir = tempfile::tempdir().unwrap();
    let notes = Notes::at(dir.path().to_owned());
    for n in 0..7 {
        notes.write(Some(&format!("parser-{n}")), "about the parser", false).unwrap();
    }
    notes
        .write(Some("deploy"), "the parser tokens are rotated by the deploy script", false)
        .unwrap();
    notes.write(Some("colors"), "themes are in assets", false).unwrap();
    let names: Vec<String> = notes
        .recall("why does the deploy of the parser fail")
        .into_iter()
        .map(|hit| hit.0)
        .collect();
    assert_eq!(names.len(), 5);
    assert_eq!(names[..2], ["deploy", "parser-0"]);
    assert!(notes.recall("good morning").is_empty());
}
