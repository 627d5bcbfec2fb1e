//! The small model of fast chats: when it answers, and what happens when it can't.

use codebot::kernel::budget::Budget;
use codebot::kernel::error::ModelErrorKind;
use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::ports::Price;
use codebot::kernel::route::{FastRule, RouteConfig};

use super::fake_lab::Lab;
use super::fake_model::{Act, FakeModel, Script, calls, fail, says, text, usage};

/// Requests that ask for the time are fast and go to a model of their own.
fn lab(quick: Vec<Script>, main: Vec<Script>) -> Lab {
    let mut lab = Lab::new(main);
    let small = FakeModel::new(quick, None, lab.trace.clone());
    *small.name.lock().unwrap() = "small";
    lab.quick = Some(small);
    let rule = FastRule { pattern: "what time*".into(), tools: Vec::new() };
    lab.config.route = Some(RouteConfig { fast: vec![rule], ..RouteConfig::default() });
    lab
}

fn asked(lab: &Lab) -> (usize, usize) {
    (lab.quick.as_ref().unwrap().requests().len(), lab.model.requests().len())
}

fn failovers(live: &super::fake_lab::Live) -> Vec<(String, String)> {
    let told = |event: &Event| match event {
        Event::ModelFailover { from, to, .. } => Some((from.clone(), to.clone())),
        _ => None,
    };
    live.log.iter().filter_map(told).collect()
}

#[tokio::test(start_paused = true)]
async fn a_fast_chat_is_answered_by_the_small_model_and_others_are_not() {
    let lab = lab(vec![says("noon")], vec![says("hm")]);
    let mut live = lab.run("what time is it").await;
    assert_eq!((live.summary().text.as_str(), asked(&lab)), ("noon", (1, 0)));
    let route = live.place(|event| matches!(event, Event::RouteSelected { .. }));
    assert!(
        matches!(&live.log[route], Event::RouteSelected { model, .. } if model == "fake/small")
    );
    live.prompt("what time is it there");
    live.end().await;
    assert_eq!(asked(&lab), (1, 1), "only the first prompt is fast");
}

/// Scenario R13: before it said anything.
#[tokio::test(start_paused = true)]
async fn a_small_model_that_fails_at_once_hands_over_to_the_main_one() {
    for kind in [ModelErrorKind::Overloaded, ModelErrorKind::Auth] {
        let lab = lab(vec![vec![fail(kind)]], vec![calls(&[("k", "read", "a")]), says("noon")]);
        let live = lab.run("what time is it").await;
        assert_eq!(live.summary().text, "noon");
        assert_eq!(asked(&lab), (1, 2), "for the rest of the run");
        assert_eq!(failovers(&live), [("fake/small".to_owned(), "fake/one".to_owned())]);
        assert_eq!(live.count(|event| matches!(event, Event::Retry { .. })), 0);
    }
}

/// Scenario R13: words of it are an answer that broke off like any other.
#[tokio::test(start_paused = true)]
async fn a_small_model_that_fails_after_words_is_an_error() {
    let broken = vec![text(0, "it is"), fail(ModelErrorKind::Overloaded)];
    let mut lab = lab(vec![broken], vec![says("never")]);
    lab.config.max_retries = 0;
    let live = lab.run("what time is it").await;
    assert_eq!(live.summary().reason, EndReason::Error);
    assert_eq!(asked(&lab), (1, 0));
    assert!(failovers(&live).is_empty());
    assert_eq!(live.count(|event| matches!(event, Event::MessageDiscarded { .. })), 1);
}

#[tokio::test(start_paused = true)]
async fn an_abort_while_the_small_model_is_asked_asks_nobody_else() {
    let slow = vec![Act::Wait(1000), fail(ModelErrorKind::Overloaded)];
    let lab = lab(vec![slow], vec![says("never")]);
    let mut live = lab.start();
    live.prompt("what time is it");
    live.until(|event| matches!(event, Event::TurnStart { .. })).await;
    live.abort();
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    assert_eq!(asked(&lab), (1, 0));
}

/// Every model is paid at its own price.
#[tokio::test(start_paused = true)]
async fn costs_add_up_over_models_and_count_in_the_budget() {
    let priced = |script: Script| [vec![usage(1, 0)], script].concat();
    let look = || priced(calls(&[("k", "read", "a")]));
    let mut lab = lab(vec![look(), look()], vec![look(), look(), priced(says("x"))]);
    let price = |input| Some(Price { input, ..Price::default() });
    *lab.quick.as_ref().unwrap().price.lock().unwrap() = price(1e6);
    *lab.model.price.lock().unwrap() = price(10e6);
    lab.config.budget = Budget { cost: Some(12.0), ..Budget::default() };
    let live = lab.run("what time is it").await;
    let summary = live.summary();
    // Two calls of the fast tier at one dollar, one of the next tier at ten.
    assert_eq!((summary.reason, summary.cost), (EndReason::Budget, Some(12.0)));
    assert_eq!(asked(&lab), (2, 1));
}
