//! Messages that wait, and the panel that edits them.

use codebot::kernel::command::{Command, QueueEdit};
use codebot::kernel::event::{EndReason, Event, QueueKind};

use super::stage::{Stage, item};

fn with_queue() -> Stage {
    let mut stage = Stage::busy();
    stage.event(Event::Queue {
        items: vec![
            item("q1", QueueKind::Steer, "use tabs"),
            item("q2", QueueKind::FollowUp, "run the tests"),
            item("q3", QueueKind::FollowUp, "write the notes"),
        ],
    });
    stage
}

#[test]
fn up_on_an_empty_composer_opens_the_queue_while_busy() {
    let mut stage = with_queue();
    assert!(stage.text().contains("↳ steer \"use tabs\""), "{}", stage.text());
    assert!(stage.text().contains("⤷ after \"run the tests\""), "{}", stage.text());
    stage.key("up");
    assert!(stage.text().contains("Messages that wait"));
}

#[test]
fn items_are_edited_dropped_moved_changed_and_sent_now() {
    let mut stage = with_queue();
    stage.key("up").key("e").types("!").key("enter");
    let edit = QueueEdit::Edit { id: "q1".into(), text: "use tabs!".into() };
    stage.key("down").key("d").key("shift+down").key("tab").key("k").key("s");
    let commands = stage.commands();
    assert_eq!(
        commands,
        [
            edit,
            QueueEdit::Remove { id: "q2".into() },
            QueueEdit::Move { id: "q2".into(), to: 1 },
            QueueEdit::SetKind { id: "q3".into(), kind: QueueKind::Steer },
            QueueEdit::SetKind { id: "q3".into(), kind: QueueKind::Steer },
            QueueEdit::SetKind { id: "q3".into(), kind: QueueKind::Steer },
            QueueEdit::Move { id: "q3".into(), to: 0 },
        ]
        .map(Command::Queue)
    );
    stage.key("esc");
    assert!(stage.store.overlay.is_none());
}

#[test]
fn the_panel_survives_items_that_are_delivered_meanwhile() {
    let mut stage = with_queue();
    stage.key("up").key("down").key("down");
    stage.event(Event::Queue { items: vec![item("q1", QueueKind::Steer, "use tabs")] });
    stage.key("d");
    assert_eq!(stage.commands(), [Command::Queue(QueueEdit::Remove { id: "q1".into() })]);
    stage.event(Event::Queue { items: Vec::new() });
    stage.key("d");
    assert!(stage.store.overlay.is_none());
}

#[test]
fn words_sent_into_the_end_of_a_run_are_delivered_at_once() {
    let mut stage = Stage::busy();
    stage.types("one more thing").key("enter");
    stage.taken();
    stage.run_ends(EndReason::Stop);
    stage.event(Event::Queue { items: vec![item("q1", QueueKind::Steer, "one more thing")] });
    assert_eq!(stage.commands(), [Command::Continue]);
}

#[test]
fn a_queue_that_a_run_left_behind_waits_for_enter() {
    let mut stage = with_queue();
    stage.taken();
    stage.run_ends(EndReason::Stop);
    stage.event(Event::Queue { items: vec![item("q2", QueueKind::FollowUp, "run the tests")] });
    assert!(stage.commands().is_empty());
    stage.key("enter");
    assert_eq!(stage.commands(), [Command::Continue]);
}

#[test]
fn words_typed_while_a_run_stops_become_the_next_prompt() {
    let mut stage = Stage::busy();
    stage.key("esc").types("do that instead").key("enter");
    stage.taken();
    stage.run_ends(EndReason::Aborted);
    assert!(matches!(&stage.commands()[..], [Command::Prompt { .. }]));
}
