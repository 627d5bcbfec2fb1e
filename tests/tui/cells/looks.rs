//! Every kind of cell at 40, 80 and 200 columns.

use codebot::app::service::Level;
use codebot::kernel::event::{Approval, EndReason, Event, Preview, Progress, RunSummary};
use codebot::kernel::message::{CallStatus, Detail, DiffLine, FileDiff, Hunk, Origin, Usage};
use codebot::ui::store::scroll::Scroll;
use codebot::ui::store::transcript::{CellId, Transcript};
use codebot::ui::theme::{Depth, Role, Theme};
use codebot::ui::view::transcript::{TranscriptLayout, draw};
use insta::assert_snapshot;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

use super::{at_widths, begin, call, ended, said, screen, text, thinking, transcript};

fn start(id: &str, name: &str, args: &serde_json::Value, preview: Option<Preview>) -> Event {
    Event::ToolStart { call: call(id, name, args), preview }
}

fn bash(id: &str, command: &str) -> Event {
    start(id, "bash", &json!({ "command": command }), None)
}

fn shell(exit: i32) -> Detail {
    Detail::Shell { exit: Some(exit), elapsed_ms: 2100, bytes: 900 }
}

fn change() -> FileDiff {
    let lines = vec![
        DiffLine::Context("fn greet(name: &str) {".into()),
        DiffLine::Removed("\tprintln!(\"hello {name}\");".into()),
        DiffLine::Added("\tprintln!(\"good morning {name}\");".into()),
        DiffLine::Added("\tlog(name);".into()),
        DiffLine::Context("}".into()),
    ];
    FileDiff {
        path: "src/greet.rs".into(),
        created: false,
        added: 2,
        removed: 1,
        hunks: vec![Hunk { old_start: 3, new_start: 3, lines }],
    }
}

fn sample() -> Transcript {
    transcript(&[
        said("make the tests green", Origin::Prompt),
        begin(),
        thinking("I should look at the tests first.\nThen decide."),
        text(
            "I'll look at the tests.\n\n- first this\n- then that\n\n```rust\nfn main() {}\n```\n",
        ),
        start("1", "read", &json!({ "path": "src/greet.rs" }), None),
        ended(
            "1",
            "read",
            CallStatus::Ok,
            "1\tfn greet",
            Some(Detail::File { lines: 120, total_lines: 480 }),
        ),
        start("2", "grep", &json!({ "pattern": "greet\\(", "path": "src" }), None),
        ended(
            "2",
            "grep",
            CallStatus::Ok,
            "src/a.rs:1",
            Some(Detail::Hits { total: 12, shown: 12 }),
        ),
        bash("3", "cargo test"),
        ended(
            "3",
            "bash",
            CallStatus::Ok,
            "running 3 tests\nok\nok\nok\n\ntest result: ok\n",
            Some(shell(0)),
        ),
        begin(),
        text("All green."),
    ])
}

#[test]
fn a_conversation() {
    assert_snapshot!(at_widths(&sample(), 1000));
}

#[test]
fn words_of_the_user() {
    let shown = transcript(&[
        said(
            "first line of a longer prompt that has to wrap on narrow screens\nsecond line",
            Origin::Prompt,
        ),
        said("use tabs, not spaces, in every file that you touch", Origin::Steer),
        said("then run the tests", Origin::FollowUp),
        said("用中文回答，谢谢。", Origin::Prompt),
    ]);
    assert_snapshot!(at_widths(&shown, 1000));
}

#[test]
fn a_pasted_book_is_folded_until_it_is_opened() {
    let lines = (1..=3000).map(|n| format!("line {n} of a long paste\n")).collect::<Vec<_>>();
    let mut shown = transcript(&[said(&lines.concat(), Origin::Prompt)]);
    assert_snapshot!(screen(&shown, 60, 30, 1000));
    shown.toggle_fold(CellId(0));
    assert!(screen(&shown, 60, 30, 1000).contains("line 3000 of"));
    let line = transcript(&[said(&"x".repeat(5_000_000), Origin::Prompt)]);
    assert_eq!(screen(&line, 60, 30, 1000).lines().count(), 9);
}

#[test]
fn a_running_command_shows_its_tail_and_counter() {
    let tail =
        (1..=20).map(|n| format!("Compiling crate-{n} v0.{n}.0\n")).collect::<Vec<_>>().concat();
    let mut shown = transcript(&[bash("1", "cargo build --all-targets")]);
    let progress = Progress::Output { tail, bytes: 12_345 };
    shown.apply(&Event::ToolProgress { id: "1".into(), progress }, 1000);
    assert_snapshot!(at_widths(&shown, 13_400));
}

#[test]
fn a_finished_command_is_short_until_it_is_opened() {
    let output = (1..=30).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    let command = "for i in $(seq 30)\ndo echo line $i\ndone";
    let preview = Preview::Command { command: command.into(), workdir: "~/x".into() };
    let mut shown = transcript(&[
        start("1", "bash", &json!({ "command": command }), Some(preview)),
        ended("1", "bash", CallStatus::Ok, &output, Some(shell(0))),
    ]);
    assert_snapshot!("command_short", at_widths(&shown, 1000));
    shown.toggle_fold(CellId(0));
    assert_snapshot!("command_open", screen(&shown, 60, 60, 1000));
}

#[test]
fn a_failed_command_stays_open() {
    let lines = (1..=30).map(|n| format!("error at {n}\n")).collect::<Vec<_>>();
    let output = format!("{}exit code 101", lines.concat());
    let shown = transcript(&[
        bash("1", "cargo test"),
        ended("1", "bash", CallStatus::Error, &output, Some(shell(101))),
    ]);
    assert_snapshot!(at_widths(&shown, 1000));
}

#[test]
fn a_change_shows_its_diff() {
    let shown = transcript(&[
        start("1", "edit", &json!({ "path": "src/greet.rs" }), Some(Preview::Diff(change()))),
        ended("1", "edit", CallStatus::Ok, "edited", Some(Detail::Diff(change()))),
        start("2", "write", &json!({ "path": "src/new.rs" }), None),
        ended(
            "2",
            "write",
            CallStatus::Ok,
            "written",
            Some(Detail::Diff(FileDiff {
                created: true,
                added: 40,
                removed: 0,
                hunks: vec![Hunk {
                    old_start: 0,
                    new_start: 1,
                    lines: (1..=40).map(|n| DiffLine::Added(format!("line {n}"))).collect(),
                }],
                ..FileDiff::default()
            })),
        ),
    ]);
    assert_snapshot!(at_widths(&shown, 1000));
}

#[test]
fn calls_that_did_not_run_say_so_in_words() {
    let states = [
        ("1", CallStatus::Denied, "User denied. Not now."),
        ("2", CallStatus::Skipped, "skipped: the user wrote"),
        ("3", CallStatus::Cancelled, "cancelled"),
        ("4", CallStatus::TimedOut, "Error: Timeout: 120 s passed"),
        ("5", CallStatus::Panicked, "Error: Panic: index out of bounds"),
    ];
    let mut shown = Transcript::default();
    for (id, status, words) in states {
        shown.apply(&bash(id, "make deploy"), 1000);
        shown.apply(&ended(id, "bash", status, words, None), 1000);
    }
    let approval = Approval {
        call: call("6", "edit", &json!({ "path": "a.rs" })),
        preview: Some(Preview::Diff(change())),
        reason: "writes ask".into(),
        parts: vec![],
        rule: None,
        danger: false,
    };
    shown.apply(&start("6", "edit", &json!({ "path": "a.rs" }), None), 1000);
    shown.apply(&Event::ApprovalAsked { approval }, 1000);
    assert_snapshot!(at_widths(&shown, 1000));
}

#[test]
fn reasoning_is_one_line_that_opens() {
    let mut shown = transcript(&[
        begin(),
        thinking(
            "**Planning** the work\n\nFirst I read the file, then I change it, then I run the tests.",
        ),
        text("Done."),
    ]);
    let short = at_widths(&shown, 1000);
    shown.toggle_fold(CellId(0));
    assert_snapshot!(format!("{short}── opened\n{}", screen(&shown, 60, 40, 1000)));
    let live = transcript(&[begin(), thinking("one\ntwo three four five six seven eight nine")]);
    assert_snapshot!("reasoning_live", screen(&live, 40, 5, 1000));
}

#[test]
fn notices_retries_and_ends() {
    let mut shown = Transcript::default();
    shown.notice(Level::Info, "branch main, 3 files changed");
    shown.notice(Level::Warning, "no sandbox on this kernel; commands run with your rights");
    let error = "overloaded".to_owned();
    shown.apply(&Event::Retry { attempt: 1, max: 3, delay_ms: 2000, error }, 1000);
    shown.apply(&begin(), 3000);
    shown.apply(&text("ok"), 3000);
    let error = "the service answered 529: overloaded, try again later".to_owned();
    shown.apply(&Event::Retry { attempt: 2, max: 3, delay_ms: 4000, error }, 4000);
    shown.apply(&Event::Error { message: "no key for anthropic; run codebot login".into() }, 5000);
    let summary = RunSummary {
        run: "r".into(),
        reason: EndReason::Stop,
        turns: 3,
        tool_calls: 4,
        tool_errors: 1,
        denied_unasked: 0,
        usage: Usage::default(),
        elapsed_ms: 12_340,
        text: String::new(),
        wrap: None,
        cost: None,
        limit: None,
        error: None,
    };
    let before = at_widths(&shown, 4500);
    shown.apply(&Event::RunEnd { summary }, 6000);
    assert_snapshot!(format!("{before}── after\n{}", screen(&shown, 80, 40, 6000)));
}

#[test]
fn other_tools_show_the_beginning_of_their_result() {
    let shown = transcript(&[
        start("1", "web_fetch", &json!({ "url": "https://example.org/a" }), None),
        ended("1", "web_fetch", CallStatus::Ok, "one\ntwo\nthree\nfour\nfive", None),
    ]);
    assert_snapshot!(at_widths(&shown, 1000));
}

#[test]
fn fills_and_colours_are_where_they_belong() {
    let shown = sample();
    let theme = Theme::named("dark", Depth::True);
    let mut layout = TranscriptLayout::new();
    layout.prepare(&shown, &Scroll::default(), 60, 40, &theme, 1000);
    let area = Rect::new(0, 0, 60, 40);
    let mut buffer = Buffer::empty(area);
    draw(&layout, area, &mut buffer);
    assert_eq!(buffer[(59, 0)].bg, theme.style(Role::UserFill).bg.unwrap());
    assert_eq!(buffer[(0, 0)].fg, theme.style(Role::Prompt).fg.unwrap());
    let code = (0..40).find(|y| buffer[(4, *y)].symbol() == "f" && buffer[(5, *y)].symbol() == "n");
    assert_eq!(buffer[(50, code.unwrap())].bg, theme.style(Role::CodeFill).bg.unwrap());
}

/// case E05
#[test]
fn no_size_panics() {
    let shown = sample();
    let theme = Theme::default();
    let mut layout = TranscriptLayout::new();
    for (width, height) in [(0, 0), (1, 1), (2, 1), (1, 9), (10, 3), (20, 5), (3, 80), (200, 50)] {
        layout.prepare(&shown, &Scroll::default(), width, height, &theme, 1000);
        for area in
            [Rect::new(0, 0, width, height), Rect::new(5, 5, 300, 300), Rect::new(0, 0, 1, 1)]
        {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
            draw(&layout, area, &mut buffer);
            let mut other = Buffer::empty(Rect::new(3, 2, 7, 4));
            draw(&layout, area, &mut other);
        }
    }
}

/// case E12
#[test]
fn hostile_words_reach_no_cell_of_the_screen() {
    let evil = "x\x1b]0;own\x07y\x1b[?1049lz\u{9b}2J\r\x08\0\u{202e}w";
    let mut shown = transcript(&[
        said(evil, Origin::Prompt),
        begin(),
        thinking(evil),
        text(evil),
        start("1", evil, &json!({ "command": evil }), None),
        ended("1", evil, CallStatus::Ok, evil, None),
        Event::Error { message: evil.into() },
        Event::Status { text: evil.into() },
    ]);
    shown.notice(Level::Warning, evil);
    shown.fold_all();
    let seen = screen(&shown, 80, 60, 1000);
    for bad in ["\x1b", "\u{9b}", "\u{202e}", "own", "\r", "\0"] {
        assert!(!seen.contains(bad), "{bad:?} in {seen}");
    }
}
