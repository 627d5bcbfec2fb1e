//! `edit`.

use codebot::kernel::command::HunkChoice;
use codebot::kernel::message::Detail;
use codebot::kernel::ports::Toolbox;
use serde_json::{Value, json};

use super::{Desk, call, context, detail, diff_of, lines, text};

fn all(file: &str, old: &str, new: &str) -> Value {
    json!({"file_path": file, "edits": [{"old": old, "new": new, "replace_all": true}]})
}

#[tokio::test]
async fn the_result_shows_the_diff_and_the_counts() {
    let desk = Desk::new();
    desk.put("a.rs", "fn a() {}\nfn b() {}\n");
    let args = json!({"file_path": "a.rs", "edits": [{"old": "fn b() {}", "new": "fn c() {\n}"}]});
    let outcome = desk.call("edit", args).await;
    assert_eq!(
        text(&outcome),
        "edited a.rs (+2 -1)\n@@ line 1 @@\n fn a() {}\n-fn b() {}\n+fn c() {\n+}"
    );
    let Detail::Diff(diff) = detail(&outcome) else { panic!() };
    assert_eq!((diff.path.as_str(), diff.created, diff.added, diff.removed), ("a.rs", false, 2, 1));
}

#[tokio::test]
async fn several_edits_apply_in_order_and_all_or_none() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\n");
    let edits = json!([{"old": "one", "new": "1"}, {"old": "1\ntwo", "new": "1\n2"}]);
    desk.ok("edit", json!({"file_path": "a.txt", "edits": edits})).await;
    assert_eq!(desk.text("a.txt"), "1\n2\n");
    let edits = json!([{"old": "1", "new": "x"}, {"old": "absent text", "new": "y"}]);
    let error = desk.fails("edit", json!({"file_path": "a.txt", "edits": edits})).await;
    assert!(error.contains("edit 2: ") && error.contains("was not changed"), "{error}");
    assert_eq!(desk.text("a.txt"), "1\n2\n");
}

/// case C03
#[tokio::test]
async fn a_byte_order_mark_stays_and_the_very_start_can_be_edited() {
    let desk = Desk::new();
    desk.put("a.txt", "\u{feff}alpha\n日本\n");
    desk.edit("a.txt", "alpha\n日本", "beta\n日本").await;
    assert_eq!(desk.text("a.txt"), "\u{feff}beta\n日本\n");
    desk.edit("a.txt", "\u{feff}beta", "\u{feff}gamma").await;
    assert_eq!(desk.text("a.txt"), "\u{feff}gamma\n日本\n");
}

/// case C04
#[tokio::test]
async fn text_in_another_encoding_is_refused_and_keeps_its_bytes() {
    let desk = Desk::new();
    desk.put("a.txt", b"caf\xe9 = 1\n");
    let error = desk.edit_fails("a.txt", "= 1", "= 2").await;
    assert!(error.contains("encoding other than UTF-8"), "{error}");
    assert_eq!(desk.bytes("a.txt"), b"caf\xe9 = 1\n");
}

/// case C07
#[tokio::test]
async fn the_new_text_is_taken_literally() {
    let desk = Desk::new();
    desk.put("a.txt", "price here\n");
    let new = "cost $$ $& $1 \\1 \n ${x} $`";
    desk.edit("a.txt", "price", new).await;
    assert_eq!(desk.text("a.txt"), format!("{new} here\n"));
}

/// case C08
#[tokio::test]
async fn blank_old_text_is_refused() {
    let desk = Desk::new();
    desk.put("a.txt", "xy z\nw");
    for old in [" ", "\n", "\t "] {
        assert!(desk.fails("edit", all("a.txt", old, "Q")).await.contains("blank"), "{old:?}");
    }
    assert!(desk.tools.validate(&call("edit", all("a.txt", "", "Q"))).is_err());
    assert_eq!(desk.text("a.txt"), "xy z\nw");
}

/// case C09
#[tokio::test]
async fn a_tolerant_match_changes_only_its_line_or_nothing() {
    let desk = Desk::new();
    let old = "class K:\n    a = 7\n\n    def f(self):\n        return self.a\n";
    desk.put("k.py", old);
    let result = desk.edit("k.py", "    a   =   7", "    a = 9").await;
    assert!(result.contains("white space differs"), "{result}");
    assert_eq!(desk.text("k.py"), old.replace("a = 7", "a = 9"));
}

/// case C10
#[tokio::test]
async fn replace_all_counts_places_that_do_not_overlap() {
    let desk = Desk::new();
    desk.put("a.txt", "ooooo");
    let result = desk.ok("edit", all("a.txt", "oo", "u")).await;
    assert!(result.contains("replaced 2 places"), "{result}");
    assert_eq!(desk.text("a.txt"), "uuo");
}

/// case C12
#[tokio::test]
async fn the_final_newline_is_neither_added_nor_removed() {
    let desk = Desk::new();
    desk.put("a.txt", "a\nb");
    desk.edit("a.txt", "a", "A").await;
    assert_eq!(desk.text("a.txt"), "A\nb");
    desk.put("b.txt", "a\n");
    desk.edit("b.txt", "a\n", "").await;
    assert_eq!(desk.text("b.txt"), "");
}

#[tokio::test]
async fn crlf_files_keep_their_line_ends() {
    let desk = Desk::new();
    desk.put("a.txt", "one\r\ntwo\r\nthree\r\n");
    desk.edit("a.txt", "one\ntwo", "1\n2\n2b").await;
    assert_eq!(desk.text("a.txt"), "1\r\n2\r\n2b\r\nthree\r\n");
    desk.edit("a.txt", "three", "3\n4").await;
    assert_eq!(desk.text("a.txt"), "1\r\n2\r\n2b\r\n3\r\n4\r\n");
    desk.put("mixed.txt", "a\nb\nc\r\nd\n");
    desk.edit("mixed.txt", "b", "B").await;
    assert_eq!(desk.text("mixed.txt"), "a\nB\nc\r\nd\n");
}

#[tokio::test]
async fn text_that_is_not_unique_is_refused_with_count_and_lines() {
    let desk = Desk::new();
    desk.put("a.txt", "x\ny\nx\nx\n");
    let error = desk.edit_fails("a.txt", "x", "z").await;
    assert!(error.contains("occurs 3 times, at lines 1, 3, 4"), "{error}");
    desk.put("b.txt", "aaa");
    assert!(desk.edit_fails("b.txt", "aa", "b").await.contains("2 times"));
}

/// scenario 201
#[tokio::test]
async fn typographic_characters_and_trailing_space_may_differ_within_a_line() {
    let desk = Desk::new();
    desk.put("a.txt", "let a = “x”;\u{a0}\nlet b = 2; // keep ‘this’\n");
    let result = desk.edit("a.txt", "let a = \"x\";\nlet b = 2;", "let a = 1;\nlet b = 3;").await;
    assert!(result.contains("typographic"), "{result}");
    assert_eq!(desk.text("a.txt"), "let a = 1;\nlet b = 3; // keep ‘this’\n");
}

/// scenario 201
#[tokio::test]
async fn a_match_at_another_indentation_is_indented_like_the_place() {
    let desk = Desk::new();
    desk.put("a.rs", "mod m {\n    fn f() {\n        g();\n    }\n}\n");
    desk.edit("a.rs", "fn f() {\n    g();\n}", "fn f() {\n    g();\n    h();\n}").await;
    assert_eq!(desk.text("a.rs"), "mod m {\n    fn f() {\n        g();\n        h();\n    }\n}\n");
}

/// scenario 201
#[tokio::test]
async fn two_places_that_match_tolerantly_are_refused() {
    let desk = Desk::new();
    let old = "if a {\n        g(1,  2);\n}\nif b {\n    g(1,  2);\n}\n";
    desk.put("a.rs", old);
    let error = desk.edit_fails("a.rs", "g(1, 2);\n", "h();\n").await;
    assert!(error.contains("2 times, at lines 2, 5"), "{error}");
    assert_eq!(desk.text("a.rs"), old);
}

/// scenario 201
#[tokio::test]
async fn what_is_not_found_gets_the_nearest_place_in_any_script_and_nothing_unrelated() {
    let desk = Desk::new();
    desk.put("a.txt", "fn compute_total(items: &[Item]) -> u32 {\n今天的天气非常好\n");
    let error = desk.edit_fails("a.txt", "fn compute_totals(item: &[Item]) -> u64 {", "x").await;
    assert!(error.contains("1→fn compute_total(items"), "{error}");
    let error = desk.edit_fails("a.txt", "今天的天气很好", "x").await;
    assert!(error.contains("2→今天的天气非常好"), "{error}");
    let error = desk.edit_fails("a.txt", "SELECT * FROM users", "x").await;
    assert!(!error.contains('→'), "{error}");
}

/// scenario 201
#[tokio::test]
async fn a_preview_shows_the_change_and_writes_nothing() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let edit = call("edit", json!({"file_path": "a.txt", "edits": [{"old": "a", "new": "b"}]}));
    let diff = diff_of(desk.tools.preview(&edit).await.unwrap());
    assert_eq!((diff.added, diff.removed), (1, 1));
    assert_eq!(desk.text("a.txt"), "a\n");
}

/// scenario 205
#[tokio::test]
async fn two_edits_in_a_row_need_no_second_read() {
    let desk = Desk::new();
    desk.put("a.txt", "a\nb\n");
    desk.ok("read", json!({"file_path": "a.txt"})).await;
    desk.edit("a.txt", "a", "A").await;
    desk.edit("a.txt", "b", "B").await;
    desk.ok("write", json!({"file_path": "a.txt", "content": "whole"})).await;
    assert_eq!(desk.text("a.txt"), "whole");
}

#[tokio::test]
async fn a_change_that_changes_nothing_is_refused() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    assert!(desk.edit_fails("a.txt", "a", "a").await.contains("the same"));
}

#[test]
fn a_found_place_is_the_text_itself_and_other_bytes_stay() {
    use codebot::tools::matching::{Miss, find};
    use proptest::prelude::*;
    let piece = "[ab “\"\u{a0}\t\r\n语]{0,30}";
    proptest!(|(before in piece, old in piece, after in piece, new in piece)| {
        prop_assume!(!old.trim().is_empty());
        let text = format!("{before}{old}{after}");
        match find(&text, &old, &new, false) {
            Ok(found) => {
                let place = found.places[0].clone();
                prop_assert_eq!(&text[place.clone()], old.as_str());
                prop_assert!(found.tolerance.is_none());
            }
            Err(Miss::Several(places)) => prop_assert!(places.len() > 1),
            Err(Miss::Nowhere) => prop_assert!(false, "it is there"),
        }
        // Whatever is asked of an unrelated text, places lie in it and on character borders.
        for all in [false, true] {
            if let Ok(found) = find(&before, &old, &new, all) {
                let mut end = 0;
                for place in found.places {
                    prop_assert!(place.start >= end && before.get(place.clone()).is_some());
                    end = place.end;
                }
            }
        }
    });
}

#[tokio::test]
async fn a_large_edit_shows_a_short_diff() {
    let desk = Desk::new();
    desk.put("a.txt", "start\n");
    let result = desk.edit("a.txt", "start", &"line\n".repeat(500)).await;
    assert!(result.lines().count() < 70 && result.contains("not shown"), "{result}");
}

#[tokio::test]
async fn a_large_file_with_nothing_in_common_is_diffed_in_bounded_time() {
    let desk = Desk::new();
    let old = lines(0..20_000, |n| format!("old {}", n % 977));
    let new = lines(0..20_000, |n| format!("new {}", n % 983));
    desk.put("a.txt", &old);
    for offset in [1, 2001, 4001, 6001, 8001, 10_001, 12_001, 14_001, 16_001, 18_001] {
        desk.ok("read", json!({"file_path": "a.txt", "offset": offset})).await;
    }
    let started = std::time::Instant::now();
    desk.ok("write", json!({"file_path": "a.txt", "content": new})).await;
    assert!(started.elapsed().as_millis() < 2500, "{:?}", started.elapsed());
}

/// Places of a change that the user rejected or rewrote: the file and the words to the model agree.
#[tokio::test]
async fn places_that_the_user_did_not_want_are_left_and_told() {
    let desk = Desk::new();
    let lines: Vec<String> = (1..=40).map(|n| format!("line {n}\n")).collect();
    let old = lines.concat();
    desk.put("a.txt", &old);
    let edits = json!([
        {"old": "line 2\n", "new": "LINE 2\n"},
        {"old": "line 20\n", "new": "LINE 20\n"},
        {"old": "line 38\n", "new": "LINE 38\n"},
    ]);
    let args = json!({"file_path": "a.txt", "edits": edits});
    let call = call("edit", args);
    desk.tools.preview(&call).await.unwrap();
    let written = "line 17\nmine\nline 23".to_owned();
    let hunks = vec![HunkChoice::Keep, HunkChoice::Edit(written), HunkChoice::Reject];
    desk.tools.choose(&call.id, hunks);
    let outcome = desk.tools.run(call, context()).await;
    let told = text(&outcome);
    assert!(told.contains("rejected the change at line 35"), "{told}");
    assert!(told.contains("wrote the change at line 17 themselves"), "{told}");
    let now = desk.text("a.txt");
    assert!(now.contains("LINE 2\n") && now.contains("line 17\nmine\nline 23\nline 24\n"), "{now}");
    assert!(now.contains("line 38\n") && !now.contains("LINE 38") && !now.contains("LINE 20"));
}
