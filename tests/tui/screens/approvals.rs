//! Questions about calls: who may answer them, when, and what is shown.

use codebot::kernel::command::{Answer, Command, HunkChoice, Mode, QueueEdit, Setting};
use codebot::kernel::event::{EndReason, Event, Preview, QueueKind};
use codebot::kernel::message::{CallId, DiffLine, FileDiff, Hunk};
use codebot::ui::store::approvals::Page;
use codebot::ui::store::{Effect, Msg};

use super::stage::{Stage, asks, item};

fn asked(stage: &mut Stage, id: &str, command: &str) {
    stage.event(Event::ApprovalAsked { approval: asks(id, command) });
}

/// A busy stage whose panel takes keys.
fn armed(command: &str) -> Stage {
    let mut stage = Stage::busy();
    asked(&mut stage, "k1", command);
    stage.wait(600);
    stage.taken();
    stage
}

fn answer(id: &str, answer: Answer) -> Command {
    Command::Answer { id: CallId::from(id), answer }
}

/// Ruling 46.
#[test]
fn digits_select_and_enter_confirms() {
    let mut stage = armed("cargo test");
    stage.key("2");
    assert!(stage.commands().is_empty(), "a digit alone answers nothing");
    stage.key("enter");
    assert_eq!(stage.commands(), [answer("k1", Answer::Always)]);
    assert!(stage.store.approvals.shown().is_none());
}

#[test]
fn arrows_select_and_enter_confirms() {
    let mut stage = armed("cargo test");
    stage.key("down").key("down").key("down").key("enter");
    assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words: None })]);
}

/// Ruling 46.
#[test]
fn another_printable_key_begins_the_words_of_a_refusal() {
    let mut stage = armed("cargo test");
    stage.types("use make").key("enter");
    let words = Some("use make".to_owned());
    assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words })]);
}

/// Ruling 46.
#[test]
fn escape_refuses_and_a_second_one_within_a_second_stops_the_run() {
    let mut stage = armed("cargo test");
    asked(&mut stage, "k2", "cargo fmt");
    stage.key("esc");
    assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words: None })]);
    stage.wait(900).key("esc");
    assert_eq!(stage.commands(), [Command::Queue(QueueEdit::TakeAll), Command::Abort]);
}

#[test]
fn a_later_escape_refuses_the_next_call_only() {
    let mut stage = armed("cargo test");
    asked(&mut stage, "k2", "cargo fmt");
    stage.key("esc").wait(1100).key("esc");
    assert_eq!(
        stage.commands(),
        [answer("k1", Answer::Deny { words: None }), answer("k2", Answer::Deny { words: None })]
    );
}

/// Case D21.
#[test]
fn questions_queue_in_order_and_the_shown_one_never_changes() {
    let mut stage = armed("cargo test");
    asked(&mut stage, "k2", "rm -r build");
    assert!(stage.text().contains("cargo test"));
    assert!(stage.text().contains("1 more waiting"));
    stage.key("enter");
    assert_eq!(stage.commands(), [answer("k1", Answer::Once)]);
    // The next one is new to the user: keys of the moment do not count.
    stage.wait(50).key("enter");
    stage.wait(50).key("enter");
    assert!(stage.commands().is_empty());
    stage.wait(600).key("enter");
    assert_eq!(stage.commands(), [answer("k2", Answer::Once)]);
}

/// Case D22, case G02.
#[test]
fn a_message_sent_while_the_panel_is_new_steers_and_approves_nothing() {
    let mut stage = Stage::busy();
    stage.types("wait, other ");
    asked(&mut stage, "k1", "cargo test");
    stage.wait(20).types("dir first").wait(20).key("enter");
    let text = "wait, other dir first".to_owned();
    assert_eq!(stage.commands(), [Command::Enqueue { kind: QueueKind::Steer, text: text.clone() }]);
    stage.event(Event::Queue { items: vec![item("q1", QueueKind::Steer, &text)] });
    let shown = stage.text();
    assert!(shown.contains("wait, other dir first"), "{shown}");
    assert!(shown.contains("Run this command?"), "{shown}");
    stage.wait(600).key("3").key("enter");
    assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words: None })]);
}

/// Case D23.
#[test]
fn keys_typed_through_the_opening_go_to_the_composer() {
    let mut stage = Stage::busy();
    stage.types("o");
    stage.wait(20);
    asked(&mut stage, "k1", "cargo test");
    for key in ["y", "space", "1"] {
        stage.wait(20).key(key);
    }
    // Typing goes on past the half second: still no quiet moment.
    for _ in 0..20 {
        stage.wait(100).key("1");
    }
    assert!(stage.commands().is_empty());
    assert_eq!(stage.draft(), format!("oy 1{}", "1".repeat(20)));
    stage.wait(500).key("1").key("enter");
    assert_eq!(stage.commands(), [answer("k1", Answer::Once)]);
    assert_eq!(stage.draft(), format!("oy 1{}", "1".repeat(20)), "the draft is kept");
}

/// Case D23.
#[test]
fn a_paste_never_answers() {
    let mut stage = armed("cargo test");
    stage.paste("1\ny\n").wait(10).key("enter");
    // The paste was input, so the panel was not armed by the quiet before it; Enter steers.
    let commands = stage.commands();
    assert!(!commands.iter().any(|c| matches!(c, Command::Answer { .. })), "{commands:?}");
    assert!(stage.store.approvals.shown().is_some());
}

/// Case D24.
#[test]
fn hidden_characters_are_shown_as_marks() {
    for (command, mark) in [
        ("echo ok\u{1b}[2K\r; touch M", "\\x1b"),
        ("echo \u{9b}2J", "\\"),
        ("open \u{202e}gnp.exe", "\\u"),
        ("rm\u{200b} -rf x", "\\u"),
        ("echo \u{e0041}", "\\u"),
    ] {
        let stage = armed(command);
        let (text, _) = stage.screen();
        assert!(text.contains(mark), "{command:?} is shown as\n{text}");
        for hidden in ['\u{1b}', '\u{9b}', '\u{202e}', '\u{200b}', '\u{e0041}', '\r'] {
            assert!(!text.contains(hidden), "{command:?} lets {hidden:?} through");
        }
    }
}

/// Case D24.
#[test]
fn a_command_behind_blanks_or_empty_lines_can_be_seen_before_yes() {
    let stage = armed(&format!("echo ok{}; touch M", " ".repeat(300)));
    assert!(stage.text().contains("; touch M"), "{}", stage.text());

    let mut stage = armed(&format!("echo ok{}touch M", "\n".repeat(41)));
    let text = stage.text();
    assert!(text.contains("more lines"), "{text}");
    assert!(!text.contains("touch M"));
    stage.key("d");
    assert_eq!(stage.store.approvals.page(), Page::Full);
    for _ in 0..60 {
        stage.key("down");
    }
    assert!(stage.text().contains("touch M"), "{}", stage.text());
    stage.key("1").key("enter");
    assert_eq!(stage.commands(), [answer("k1", Answer::Once)]);
}

#[test]
fn why_shows_the_judged_parts_and_the_exact_rule() {
    let mut stage = armed("cargo test");
    stage.key("w");
    let text = stage.text();
    assert!(text.contains("judged one by one"), "{text}");
    assert!(text.contains("bash(cargo test:*)"), "{text}");
    stage.key("w");
    assert_eq!(stage.store.approvals.page(), Page::Summary);
}

#[test]
fn without_a_rule_there_is_no_always() {
    let mut stage = Stage::busy();
    let mut approval = asks("k1", "rm -rf build");
    approval.rule = None;
    approval.danger = true;
    stage.event(Event::ApprovalAsked { approval });
    stage.wait(600);
    assert!(!stage.text().contains("Always"));
    // What could destroy much is refused by a plain Enter.
    stage.key("enter");
    assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words: None })]);
}

/// Case G20.
#[test]
fn after_an_abort_the_panel_is_gone_and_keys_go_to_the_composer() {
    let mut stage = armed("cargo test");
    stage.key("esc").wait(200).key("esc");
    stage.event(Event::ApprovalClosed { id: CallId::from("k1"), answer: None });
    stage.run_ends(EndReason::Aborted);
    stage.taken();
    stage.wait(300).key("y");
    assert!(stage.commands().is_empty());
    assert_eq!(stage.draft(), "y");
}

#[test]
fn a_withdrawn_question_goes_away_and_a_late_one_of_a_stopped_run_never_opens() {
    let mut stage = armed("cargo test");
    stage.event(Event::ApprovalClosed { id: CallId::from("k1"), answer: None });
    assert!(stage.store.approvals.shown().is_none());
    stage.key("esc");
    asked(&mut stage, "k2", "cargo fmt");
    assert!(stage.store.approvals.shown().is_none());
}

#[test]
fn the_conversation_scrolls_behind_the_panel() {
    let mut stage = armed("cargo test");
    for line in 0..100 {
        stage.send(codebot::ui::store::Msg::Notice(
            codebot::app::service::Level::Info,
            format!("line {line}"),
        ));
    }
    stage.key("pgup");
    assert!(!stage.store.scroll.is_latest());
    assert!(stage.store.approvals.shown().is_some());
    assert!(stage.commands().is_empty());
}

#[test]
fn the_exact_rule_of_always_is_never_cut_away() {
    let rule = format!("bash({} --check)", "very/long/path/".repeat(12));
    let mut stage = Stage::sized(40, 24);
    stage.run_starts();
    let mut approval = asks("k1", "make");
    approval.rule = Some(rule.clone());
    stage.event(Event::ApprovalAsked { approval });
    let shown = stage.text();
    assert!(shown.contains("3 No"), "{shown}");
    assert!(shown.contains('…'), "{shown}");
    stage.wait(600).key("w");
    assert!(stage.text().contains("more lines"));
    let mut seen = String::new();
    for _ in 0..12 {
        seen.push_str(&stage.text());
        stage.key("down");
    }
    assert!(seen.contains("--check)"), "{seen}");
}

/// Case G28.
#[test]
fn control_c_over_a_question_stops_the_run_and_keeps_the_draft() {
    let mut stage = Stage::busy();
    stage.types("my draft");
    asked(&mut stage, "k1", "cargo test");
    stage.wait(600).key("ctrl+c");
    assert_eq!(stage.commands(), [Command::Queue(QueueEdit::TakeAll), Command::Abort]);
    assert_eq!(stage.draft(), "my draft");
    stage.wait(300).key("ctrl+c");
    assert!(stage.is_shutting_down());
}

#[test]
fn a_word_that_begins_with_a_key_of_the_panel_is_a_word() {
    for words in ["don't do that", "what for?", "2 spaces please", "3"] {
        let mut stage = armed("cargo test");
        stage.types(words).key("enter");
        let words = (words.len() > 1).then(|| words.to_owned());
        assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words })]);
    }
}

#[test]
fn a_key_of_the_panel_followed_by_a_pause_is_no_word() {
    let mut stage = armed("cargo test");
    stage.key("d");
    assert_eq!(stage.store.approvals.page(), Page::Full);
    stage.wait(2000).types("no").key("enter");
    let words = Some("no".to_owned());
    assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words })]);
}

#[test]
fn tabs_of_a_diff_are_blanks_and_everything_else_hidden_is_written_out() {
    let mut stage = Stage::busy();
    let mut approval = asks("k1", "");
    let lines = vec![DiffLine::Added("\tif\tx {\u{202e}".to_owned())];
    let hunks = vec![Hunk { old_start: 1, new_start: 1, lines }];
    let diff = FileDiff { path: "a.go".into(), created: false, added: 1, removed: 0, hunks };
    approval.preview = Some(Preview::Diff(diff));
    stage.event(Event::ApprovalAsked { approval });
    assert!(stage.text().contains("+     if  x {\\u{202e}\n"), "{}", stage.text());
}

fn diff_question(stage: &mut Stage) {
    let hunk = |line: u32, text: &str| Hunk {
        old_start: line,
        new_start: line,
        lines: vec![
            DiffLine::Context("same".to_owned()),
            DiffLine::Removed(format!("old {text}")),
            DiffLine::Added(format!("new {text}")),
        ],
    };
    let mut approval = asks("k1", "x");
    approval.preview = Some(Preview::Diff(FileDiff {
        path: "src/cart.rs".to_owned(),
        created: false,
        added: 2,
        removed: 2,
        hunks: vec![hunk(10, "one"), hunk(40, "two")],
    }));
    stage.event(Event::ApprovalAsked { approval });
    stage.wait(600);
    stage.taken();
}

/// Places of a change are rejected or rewritten one by one.
#[test]
fn a_change_is_taken_place_by_place() {
    for (columns, rows) in [(40, 24), (80, 24), (200, 24), (40, 10)] {
        let mut stage = Stage::sized(columns, rows);
        stage.run_starts();
        diff_question(&mut stage);
        stage.key("d").key("right").key("x");
        insta::assert_snapshot!(format!("places_{columns}x{rows}"), stage.text());
        stage.key("enter");
        let hunks = vec![HunkChoice::Keep, HunkChoice::Reject];
        assert_eq!(stage.commands(), [answer("k1", Answer::Partly { hunks })]);
    }
}

#[test]
fn a_change_with_every_place_rejected_is_refused() {
    let mut stage = Stage::busy();
    diff_question(&mut stage);
    stage.key("d").key("x").key("right").key("x").key("enter");
    assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words: None })]);
}

#[test]
fn a_place_is_written_anew_in_the_editor() {
    let mut stage = Stage::busy();
    diff_question(&mut stage);
    stage.key("d").key("e");
    let text = stage.taken().iter().find_map(|effect| match effect {
        Effect::Editor(text) => Some(text.clone()),
        _ => None,
    });
    assert_eq!(text.as_deref(), Some("same\nnew one"));
    stage.send(Msg::Edited(Ok("same\nmine".to_owned())));
    assert!(stage.store.composer.is_empty(), "it is no draft");
    stage.key("enter");
    let hunks = vec![HunkChoice::Edit("same\nmine".to_owned()), HunkChoice::Keep];
    assert_eq!(stage.commands(), [answer("k1", Answer::Partly { hunks })]);
}

fn plan_question(stage: &mut Stage) {
    let mut approval = asks("k1", "x");
    let text = "# Plan\n\n1. read the cart\n2. change the sum".to_owned();
    approval.preview = Some(Preview::Plan { text });
    approval.rule = None;
    stage.event(Event::Plan { on: true });
    stage.event(Event::ApprovalAsked { approval });
    stage.wait(600);
    stage.taken();
}

/// Scenario A08: a yes ends the planning before the call goes on; a no takes words along.
#[test]
fn a_plan_is_agreed_to_or_sent_back() {
    let configure = |setting| Command::Configure(setting);
    let mut stage = Stage::busy();
    plan_question(&mut stage);
    insta::assert_snapshot!("plan_question", stage.text());
    stage.key("enter");
    let yes = answer("k1", Answer::Once);
    assert_eq!(stage.commands(), [configure(Setting::Plan(false)), yes.clone()]);
    let mut stage = Stage::busy();
    plan_question(&mut stage);
    stage.key("2").key("enter");
    let edits = configure(Setting::Mode(Mode::AcceptEdits));
    assert_eq!(stage.commands(), [edits, configure(Setting::Plan(false)), yes]);
    let mut stage = Stage::busy();
    plan_question(&mut stage);
    stage.types("smaller steps").key("enter");
    let words = Some("smaller steps".to_owned());
    assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words })]);
}

/// Scenario P14: a question that comes while text streams goes away with Esc.
#[test]
fn a_question_in_the_middle_of_a_stream_leaves_with_escape() {
    let mut stage = armed("cargo test");
    stage.key("esc");
    assert_eq!(stage.commands(), [answer("k1", Answer::Deny { words: None })]);
    assert!(stage.store.approvals.shown().is_none());
    stage.types("x");
    assert_eq!(stage.store.composer.text(), "x");
}
