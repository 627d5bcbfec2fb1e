//! Which calls run beside each other, and in what order results come.

use std::time::Duration;

use codebot::kernel::event::Event;
use codebot::kernel::message::{CallStatus, ToolMessage};
use codebot::kernel::ports::{Capability, Interrupt};

use super::fake_lab::Lab;
use super::fake_model::{Act, call, calls, done, says};
use super::fake_tools::Does;

/// Scenarios 105, 106.
#[tokio::test(start_paused = true)]
async fn no_more_calls_than_the_limit_run_at_a_time() {
    let list = [("k1", "slow", "a"), ("k2", "slow", "b"), ("k3", "slow", "c"), ("k4", "slow", "d")];
    for limit in [1, 2, 4] {
        let mut lab = Lab::new(vec![calls(&list), says("done")]);
        lab.config.max_tool_concurrency = limit;
        let live = lab.run("go").await;
        assert_eq!(lab.tools.peak(), limit);
        let texts: Vec<_> = live.results().iter().map(ToolMessage::text).collect();
        assert_eq!(texts, ["a", "b", "c", "d"]);
    }
}

/// Scenarios 107, S03.
#[tokio::test(start_paused = true)]
async fn a_write_runs_alone_and_nothing_overtakes_it() {
    let list = [("k1", "slow", "a"), ("k2", "slow", "b"), ("k3", "work", "c"), ("k4", "slow", "d")];
    let lab = Lab::new(vec![calls(&list), says("done")]);
    lab.run("go").await;
    let ran = lab.tools.ran();
    assert_eq!(ran[0].from, ran[1].from);
    assert!(ran[2].from >= ran[0].to.unwrap().max(ran[1].to.unwrap()));
    assert!(ran[3].from >= ran[2].to.unwrap());
}

/// Scenario 108: what may run side by side is a fact of its own.
#[tokio::test(start_paused = true)]
async fn a_read_that_must_run_alone_does() {
    let lab = Lab::new(vec![calls(&[("k1", "alone", "a"), ("k2", "slow", "b")]), says("done")]);
    lab.run("go").await;
    assert_eq!(lab.tools.peak(), 1);
    assert_eq!(lab.tools.names(), ["alone:a", "slow:b"]);
}

/// Scenarios 110, L03.
#[tokio::test(start_paused = true)]
async fn a_fast_call_ends_first_and_is_committed_in_its_place() {
    let list = [("k1", "read", "a"), ("k2", "slow", "b"), ("k3", "read", "c")];
    let lab = Lab::new(vec![calls(&list), says("done")]);
    let live = lab.run("go").await;
    let ends: Vec<_> = live
        .log
        .iter()
        .filter_map(|event| match event {
            Event::ToolEnd { id, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ends, ["k1", "k3", "k2"]);
    let ids: Vec<_> = live.results().iter().map(|result| result.call_id.0.clone()).collect();
    assert_eq!(ids, ["k1", "k2", "k3"]);
}

/// Case G24: unsafe calls alone and in order, so that a later look sees what they did; results
/// in call order, after the answer.
#[tokio::test(start_paused = true)]
async fn calls_that_arrive_one_by_one_keep_their_order() {
    let list = ["slow", "slow", "work", "slow", "work"];
    let mut script = Vec::new();
    for (index, tool) in list.into_iter().enumerate() {
        script.push(call(index, &format!("k{index}"), tool, index.to_string().into()));
        script.push(Act::Wait(100));
    }
    script.push(done(codebot::kernel::message::Stop::ToolUse));
    let mut lab = Lab::new(vec![script, says("done")]);
    lab.config.max_tool_concurrency = 2;
    let live = lab.run("go").await;
    let ran = lab.tools.ran();
    assert_eq!(ran.len(), 5);
    let order: Vec<String> = live.results().iter().map(ToolMessage::text).collect();
    assert_eq!(order, ["0", "1", "2", "3", "4"]);
    let trace = lab.trace.all();
    let place = |what: &str| trace.iter().position(|other| other == what).unwrap();
    assert!(place("run k0") < place("commit assistant"), "it started while the model talked");
    assert!(place("commit assistant") < place("commit k0"));
    for (at, this) in ran.iter().enumerate() {
        let alone = this.tool == "work";
        for other in ran[..at].iter().filter(|other| alone || other.tool == "work") {
            assert!(this.from >= other.to.unwrap(), "{this:?} beside {other:?}");
        }
    }
    assert!(lab.tools.peak() <= 2);
}

/// Scenario 111.
#[tokio::test(start_paused = true)]
async fn a_time_limit_of_a_tool_is_its_own_result() {
    let lab = Lab::new(vec![calls(&[("k1", "late", "a")]), says("done")]);
    lab.tools.put("late", Capability::Read, true, Interrupt::Cancel, Does::TimeOut);
    let live = lab.run("go").await;
    assert_eq!(live.results()[0].status, CallStatus::TimedOut);
    assert_eq!(live.summary().text, "done");
}

/// Scenario 112.
#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_its_cancellation_is_left_behind() {
    let lab = Lab::new(vec![calls(&[("k1", "deaf", "a")]), says("done")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ToolStart { .. })).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    let before = tokio::time::Instant::now();
    live.abort();
    live.end().await;
    let took = before.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(3), "{took:?}");
    let text = live.results()[0].text();
    assert!(text.contains("did not stop within 2 s"), "{text}");
    assert!(text.contains("may still be running"), "{text}");
}

/// The same when steering is what stops it: the run goes on.
#[tokio::test(start_paused = true)]
async fn a_deaf_tool_does_not_hold_up_steering() {
    let lab = Lab::new(vec![calls(&[("k1", "deaf", "a")]), says("done")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ToolStart { .. })).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    live.steer("stop that");
    assert_eq!(live.end().await.text, "done");
}

/// What a call is about to do is worked out when everything before it is done.
#[tokio::test(start_paused = true)]
async fn a_call_is_previewed_after_the_one_before_it_has_ended() {
    let lab = Lab::new(vec![calls(&[("k1", "work", "a"), ("k2", "work", "b")]), says("done")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ToolStart { .. })).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(lab.trace.all().contains(&"run k1".to_owned()));
    assert!(!lab.trace.all().contains(&"preview k2".to_owned()));
    live.end().await;
    assert_eq!(lab.tools.names(), ["work:a", "work:b"]);
}
