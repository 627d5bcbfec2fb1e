//! Caps that change while the program runs, what counts in them, and going on after one.

use std::time::Duration;

use codebot::kernel::budget::{Budget, Cap, Reached};
use codebot::kernel::command::{Command, Setting};
use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::message::Usage;
use codebot::kernel::ports::{
    CallContext, Capability, Interrupt, Middleware, Onward, Price, ToolOutcome,
};
use futures_util::future::BoxFuture;

use super::fake_lab::{Lab, pass};
use super::fake_model::{Script, calls, says, usage};
use super::fake_tools::Does;

fn limit(cap: Cap, value: f64) -> Command {
    Command::Configure(Setting::Limit { cap, value })
}

fn look() -> Script {
    [vec![usage(30, 10)], calls(&[("k", "read", "a")])].concat()
}

fn changed(event: &Event) -> bool {
    matches!(event, Event::LimitChanged { .. })
}

#[tokio::test(start_paused = true)]
async fn a_run_that_reached_a_cap_says_which() {
    let mut lab = Lab::with_last(Vec::new(), Some(look()));
    lab.config.budget = Budget { tokens: Some(100), ..Budget::default() };
    let live = lab.run("go").await;
    assert_eq!(live.summary().limit, Some(Reached { cap: Cap::Tokens, value: 100.0 }));
    for wrap_at_cap in [false, true] {
        let mut lab = Lab::with_last(Vec::new(), Some(look()));
        lab.config.max_turns = 3;
        lab.config.wrap_at_cap = wrap_at_cap;
        let live = lab.run("go").await;
        let summary = live.summary();
        assert_eq!(summary.limit, Some(Reached { cap: Cap::Turns, value: 3.0 }));
        assert_eq!((summary.reason, summary.wrap.is_some()), (EndReason::MaxTurns, wrap_at_cap));
    }
}

/// After a budget the conversation waits for an answer: it goes on without a word, with a budget
/// of the same size again or with a larger one.
#[tokio::test(start_paused = true)]
async fn a_run_goes_on_after_a_budget_with_a_fresh_one_or_a_raised_one() {
    let mut lab = Lab::with_last(Vec::new(), Some(look()));
    lab.config.budget = Budget { tokens: Some(100), ..Budget::default() };
    let mut live = lab.run("go").await;
    assert_eq!(lab.model.requests().len(), 3);
    live.handle.send(Command::Continue);
    assert_eq!(live.end().await.reason, EndReason::Budget);
    assert_eq!(lab.model.requests().len(), 6);
    live.handle.send(limit(Cap::Tokens, 200.0));
    live.handle.send(Command::Continue);
    assert_eq!(live.end().await.limit, Some(Reached { cap: Cap::Tokens, value: 200.0 }));
    assert_eq!(lab.model.requests().len(), 11);
}

#[tokio::test(start_paused = true)]
async fn a_cap_changes_for_the_active_run_too() {
    let work = || calls(&[("k", "work", "a")]);
    let mut lab = Lab::new(vec![work(), work(), work(), says("done")]);
    lab.config.max_turns = 2;
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ToolStart { .. })).await;
    live.handle.send(limit(Cap::Turns, 10.0));
    live.until(changed).await;
    assert_eq!(live.end().await.text, "done");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_limit_changes_nothing() {
    let mut lab = Lab::new(vec![calls(&[("k", "read", "a")]), says("done")]);
    lab.config.max_turns = 2;
    let mut live = lab.start();
    for (cap, value) in [(Cap::Turns, 0.0), (Cap::Tokens, 0.5), (Cap::Cost, f64::NAN)] {
        live.handle.send(limit(cap, value));
        live.until(|event| matches!(event, Event::Rejected { .. })).await;
    }
    for value in [-1.0, f64::INFINITY, 1e300] {
        live.handle.send(limit(Cap::Seconds, value));
        live.until(|event| matches!(event, Event::Rejected { .. })).await;
    }
    live.prompt("go");
    assert_eq!(live.end().await.text, "done");
}

/// Says that its tools cost something.
#[derive(Debug)]
struct Costly;

impl Middleware for Costly {
    fn around<'a>(
        &'a self,
        call: codebot::kernel::message::ToolCall,
        context: CallContext,
        onward: Onward<'a>,
    ) -> BoxFuture<'a, ToolOutcome> {
        let price = Price { output: 1e6, ..Price::default() };
        context.aside.spend_at(Usage { output: 1, ..Usage::default() }, Some(price));
        onward.run(call, context)
    }
}

/// Case G19: tokens of side work count where those of turns do, each once; an answer that tells no
/// numbers costs nothing and ends nothing.
#[tokio::test(start_paused = true)]
async fn side_work_counts_in_budget_and_cost() {
    let work = || calls(&[("k", "read", "a")]);
    for (budget, reason) in [
        (Budget { tokens: Some(2), ..Budget::default() }, EndReason::Budget),
        (Budget { cost: Some(2.0), ..Budget::default() }, EndReason::Budget),
        (Budget { tokens: Some(3), cost: Some(3.0), ..Budget::default() }, EndReason::Stop),
    ] {
        let mut lab = Lab::new(vec![work(), work(), says("done")]);
        lab.around.push(std::sync::Arc::new(Costly));
        lab.config.budget = budget;
        let live = lab.run("go").await;
        let summary = live.summary();
        assert_eq!(summary.reason, reason);
        assert_eq!((summary.usage.output, summary.cost), (2, Some(2.0)));
    }
}

/// A tool that must be alone asks a person: its time is nobody's.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_question_to_the_user_does_not_count() {
    for (exclusive, reason) in [(true, EndReason::Stop), (false, EndReason::Budget)] {
        let mut lab = Lab::new(vec![calls(&[("k", "ask", "which?")]), says("done")]);
        lab.tools.put("ask", Capability::Internal, false, Interrupt::Cancel, Does::Work(600_000));
        if exclusive {
            lab.tools.change("ask", |tool| tool.traits = tool.traits.exclusive());
        }
        lab.config.budget = Budget { wall: Some(Duration::from_secs(5)), ..Budget::default() };
        let live = lab.run("go").await;
        assert_eq!(live.summary().reason, reason);
    }
    pass(1).await;
}
