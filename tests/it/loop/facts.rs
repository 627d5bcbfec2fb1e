//! Promises that hold in every run, each looked at by itself.

use std::sync::atomic::Ordering;

use codebot::kernel::error::ModelErrorKind;
use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::message::{Block, CallStatus, Message, Stop};
use serde_json::json;

use super::fake_lab::{Lab, pass};
use super::fake_model::{Act, call, calls, done, fail, says, text, usage};

/// Scenario 9: the checker of the grammar runs over every test; here over everything at once.
#[tokio::test(start_paused = true)]
async fn the_events_of_a_long_run_follow_the_grammar() {
    let broken = vec![usage(1, 1), text(0, "half"), Act::Cut];
    let mut lab = Lab::new(vec![
        calls(&[("k1", "read", "a"), ("k2", "slow", "b"), ("k3", "write", "c")]),
        broken,
        calls(&[("k4", "fail", "a"), ("k5", "nobody", "b")]),
        says("one"),
        says("two"),
    ]);
    lab.config.monitor = true;
    let mut live = lab.start();
    live.follow_up("and then");
    live.prompt("go");
    live.end().await;
    let count = |fits: fn(&Event) -> bool| live.count(fits);
    assert_eq!(count(|event| matches!(event, Event::ToolStart { .. })), 5);
    assert_eq!(count(|event| matches!(event, Event::ToolEnd { .. })), 5);
    assert_eq!(count(|event| matches!(event, Event::TurnStart { .. })), 4);
    assert!(matches!(live.log.last(), Some(Event::RunEnd { .. })));
}

/// Scenario 14.
#[tokio::test(start_paused = true)]
async fn two_messages_before_a_run_are_in_its_first_request_in_order() {
    let lab = Lab::new(vec![says("ok")]);
    let mut live = lab.start();
    live.prompt("one");
    live.steer("two");
    live.end().await;
    assert_eq!(lab.request_lines(0), ["user:one", "user:two"]);
}

/// Scenario 18.
#[tokio::test(start_paused = true)]
async fn time_never_runs_backwards_in_a_history() {
    let lab = Lab::new(vec![
        calls(&[("k1", "slow", "a"), ("k2", "read", "b")]),
        vec![Act::Wait(30), text(0, "done"), done(Stop::EndTurn)],
    ]);
    let live = lab.run("go").await;
    let times: Vec<_> = live.history().iter().map(Message::at).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(times.first() < times.last());
}

/// Scenario 19: what a reader does with an event changes nothing here.
#[tokio::test(start_paused = true)]
async fn an_event_belongs_to_its_reader() {
    let lab = Lab::new(vec![says("one"), says("two")]);
    let mut live = lab.start();
    live.prompt("go");
    let mut event = live.until(|event| matches!(event, Event::MessageEnd { .. })).await;
    if let Event::MessageEnd { message: Message::User(message) } = &mut event {
        message.blocks = vec![Block::text("something else")];
    }
    live.end().await;
    assert_eq!(live.lines()[0], "user:go");
    assert_eq!(lab.request_lines(0), ["user:go"]);
}

/// Scenario 53: what was said while the context was made smaller is in the very next request.
#[tokio::test(start_paused = true)]
async fn steering_during_a_recovery_is_in_the_next_request() {
    let lab = Lab::new(vec![vec![fail(ModelErrorKind::Overflow)], says("ok")]);
    lab.context.recoveries.store(1, Ordering::Relaxed);
    lab.context.delay.store(1000, Ordering::Relaxed);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::Retry { .. })).await;
    pass(100).await;
    live.steer("be brief");
    live.end().await;
    assert_eq!(lab.request_lines(1), ["user:go", "user:be brief"]);
}

/// Scenario 82.
#[tokio::test(start_paused = true)]
async fn valid_arguments_are_checked_and_the_call_runs_once() {
    let lab = Lab::new(vec![calls(&[("k1", "write", "a")]), says("ok")]);
    lab.tools.change("write", |tool| tool.required = vec!["text"]);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["write:a"]);
    assert_eq!(live.results()[0].status, CallStatus::Ok);
}

/// Scenario 94: a tool without arguments gets none, however they were written.
#[tokio::test(start_paused = true)]
async fn a_call_without_arguments_runs() {
    let script = vec![call(0, "k1", "read", json!({})), done(Stop::ToolUse)];
    let lab = Lab::new(vec![script, says("ok")]);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["read:"]);
    assert_eq!(live.results()[0].status, CallStatus::Ok);
}

/// Scenario 130: who ends a run silently leaves no mark; scenario 131 is the other way.
#[tokio::test(start_paused = true)]
async fn a_silent_end_leaves_no_mark() {
    let lab = Lab::new(vec![vec![Act::Wait(5_000)], vec![Act::Wait(5_000)]]);
    let mut live = lab.start();
    live.prompt("one");
    live.until(|event| matches!(event, Event::TurnStart { .. })).await;
    drop(live.handle.hold().await);
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    assert_eq!(live.lines(), ["user:one"]);
    live.prompt("two");
    live.until(|event| matches!(event, Event::TurnStart { .. })).await;
    live.abort();
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    assert_eq!(live.lines()[1..], ["user:two", "note:interrupted"]);
}

/// Scenario 101: a call that an abort kept from starting has its start, end and result too.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_cancelled_before_its_start_is_told_like_any_other() {
    let lab = Lab::new(vec![calls(&[("k1", "work", "a"), ("k2", "work", "b")])]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ToolStart { .. })).await;
    live.abort();
    live.end().await;
    let started = |id: &str| {
        live.count(|e| matches!(e, Event::ToolStart { call, .. } if call.id.as_str() == id))
    };
    let ended = |wanted: &str| {
        live.count(|e| matches!(e, Event::ToolEnd { id, .. } if id.as_str() == wanted))
    };
    assert_eq!((started("k2"), ended("k2")), (1, 1));
    assert_eq!(live.results()[1].status, CallStatus::Cancelled);
    assert_eq!(lab.tools.names(), ["work:a"]);
}
