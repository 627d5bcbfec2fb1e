//! Failed model calls: what is tried again, when, and how it is told.

use std::time::Duration;

use codebot::kernel::command::Command;
use codebot::kernel::error::{ModelError, ModelErrorKind};
use codebot::kernel::event::{EndReason, Event};
use tokio::time::Instant;

use super::fake_lab::{Lab, Live, pass};
use super::fake_model::{Act, Script, fail, says, text};

fn with_wait(wait: Duration) -> Script {
    let mut error = ModelError::new(ModelErrorKind::RateLimit, "slow down");
    error.retry_after = Some(wait);
    vec![Act::Fail(error)]
}

fn retries(live: &Live) -> Vec<(u32, u32, u64)> {
    live.log
        .iter()
        .filter_map(|event| match event {
            Event::Retry { attempt, max, delay_ms, .. } => Some((*attempt, *max, *delay_ms)),
            _ => None,
        })
        .collect()
}

/// Scenarios 141, S09.
#[tokio::test(start_paused = true)]
async fn attempts_are_counted_and_the_wait_doubles() {
    let broken = || vec![fail(ModelErrorKind::Overloaded)];
    let mut lab = Lab::new(vec![broken(), broken(), broken(), broken(), says("ok")]);
    lab.config.max_retries = 4;
    let before = Instant::now();
    let live = lab.run("go").await;
    assert_eq!(retries(&live), [(1, 4, 1_000), (2, 4, 2_000), (3, 4, 4_000), (4, 4, 8_000)]);
    assert_eq!(before.elapsed().as_secs(), 15);
    assert_eq!(live.summary().turns, 1);
    assert_eq!(live.lines(), ["user:go", "assistant:ok[]"]);
}

/// Scenario 138, S09.
#[tokio::test(start_paused = true)]
async fn the_wait_that_the_service_asks_for_is_kept() {
    let lab = Lab::new(vec![with_wait(Duration::from_millis(50)), says("ok")]);
    let before = Instant::now();
    assert_eq!(retries(&lab.run("go").await), [(1, 3, 50)]);
    assert_eq!(before.elapsed().as_millis(), 50);
}

/// Scenario 140, ruling 23, case G05.
#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_cap_ends_the_run_and_says_how_long() {
    let lab = Lab::new(vec![with_wait(Duration::from_secs(250_000))]);
    let before = Instant::now();
    let live = lab.run("go").await;
    let message = live.summary().error.unwrap().message;
    assert!(message.contains("wait 69 h 26 min"), "{message}");
    assert_eq!(before.elapsed().as_millis(), 0);
}

/// Scenarios 139, 147, S10, 142.
#[tokio::test(start_paused = true)]
async fn what_waiting_cannot_cure_is_not_tried_again() {
    for kind in [
        ModelErrorKind::Auth,
        ModelErrorKind::Quota,
        ModelErrorKind::Overflow,
        ModelErrorKind::ContentFilter,
        ModelErrorKind::InvalidRequest,
    ] {
        let lab = Lab::new(vec![vec![fail(kind)]]);
        let live = lab.run("go").await;
        let message = live.summary().error.unwrap().message;
        assert_eq!(message, format!("LLM call failed: {}: the service said no", kind.name()));
        assert_eq!(lab.model.requests().len(), 1);
    }
}

/// Scenario S11.
#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_up_to_the_limit() {
    for kind in [
        ModelErrorKind::RateLimit,
        ModelErrorKind::Overloaded,
        ModelErrorKind::Server,
        ModelErrorKind::Timeout,
        ModelErrorKind::Network,
        ModelErrorKind::StreamIdle,
        ModelErrorKind::PartialStream,
    ] {
        let lab = Lab::with_last(Vec::new(), Some(vec![fail(kind)]));
        let live = lab.run("go").await;
        assert_eq!(lab.model.requests().len(), 4, "{kind:?}");
        assert_eq!(live.summary().reason, EndReason::Error);
        assert!(live.summary().error.unwrap().provider);
    }
}

/// Scenario 135.
#[tokio::test(start_paused = true)]
async fn a_stream_that_cannot_be_opened_tells_no_message() {
    let lab = Lab::new(vec![vec![fail(ModelErrorKind::Auth)]]);
    let live = lab.run("go").await;
    let started = |event: &Event| matches!(event, Event::MessageStart { .. });
    assert_eq!(live.count(started), 0);
}

#[tokio::test(start_paused = true)]
async fn the_user_can_cut_the_wait_short() {
    let lab = Lab::new(vec![with_wait(Duration::from_secs(50)), says("ok")]);
    let mut live = lab.start();
    live.handle.send(Command::RetryNow);
    live.prompt("go");
    live.until(|event| matches!(event, Event::Retry { .. })).await;
    let before = Instant::now();
    pass(1_000).await;
    live.handle.send(Command::RetryNow);
    live.end().await;
    assert_eq!(before.elapsed().as_secs(), 1);
}

/// Ruling 18: what was written during the wait is in the next attempt.
#[tokio::test(start_paused = true)]
async fn steering_during_the_wait_is_in_the_next_attempt() {
    let broken = vec![text(0, "hal"), fail(ModelErrorKind::Network)];
    let lab = Lab::new(vec![broken, says("ok")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::Retry { .. })).await;
    live.steer("also this");
    live.end().await;
    assert_eq!(lab.request_lines(1), ["user:go", "user:also this"]);
}

/// A complete answer gives the next turn its full number of attempts.
#[tokio::test(start_paused = true)]
async fn a_complete_answer_resets_the_counter() {
    let broken = || vec![fail(ModelErrorKind::Server)];
    let tool = || super::fake_model::calls(&[("k1", "read", "a")]);
    let scripts = vec![broken(), broken(), broken(), tool(), broken(), broken(), broken()];
    let lab = Lab::with_last(scripts, Some(says("ok")));
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Stop);
    assert_eq!(retries(&live).len(), 6);
}
