//! The agent for other parts of the program: inject, hold, reset, replace.

use codebot::kernel::agent::{Injected, Refused};
use codebot::kernel::command::{Command, QueueEdit};
use codebot::kernel::event::{EndReason, Event, QueueKind};
use codebot::kernel::message::{Message, Stop};
use codebot::kernel::ports::Record;

use super::fake_lab::{Lab, Live, pass};
use super::fake_model::{Act, Script, calls, done, fail, says, text};

fn slow(words: &str) -> Script {
    vec![Act::Wait(1000), text(0, words), done(Stop::EndTurn)]
}

async fn begun(live: &mut Live) {
    live.until(|event| matches!(event, Event::TurnStart { .. })).await;
}

/// Scenario 56.
#[tokio::test(start_paused = true)]
async fn a_message_injected_into_a_live_run_steers_it() {
    let lab = Lab::new(vec![slow("one"), says("two")]);
    let mut live = lab.start();
    live.prompt("go");
    begun(&mut live).await;
    assert_eq!(live.handle.inject("look there").await, Ok(Injected::Steered));
    live.end().await;
    assert_eq!(live.lines()[2..], ["user:look there", "assistant:two[]"]);
}

/// Scenario 57.
#[tokio::test(start_paused = true)]
async fn a_message_injected_after_an_answer_starts_a_run() {
    let lab = Lab::new(vec![says("one"), says("two")]);
    let mut live = lab.run("initial").await;
    assert_eq!(live.handle.inject("reminder").await, Ok(Injected::Resumed));
    live.end().await;
    let expected = ["user:initial", "assistant:one[]", "user:reminder", "assistant:two[]"];
    assert_eq!(live.lines(), expected);
}

/// Scenario 58.
#[tokio::test(start_paused = true)]
async fn a_message_injected_behind_an_open_question_waits() {
    let lab = Lab::new(vec![vec![fail(codebot::kernel::error::ModelErrorKind::Auth)]]);
    let live = lab.run("go").await;
    assert_eq!(live.handle.inject("more").await, Ok(Injected::Queued));
    pass(100).await;
    let snapshot = live.handle.snapshot();
    assert_eq!((snapshot.busy, snapshot.queue.len()), (false, 1));
}

/// Scenario 59.
#[tokio::test(start_paused = true)]
async fn an_empty_message_is_refused() {
    let live = Lab::new(Vec::new()).start();
    assert_eq!(live.handle.inject(" \n").await, Err(Refused::Empty));
}

/// Scenario 60.
#[tokio::test(start_paused = true)]
async fn two_injected_at_once_both_arrive_once() {
    let lab = Lab::with_last(vec![says("one")], Some(says("ok")));
    let mut live = lab.run("go").await;
    let (a, b) = (live.handle.clone(), live.handle.clone());
    let (first, second) = tokio::join!(a.inject("a"), b.inject("b"));
    assert_eq!((first, second), (Ok(Injected::Resumed), Ok(Injected::Steered)));
    live.end().await;
    let lines = live.lines();
    for words in ["user:a", "user:b"] {
        assert_eq!(lines.iter().filter(|line| *line == words).count(), 1);
    }
}

/// Scenario 61.
#[tokio::test(start_paused = true)]
async fn a_run_started_at_the_end_of_another_is_its_own() {
    let lab =
        Lab::new(vec![says("one"), vec![Act::Wait(200), text(0, "two"), done(Stop::EndTurn)]]);
    let mut live = lab.run("first").await;
    live.prompt("second");
    assert_eq!(live.end().await.reason, EndReason::Stop);
}

/// Scenarios 62, 73, 74.
#[tokio::test(start_paused = true)]
async fn holders_end_the_run_without_a_trace() {
    let lab = Lab::new(vec![slow("never")]);
    let mut live = lab.start();
    live.abort();
    live.prompt("go");
    begun(&mut live).await;
    let (a, b) = (live.handle.clone(), live.handle.clone());
    let holds = tokio::join!(a.hold(), b.hold());
    assert!(!live.handle.snapshot().busy);
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    assert_eq!(live.lines(), ["user:go"]);
    drop(holds);
}

/// Scenarios 63, 66.
#[tokio::test(start_paused = true)]
async fn nothing_starts_while_the_agent_is_held() {
    let lab = Lab::new(vec![says("one"), says("two")]);
    let mut live = lab.run("go").await;
    let hold = live.handle.hold().await;
    live.prompt("no");
    live.handle.send(Command::Continue);
    for _ in 0..2 {
        let refused = live.until(|event| matches!(event, Event::Rejected { .. })).await;
        assert!(matches!(refused, Event::Rejected { reason } if reason.contains("held")));
    }
    assert_eq!(live.handle.inject("no").await, Err(Refused::Held));
    assert!(live.handle.snapshot().queue.is_empty());
    live.steer("kept");
    pass(10).await;
    assert_eq!(live.handle.snapshot().queue.len(), 1);
    drop(hold);
    live.handle.send(Command::Continue);
    live.end().await;
    assert_eq!(live.lines()[2..], ["user:kept", "assistant:two[]"]);
}

/// Scenario 64.
#[tokio::test(start_paused = true)]
async fn every_holder_must_let_go() {
    let lab = Lab::new(vec![says("one")]);
    let mut live = lab.start();
    let (first, second) = (live.handle.hold().await, live.handle.hold().await);
    drop(first);
    live.prompt("no");
    live.until(|event| matches!(event, Event::Rejected { .. })).await;
    drop(second);
    live.prompt("go");
    assert_eq!(live.end().await.reason, EndReason::Stop);
}

/// Scenario 65.
#[tokio::test(start_paused = true)]
async fn a_listener_that_goes_on_at_the_end_is_refused_not_stuck() {
    let lab = Lab::new(vec![slow("never")]);
    let mut live = lab.start();
    live.prompt("go");
    begun(&mut live).await;
    let handle = live.handle.clone();
    let holder = tokio::spawn(async move { handle.hold().await });
    live.end().await;
    live.handle.send(Command::Continue);
    live.until(|event| matches!(event, Event::Rejected { .. })).await;
    let _hold = holder.await.unwrap();
}

/// Scenario 67.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_agent_never_runs() {
    let lab = Lab::with_last(Vec::new(), Some(says("ok")));
    let mut live = lab.start();
    let prompter = live.handle.clone();
    let spinning = tokio::spawn(async move {
        loop {
            prompter.send(Command::Prompt {
                blocks: vec![codebot::kernel::message::Block::text("go")],
            });
            tokio::task::yield_now().await;
            while prompter.snapshot().busy {
                tokio::task::yield_now().await;
            }
        }
    });
    let drained = tokio::spawn(async move { while live.events.recv().await.is_some() {} });
    let handle = live.handle.clone();
    for _ in 0..20 {
        let hold = handle.hold().await;
        for _ in 0..50 {
            assert!(!handle.snapshot().busy);
            tokio::task::yield_now().await;
        }
        drop(hold);
        tokio::task::yield_now().await;
    }
    spinning.abort();
    drained.abort();
}

/// Scenario 68.
#[tokio::test(start_paused = true)]
async fn an_idle_agent_is_held_at_once() {
    let lab = Lab::new(vec![says("one")]);
    let live = lab.start();
    drop(live.handle.hold().await);
    let live = lab.run("go").await;
    drop(live.handle.hold().await);
    assert_eq!(live.lines().len(), 2);
}

/// Scenario 69.
#[tokio::test(start_paused = true)]
async fn a_reset_forgets_everything() {
    let lab = Lab::new(vec![slow("never"), says("fresh")]);
    let mut live = lab.start();
    live.prompt("old");
    begun(&mut live).await;
    live.follow_up("old too");
    let handle = live.handle.clone();
    let (summary, ()) = tokio::join!(live.end(), async move { handle.reset().await });
    assert_eq!(summary.reason, EndReason::Aborted);
    assert!(live.history().is_empty() && live.handle.snapshot().queue.is_empty());
    live.prompt("new");
    live.end().await;
    assert_eq!(live.lines(), ["user:new", "assistant:fresh[]"]);
}

/// Scenario 70.
#[tokio::test(start_paused = true)]
async fn a_conversation_is_replaced_only_between_runs() {
    let lab = Lab::new(vec![slow("one"), says("two")]);
    let mut live = lab.start();
    live.prompt("go");
    begun(&mut live).await;
    assert_eq!(live.handle.replace(Vec::<Message>::new()), Err(Refused::Busy));
    live.end().await;
    let other = live.history();
    assert_eq!(live.handle.replace(other[..1].to_vec()), Ok(()));
    assert_eq!(live.lines(), ["user:go"]);
}

/// Scenario 71.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_message_is_never_queued() {
    let lab = Lab::with_last(Vec::new(), Some(says("ok")));
    let mut live = lab.start();
    let drained = tokio::spawn(async move { while live.events.recv().await.is_some() {} });
    let holder = live.handle.clone();
    let churn = tokio::spawn(async move {
        for _ in 0..200 {
            drop(holder.hold().await);
            tokio::task::yield_now().await;
        }
    });
    let mut refused = Vec::new();
    for number in 0..50 {
        let words = format!("message {number}");
        if live.handle.inject(words.clone()).await == Err(Refused::Held) {
            refused.push(words);
        }
        tokio::task::yield_now().await;
    }
    churn.await.unwrap();
    let snapshot = live.handle.snapshot();
    assert!(snapshot.queue.iter().all(|item| !refused.contains(&item.text)));
    drained.abort();
}

/// Scenario 72.
#[tokio::test(start_paused = true)]
async fn a_follow_up_survives_a_hold() {
    let lab = Lab::new(vec![slow("never"), says("two")]);
    let mut live = lab.start();
    live.prompt("go");
    begun(&mut live).await;
    live.follow_up("later");
    pass(10).await;
    let hold = live.handle.hold().await;
    drop(hold);
    live.end().await;
    live.handle.send(Command::Continue);
    live.end().await;
    assert!(
        live.lines().contains(&"user:later".to_owned()) || live.handle.snapshot().has_follow_ups()
    );
}

/// Scenario 75.
#[tokio::test(start_paused = true)]
async fn follow_ups_and_steering_are_told_apart() {
    let live = Lab::new(Vec::new()).start();
    live.steer("s");
    pass(1).await;
    assert!(!live.handle.snapshot().has_follow_ups());
    live.follow_up("f");
    pass(1).await;
    assert!(live.handle.snapshot().has_follow_ups());
    live.handle.send(Command::Queue(QueueEdit::Clear { kind: QueueKind::FollowUp }));
    pass(1).await;
    let queue = live.handle.snapshot().queue;
    assert_eq!((queue.len(), queue[0].text.as_str()), (1, "s"));
}

/// Scenario 76.
#[tokio::test(start_paused = true)]
async fn nothing_is_under_way_any_more_when_the_error_is_told() {
    let broken = || vec![text(0, "half an answer"), Act::Wait(10), Act::Cut];
    let mut lab = Lab::new(vec![broken()]);
    lab.config.max_retries = 0;
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::MessageDelta { .. })).await;
    assert_eq!(live.handle.snapshot().partial, "half an answer");
    live.until(|event| matches!(event, Event::Error { .. })).await;
    assert_eq!(live.handle.snapshot().partial, "");
    live.end().await;
}

/// What the journal refused is written first when it takes words again.
#[tokio::test(start_paused = true)]
async fn what_a_full_disk_refused_is_saved_first_later() {
    let lab = Lab::new(vec![calls(&[("k1", "write", "a"), ("k2", "read", "b")]), says("two")]);
    lab.journal.refuse(|r| matches!(r, Record::Message { message: Message::Tool(_) }));
    let mut live = lab.start();
    live.prompt("one");
    assert_eq!(live.end_unpaired().await.reason, EndReason::Error);
    assert_eq!(live.lines(), ["user:one", "assistant:[k1,k2]"]);
    live.prompt("still full");
    assert_eq!(live.end_unpaired().await.reason, EndReason::Error);
    lab.journal.refuse(|_| false);
    live.prompt("space again");
    live.end().await;
    let lines = live.lines();
    assert_eq!(lines[2], "tool:k1=a");
    assert!(lines[3].starts_with("tool:k2="), "{lines:?}");
    assert_eq!(lines[4..], ["user:space again", "assistant:two[]"]);
    assert_eq!(lab.journal.messages(), live.history());
    assert_eq!(lab.tools.names()[0], "write:a");
}

/// An answer that had begun to act is not forgotten either.
#[tokio::test(start_paused = true)]
async fn an_answer_that_could_not_be_saved_is_saved_later_with_its_results() {
    let script = vec![
        super::fake_model::call(0, "k1", "write", serde_json::json!("a")),
        Act::Wait(10),
        done(Stop::ToolUse),
    ];
    let lab = Lab::new(vec![script, says("two")]);
    lab.journal.refuse(|r| matches!(r, Record::Message { message: Message::Assistant(_) }));
    let mut live = lab.start();
    live.prompt("one");
    assert_eq!(live.end().await.reason, EndReason::Error);
    assert_eq!(live.lines(), ["user:one"]);
    lab.journal.refuse(|_| false);
    live.prompt("again");
    live.end().await;
    let expected = ["user:one", "assistant:[k1]", "tool:k1=a", "user:again", "assistant:two[]"];
    assert_eq!(live.lines(), expected);
}

/// What was learned in one conversation is not held against the next.
#[tokio::test(start_paused = true)]
async fn a_reset_forgets_results_and_failures_too() {
    let failing = || calls(&[("k1", "fail", "a"), ("k2", "read", "a.txt")]);
    let mut lab = Lab::new(vec![failing(), says("one"), failing(), says("two")]);
    lab.config.breaker_limit = 1;
    lab.tools.change("read", |tool| {
        tool.cacheable = true;
        tool.fingerprint = Some("one".to_owned());
    });
    let mut live = lab.run("go").await;
    live.handle.reset().await;
    // Without words of the user nothing else clears what is known.
    assert_eq!(live.handle.inject("go on").await, Ok(Injected::Queued));
    live.handle.send(Command::Continue);
    live.end().await;
    let results = live.results();
    assert!(results[0].text().contains("on fire"), "{}", results[0].text());
    assert!(!results[1].cached);
}
