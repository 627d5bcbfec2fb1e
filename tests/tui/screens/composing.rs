//! The composer: clusters, rows, caret, history.

use codebot::ui::store::Msg;
use codebot::ui::text::width::width;

use super::stage::Stage;

const CLUSTERS: [&str; 5] = ["👨‍👩‍👧", "e\u{301}", "🇨🇳", "❤️", "1️⃣"];

/// Case E09.
#[test]
fn one_backspace_removes_one_cluster() {
    for cluster in CLUSTERS {
        let mut stage = Stage::open();
        stage.types("a").paste(cluster).types("b").key("backspace").key("backspace");
        assert_eq!(stage.draft(), "a", "{cluster}");
        stage.key("ctrl+_");
        assert_eq!(stage.draft(), format!("a{cluster}"), "undo brings back the whole {cluster}");
    }
}

/// Case E09.
#[test]
fn one_left_or_right_passes_one_cluster() {
    for cluster in CLUSTERS {
        let mut stage = Stage::open();
        stage.paste(cluster).key("left").types("x").key("right").types("y");
        assert_eq!(stage.draft(), format!("x{cluster}y"));
        stage.key("home").key("right").key("delete");
        assert_eq!(stage.draft(), "xy");
    }
}

/// Case E10.
#[test]
fn the_hardware_cursor_stands_on_the_caret() {
    for text in ["", "plain", "日本語", "👨‍👩‍👧x", "a\tb", "❤️ ok"] {
        let mut stage = Stage::open();
        stage.paste(text);
        let (_, cursor) = stage.screen();
        let cursor = cursor.expect("a caret");
        let expanded = text.replace("a\tb", "a   b");
        assert_eq!(usize::from(cursor.x), 2 + width(&expanded), "{text:?}");
    }
}

/// Case E10.
#[test]
fn the_caret_follows_wraps_new_lines_and_resizes() {
    let mut stage = Stage::sized(40, 20);
    stage.types(&"word ".repeat(20)).key("ctrl+j").types("end");
    let (text, cursor) = stage.screen();
    let cursor = cursor.unwrap();
    let row = text.lines().nth(usize::from(cursor.y)).unwrap();
    assert_eq!(row.trim(), "end");
    assert_eq!(cursor.x, 5);
    stage.store.size = (200, 20);
    let (text, cursor) = stage.screen();
    let cursor = cursor.unwrap();
    assert_eq!(text.lines().nth(usize::from(cursor.y)).unwrap().trim(), "end");
}

#[test]
fn it_grows_to_ten_rows_and_keeps_the_caret_in_sight() {
    let mut stage = Stage::sized(80, 40);
    for line in 0..30 {
        stage.types(&format!("line {line}")).key("ctrl+j");
    }
    let (text, cursor) = stage.screen();
    assert!(!text.contains("line 20\n"), "{text}");
    assert!(text.contains("line 21"), "{text}");
    assert!(cursor.is_some());
    for _ in 0..30 {
        stage.key("up");
    }
    assert!(stage.text().contains("line 0"));
}

#[test]
fn up_and_down_move_over_wrapped_rows() {
    let mut stage = Stage::sized(30, 20);
    stage.types("aaaa bbbb cccc dddd eeee ffff gggg hhhh");
    stage.key("up").types("X");
    assert!(stage.draft().contains('X'));
    assert!(!stage.draft().ends_with('X'));
    stage.key("down").key("end").types("Y");
    assert!(stage.draft().ends_with('Y'));
}

#[test]
fn undo_takes_back_words_not_letters() {
    let mut stage = Stage::open();
    stage.types("hello world").key("ctrl+_");
    assert!(stage.draft().len() < 10, "{:?}", stage.draft());
    stage.key("alt+_");
    assert_eq!(stage.draft(), "hello world");
}

#[test]
fn killed_words_come_back() {
    let mut stage = Stage::open();
    stage.types("one two").key("ctrl+w").key("home").key("ctrl+y");
    assert_eq!(stage.draft(), "twoone ");
}

#[test]
fn history_is_browsed_from_an_empty_composer() {
    let mut stage = Stage::open();
    stage.send(Msg::History(vec!["old".into(), "older text\nwith two lines".into()]));
    stage.types("new").key("enter");
    stage.run_starts();
    stage.run_ends(codebot::kernel::event::EndReason::Stop);
    stage.key("up");
    assert_eq!(stage.draft(), "new");
    stage.key("up");
    assert_eq!(stage.draft(), "older text\nwith two lines");
    stage.key("up");
    assert_eq!(stage.draft(), "old");
    stage.key("up");
    assert_eq!(stage.draft(), "old", "there is nothing older");
    stage.key("down").key("down").key("down");
    assert_eq!(stage.draft(), "");
    stage.types("draft").key("up");
    assert_eq!(stage.draft(), "draft", "a draft is never replaced");
}

/// Case E18.
#[test]
fn the_wheel_never_touches_the_draft() {
    use codebot::ui::input::Input;
    let mut stage = Stage::open();
    stage.send(Msg::History(vec!["old".into()]));
    stage.send(Msg::Input(Input::Wheel(-3)));
    assert_eq!(stage.draft(), "");
}

#[test]
fn sent_prompts_are_saved_to_the_file_and_read_back() {
    use codebot::ui::history_file;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/history.jsonl");
    assert_eq!(history_file::load(&path).unwrap(), Vec::<String>::new());
    history_file::append(&path, "one\nwith two lines").unwrap();
    history_file::append(&path, "two").unwrap();
    std::fs::write(&path, format!("{}broken line\n", std::fs::read_to_string(&path).unwrap()))
        .unwrap();
    assert_eq!(history_file::load(&path).unwrap(), ["one\nwith two lines", "two"]);
    for n in 0..1600 {
        history_file::append(&path, &format!("entry {n}")).unwrap();
    }
    let entries = history_file::load(&path).unwrap();
    assert_eq!(entries.len(), 1000);
    assert_eq!(entries.last().unwrap(), "entry 1599");
    let lines = std::fs::read_to_string(&path).unwrap().lines().count();
    assert_eq!(lines, 1000, "a file that grew far over the limit is cut");
}
