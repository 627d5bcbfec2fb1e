//! Diffs as rows.

use codebot::kernel::message::{DiffLine, FileDiff, Hunk};
use codebot::ui::text::diff;
use codebot::ui::text::role::Role;
use codebot::ui::text::row::{Line, Row};

fn sample() -> FileDiff {
    let lines = vec![
        DiffLine::Context("fn main() {".into()),
        DiffLine::Removed("\tlet count = old_value(1);".into()),
        DiffLine::Added("\tlet count = new_value(1);".into()),
        DiffLine::Added("\tprintln!(\"{count}\u{202e}\");".into()),
        DiffLine::Context("}".into()),
    ];
    FileDiff {
        path: "src/main.rs".into(),
        created: false,
        added: 2,
        removed: 1,
        hunks: vec![Hunk { old_start: 9, new_start: 9, lines }],
    }
}

fn texts(rows: &[Row]) -> String {
    rows.iter().map(|row| format!("{}\n", row.text())).collect()
}

#[test]
fn lines_have_numbers_marks_and_visible_controls() {
    let (rows, left) = diff::rows(&sample(), 60, &Line::default(), 100);
    assert_eq!(left, 0);
    insta::assert_snapshot!(texts(&rows));
}

#[test]
fn changed_words_stand_out_in_paired_lines_only() {
    let mut change = sample();
    change.hunks[0].lines.remove(3);
    let (rows, _) = diff::rows(&change, 60, &Line::default(), 100);
    let word = |row: &Row, role: Role| {
        row.line.pieces().find(|(_, ink)| ink.role == role).map(|(text, _)| text.to_owned())
    };
    assert_eq!(word(&rows[1], Role::RemovedWord).as_deref(), Some("old_value(1);"));
    assert_eq!(word(&rows[2], Role::AddedWord).as_deref(), Some("new_value(1);"));
    assert_eq!(rows[1].fill, Some(Role::RemovedFill));
    assert_eq!(rows[0].fill, None);
}

#[test]
fn long_diffs_say_what_is_left_out() {
    let (rows, left) = diff::rows(&sample(), 60, &Line::default(), 2);
    assert_eq!((rows.len(), left), (2, 3));
}

#[test]
fn narrow_screens_wrap_lines_beside_the_numbers() {
    let (rows, _) = diff::rows(&sample(), 20, &Line::default(), 100);
    assert!(rows.iter().all(|row| row.line.width() <= 20));
}
