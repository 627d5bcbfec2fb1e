//! One call's way: checks, gate, approval, run, result.

use std::sync::atomic::Ordering;

use codebot::kernel::command::{Answer, Command};
use codebot::kernel::error::ToolError;
use codebot::kernel::event::{Event, Preview};
use codebot::kernel::message::{Block, CallStatus};
use codebot::kernel::ports::{Capability, Interrupt, Record};
use serde_json::{Map, json};

use super::fake_lab::{Lab, pass};
use super::fake_model::{Script, calls, says};
use super::fake_ports::Rule;
use super::fake_tools::Does;

fn write_and_done() -> Vec<Script> {
    vec![calls(&[("k1", "write", "a")]), says("done")]
}

fn asked(event: &Event) -> bool {
    matches!(event, Event::ApprovalAsked { .. })
}

/// Scenarios L07, 195: the user's words reach the model.
#[tokio::test(start_paused = true)]
async fn a_denial_carries_the_words_of_the_user() {
    let words = |text: &str| Answer::Deny { words: Some(text.to_owned()) };
    for (answer, told) in [
        (Answer::Deny { words: None }, "User denied."),
        (words("  "), "User denied."),
        (words("use the other file"), "User denied. use the other file"),
    ] {
        let lab = Lab::new(write_and_done());
        lab.gate.rule("write", Rule::Ask);
        let mut live = lab.start();
        live.prompt("go");
        live.until(asked).await;
        live.answer("k1", answer);
        live.end().await;
        assert_eq!(live.results()[0].text(), told);
        assert_eq!(live.results()[0].status, CallStatus::Denied);
        assert!(lab.tools.ran().is_empty());
        assert_eq!(*lab.gate.recorded.lock().unwrap(), [("k1".into(), false, "user".into())]);
        assert_eq!(live.summary().denied_unasked, 0);
    }
}

/// Scenarios 77, 79, 80: refusals and failures of the gate are denials; that no decision comes
/// back cannot even be written.
#[tokio::test(start_paused = true)]
async fn what_the_gate_does_not_allow_is_denied() {
    for (rule, told) in [
        (Rule::Deny("outside of the workspace"), "User denied. Reason: outside of the workspace"),
        (Rule::Fail, "User denied. Reason: the rules can't be read"),
    ] {
        let one = || calls(&[("k1", "write", "a")]);
        let lab = Lab::new(vec![one(), one(), one(), says("done")]);
        lab.gate.rule("write", rule);
        let live = lab.run("go").await;
        assert_eq!(lab.gate.asked.load(Ordering::Relaxed), 3);
        assert!(lab.tools.ran().is_empty());
        assert!(live.results().iter().all(|result| result.text() == told));
        assert_eq!(live.summary().tool_errors, 3);
    }
}

/// Scenario L08: ask means deny when nobody is there, and that is told.
#[tokio::test(start_paused = true)]
async fn without_anybody_to_ask_the_call_is_denied_and_counted() {
    let mut lab = Lab::new(write_and_done());
    lab.gate.rule("write", Rule::Ask);
    lab.config.interactive = false;
    let live = lab.run("go").await;
    assert_eq!(live.count(asked), 1);
    assert_eq!(live.summary().denied_unasked, 1);
    assert!(live.results()[0].text().starts_with("User denied. Reason: nobody could be asked"));
}

#[tokio::test(start_paused = true)]
async fn always_saves_the_rule_and_runs() {
    for (rule, saved) in [(Rule::Ask, 1), (Rule::AskOnce, 0)] {
        let lab = Lab::new(write_and_done());
        lab.gate.rule("write", rule);
        let mut live = lab.start();
        live.prompt("go");
        live.until(asked).await;
        live.answer("k1", Answer::Always);
        live.end().await;
        assert_eq!(lab.gate.remembered.lock().unwrap().len(), saved);
        assert_eq!(lab.tools.names(), ["write:a"]);
    }
}

/// Scenario 200: one prompt at a time, in order, and only the right id answers it.
#[tokio::test(start_paused = true)]
async fn prompts_come_one_after_the_other() {
    let list = [("k1", "write", "a"), ("k2", "write", "b"), ("k3", "read", "c")];
    let lab = Lab::new(vec![calls(&list), says("done")]);
    lab.gate.rule("write", Rule::Ask);
    let mut live = lab.start();
    live.prompt("go");
    live.until(asked).await;
    live.answer("k2", Answer::Once);
    live.answer("k3", Answer::Once);
    pass(1_000).await;
    assert!(lab.tools.ran().is_empty(), "an answer to another call is ignored");
    live.answer("k1", Answer::Once);
    live.until(asked).await;
    assert_eq!(lab.tools.names(), ["write:a"], "the second prompt sees the first one's outcome");
    live.answer("k2", Answer::Deny { words: None });
    live.answer("k2", Answer::Once);
    live.end().await;
    assert_eq!(lab.tools.names(), ["write:a", "read:c"]);
}

/// Scenario 78.
#[tokio::test(start_paused = true)]
async fn rewritten_arguments_run_and_history_keeps_the_models_own() {
    let lab = Lab::new(write_and_done());
    lab.gate.rule("write", Rule::Rewrite(Map::from_iter([("text".into(), json!("safe"))])));
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["write:safe"]);
    let codebot::kernel::message::Message::Assistant(answer) = &live.history()[1] else { panic!() };
    assert_eq!(answer.calls().next().unwrap().args["text"], "a");
    let intent = lab.journal.records().into_iter().find_map(|record| match record {
        Record::Intent { call, turn, index, .. } => Some((call.args["text"].clone(), turn, index)),
        _ => None,
    });
    assert_eq!(intent, Some((json!("safe"), 1, 0)));
}

/// Scenarios 81, 83.
#[tokio::test(start_paused = true)]
async fn arguments_against_the_schema_stop_before_preview_and_gate() {
    let lab = Lab::new(write_and_done());
    lab.tools.change("write", |tool| tool.required = vec!["path"]);
    let live = lab.run("go").await;
    let text = live.results()[0].text();
    assert_eq!(text, "Error: InvalidArguments: missing: [\"path\"]");
    assert!(!lab.trace.all().iter().any(|what| what.starts_with("preview")));
    assert_eq!(lab.gate.asked.load(Ordering::Relaxed), 0);
}

/// Scenario 84.
#[tokio::test(start_paused = true)]
async fn a_failed_preview_is_the_result() {
    let lab = Lab::new(write_and_done());
    lab.tools.change("write", |tool| {
        tool.preview = Err(ToolError::new("NotFound", "write: no such file"));
    });
    let live = lab.run("go").await;
    assert_eq!(live.results()[0].text(), "Error: NotFound: write: no such file");
    assert!(lab.tools.ran().is_empty());
}

/// Scenario 85, 88: preview with the start, progress in between, nothing after the end.
#[tokio::test(start_paused = true)]
async fn progress_after_the_end_is_dropped() {
    let lab = Lab::new(vec![calls(&[("k1", "write", "a"), ("k2", "slow", "b")]), says("done")]);
    let command = Preview::Command { command: "make".into(), workdir: ".".into() };
    lab.tools.change("write", |tool| {
        tool.does = Does::Report;
        tool.preview = Ok(Some(command.clone()));
    });
    let live = lab.run("go").await;
    assert_eq!(live.count(|event| matches!(event, Event::ToolProgress { .. })), 1);
    let start = live.log.iter().find(|event| matches!(event, Event::ToolStart { .. }));
    assert!(matches!(start, Some(Event::ToolStart { preview: Some(p), .. }) if *p == command));
}

/// Scenarios L04, L05: failures are told with their kind; nothing stays nothing in history.
#[tokio::test(start_paused = true)]
async fn results_are_kept_as_they_are() {
    let lab = Lab::new(vec![calls(&[("k1", "fail", ""), ("k2", "mute", "")]), says("done")]);
    let mute = Does::Answer(Vec::new());
    lab.tools.put("mute", Capability::Read, true, Interrupt::Finish, mute);
    let live = lab.run("go").await;
    assert_eq!(live.results()[0].text(), "Error: Io: the disk is on fire");
    assert_eq!(live.results()[0].status, CallStatus::Error);
    assert_eq!(live.results()[1].blocks, Vec::<Block>::new());
    assert_eq!(lab.request_lines(1).last().unwrap(), "tool:k2=(no output)");
}

#[tokio::test(start_paused = true)]
async fn one_call_can_be_cancelled_and_the_others_go_on() {
    let list = [("k1", "slow", "a"), ("k2", "slow", "b"), ("k3", "write", "c")];
    let lab = Lab::new(vec![calls(&list), says("done")]);
    lab.gate.rule("write", Rule::Ask);
    let mut live = lab.start();
    live.prompt("go");
    live.until(asked).await;
    live.handle.send(Command::CancelCall { id: "k1".into() });
    live.handle.send(Command::CancelCall { id: "k3".into() });
    live.end().await;
    let told: Vec<_> = live.results().iter().map(|r| (r.status, r.text())).collect();
    assert_eq!(told[0], (CallStatus::Cancelled, "Cancelled by the user.".into()));
    assert_eq!(told[1], (CallStatus::Ok, "b".into()));
    assert_eq!(told[2].0, CallStatus::Cancelled);
    assert_eq!(live.summary().text, "done");
}
