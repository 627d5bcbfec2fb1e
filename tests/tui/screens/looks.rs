//! How the screens look at 40, 80 and 200 columns.

use codebot::app::service::{Level, Update};
use codebot::kernel::event::{Approval, Event, Preview, Purpose, QueueKind};
use codebot::kernel::message::{DiffLine, FileDiff, Hunk, Usage};
use codebot::ui::store::Msg;
use insta::assert_snapshot;

use super::stage::{Stage, asks, call, item};
use super::starting::offers;

const WIDTHS: [u16; 3] = [40, 80, 200];

fn looks(name: &str, rows: u16, prepare: impl Fn(&mut Stage)) {
    for columns in WIDTHS {
        let mut stage = Stage::sized(columns, rows);
        prepare(&mut stage);
        assert_snapshot!(format!("{name}_{columns}"), stage.text());
    }
}

fn busy(stage: &mut Stage) {
    stage.news(Update::Branch(Some("main".into())));
    stage.run_starts();
    let usage = Usage { input: 3100, output: 412, cache_read: 9800, cache_write: 0 };
    stage.event(Event::Usage { purpose: Purpose::Main, usage, cost: Some(0.018_42) });
    stage.send(Msg::Notice(Level::Info, "a line of the conversation".into()));
    stage.wait(12_200).send(Msg::Tick);
}

#[test]
fn the_welcome_card() {
    looks("welcome", 14, |_| {});
}

#[test]
fn a_run_with_a_draft() {
    looks("running", 12, |stage| {
        busy(stage);
        stage.types("and use tabs please");
    });
}

#[test]
fn a_queue_line_and_its_panel() {
    let fill = |stage: &mut Stage| {
        busy(stage);
        stage.event(Event::Queue {
            items: vec![
                item("q1", QueueKind::Steer, "use tabs"),
                item("q2", QueueKind::FollowUp, "then run the tests"),
            ],
        });
    };
    looks("queue_line", 12, fill);
    looks("queue_panel", 14, |stage| {
        fill(stage);
        stage.key("up");
    });
}

#[test]
fn a_command_that_asks() {
    looks("approval_command", 20, |stage| {
        busy(stage);
        let approval = asks("k1", "cargo test --workspace && git push");
        stage.event(Event::ApprovalAsked { approval });
    });
}

#[test]
fn a_diff_that_asks() {
    let lines = |n: u32| {
        vec![
            DiffLine::Context(format!("fn number_{n}() {{")),
            DiffLine::Removed("    let rate = 0.17;".into()),
            DiffLine::Added("    let rate = 0.19;".into()),
            DiffLine::Context("}".into()),
        ]
    };
    let diff = FileDiff {
        path: "src/price.rs".into(),
        created: false,
        added: 6,
        removed: 6,
        hunks: (0..6)
            .map(|n| Hunk { old_start: 10 * n + 1, new_start: 10 * n + 1, lines: lines(n) })
            .collect(),
    };
    looks("approval_diff", 24, |stage| {
        busy(stage);
        stage.event(Event::ApprovalAsked {
            approval: Approval {
                call: call("k1", "edit"),
                preview: Some(Preview::Diff(diff.clone())),
                reason: "edits ask in balanced mode".into(),
                parts: vec!["src/price.rs".into()],
                rule: Some("edit(src/**)".into()),
                danger: false,
            },
        });
    });
}

#[test]
fn a_refusal_being_written() {
    looks("refusal", 20, |stage| {
        busy(stage);
        stage.event(Event::ApprovalAsked { approval: asks("k1", "make") });
        stage.wait(600).types("use cargo, not make");
    });
}

#[test]
fn the_set_up_panel() {
    looks("setup", 18, |stage| stage.news(Update::Setup(offers())));
}

#[test]
fn the_help_panel() {
    looks("help", 30, |stage| {
        stage.key("?");
    });
}

#[test]
fn the_menu_of_commands() {
    looks("menu", 16, |stage| {
        stage.types("/");
    });
}

#[test]
fn the_question_before_trust() {
    looks("trust", 14, |stage| {
        stage.types("/mode trust").key("enter");
    });
}

#[test]
fn a_low_and_narrow_screen() {
    for (columns, rows) in [(40, 10), (20, 5)] {
        let mut stage = Stage::sized(columns, rows);
        busy(&mut stage);
        stage.types("hello");
        assert_snapshot!(format!("narrow_{columns}x{rows}"), stage.text());
    }
}

#[test]
fn the_demo_says_so_in_the_footer() {
    let mut stage = Stage::starting(80, 12);
    let ready = codebot::app::service::Ready { demo: true, ..super::stage::ready() };
    stage.news(Update::Ready(Box::new(ready)));
    assert!(stage.text().contains("demo · scripted"), "{}", stage.text());
}
