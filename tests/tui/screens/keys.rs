//! What the keys around the conversation do.

use codebot::app::service::{Request, Update};
use codebot::kernel::command::{Command, Mode, QueueEdit, Setting};
use codebot::kernel::event::{EndReason, Event, QueueKind};
use codebot::kernel::message::Block;
use codebot::ui::store::overlay::Overlay;
use codebot::ui::store::{Effect, Msg};

use super::stage::{Stage, item};

fn prompt(text: &str) -> Command {
    Command::Prompt { blocks: vec![Block::text(text)] }
}

#[test]
fn enter_sends_and_while_busy_it_steers_and_tab_queues() {
    let mut stage = Stage::open();
    stage.types("fix it").key("enter");
    assert_eq!(stage.commands(), [prompt("fix it")]);
    assert_eq!(stage.draft(), "");
    // The run has not begun, but a second prompt would be refused.
    stage.types("use tabs").key("enter");
    let steer = Command::Enqueue { kind: QueueKind::Steer, text: "use tabs".into() };
    assert_eq!(stage.commands(), [steer]);
    stage.run_starts();
    stage.types("then test").key("tab");
    let after = Command::Enqueue { kind: QueueKind::FollowUp, text: "then test".into() };
    assert_eq!(stage.commands(), [after]);
}

#[test]
fn a_blank_prompt_is_not_sent() {
    let mut stage = Stage::open();
    stage.types("   ").key("enter").key("ctrl+j").key("enter");
    assert!(stage.commands().is_empty());
}

#[test]
fn new_lines_are_made_by_four_keys() {
    let mut stage = Stage::open();
    stage.types("a").key("shift+enter").types("b").key("alt+enter").types("c").key("ctrl+j");
    stage.types("d\\").key("enter").types("e");
    assert_eq!(stage.draft(), "a\nb\nc\nd\ne");
    assert!(stage.commands().is_empty());
}

/// Ruling 19.
#[test]
fn escape_stops_the_run_and_the_queue_comes_back_as_entries_of_their_own() {
    let mut stage = Stage::busy();
    stage.key("esc");
    assert_eq!(stage.commands(), [Command::Queue(QueueEdit::TakeAll), Command::Abort]);
    stage.event(Event::QueueReturned {
        items: vec![
            item("q1", QueueKind::Steer, "first"),
            item("q2", QueueKind::FollowUp, "second"),
        ],
    });
    assert_eq!(stage.draft(), "second");
    stage.run_ends(EndReason::Aborted);
    stage.key("up");
    assert_eq!(stage.draft(), "first");
    stage.key("down");
    assert_eq!(stage.draft(), "second");
}

/// Ruling 19.
#[test]
fn a_draft_is_kept_when_the_queue_comes_back() {
    let mut stage = Stage::busy();
    stage.types("my draft").key("esc");
    stage.event(Event::QueueReturned { items: vec![item("q1", QueueKind::Steer, "queued")] });
    assert_eq!(stage.draft(), "my draft");
    stage.run_ends(EndReason::Aborted);
    stage.key("ctrl+u").key("up");
    assert_eq!(stage.draft(), "queued");
}

/// Case G28.
#[test]
fn control_c_clears_then_stops_and_twice_quits() {
    let mut stage = Stage::busy();
    stage.types("draft").key("ctrl+c");
    assert_eq!(stage.draft(), "");
    assert!(stage.commands().is_empty(), "the first one only clears");
    stage.wait(1500).key("ctrl+c");
    assert_eq!(stage.commands(), [Command::Queue(QueueEdit::TakeAll), Command::Abort]);
    stage.wait(1500).key("ctrl+c");
    assert!(!stage.is_shutting_down());
    stage.wait(900).key("ctrl+c");
    assert!(stage.is_shutting_down());
    assert!(stage.text().contains("stopping…"));
}

/// Case G28.
#[test]
fn quitting_has_a_deadline_and_a_third_control_c_kills() {
    let mut stage = Stage::open();
    stage.key("ctrl+c").key("ctrl+c").key("ctrl+c");
    assert!(stage.taken().iter().any(|effect| matches!(effect, Effect::Leave(_))));

    let mut stage = Stage::open();
    stage.key("ctrl+c").key("ctrl+c");
    stage.taken();
    let deadline = stage.store.next_tick().unwrap();
    assert_eq!(deadline, stage.now + 3000);
    stage.wait(3000).send(Msg::Tick);
    assert!(stage.taken().iter().any(|effect| matches!(effect, Effect::Leave(_))));
}

#[test]
fn the_screen_is_left_when_everything_is_closed() {
    let mut stage = Stage::open();
    stage.key("ctrl+d");
    assert!(stage.is_shutting_down());
    stage.news(Update::Closed);
    assert!(matches!(&stage.taken()[..], [Effect::Leave(exit)] if exit.code == 0));
}

#[test]
fn control_d_with_text_deletes_forward() {
    let mut stage = Stage::open();
    stage.types("ab").key("home").key("ctrl+d");
    assert_eq!(stage.draft(), "b");
    assert!(stage.taken().is_empty());
}

#[test]
fn shift_tab_goes_round_the_modes_and_trust_is_confirmed_once() {
    let mut stage = Stage::open();
    let mode = |mode| Command::Configure(Setting::Mode(mode));
    stage.key("shift+tab");
    assert_eq!(stage.commands(), [mode(Mode::AcceptEdits)]);
    stage.event(Event::Mode { mode: Mode::AcceptEdits });
    stage.key("shift+tab");
    assert!(stage.commands().is_empty());
    assert!(matches!(stage.store.overlay, Some(Overlay::Trust { .. })));
    stage.key("enter");
    assert!(stage.commands().is_empty(), "no is the default");
    stage.key("shift+tab");
    assert_eq!(stage.commands(), [mode(Mode::Strict)], "a refused trust is skipped");
    stage.types("/mode trust").key("enter").key("1").key("enter");
    assert_eq!(stage.commands(), [mode(Mode::Trust)]);
    stage.event(Event::Mode { mode: Mode::AcceptEdits });
    stage.key("shift+tab");
    assert_eq!(stage.commands(), [mode(Mode::Trust)], "asked only once");
}

#[test]
fn r_ends_a_retry_wait_only_on_an_empty_composer() {
    let mut stage = Stage::busy();
    stage.key("r");
    assert_eq!(stage.draft(), "r", "nothing waits: it is text");
    stage.key("backspace");
    let retry =
        Event::Retry { attempt: 1, max: 5, delay_ms: 8000, error: "service overloaded".into() };
    stage.event(retry);
    assert!(stage.text().contains("Retry 1/5 in 8 s · r tries now"), "{}", stage.text());
    stage.key("r");
    assert_eq!(stage.commands(), [Command::RetryNow]);
    stage.types("xr");
    assert_eq!(stage.draft(), "xr");
}

#[test]
fn a_question_mark_on_an_empty_composer_shows_the_keys() {
    let mut stage = Stage::open();
    stage.types("really?");
    assert!(stage.store.overlay.is_none());
    stage.key("ctrl+u").key("?");
    assert!(stage.text().contains("Keys and commands"));
    stage.key("esc");
    assert!(stage.store.overlay.is_none());
}

#[test]
fn editor_redraw_and_suspend_are_effects() {
    let mut stage = Stage::open();
    stage.types("long").key("ctrl+g").key("ctrl+l").key("ctrl+z");
    let taken = stage.taken();
    assert!(
        matches!(&taken[..], [Effect::Editor(text), Effect::Redraw, Effect::Suspend] if text == "long"),
        "{taken:?}"
    );
    stage.send(Msg::Edited(Ok("longer\ntext".into())));
    assert_eq!(stage.draft(), "longer\ntext");
    stage.send(Msg::Edited(Err("no editor".into())));
    assert_eq!(stage.draft(), "longer\ntext");
}

#[test]
fn an_idle_screen_needs_no_timer() {
    let mut stage = Stage::open();
    assert_eq!(stage.store.next_tick(), None);
    stage.run_starts();
    assert!(stage.store.next_tick().is_some_and(|at| at <= stage.now + 200));
    stage.run_ends(EndReason::Stop);
    assert_eq!(stage.store.next_tick(), None);
}

/// Case E19.
#[test]
fn an_open_question_needs_no_timer() {
    let mut stage = Stage::busy();
    stage.event(Event::ApprovalAsked { approval: super::stage::asks("k1", "ls") });
    assert_eq!(stage.store.next_tick(), None);
}

#[test]
fn a_refused_prompt_comes_back() {
    let mut stage = Stage::open();
    stage.types("do it").key("enter");
    stage.event(Event::Rejected { reason: "a run is active".into() });
    assert_eq!(stage.draft(), "do it");
    assert!(!stage.store.activity.is_busy());
    assert!(stage.text().contains("a run is active"));
}

#[test]
fn slash_commands_come_from_their_table() {
    let mut stage = Stage::open();
    stage.types("/he");
    assert!(stage.text().contains("keys and commands"), "{}", stage.text());
    stage.key("tab");
    assert_eq!(stage.draft(), "/help");
    stage.key("enter");
    assert!(matches!(stage.store.overlay, Some(Overlay::Text(_))));
    stage.key("esc").types("/hlep x").key("enter");
    assert!(stage.text().contains("did you mean /help"), "{}", stage.text());
    stage.key("ctrl+u").types("/new").key("enter");
    assert!(stage.taken().iter().any(|e| matches!(e, Effect::Request(Request::NewSession))));
    stage.types("/usr/bin is a path").key("enter");
    assert_eq!(stage.commands(), [prompt("/usr/bin is a path")]);
    stage.run_starts();
    stage.types("/new").key("enter");
    assert!(stage.taken().is_empty());
    assert!(stage.text().contains("has to wait for the end of the run"));
    stage.key("ctrl+u").types("/quit").key("enter");
    assert!(stage.is_shutting_down());
}

#[test]
fn the_last_answer_is_copied_as_source() {
    use codebot::kernel::event::Delta;
    let mut stage = Stage::busy();
    stage.event(Event::MessageStart { id: "m1".into() });
    stage.event(Event::MessageDelta { delta: Delta::Text { text: "**bold**".into() } });
    stage.types("/copy").key("enter");
    assert!(matches!(&stage.taken()[..], [Effect::Copy(text)] if text == "**bold**"),);
}

#[test]
fn a_failed_start_leaves_with_its_message_and_code() {
    let mut stage = Stage::starting(80, 24);
    stage.news(Update::Failed(codebot::app::service::Failure {
        message: "cannot read the config".into(),
        exit_code: 2,
    }));
    assert!(matches!(
        &stage.taken()[..],
        [Effect::Leave(exit)] if exit.code == 2 && exit.error.as_deref() == Some("cannot read the config")
    ));
}
