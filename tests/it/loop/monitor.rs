//! Chats that no longer move: reflections, reminders, the report.

use codebot::kernel::event::{EndReason, Event, WrapReason};
use codebot::kernel::ports::{Capability, Interrupt, ToolChoice};
use codebot::kernel::route::RouteConfig;
use serde_json::json;

use super::fake_lab::{Lab, Live, pass};
use super::fake_model::{Act, Script, broken_call, call, calls, done, says, text};
use super::fake_ports::Rule;
use super::fake_tools::Does;
use codebot::kernel::message::{CallStatus, Stop};

fn watched(scripts: Vec<Script>, last: Option<Script>) -> Lab {
    let mut lab = Lab::with_last(scripts, last);
    lab.config.monitor = true;
    lab.config.max_turns = 20;
    lab
}

/// What each request carried: `-` plain, `R` a reflection, `r` a reminder, `W` the report.
fn kinds(lab: &Lab) -> String {
    let kind = |request: &codebot::kernel::ports::Request| match &request.reminder {
        None => '-',
        Some(_) if request.tool_choice == ToolChoice::None => 'W',
        Some(words) if words.contains("<diagnosis>") => 'R',
        Some(_) => 'r',
    };
    lab.model.requests().iter().map(kind).collect()
}

fn reflections(live: &Live) -> usize {
    live.count(|event| matches!(event, Event::Reflection { .. }))
}

/// Answers to requests: the same call again and again, and a report when asked for one.
async fn stuck_on(script: Script, prepare: impl FnOnce(&mut Lab)) -> (Lab, Live) {
    let mut lab = watched(Vec::new(), Some(script));
    prepare(&mut lab);
    let live = lab.run("go").await;
    (lab, live)
}

/// Scenario M01, case G10: the count of requests is the promise.
#[tokio::test(start_paused = true)]
async fn the_same_call_is_reflected_on_twice_and_then_wrapped_up() {
    let mut script = calls(&[("k", "read", "a")]);
    script.insert(0, text(0, "trying"));
    let (lab, live) = stuck_on(script, |_| {}).await;
    assert_eq!(kinds(&lab), "---RrRrW");
    let summary = live.summary();
    assert_eq!((summary.reason, summary.wrap), (EndReason::Stop, Some(WrapReason::Stuck)));
    assert_eq!(summary.text, "trying");
    assert_eq!(reflections(&live), 4);
}

/// Scenario M02, case G10.
#[tokio::test(start_paused = true)]
async fn a_failing_call_is_reflected_on_after_two() {
    let (lab, _) = stuck_on(calls(&[("k", "fail", "a")]), |_| {}).await;
    assert_eq!(kinds(&lab), "--RrRrWW");
}

/// Scenario M03: the calls of the tier end it first.
#[tokio::test(start_paused = true)]
async fn the_budget_of_the_tier_ends_a_stuck_chat_too() {
    for tool in ["read", "fail"] {
        let mut script = calls(&[("k", tool, "a")]);
        script.insert(0, text(0, "trying"));
        let (lab, live) = stuck_on(script, |lab| {
            lab.config.route = Some(RouteConfig { escalate: false, ..RouteConfig::default() });
        })
        .await;
        assert_eq!(lab.model.requests().len(), 4);
        assert_eq!(live.summary().wrap, Some(WrapReason::MaxIters));
    }
}

/// Scenario M04.
#[tokio::test(start_paused = true)]
async fn the_order_of_keys_and_calls_does_not_matter() {
    let one = |a: usize, b: usize, args: serde_json::Value, words: serde_json::Value| {
        vec![
            text(0, "hm"),
            call(a, &format!("k{a}"), "read", args),
            call(b, &format!("k{b}"), "slow", words),
            done(Stop::ToolUse),
        ]
    };
    let scripts = vec![
        one(1, 2, json!({"x": 1, "y": {"a": 1, "b": 2}}), json!({"z": 1})),
        one(2, 1, json!({"y": {"b": 2, "a": 1}, "x": 1}), json!({"z": 1})),
        one(1, 2, json!({"x": 1, "y": {"a": 1, "b": 2}}), json!({"z": 1})),
        says("enough"),
    ];
    let lab = watched(scripts, None);
    lab.run("go").await;
    assert_eq!(kinds(&lab), "---R");
}

/// Scenario M05, case G12.
#[tokio::test(start_paused = true)]
async fn reading_on_is_progress() {
    let offset = |n: usize| vec![call(0, "k", "read", json!({"offset": n})), done(Stop::ToolUse)];
    let scripts = (0..6).map(offset).chain([says("read")]).collect();
    let lab = watched(scripts, None);
    let live = lab.run("go").await;
    assert_eq!(reflections(&live), 0);
}

/// Scenario M06, case G11: two calls that take turns are bounded by the cap, with a report.
#[tokio::test(start_paused = true)]
async fn calls_that_take_turns_are_bounded_by_the_cap() {
    let turn = |n: usize| calls(&[("k", "read", if n.is_multiple_of(2) { "a" } else { "b" })]);
    let scripts = (0..19).map(turn).chain([says("report")]).collect();
    let mut lab = watched(scripts, None);
    lab.config.wrap_at_cap = true;
    let live = lab.run("go").await;
    assert_eq!(reflections(&live), 0);
    let summary = live.summary();
    assert_eq!((summary.reason, summary.wrap), (EndReason::MaxTurns, Some(WrapReason::MaxTurns)));
    assert_eq!(summary.text, "report");
}

/// Scenario M07.
#[tokio::test(start_paused = true)]
async fn reflections_are_counted_over_the_chat() {
    let a = || calls(&[("k", "read", "a")]);
    let b = || calls(&[("k", "read", "b")]);
    let scripts = vec![a(), a(), a(), b(), a(), a(), a(), b(), a(), a(), a(), says("report")];
    let lab = watched(scripts, None);
    let live = lab.run("go").await;
    assert_eq!(kinds(&lab), "---R---R---W");
    assert_eq!(live.summary().wrap, Some(WrapReason::Stuck));
}

/// Scenario M08.
#[tokio::test(start_paused = true)]
async fn a_reflection_is_said_once_and_quotes_briefly() {
    let long = "x".repeat(1000);
    let same = || calls(&[("k", "read", long.as_str())]);
    let lab = watched(vec![same(), same(), same(), says("I see")], None);
    let live = lab.run("go").await;
    let requests = lab.model.requests();
    let carrying = requests.iter().filter(|request| request.reminder.is_some()).count();
    assert_eq!(carrying, 1);
    let words = requests[3].reminder.clone().unwrap();
    assert!(words.contains("<diagnosis>") && words.contains("forbidden"));
    assert!(words.matches('x').count() < 200);
    let Some(Event::Reflection { number: 1, again: false, signature }) =
        live.log.iter().find(|event| matches!(event, Event::Reflection { .. }))
    else {
        panic!("no reflection")
    };
    assert!(signature.chars().count() <= 200);
    assert!(live.lines().iter().all(|line| !line.contains("<diagnosis>")), "never stored");
}

/// One reminder belongs to the turn: every attempt carries it.
#[tokio::test(start_paused = true)]
async fn a_repeated_attempt_carries_the_reminder_again() {
    let same = || calls(&[("k", "read", "a")]);
    let lab = watched(vec![same(), same(), same(), vec![Act::Cut], says("ok")], None);
    lab.run("go").await;
    assert_eq!(kinds(&lab), "---RR");
}

/// Scenario M09.
#[tokio::test(start_paused = true)]
async fn a_denial_counts_as_an_error() {
    let same = || calls(&[("k", "write", "a")]);
    let lab = watched(vec![same(), same(), says("I ask")], None);
    lab.gate.rule("write", Rule::Deny("no"));
    lab.run("go").await;
    assert_eq!(kinds(&lab), "--R");
}

/// Case G11: what never ran counts.
#[tokio::test(start_paused = true)]
async fn unknown_tools_and_unreadable_arguments_count() {
    let unknown = || calls(&[("k", "foo", "a")]);
    let invalid = || vec![broken_call(0, "k", "write", "{\"a\""), done(Stop::ToolUse)];
    for script in [unknown as fn() -> Script, invalid as fn() -> Script] {
        let lab = watched(vec![script(), script(), says("I see")], None);
        lab.run("go").await;
        assert_eq!(kinds(&lab), "--R");
    }
}

/// Scenarios M10, M12.
#[tokio::test(start_paused = true)]
async fn steering_begins_a_new_streak() {
    let same = || calls(&[("k", "stop", "a")]);
    let lab = watched(vec![same(), same(), same(), says("ok")], None);
    let mut live = lab.start();
    live.prompt("go");
    for words in ["one", "two", "three"] {
        live.until(|event| matches!(event, Event::ToolStart { .. })).await;
        pass(10).await;
        live.steer(words);
    }
    live.end().await;
    let cancelled = live.results().iter().all(|result| result.status == CallStatus::Cancelled);
    assert!(cancelled);
    assert_eq!(kinds(&lab), "----");
}

/// Scenario M11: a result from memory is a result like any other.
#[tokio::test(start_paused = true)]
async fn the_same_read_three_times_is_stuck_whatever_it_says() {
    let lab =
        watched((0..3).map(|_| calls(&[("k", "count", "a")])).chain([says("ok")]).collect(), None);
    lab.tools.put("count", Capability::Read, true, Interrupt::Cancel, Does::Count);
    lab.run("go").await;
    assert_eq!(kinds(&lab), "---R");
}

/// Scenario B12, case G12: waiting for something is no standstill as long as it moves.
#[tokio::test(start_paused = true)]
async fn polling_is_stuck_only_when_nothing_changes() {
    let poll = || calls(&[("k", "poll", "a")]);
    for (does, expected) in [(Does::Count, "------"), (Does::Echo, "---R--")] {
        let scripts = (0..4).map(|_| poll()).chain([calls(&[("k", "read", "b")]), says("ok")]);
        let mut scripts: Vec<Script> = scripts.collect();
        if expected.contains('R') {
            scripts.remove(3);
            scripts.insert(3, calls(&[("k", "read", "c")]));
        }
        let lab = watched(scripts, None);
        lab.tools.put("poll", Capability::Shell, false, Interrupt::Finish, does);
        lab.run("go").await;
        assert_eq!(kinds(&lab), expected);
    }
}

/// A chat that is told to reflect and then does something else goes on in peace.
#[tokio::test(start_paused = true)]
async fn a_new_chat_starts_without_a_record() {
    let same = || calls(&[("k", "fail", "a")]);
    let lab = watched(vec![same(), says("one"), same(), says("two")], None);
    let mut live = lab.start();
    live.follow_up("again");
    live.prompt("go");
    live.end().await;
    assert_eq!(kinds(&lab), "----");
}

/// Words that come while a report is tried again are for the chat after it, which answers them.
#[tokio::test(start_paused = true)]
async fn steering_during_the_repeat_of_a_report_is_answered_after_it() {
    let same = || calls(&[("k", "read", "a")]);
    let scripts = vec![same(), same(), vec![Act::Cut], says("report"), says("I see")];
    let mut lab = watched(scripts, None);
    lab.config.max_turns = 20;
    lab.config.route =
        Some(RouteConfig { escalate: false, medium: 3, full: 3, ..RouteConfig::default() });
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::Retry { .. })).await;
    live.steer("try it otherwise");
    live.end().await;
    let lines = live.lines();
    let tail = ["assistant:report[]", "user:try it otherwise", "assistant:I see[]"];
    assert_eq!(lines[lines.len() - 3..], tail);
    assert_eq!(live.summary().wrap, None);
}

/// Words that come during the wait before a repeated request begin a new streak like any others.
#[tokio::test(start_paused = true)]
async fn steering_before_a_repeated_request_begins_a_new_streak() {
    let same = || calls(&[("k", "read", "a")]);
    let scripts = vec![same(), same(), vec![Act::Cut], same(), says("ok")];
    let lab = watched(scripts, None);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::Retry { .. })).await;
    live.steer("once more");
    live.end().await;
    assert_eq!(kinds(&lab), "-----");
}
