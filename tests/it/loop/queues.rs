//! Steering, follow-ups and what the user does to them.

use codebot::kernel::agent::Delivery;
use codebot::kernel::command::{Answer, Command, QueueEdit};
use codebot::kernel::event::{EndReason, Event, QueueItem, QueueKind};
use codebot::kernel::message::{CallStatus, Message, Origin};
use codebot::kernel::ports::{Capability, Interrupt, Record};

use super::fake_lab::{Lab, Live, pass};
use super::fake_model::{Act, calls, done, says, text};
use super::fake_ports::Rule;

const SKIPPED: &str = "Skipped due to queued user message.";

fn starts(id: &str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::ToolStart { call, .. } if call.id.as_str() == id)
}

fn queue(live: &Live) -> Vec<QueueItem> {
    live.handle.snapshot().queue
}

/// Scenarios 32, 41, 42, 44, L19.
#[tokio::test(start_paused = true)]
async fn steering_skips_the_calls_that_have_not_started() {
    let list = [("k1", "work", "a"), ("k2", "work", "b"), ("k3", "read", "c")];
    let lab = Lab::new(vec![calls(&list), says("done")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k1")).await;
    pass(10).await;
    live.steer("other way");
    live.end().await;
    assert_eq!(lab.tools.names(), ["work:a"]);
    assert_eq!(
        lab.request_lines(1)[1..],
        [
            "assistant:[k1,k2,k3]".to_owned(),
            "tool:k1=a".to_owned(),
            format!("tool:k2={SKIPPED}"),
            format!("tool:k3={SKIPPED}"),
            "user:other way".to_owned(),
        ]
    );
    assert_eq!(live.results()[1].status, CallStatus::Skipped);
    assert_eq!(live.count(|event| matches!(event, Event::ToolEnd { .. })), 3);
    assert!(queue(&live).is_empty());
}

/// Scenario 45, case G01.
#[tokio::test(start_paused = true)]
async fn steering_lets_some_calls_finish_and_stops_others() {
    let list = [("k1", "finish", "a"), ("k2", "slow", "b"), ("k3", "work", "c")];
    let lab = Lab::new(vec![calls(&list), says("done")]);
    let does = super::fake_tools::Does::Work(2_000);
    lab.tools.put("finish", Capability::Read, true, Interrupt::Finish, does);
    lab.tools.change("slow", |tool| tool.does = super::fake_tools::Does::Work(2_000));
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k2")).await;
    pass(200).await;
    live.steer("hear me");
    live.end().await;
    let results = live.results();
    assert_eq!(results[0].text(), "a");
    assert_eq!(results[1].status, CallStatus::Cancelled);
    assert_eq!(results[1].text(), "Cancelled due to queued user message.");
    assert_eq!(results[2].status, CallStatus::Skipped);
    let told = lab.request_lines(1).iter().filter(|line| *line == "user:hear me").count();
    assert_eq!(told, 1);
}

/// Ruling 2: calls that complete after the steering are skipped too.
#[tokio::test(start_paused = true)]
async fn calls_that_complete_after_the_steering_are_skipped() {
    use super::fake_model::call;
    let script = vec![
        call(0, "k1", "read", "a".into()),
        Act::Wait(100),
        call(1, "k2", "read", "b".into()),
        done(codebot::kernel::message::Stop::ToolUse),
    ];
    let lab = Lab::new(vec![script, says("done")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k1")).await;
    pass(10).await;
    live.steer("no");
    live.end().await;
    assert_eq!(lab.tools.names(), ["read:a"]);
}

/// Scenario 43, L18.
#[tokio::test(start_paused = true)]
async fn a_follow_up_is_used_when_the_run_would_stop() {
    let lab = Lab::new(vec![calls(&[("k1", "slow", "a")]), says("one"), says("two")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k1")).await;
    live.follow_up("and then");
    live.end().await;
    let lines = live.lines();
    assert_eq!(lines[2..], ["tool:k1=a", "assistant:one[]", "user:and then", "assistant:two[]"]);
    assert_eq!(live.count(|event| matches!(event, Event::RunEnd { .. })), 1);
    let Message::User(message) = &live.history()[4] else { panic!() };
    assert_eq!(message.origin, Origin::FollowUp);
}

/// Scenario 46.
#[tokio::test(start_paused = true)]
async fn steering_queued_before_the_run_comes_after_the_prompt() {
    let lab = Lab::new(vec![says("ok")]);
    let mut live = lab.start();
    live.steer("mind the gap");
    live.prompt("go");
    live.end().await;
    assert_eq!(lab.request_lines(0), ["user:go", "user:mind the gap"]);
}

/// Scenario 47, 48.
#[tokio::test(start_paused = true)]
async fn steering_during_the_last_answer_goes_before_follow_ups() {
    let lab = Lab::new(vec![
        vec![text(0, "one"), Act::Wait(50), done(codebot::kernel::message::Stop::EndTurn)],
        says("two"),
        says("three"),
    ]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::MessageDelta { .. })).await;
    live.follow_up("later");
    live.steer("now");
    live.end().await;
    assert_eq!(
        live.lines(),
        [
            "user:go",
            "assistant:one[]",
            "user:now",
            "assistant:two[]",
            "user:later",
            "assistant:three[]",
        ]
    );
}

/// Scenario 49.
#[tokio::test(start_paused = true)]
async fn follow_ups_come_one_a_stop_or_all_together() {
    for (mode, requests) in [(Delivery::One, 4), (Delivery::All, 2)] {
        let mut lab = Lab::with_last(Vec::new(), Some(says("ok")));
        lab.config.follow_mode = mode;
        let mut live = lab.start();
        for text in ["a", "b", "c"] {
            live.follow_up(text);
        }
        live.prompt("go");
        live.end().await;
        assert_eq!(lab.model.requests().len(), requests);
        assert!(queue(&live).is_empty());
    }
}

/// Scenario 49 for steering: the rest waits for the next boundary and skips nothing there.
#[tokio::test(start_paused = true)]
async fn steering_comes_one_a_boundary() {
    let lab = Lab::new(vec![calls(&[("k1", "read", "a")]), says("x"), says("y")]);
    let mut lab = lab;
    lab.config.steer_mode = Delivery::One;
    let mut live = lab.start();
    live.steer("one");
    live.steer("two");
    live.prompt("go");
    live.end().await;
    assert_eq!(lab.request_lines(0), ["user:go", "user:one"]);
    assert_eq!(lab.request_lines(1)[2..], ["assistant:[k1]", "tool:k1=a", "user:two"]);
}

/// Scenario 51.
#[tokio::test(start_paused = true)]
async fn steering_at_the_cap_is_recorded() {
    let mut lab = Lab::new(vec![calls(&[("k1", "work", "a")])]);
    lab.config.max_turns = 1;
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k1")).await;
    live.steer("late");
    live.follow_up("later");
    assert_eq!(live.end().await.reason, EndReason::MaxTurns);
    assert_eq!(live.lines().last().unwrap(), "user:late");
    assert_eq!(queue(&live).len(), 1, "the follow-up stays");
}

/// Scenarios 50, 52: an abort leaves the queues alone.
#[tokio::test(start_paused = true)]
async fn an_abort_does_not_touch_the_queues() {
    let lab = Lab::new(vec![calls(&[("k1", "work", "a")]), says("later")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k1")).await;
    live.follow_up("f");
    live.steer("s");
    live.abort();
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    let texts: Vec<_> = queue(&live).into_iter().map(|item| item.text).collect();
    assert_eq!(texts, ["s", "f"]);
    assert_eq!(lab.model.requests().len(), 1);
}

/// Rule 4: a message whose commit fails stays in its queue.
#[tokio::test(start_paused = true)]
async fn a_message_that_cannot_be_written_stays_queued() {
    let lab = Lab::new(vec![says("one")]);
    lab.journal.refuse(|record| {
        matches!(record, Record::Message { message: Message::User(m) } if m.origin != Origin::Prompt)
    });
    let mut live = lab.start();
    live.follow_up("keep me");
    live.prompt("go");
    assert_eq!(live.end().await.reason, EndReason::Error);
    live.handle.send(Command::Queue(QueueEdit::TakeAll));
    let event = live.until(|event| matches!(event, Event::QueueReturned { .. })).await;
    let Event::QueueReturned { items } = event else { unreachable!() };
    assert_eq!(items[0].text, "keep me");
    assert!(queue(&live).is_empty());
}

/// Scenario 55, case G02, rule 35.
#[tokio::test(start_paused = true)]
async fn text_typed_during_an_approval_never_answers_it() {
    for answer in [Answer::Once, Answer::Deny { words: None }] {
        let lab = Lab::new(vec![calls(&[("k1", "write", "a"), ("k2", "write", "b")]), says("ok")]);
        lab.gate.rule("write", Rule::Ask);
        let mut live = lab.start();
        live.prompt("go");
        live.until(|event| matches!(event, Event::ApprovalAsked { .. })).await;
        live.steer("use B instead");
        pass(1_000).await;
        assert_eq!(queue(&live).len(), 1);
        assert!(lab.tools.ran().is_empty());
        live.answer("k1", answer.clone());
        live.end().await;
        let ran = usize::from(answer == Answer::Once);
        assert_eq!(lab.tools.ran().len(), ran, "the shown call keeps its prompt");
        assert_eq!(live.results()[1].status, CallStatus::Skipped);
        assert_eq!(lab.request_lines(1).last().unwrap(), "user:use B instead");
    }
}

/// Rule 34: each change is told, and edits reach the model.
#[tokio::test(start_paused = true)]
async fn queued_messages_can_be_edited_until_they_are_delivered() {
    let lab = Lab::new(vec![calls(&[("k1", "work", "a")]), says("one"), says("two")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k1")).await;
    live.follow_up("first");
    live.follow_up("second");
    pass(1).await;
    let ids: Vec<_> = queue(&live).into_iter().map(|item| item.id).collect();
    let edit = |edit| live.handle.send(Command::Queue(edit));
    edit(QueueEdit::Edit { id: ids[0].clone(), text: "changed".into() });
    edit(QueueEdit::SetKind { id: ids[1].clone(), kind: QueueKind::Steer });
    live.end().await;
    assert_eq!(lab.request_lines(1).last().unwrap(), "user:second");
    assert_eq!(lab.request_lines(2).last().unwrap(), "user:changed");
    let last = live.log.iter().rev().find(|event| matches!(event, Event::Queue { .. }));
    assert_eq!(last, Some(&Event::Queue { items: Vec::new() }));
}
