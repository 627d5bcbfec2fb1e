//! Equal looks are answered once, as long as nothing can have changed.

use codebot::kernel::event::Event;
use codebot::kernel::message::CallStatus;
use codebot::kernel::ports::{Capability, Interrupt};
use serde_json::json;

use super::fake_lab::{Lab, Live};
use super::fake_model::{Script, call, calls, done, says};
use super::fake_tools::Does;
use codebot::kernel::message::Stop;

/// `read` answers from a file in state `one`, `look` from something without a state.
fn lab(scripts: Vec<Script>) -> Lab {
    let lab = Lab::new(scripts);
    lab.tools.put("look", Capability::Read, true, Interrupt::Cancel, Does::Work(50));
    lab.tools.change("look", |tool| tool.cacheable = true);
    lab.tools.change("read", |tool| {
        tool.cacheable = true;
        tool.fingerprint = Some("one".to_owned());
    });
    lab
}

fn read(id: &'static str) -> Script {
    calls(&[(id, "read", "a.txt")])
}

fn cached(live: &Live) -> Vec<bool> {
    live.results().iter().map(|result| result.cached).collect()
}

/// Scenario K01.
#[tokio::test(start_paused = true)]
async fn a_file_read_twice_in_a_chat_is_read_once() {
    let lab = lab(vec![read("k1"), read("k2"), says("done")]);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["read:a.txt"]);
    assert_eq!(cached(&live), [false, true]);
    let results = live.results();
    assert_eq!(results[0].blocks, results[1].blocks);
    assert_ne!(results[0].id, results[1].id);
    assert_eq!(results[1].call_id.as_str(), "k2");
    let ends = live.count(|event| matches!(event, Event::ToolEnd { .. }));
    assert_eq!(ends, 2, "a hit starts and ends like every call");
    assert_eq!(live.summary().tool_calls, 2);
}

/// Scenario K02, K03: whatever has side effects makes older results worthless, and so does a
/// changed file.
#[tokio::test(start_paused = true)]
async fn after_a_change_the_file_is_read_again() {
    let between = [calls(&[("w", "write", "x")]), calls(&[("w", "stop", "x")])];
    for between in between {
        let lab = lab(vec![read("k1"), between, read("k2"), says("done")]);
        let live = lab.run("go").await;
        assert_eq!(cached(&live), [false, false, false]);
    }
}

/// Scenario K03.
#[tokio::test(start_paused = true)]
async fn a_file_in_another_state_is_read_again() {
    let lab = lab(vec![read("k1"), calls(&[("s", "slow", "")]), read("k2"), says("done")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ToolStart { call, .. } if call.name == "slow")).await;
    lab.tools.change("read", |tool| tool.fingerprint = Some("two".to_owned()));
    live.end().await;
    assert_eq!(cached(&live), [false, false, false]);
}

/// Scenario K04.
#[tokio::test(start_paused = true)]
async fn two_equal_looks_of_one_message_share_a_run() {
    let list = [("k1", "look", "x"), ("k2", "look", "x"), ("k3", "look", "y")];
    let lab = lab(vec![calls(&list), says("done")]);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["look:x", "look:y"]);
    assert_eq!(cached(&live), [false, true, false]);
    let ids: Vec<_> = live.results().iter().map(|result| result.call_id.to_string()).collect();
    assert_eq!(ids, ["k1", "k2", "k3"]);
}

#[tokio::test(start_paused = true)]
async fn what_has_no_state_is_not_kept_for_the_next_turn() {
    let look = |id| calls(&[(id, "look", "x")]);
    let lab = lab(vec![look("k1"), look("k2"), says("done")]);
    let live = lab.run("go").await;
    assert_eq!(cached(&live), [false, false]);
}

/// Scenario K05.
#[tokio::test(start_paused = true)]
async fn calls_with_side_effects_always_run() {
    let lab = lab(vec![calls(&[("k1", "write", "x"), ("k2", "write", "x")]), says("done")]);
    lab.tools.change("write", |tool| tool.cacheable = true);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["write:x", "write:x"]);
    assert_eq!(cached(&live), [false, false]);
}

/// Scenario K06, in two turns and in one message.
#[tokio::test(start_paused = true)]
async fn failures_are_never_used_again() {
    let one = |id| calls(&[(id, "read", "x")]);
    let both = calls(&[("k3", "read", "x"), ("k4", "read", "x")]);
    let lab = lab(vec![one("k1"), one("k2"), both, says("done")]);
    lab.tools.change("read", |tool| tool.does = Does::Fail);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.ran().len(), 4);
    assert_eq!(cached(&live), [false; 4]);
}

/// Scenario K07: every message of the user clears the cache.
#[tokio::test(start_paused = true)]
async fn the_next_prompt_finds_an_empty_cache() {
    let lab = lab(vec![read("k1"), says("done"), read("k2"), says("done")]);
    let mut live = lab.run("go").await;
    live.prompt("again");
    live.end().await;
    assert_eq!(cached(&live), [false, false]);
}

/// Scenario K08.
#[tokio::test(start_paused = true)]
async fn the_order_of_the_arguments_does_not_matter() {
    let first = call(0, "k1", "read", json!({"text": "a", "limit": 3}));
    let second = call(1, "k2", "read", json!({"limit": 3, "text": "a"}));
    let lab = lab(vec![vec![first, second, done(Stop::ToolUse)], says("done")]);
    let live = lab.run("go").await;
    assert_eq!(cached(&live), [false, true]);
}

/// One of two callers gives up: the other one still gets its answer.
#[tokio::test(start_paused = true)]
async fn cancelling_the_call_that_runs_leaves_the_one_that_waits_alone() {
    for gone in ["k1", "k2"] {
        let list = [("k1", "look", "x"), ("k2", "look", "x"), ("k3", "slow", "z")];
        let lab = lab(vec![calls(&list), says("done")]);
        let mut live = lab.start();
        live.prompt("go");
        live.until(|event| matches!(event, Event::ToolStart { call, .. } if call.name == "slow"))
            .await;
        let id = gone.into();
        live.handle.send(codebot::kernel::command::Command::CancelCall { id });
        live.end().await;
        for result in live.results() {
            let is_gone = result.call_id.as_str() == gone;
            let wanted = if is_gone { CallStatus::Cancelled } else { CallStatus::Ok };
            assert_eq!(result.status, wanted, "{gone} was cancelled");
        }
    }
}

/// What a dropped answer had found out is forgotten with it.
#[tokio::test(start_paused = true)]
async fn a_discarded_answer_leaves_nothing_in_the_cache() {
    let broken = vec![
        call(0, "k1", "read", "a.txt".into()),
        super::fake_model::Act::Wait(10),
        super::fake_model::fail(codebot::kernel::error::ModelErrorKind::Network),
    ];
    let lab = lab(vec![broken, read("k2"), says("done")]);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["read:a.txt", "read:a.txt"]);
    assert_eq!(cached(&live), [false]);
}
