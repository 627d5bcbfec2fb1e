//! Tools that only fail are refused until the user writes.

use std::sync::atomic::Ordering;

use codebot::kernel::command::Command;
use codebot::kernel::event::Event;
use codebot::kernel::message::CallStatus;
use codebot::kernel::ports::{Capability, Interrupt};

use super::fake_lab::{Lab, Live};
use super::fake_model::{Script, calls, says};
use super::fake_ports::Rule;
use super::fake_tools::Does;

fn failing(id: &'static str) -> Script {
    calls(&[(id, "fail", "x")])
}

/// So many turns of one failing call each, and then a word.
fn turns(count: usize) -> Vec<Script> {
    let mut scripts: Vec<Script> = (0..count).map(|_| failing("k")).collect();
    scripts.push(says("done"));
    scripts
}

fn refused(live: &Live) -> usize {
    live.results().iter().filter(|result| result.text().contains("is disabled after")).count()
}

fn fails(lab: &Lab) -> usize {
    lab.tools.names().iter().filter(|name| name.starts_with("fail")).count()
}

async fn again(live: &mut Live, words: &str) {
    live.prompt(words);
    live.end().await;
}

/// Scenario 96.
#[tokio::test(start_paused = true)]
async fn a_tool_that_always_fails_runs_only_as_often_as_the_limit_says() {
    for limit in [2, 3] {
        let mut lab = Lab::new(turns(5));
        lab.config.breaker_limit = limit;
        let live = lab.run("go").await;
        assert_eq!(lab.tools.ran().len(), limit as usize);
        assert_eq!(refused(&live), 5 - limit as usize);
        let last = live.results().pop().unwrap();
        assert_eq!(last.status, CallStatus::Error);
        let told = format!("Error: Disabled: fail is disabled after {limit} consecutive errors");
        assert!(last.text().starts_with(&told), "{}", last.text());
        let gate_asked = lab.gate.asked.load(Ordering::Relaxed);
        assert_eq!(gate_asked, u64::from(limit), "nobody is asked about a refused call");
    }
}

/// Scenario 97.
#[tokio::test(start_paused = true)]
async fn a_success_between_failures_starts_the_count_anew() {
    let lab = Lab::new(vec![
        calls(&[("k1", "flip", "x")]),
        calls(&[("k2", "flip", "x")]),
        says("half"),
        calls(&[("k3", "flip", "x")]),
        says("better"),
        calls(&[("k4", "flip", "x")]),
        calls(&[("k5", "flip", "x")]),
        says("done"),
    ]);
    lab.tools.put("flip", Capability::Read, true, Interrupt::Finish, Does::Fail);
    let mut live = lab.run("go").await;
    lab.tools.change("flip", |tool| tool.does = Does::Echo);
    again(&mut live, "now it works").await;
    lab.tools.change("flip", |tool| tool.does = Does::Fail);
    again(&mut live, "and not any more").await;
    assert_eq!(lab.tools.ran().len(), 5);
    assert_eq!(refused(&live), 0);
}

/// Scenario 98: a batch counts once.
#[tokio::test(start_paused = true)]
async fn five_failures_in_one_turn_count_once() {
    let batch = || {
        calls(&[
            ("a", "fail", "1"),
            ("b", "fail", "2"),
            ("c", "fail", "3"),
            ("d", "fail", "4"),
            ("e", "fail", "5"),
        ])
    };
    let lab = Lab::new(vec![batch(), batch(), batch(), batch(), says("done")]);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.ran().len(), 15);
    assert_eq!(refused(&live), 5);
}

/// Scenario 99.
#[tokio::test(start_paused = true)]
async fn one_success_in_the_turn_outweighs_a_failure_of_the_same_tool() {
    let mixed = || calls(&[("a", "strict", ""), ("b", "strict", "x")]);
    let mut lab = Lab::new(vec![mixed(), mixed(), mixed(), says("done")]);
    lab.config.breaker_limit = 2;
    lab.tools.put("strict", Capability::Read, true, Interrupt::Finish, Does::EchoOrFail);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.ran().len(), 6);
    assert_eq!(refused(&live), 0);
}

/// Scenario 100: one trial after a message of the user; failure refuses again, and there is no
/// second trial in the same batch.
#[tokio::test(start_paused = true)]
async fn the_user_opens_one_trial() {
    let mut scripts = turns(4);
    scripts.extend([
        calls(&[("t1", "fail", "1"), ("t2", "fail", "2")]),
        failing("t3"),
        says("still broken"),
    ]);
    let lab = Lab::new(scripts);
    let mut live = lab.run("go").await;
    assert_eq!(lab.tools.ran().len(), 3);
    again(&mut live, "try once more").await;
    assert_eq!(lab.tools.ran().len(), 4, "the trial");
    assert_eq!(refused(&live), 3);
}

/// Scenario 100: a trial that works opens the tool again.
#[tokio::test(start_paused = true)]
async fn a_good_trial_closes_the_breaker() {
    let mut scripts = turns(3);
    scripts.extend([failing("t1"), failing("t2"), says("works")]);
    let lab = Lab::new(scripts);
    let mut live = lab.run("go").await;
    lab.tools.change("fail", |tool| tool.does = Does::Echo);
    again(&mut live, "it is repaired").await;
    assert_eq!(lab.tools.ran().len(), 5);
    assert_eq!(refused(&live), 0);
}

/// Ruling on user-written messages: going on without words is no reason for a trial, steering is.
#[tokio::test(start_paused = true)]
async fn going_on_without_words_opens_no_trial_and_steering_does() {
    let mut scripts = turns(3);
    // The cap ends the run with results that wait for an answer.
    scripts.truncate(3);
    scripts.extend([failing("t1"), calls(&[("w", "slow", "x")]), failing("t2"), says("end")]);
    let mut lab = Lab::new(scripts);
    lab.config.max_turns = 3;
    let mut live = lab.run("go").await;
    live.handle.send(Command::Continue);
    live.until(|event| matches!(event, Event::ToolStart { call, .. } if call.name == "slow")).await;
    assert_eq!(fails(&lab), 3, "t1 was refused");
    live.steer("try it again");
    live.end().await;
    assert_eq!(refused(&live), 1);
    assert_eq!(fails(&lab), 4, "t2 ran");
}

/// Scenario 77: denials never count.
#[tokio::test(start_paused = true)]
async fn denied_calls_do_not_open_the_breaker() {
    let mut lab = Lab::new(turns(4));
    lab.config.breaker_limit = 1;
    lab.gate.rule("fail", Rule::Deny("no"));
    let live = lab.run("go").await;
    assert_eq!(lab.gate.asked.load(Ordering::Relaxed), 4);
    assert_eq!(refused(&live), 0);
}

/// A denied trial is still to come.
#[tokio::test(start_paused = true)]
async fn a_trial_that_was_denied_is_not_used_up() {
    let mut scripts = turns(3);
    scripts.extend([failing("t1"), failing("t2"), failing("t3"), says("done")]);
    let lab = Lab::new(scripts);
    let mut live = lab.run("go").await;
    lab.gate.rule("fail", Rule::Deny("no"));
    again(&mut live, "once more").await;
    assert_eq!(lab.gate.asked.load(Ordering::Relaxed), 6, "each of the three is judged");
    assert_eq!(refused(&live), 0);
}

/// Unknown tools are told as unknown for ever.
#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_exist_is_never_called_disabled() {
    let unknown = || calls(&[("k", "nope", "x")]);
    let mut lab = Lab::new(vec![unknown(), unknown(), unknown(), says("done")]);
    lab.config.breaker_limit = 1;
    let live = lab.run("go").await;
    assert!(live.results().iter().all(|result| result.text() == "Unknown tool: nope"));
}
