//! Ends that are judged: the stop guard, tools that end a run, calls that must run alone.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codebot::kernel::agent::ToolStart;
use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::message::{AssistantMessage, CallStatus};
use codebot::kernel::ports::{
    Capability, Interrupt, StopGuard, StopTrigger, StopVerdict, Stopping,
};
use futures_util::future::BoxFuture;
use serde_json::json;

use super::fake_lab::{Lab, pass};
use super::fake_model::{Act, call, calls, done, fail, says};
use super::fake_ports::Rule;
use super::fake_tools::Does;

/// Gives these verdicts, then allows; notes what it was asked.
#[derive(Debug, Default)]
struct Judge {
    verdicts: Mutex<VecDeque<StopVerdict>>,
    endless: Option<StopVerdict>,
    asked: Mutex<Vec<(u32, String, StopTrigger)>>,
    /// Milliseconds of thought.
    thinks: u64,
}

impl StopGuard for Judge {
    fn judge<'a>(&'a self, stop: Stopping<'a>) -> BoxFuture<'a, StopVerdict> {
        let text = stop.answer.map(AssistantMessage::text).unwrap_or_default();
        self.asked.lock().unwrap().push((stop.turn, text, stop.trigger));
        let next = self.verdicts.lock().unwrap().pop_front();
        let verdict = next.or_else(|| self.endless.clone()).unwrap_or(StopVerdict::Allow);
        let thought = Duration::from_millis(self.thinks);
        Box::pin(async move {
            tokio::time::sleep(thought).await;
            verdict
        })
    }
}

fn inject(text: &str) -> StopVerdict {
    StopVerdict::Inject(text.to_owned())
}

fn guarded(lab: &mut Lab, judge: Judge) -> Arc<Judge> {
    let judge = Arc::new(judge);
    lab.guard = Some(judge.clone());
    judge
}

fn with(verdicts: &[StopVerdict]) -> Judge {
    Judge { verdicts: Mutex::new(verdicts.iter().cloned().collect()), ..Judge::default() }
}

/// Scenarios 116, L20.
#[tokio::test(start_paused = true)]
async fn a_veto_with_words_lets_the_run_go_on() {
    let mut lab = Lab::new(vec![says("done?"), says("done!")]);
    let judge = guarded(&mut lab, with(&[inject("the tests fail")]));
    let live = lab.run("go").await;
    let expected = ["user:go", "assistant:done?[]", "user:the tests fail", "assistant:done![]"];
    assert_eq!(live.lines(), expected);
    let asked = judge.asked.lock().unwrap().clone();
    assert_eq!(asked[0], (1, "done?".to_owned(), StopTrigger::EndTurn));
    assert_eq!(asked[1].0, 2);
    assert_eq!(live.summary().reason, EndReason::Stop);
}

/// Scenarios 118, L20, case G26.
#[tokio::test(start_paused = true)]
async fn a_veto_without_words_is_no_veto() {
    let mut lab = Lab::new(vec![says("done")]);
    guarded(&mut lab, with(&[inject(" \n")]));
    assert_eq!(lab.run("go").await.summary().reason, EndReason::Stop);
}

/// Scenarios 119, 122, L20.
#[tokio::test(start_paused = true)]
async fn an_escalation_ends_the_run_with_its_error() {
    let mut lab = Lab::new(vec![says("done")]);
    guarded(&mut lab, with(&[StopVerdict::Escalate("the build is broken".into())]));
    let summary = lab.run("go").await.summary();
    assert_eq!(summary.reason, EndReason::Error);
    assert_eq!(summary.error.unwrap().message, "the build is broken");
}

/// Scenario 123, case G26: five messages in one chat, whatever the guard wants.
#[tokio::test(start_paused = true)]
async fn a_guard_that_always_objects_is_bounded() {
    let mut lab = Lab::with_last(Vec::new(), Some(says("done")));
    let judge = Judge { endless: Some(inject("again")), ..Judge::default() };
    let judge = guarded(&mut lab, judge);
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Stop);
    assert_eq!(lab.model.requests().len(), 6);
    assert_eq!(judge.asked.lock().unwrap().len(), 5);
    let mut lab = Lab::with_last(Vec::new(), Some(says("done")));
    lab.config.max_turns = 2;
    guarded(&mut lab, Judge { endless: Some(inject("again")), ..Judge::default() });
    assert_eq!(lab.run("go").await.summary().reason, EndReason::MaxTurns);
}

/// Scenarios 120, L10.
#[tokio::test(start_paused = true)]
async fn the_guard_is_asked_about_normal_stops_only() {
    let endless = Lab::with_last(Vec::new(), Some(calls(&[("k", "read", "a")])));
    let broken = Lab::new(vec![vec![fail(codebot::kernel::error::ModelErrorKind::Auth)]]);
    let stopped =
        Lab::new(vec![vec![Act::Wait(500), done(codebot::kernel::message::Stop::EndTurn)]]);
    for (mut lab, reason) in
        [(endless, EndReason::MaxTurns), (broken, EndReason::Error), (stopped, EndReason::Aborted)]
    {
        lab.config.max_turns = 3;
        let judge = guarded(&mut lab, Judge::default());
        let mut live = lab.start();
        live.prompt("go");
        if reason == EndReason::Aborted {
            pass(50).await;
            live.abort();
        }
        assert_eq!(live.end().await.reason, reason);
        assert!(judge.asked.lock().unwrap().is_empty());
    }
}

/// Scenario 117: what the user wrote while the guard was thinking comes after the guard's words.
#[tokio::test(start_paused = true)]
async fn the_words_of_the_guard_come_before_steering_of_that_turn() {
    let mut lab = Lab::new(vec![calls(&[("k1", "read", "a")]), says("ok")]);
    lab.config.stop_after = vec!["read".into()];
    let judge = Judge { thinks: 100, ..with(&[inject("not yet")]) };
    let judge = guarded(&mut lab, judge);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::TurnEnd { .. })).await;
    pass(50).await;
    live.steer("and hurry");
    live.end().await;
    assert_eq!(live.lines()[3..5], ["user:not yet", "user:and hurry"]);
    assert_eq!(judge.asked.lock().unwrap()[0].2, StopTrigger::AfterTool);
}

/// Scenario 122: what the guard said is kept even when the run is stopped right after.
#[tokio::test(start_paused = true)]
async fn words_of_the_guard_are_kept_through_an_abort() {
    let mut lab = Lab::new(vec![says("done"), vec![Act::Wait(5_000)]]);
    guarded(&mut lab, with(&[inject("not yet")]));
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::TurnEnd { .. })).await;
    live.abort();
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    assert!(live.lines().contains(&"user:not yet".to_owned()) || lab.model.requests().len() == 1);
}

/// A guard that panics ends the run with an error, not the program.
#[tokio::test(start_paused = true)]
async fn a_panic_of_the_guard_is_an_error_of_the_run() {
    #[derive(Debug)]
    struct Broken;
    impl StopGuard for Broken {
        fn judge<'a>(&'a self, _stop: Stopping<'a>) -> BoxFuture<'a, StopVerdict> {
            panic!("the guard panicked")
        }
    }
    let mut lab = Lab::new(vec![says("done")]);
    lab.guard = Some(Arc::new(Broken));
    assert_eq!(lab.run("go").await.summary().reason, EndReason::Error);
}

/// Scenario 113.
#[tokio::test(start_paused = true)]
async fn a_tool_by_name_ends_the_run() {
    let mut lab = Lab::new(vec![calls(&[("k1", "write", "a"), ("k2", "read", "b")])]);
    lab.config.stop_after = vec!["write".into()];
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Stop);
    assert_eq!((lab.model.requests().len(), live.results().len()), (1, 2));
}

/// Scenario 114.
#[tokio::test(start_paused = true)]
async fn a_result_that_says_so_ends_the_run() {
    let lab = Lab::new(vec![
        calls(&[("k1", "commit", "not ready")]),
        calls(&[("k2", "commit", "ready")]),
    ]);
    let does = Does::StopOn("ready");
    lab.tools.put("commit", Capability::Write, false, Interrupt::Finish, does);
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Stop);
    assert_eq!(lab.model.requests().len(), 2);
}

/// Scenario 115, case G26.
#[tokio::test(start_paused = true)]
async fn a_tool_that_failed_or_was_denied_ends_nothing() {
    let mut lab = Lab::new(vec![
        calls(&[("k1", "fail", "a")]),
        calls(&[("k2", "write", "a")]),
        says("tried"),
    ]);
    lab.gate.rule("write", Rule::Deny("no"));
    lab.config.stop_after = vec!["fail".into(), "write".into()];
    let live = lab.run("go").await;
    assert_eq!(lab.model.requests().len(), 3);
    assert_eq!(live.summary().text, "tried");
}

/// Scenarios 121, 54.
#[tokio::test(start_paused = true)]
async fn what_waits_goes_before_the_end_by_a_tool() {
    for steered in [true, false] {
        let mut lab = Lab::new(vec![calls(&[("k1", "work", "a")]), says("more")]);
        lab.config.stop_after = vec!["work".into()];
        let judge = guarded(&mut lab, Judge::default());
        let mut live = lab.start();
        live.prompt("go");
        live.until(|event| matches!(event, Event::ToolStart { .. })).await;
        if steered {
            live.steer("and this");
        } else {
            live.follow_up("and this");
        }
        live.end().await;
        assert_eq!(live.lines()[2..], ["tool:k1=a", "user:and this", "assistant:more[]"]);
        assert_eq!(judge.asked.lock().unwrap().len(), 1, "only at the real end");
    }
}

fn make_exclusive(lab: &Lab, name: &str) {
    lab.tools.put(name, Capability::Internal, false, Interrupt::Finish, Does::Echo);
    lab.tools.change(name, |tool| tool.traits = tool.traits.exclusive());
}

/// Scenarios 33, 34.
#[tokio::test(start_paused = true)]
async fn an_exclusive_call_runs_alone() {
    for start in [ToolStart::Stream, ToolStart::ReadOnly, ToolStart::AfterMessage] {
        let script = vec![
            call(0, "k1", "ask", json!({"text": "which?"})),
            Act::Wait(40),
            call(1, "k2", "write", json!({"text": "b"})),
            done(codebot::kernel::message::Stop::ToolUse),
        ];
        let mut lab = Lab::new(vec![script, says("ok")]);
        lab.config.start = start;
        make_exclusive(&lab, "ask");
        let live = lab.run("go").await;
        assert_eq!(lab.tools.names(), ["ask:which?"]);
        let skipped = &live.results()[1];
        assert_eq!(skipped.status, CallStatus::Skipped);
        assert!(skipped.text().contains("exclusive"), "{}", skipped.text());
    }
}

/// Scenarios 33, 34: calls before it that have started keep their result, others do not start.
#[tokio::test(start_paused = true)]
async fn calls_before_an_exclusive_one_end_first_or_are_skipped() {
    let script = calls(&[("k1", "work", "a"), ("k2", "write", "b"), ("k3", "ask", "c")]);
    let mut scripted = script;
    scripted.insert(1, Act::Wait(10));
    let lab = Lab::new(vec![scripted, says("ok")]);
    make_exclusive(&lab, "ask");
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["work:a", "ask:c"]);
    let ran = lab.tools.ran();
    assert!(ran[0].to.unwrap() <= ran[1].from);
    let status: Vec<_> = live.results().iter().map(|result| result.status).collect();
    assert_eq!(status, [CallStatus::Ok, CallStatus::Skipped, CallStatus::Ok]);
}

/// Scenario 35.
#[tokio::test(start_paused = true)]
async fn of_two_exclusive_calls_the_first_runs() {
    let lab = Lab::new(vec![calls(&[("k1", "ask", "a"), ("k2", "plan", "b")]), says("ok")]);
    make_exclusive(&lab, "ask");
    make_exclusive(&lab, "plan");
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["ask:a"]);
    assert_eq!(live.results()[1].status, CallStatus::Skipped);
}

/// Scenarios 27, S08.
#[tokio::test(start_paused = true)]
async fn with_idempotent_tools_a_broken_answer_is_asked_for_again() {
    let broken = vec![call(0, "k1", "stop", json!({"text": "first"})), Act::Wait(20), Act::Cut];
    let again = calls(&[("k2", "write", "second")]);
    let mut lab = Lab::new(vec![broken, again, says("done")]);
    lab.config.idempotent = true;
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["stop:first", "write:second"]);
    assert!(lab.tools.ran()[0].cancelled);
    assert_eq!(live.lines(), ["user:go", "assistant:[k2]", "tool:k2=second", "assistant:done[]"]);
    let end = live.place(|event| matches!(event, Event::ToolEnd { .. }));
    let retry = live.place(|event| matches!(event, Event::Retry { .. }));
    assert!(end < retry);
}
