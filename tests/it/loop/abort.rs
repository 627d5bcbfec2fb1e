//! Aborts: in the stream, in tools, in prompts, in waits.

use codebot::kernel::command::Answer;
use codebot::kernel::error::ModelErrorKind;
use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::message::{CallStatus, Message, Stop};
use codebot::kernel::ports::Record;

use super::fake_lab::{Lab, pass};
use super::fake_model::{Act, call, calls, fail, says, text};
use super::fake_ports::Rule;

fn forever() -> Act {
    Act::Wait(1_000_000)
}

fn starts(id: &str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::ToolStart { call, .. } if call.id.as_str() == id)
}

/// Scenarios 131, 133, L14.
#[tokio::test(start_paused = true)]
async fn an_abort_in_the_text_keeps_it_for_people_only() {
    let lab = Lab::new(vec![vec![text(0, "half a th"), forever()], says("whole")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::MessageDelta { .. })).await;
    live.abort();
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    assert_eq!(live.lines(), ["user:go", "assistant:half a th[]", "note:interrupted"]);
    let Message::Assistant(answer) = &live.history()[1] else { panic!() };
    assert_eq!(answer.stop, Stop::Aborted);
    assert_eq!(live.count(|event| matches!(event, Event::Error { .. })), 0);
    live.prompt("again");
    live.end().await;
    assert_eq!(lab.request_lines(1), ["user:go", "user:again"]);
}

/// An abort before the first word leaves nothing of the answer.
#[tokio::test(start_paused = true)]
async fn an_abort_before_the_first_word_leaves_no_answer() {
    let lab = Lab::new(vec![vec![forever(), text(0, "late")]]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::TurnStart { .. })).await;
    pass(5).await;
    live.abort();
    live.end().await;
    assert_eq!(live.lines(), ["user:go", "note:interrupted"]);
}

/// Scenario 39: reads that ran while the answer streamed are forgotten with it.
#[tokio::test(start_paused = true)]
async fn an_abort_in_the_stream_cancels_running_reads() {
    let script = vec![text(0, "see"), call(1, "k1", "slow", "a".into()), forever()];
    let lab = Lab::new(vec![script]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k1")).await;
    pass(10).await;
    live.abort();
    live.end().await;
    assert!(lab.tools.ran()[0].cancelled);
    assert_eq!(live.lines(), ["user:go", "assistant:see[]", "note:interrupted"]);
    assert!(lab.journal.records().iter().any(|r| matches!(r, Record::Discarded { .. })));
}

/// Ruling 8: after a side effect the answer and its results stay and the model sees them.
#[tokio::test(start_paused = true)]
async fn an_abort_in_the_stream_keeps_what_was_done() {
    let script = vec![
        call(0, "k1", "write", "a".into()),
        call(1, "k2", "stop", "b".into()),
        call(2, "k3", "read", "c".into()),
        forever(),
    ];
    let lab = Lab::new(vec![script, says("ok")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k2")).await;
    pass(10).await;
    live.abort();
    live.end().await;
    live.prompt("again");
    live.end().await;
    assert_eq!(
        lab.request_lines(1),
        [
            "user:go",
            "assistant:[k1,k2,k3]",
            "tool:k1=a",
            "tool:k2=Cancelled by the user.",
            "tool:k3=Cancelled by the user before it started.",
            "user:again",
        ]
    );
}

/// Scenarios 109, 132, case B02.
#[tokio::test(start_paused = true)]
async fn an_abort_during_tools_answers_every_call_in_order() {
    let list = [("k1", "read", "a"), ("k2", "stop", "b"), ("k3", "write", "c")];
    let lab = Lab::new(vec![calls(&list)]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k2")).await;
    pass(10).await;
    live.abort();
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    let told: Vec<_> = live.results().iter().map(|r| (r.call_id.0.clone(), r.status)).collect();
    let cancelled = CallStatus::Cancelled;
    assert_eq!(
        told,
        [("k1".into(), CallStatus::Ok), ("k2".into(), cancelled), ("k3".into(), cancelled)]
    );
    assert_eq!(lab.tools.ran().len(), 2);
}

/// Case G20, B22: the prompt is withdrawn, and a late answer starts nothing.
#[tokio::test(start_paused = true)]
async fn an_abort_withdraws_the_prompt_for_good() {
    let lab = Lab::new(vec![calls(&[("k1", "write", "a")]), says("ok")]);
    lab.gate.rule("write", Rule::Ask);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ApprovalAsked { .. })).await;
    live.abort();
    live.answer("k1", Answer::Once);
    live.end().await;
    live.answer("k1", Answer::Once);
    assert_eq!(live.count(|e| matches!(e, Event::ApprovalClosed { answer: None, .. })), 1);
    assert_eq!(live.results()[0].status, CallStatus::Cancelled);
    live.prompt("next");
    live.end().await;
    assert!(lab.tools.ran().is_empty());
}

/// Scenarios 134, S13, case G05.
#[tokio::test(start_paused = true)]
async fn an_abort_ends_the_wait_before_a_retry_at_once() {
    let lab = Lab::new(vec![vec![fail(ModelErrorKind::Server)]]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::Retry { .. })).await;
    let before = tokio::time::Instant::now();
    live.abort();
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    assert!(before.elapsed().as_millis() < 100);
    assert_eq!(lab.model.requests().len(), 1);
    assert_eq!(live.count(|event| matches!(event, Event::Retry { .. })), 1);
}

/// Ruling 17: what was prompted is in the history even when the abort comes first.
#[tokio::test(start_paused = true)]
async fn an_abort_at_once_keeps_the_prompt() {
    let lab = Lab::new(Vec::new());
    let mut live = lab.start();
    live.prompt("go");
    live.abort();
    live.end().await;
    assert_eq!(live.lines(), ["user:go", "note:interrupted"]);
    assert!(lab.model.requests().is_empty());
}

/// An abort that finds nothing to stop does nothing to the next run.
#[tokio::test(start_paused = true)]
async fn an_abort_while_idle_arms_nothing() {
    let lab = Lab::new(vec![says("ok")]);
    let mut live = lab.start();
    live.abort();
    live.prompt("go");
    assert_eq!(live.end().await.reason, EndReason::Stop);
}

/// An abort while the intent is being written: the call does not start after it.
#[tokio::test(start_paused = true)]
async fn an_abort_during_the_intent_starts_nothing() {
    let lab = Lab::new(vec![calls(&[("k1", "write", "a")])]);
    lab.journal.delay.store(50, std::sync::atomic::Ordering::Relaxed);
    let mut live = lab.start();
    live.prompt("go");
    live.until(starts("k1")).await;
    pass(60).await;
    live.abort();
    live.end().await;
    assert!(lab.tools.ran().is_empty() || live.results()[0].text() == "a");
}
