//! Caps on tokens, money and time; requests that are too large.

use std::sync::atomic::Ordering;
use std::time::Duration;

use codebot::kernel::budget::Budget;
use codebot::kernel::command::Answer;
use codebot::kernel::error::ModelErrorKind;
use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::ports::Price;

use super::fake_lab::{Lab, Live, pass};
use super::fake_model::{Script, calls, fail, says, usage};
use super::fake_ports::Rule;

fn costly(input: u64, output: u64) -> Script {
    let mut script = calls(&[("k", "read", "a")]);
    script.insert(0, usage(input, output));
    script
}

fn warnings(live: &Live) -> Vec<String> {
    let told = |event: &Event| match event {
        Event::Status { text } => Some(text.clone()),
        _ => None,
    };
    live.log.iter().filter_map(told).collect()
}

#[tokio::test(start_paused = true)]
async fn a_budget_of_tokens_warns_and_then_ends_the_run() {
    let mut lab = Lab::with_last(Vec::new(), Some(costly(30, 10)));
    lab.config.budget = Budget { tokens: Some(100), ..Budget::default() };
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Budget);
    assert_eq!(lab.model.requests().len(), 3);
    assert_eq!(warnings(&live), ["80 of 100 tokens of this run are used"]);
    let last = live.log.iter().rev().nth(1).unwrap();
    assert!(matches!(last, Event::Error { message } if message.contains("100 tokens")), "{last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_budget_of_money_counts_where_the_price_is_known() {
    for (price, requests) in [(Some(Price { input: 1e6, ..Price::default() }), 2), (None, 200)] {
        let mut lab = Lab::with_last(Vec::new(), Some(costly(1, 0)));
        *lab.model.price.lock().unwrap() = price;
        lab.config.budget = Budget { cost: Some(2.0), ..Budget::default() };
        lab.run("go").await;
        assert_eq!(lab.model.requests().len(), requests);
    }
}

/// Waiting for the user is nobody's time.
#[tokio::test(start_paused = true)]
async fn a_budget_of_time_does_not_count_the_wait_for_the_user() {
    let mut lab =
        Lab::new(vec![calls(&[("k", "write", "a")]), calls(&[("k", "work", "b")]), says("done")]);
    lab.config.budget = Budget { wall: Some(Duration::from_secs(1)), ..Budget::default() };
    lab.gate.rule("write", Rule::Ask);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ApprovalAsked { .. })).await;
    pass(600_000).await;
    live.answer("k", Answer::Once);
    assert_eq!(live.end().await.reason, EndReason::Stop);
    let mut lab = Lab::with_last(Vec::new(), Some(calls(&[("k", "work", "b")])));
    lab.config.budget = Budget { wall: Some(Duration::from_secs(1)), ..Budget::default() };
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Budget);
    assert_eq!(lab.tools.ran().len(), 10);
    assert_eq!(warnings(&live).len(), 1);
}

/// Scenarios 142, 145.
#[tokio::test(start_paused = true)]
async fn an_overflow_that_cannot_be_mended_is_the_error() {
    let lab = Lab::new(vec![vec![fail(ModelErrorKind::Overflow)]]);
    let live = lab.run("go").await;
    let error = live.summary().error.unwrap();
    assert_eq!(error.message, "LLM call failed: ContextOverflow: the service said no");
    assert!(error.provider);
    assert_eq!(lab.model.requests().len(), 1);
    assert_eq!(lab.trace.all().iter().filter(|what| *what == "recover").count(), 1);
}

/// Scenarios 143, 146, S14.
#[tokio::test(start_paused = true)]
async fn an_overflow_is_mended_once_and_the_call_made_again() {
    let overflow = || vec![fail(ModelErrorKind::Overflow)];
    let broken = || vec![fail(ModelErrorKind::Network)];
    let lab = Lab::new(vec![overflow(), broken(), broken(), broken(), says("done")]);
    lab.context.recoveries.store(1, Ordering::Relaxed);
    let live = lab.run("go").await;
    assert_eq!(live.summary().text, "done");
    let retries: Vec<_> = live
        .log
        .iter()
        .filter_map(|event| match event {
            Event::Retry { attempt, max, delay_ms, .. } => Some((*attempt, *max, *delay_ms)),
            _ => None,
        })
        .collect();
    assert_eq!(retries, [(1, 1, 0), (1, 3, 1000), (2, 3, 2000), (3, 3, 4000)]);
}

/// Scenario 144, case G15: one recovery a turn, a new one after an answer.
#[tokio::test(start_paused = true)]
async fn a_second_overflow_in_the_same_turn_is_the_error() {
    let overflow = || vec![fail(ModelErrorKind::Overflow)];
    let lab = Lab::with_last(Vec::new(), Some(overflow()));
    lab.context.recoveries.store(100, Ordering::Relaxed);
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Error);
    assert_eq!(lab.model.requests().len(), 2);
    let tool = calls(&[("k", "read", "a")]);
    let lab = Lab::new(vec![overflow(), tool, overflow(), says("done")]);
    lab.context.recoveries.store(100, Ordering::Relaxed);
    assert_eq!(lab.run("go").await.summary().text, "done");
}

/// Case G15: the main request is too large for ever; every overflow is mended once, the next one
/// ends the run, and the history is what it was.
#[tokio::test(start_paused = true)]
async fn overflow_for_ever_ends_with_the_history_kept() {
    let mut lab = Lab::with_last(Vec::new(), Some(vec![fail(ModelErrorKind::Overflow)]));
    lab.history = Lab::new(vec![says("one")]).run("before").await.history();
    lab.context.recoveries.store(u64::MAX, Ordering::Relaxed);
    let mut live = lab.run("go").await;
    for requests in [2, 4] {
        let summary = live.summary();
        let error = summary.error.unwrap().message;
        assert!(error.starts_with("LLM call failed: ContextOverflow: "), "{error}");
        assert_eq!(lab.model.requests().len(), requests);
        assert_eq!(live.history()[..2], lab.history);
        if requests == 2 {
            live.prompt("again");
            live.end().await;
        }
    }
    let recoveries = lab.trace.all().iter().filter(|what| *what == "recover").count();
    assert_eq!(recoveries, 2, "one for each run, not one for each request");
}

/// Case G16: nothing to be saved is no success; there is no second request of the same size.
#[tokio::test(start_paused = true)]
async fn a_recovery_that_gains_nothing_ends_the_run_with_the_reason() {
    let huge = calls(&[("k", "read", &"x".repeat(900_000))]);
    let lab = Lab::new(vec![huge, vec![fail(ModelErrorKind::Overflow)]]);
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Error);
    assert!(live.summary().error.unwrap().message.contains("ContextOverflow"));
    assert_eq!(lab.model.requests().len(), 2);
    assert_eq!(live.results()[0].text().len(), 900_000, "the history keeps it");
}
