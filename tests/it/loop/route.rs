//! Routes: how a request is judged, what its tier allows, and how a chat gets more.

use codebot::kernel::command::{Command, Setting};
use codebot::kernel::event::{EndReason, Event, Tier, WrapReason};
use codebot::kernel::message::{Block, Message, Origin, Stop, Timestamp, UserMessage};
use codebot::kernel::ports::ToolChoice;
use codebot::kernel::route::{FastRule, Past, RouteConfig, choose};

use super::fake_lab::{Lab, Live};
use super::fake_model::{Act, Script, calls, done, says, text};

fn first() -> Past {
    Past { is_first: true, ..Past::default() }
}

fn tier(words: &str) -> Tier {
    choose(Some(words), first(), &weather()).tier
}

fn weather() -> RouteConfig {
    let rule = |pattern: &str| FastRule { pattern: pattern.into(), tools: vec!["slow".into()] };
    RouteConfig {
        fast: vec![rule("what time*"), rule("*weather in *")],
        fast_tools: vec!["read".into()],
        ..RouteConfig::default()
    }
}

/// Scenario R01.
#[test]
fn a_word_of_real_work_wins_over_a_fast_rule() {
    assert_eq!(tier("what time does the test take"), Tier::Full);
    assert_eq!(tier("Fix it"), Tier::Full);
    for words in ["修改这个文件", "帮我跑测试", "请提交", "重命名 foo"] {
        assert_eq!(tier(words), Tier::Full, "{words}");
    }
}

/// Scenario R02, as far as words go.
#[test]
fn a_fast_rule_fits_the_whole_request() {
    assert_eq!(tier("What time is it?"), Tier::Fast);
    assert_eq!(tier("how is the weather in Oslo"), Tier::Fast);
    assert_eq!(tier("so, what time is it"), Tier::Medium);
    let later = choose(Some("what time is it"), Past::default(), &weather());
    assert_eq!(later.tier, Tier::Medium, "only the first prompt, for the cached prefix");
}

/// Scenario R03.
#[test]
fn eighty_characters_are_short() {
    assert_eq!(tier(&"x".repeat(80)), Tier::Medium);
    assert_eq!(tier(&"x".repeat(81)), Tier::Full);
    assert_eq!(tier(&"问".repeat(80)), Tier::Medium);
    assert_eq!(tier(&"问".repeat(81)), Tier::Full);
}

/// Scenario R04.
#[test]
fn words_are_matched_whole() {
    for words in ["the latest prefix", "prune it?", "address book", "knowledge base", "runes"] {
        assert_eq!(tier(words), Tier::Medium, "{words}");
    }
    assert_eq!(tier("run"), Tier::Full);
    assert_eq!(tier("please run: it"), Tier::Full);
}

/// Words that only ask to go on keep the tier, and a pin wins over everything.
#[test]
fn continue_keeps_the_tier() {
    let past = Past { previous: Some(Tier::Full), ..Past::default() };
    for words in ["continue", "Go on!", "继续", "继续。"] {
        assert_eq!(choose(Some(words), past, &weather()).tier, Tier::Full, "{words}");
    }
    assert_eq!(choose(None, past, &weather()).tier, Tier::Full);
    assert_eq!(choose(Some("what is it?"), past, &weather()).tier, Tier::Medium);
    let pinned = Past { pin: Some(Tier::Medium), ..past };
    assert_eq!(choose(Some("fix it"), pinned, &weather()).tier, Tier::Medium);
}

fn routed(scripts: Vec<Script>, last: Option<Script>, escalate: bool) -> Lab {
    let mut lab = Lab::with_last(scripts, last);
    lab.config.route = Some(RouteConfig { escalate, ..weather() });
    lab
}

fn different(count: usize) -> Vec<Script> {
    (0..count).map(|n| calls(&[("k", "read", &n.to_string())])).collect()
}

fn selected(live: &Live) -> Vec<(Tier, u32)> {
    let one = |event: &Event| match event {
        Event::RouteSelected { tier, budget, .. } => Some((*tier, *budget)),
        _ => None,
    };
    live.log.iter().filter_map(one).collect()
}

/// Scenarios R07, R10, R12: the last call of the tier is the report.
#[tokio::test(start_paused = true)]
async fn the_last_call_of_a_tier_is_its_report() {
    let long = "x".repeat(81);
    for (prompt, budget) in [("what time is it", 2), ("hello", 4), (long.as_str(), 10)] {
        let scripts = different(budget - 1).into_iter().chain([says("report")]).collect();
        let lab = routed(scripts, None, false);
        let live = lab.run(prompt).await;
        let requests = lab.model.requests();
        assert_eq!((requests.len(), lab.tools.ran().len()), (budget, budget - 1));
        let last = requests.last().unwrap();
        assert_eq!(last.tool_choice, ToolChoice::None);
        let words = last.reminder.clone().unwrap();
        assert!(["done", "blocked", "need"].iter().all(|word| words.contains(word)), "{words}");
        assert_eq!(last.system, requests[0].system);
        assert_eq!(last.tools, requests[0].tools);
        let summary = live.summary();
        assert_eq!((summary.reason, summary.wrap), (EndReason::Stop, Some(WrapReason::MaxIters)));
        assert_eq!(summary.text, "report");
        assert_eq!(live.count(|event| matches!(event, Event::WrapUp { .. })), 1);
    }
}

/// Scenario R08.
#[tokio::test(start_paused = true)]
async fn the_budget_comes_from_the_settings() {
    let scripts = different(5).into_iter().chain([says("report")]).collect();
    let mut lab = routed(scripts, None, false);
    lab.config.route = Some(RouteConfig { escalate: false, medium: 6, ..RouteConfig::default() });
    let live = lab.run("hello").await;
    assert_eq!(lab.model.requests().len(), 6);
    assert_eq!(selected(&live), [(Tier::Medium, 6)]);
}

/// A chat that moves gets more, tier by tier; the last tier is renewed silently.
#[tokio::test(start_paused = true)]
async fn a_chat_that_moves_is_escalated() {
    let scripts = different(27).into_iter().chain([says("done")]).collect();
    let mut lab = routed(scripts, None, true);
    lab.config.monitor = true;
    let live = lab.run("what time is it").await;
    assert_eq!(live.summary().wrap, None);
    assert_eq!(lab.model.requests().len(), 28);
    let steps: Vec<_> = live
        .log
        .iter()
        .filter_map(|event| match event {
            Event::RouteEscalated { from, to, budget } => Some((*from, *to, *budget)),
            _ => None,
        })
        .collect();
    assert_eq!(steps, [(Tier::Fast, Tier::Medium, 4), (Tier::Medium, Tier::Full, 10)]);
}

/// One that does not move gets a report instead.
#[tokio::test(start_paused = true)]
async fn a_stuck_chat_is_not_escalated() {
    let scripts = different(1).into_iter().chain((0..3).map(|_| calls(&[("k", "read", "a")])));
    let scripts = scripts.chain([says("report")]).collect();
    let mut lab = routed(scripts, None, true);
    lab.config.monitor = true;
    let live = lab.run("hello").await;
    assert_eq!(live.summary().wrap, Some(WrapReason::MaxIters));
    assert_eq!(lab.model.requests().len(), 5);
}

/// Scenario R05.
#[tokio::test(start_paused = true)]
async fn a_fast_chat_knows_few_tools_until_it_looks_for_more() {
    use codebot::kernel::ports::{Capability, Interrupt};
    let scripts = vec![calls(&[("k", "find_tools", "all")]), says("ok")];
    let lab = routed(scripts, None, true);
    let echo = super::fake_tools::Does::Echo;
    lab.tools.put("find_tools", Capability::Internal, true, Interrupt::Finish, echo);
    lab.run("what time is it").await;
    let names = |at: usize| -> Vec<String> {
        lab.model.requests()[at].tools.iter().map(|spec| spec.name.clone()).collect()
    };
    assert_eq!(names(0), ["find_tools", "read", "slow"]);
    assert!(names(1).len() > 3);
}

/// Scenario R06: medium and full differ in nothing that is sent.
#[tokio::test(start_paused = true)]
async fn medium_and_full_send_the_same_prefix() {
    let mut sent = Vec::new();
    for prompt in ["hello", "fix it"] {
        let lab = routed(vec![says("ok")], None, true);
        lab.run(prompt).await;
        let request = lab.model.requests().remove(0);
        sent.push((request.system, request.tools));
    }
    assert_eq!(sent[0], sent[1]);
}

/// Scenario R09, first half.
#[tokio::test(start_paused = true)]
async fn calls_in_a_report_are_dropped() {
    let report = vec![
        text(0, "what I did"),
        super::fake_model::call(1, "k9", "write", serde_json::json!("x")),
        done(Stop::ToolUse),
    ];
    let lab = routed(different(3).into_iter().chain([report]).collect(), None, false);
    let live = lab.run("hello").await;
    assert_eq!(live.lines().last().unwrap(), "assistant:what I did[]");
    assert_eq!(lab.tools.ran().len(), 3);
    assert_eq!(live.summary().tool_calls, 3);
}

/// Scenario R09, second half.
#[tokio::test(start_paused = true)]
async fn a_report_that_says_nothing_is_asked_for_once_more_and_then_written_for_the_model() {
    let silent = || calls(&[("k9", "write", "x")]);
    let lab =
        routed(different(3).into_iter().chain([silent(), says("at last")]).collect(), None, false);
    assert_eq!(lab.run("hello").await.summary().text, "at last");
    assert_eq!(lab.model.requests().len(), 5);
    let lab = routed(different(3), Some(silent()), false);
    let live = lab.run("hello").await;
    let text = live.summary().text;
    assert!(text.contains("4 model calls") && text.contains("used up"), "{text}");
    assert!(live.lines().last().unwrap().contains(&text));
    assert!(lab.tools.ran().iter().all(|ran| ran.tool != "write"));
}

/// Scenarios R11, L18: a follow-up that waits has a chat of its own.
#[tokio::test(start_paused = true)]
async fn a_follow_up_after_a_report_has_a_budget_of_its_own() {
    let scripts = different(3).into_iter().chain([says("report")]).chain(different(2));
    let lab = routed(scripts.chain([says("more")]).collect(), None, false);
    let mut live = lab.start();
    live.follow_up("hi there");
    live.prompt("hello");
    let summary = live.end().await;
    assert_eq!((summary.wrap, summary.text.as_str()), (None, "more"));
    assert_eq!(selected(&live), [(Tier::Medium, 4), (Tier::Medium, 4)]);
}

/// After a stuck report follow-ups wait for a look; steering does not.
#[tokio::test(start_paused = true)]
async fn a_follow_up_waits_after_a_stuck_report() {
    for steered in [false, true] {
        let mut lab = Lab::new((0..6).map(|_| calls(&[("k", "fail", "a")])).collect());
        lab.config.monitor = true;
        let report = vec![text(0, "report"), Act::Wait(100), done(Stop::EndTurn)];
        let scripts = (0..6).map(|_| calls(&[("k", "fail", "a")]));
        let scripts: Vec<Script> = scripts.chain([report, says("more"), says("last")]).collect();
        lab.model = super::fake_model::FakeModel::new(scripts, None, lab.trace.clone());
        let mut live = lab.start();
        live.follow_up("later");
        live.prompt("go");
        if steered {
            live.until(|event| matches!(event, Event::WrapUp { .. })).await;
            live.steer("try b");
        }
        let summary = live.end().await;
        if steered {
            // A new chat that answers normally: the follow-up has its turn again.
            assert_eq!(summary.wrap, None);
            let lines = live.lines();
            let at = lines.iter().position(|line| line == "user:try b").unwrap();
            assert_eq!(lines[at - 1], "assistant:report[]");
            assert_eq!(lines[at + 2..], ["user:later", "assistant:last[]"]);
        } else {
            assert_eq!(summary.wrap, Some(WrapReason::Stuck));
            assert!(live.handle.snapshot().has_follow_ups());
        }
    }
}

/// Steering takes back a decided report.
#[tokio::test(start_paused = true)]
async fn steering_cancels_a_decided_report() {
    let mut lab = Lab::new(Vec::new());
    lab.config.monitor = true;
    let fails = (0..5).map(|_| calls(&[("k", "fail", "a")]));
    let last = calls(&[("k", "fail", "a"), ("k2", "work", "b")]);
    let scripts = fails.chain([last, says("fine")]).collect();
    lab.model = super::fake_model::FakeModel::new(scripts, None, lab.trace.clone());
    let mut live = lab.start();
    live.prompt("go");
    live.until(|e| matches!(e, Event::ToolStart { call, .. } if call.name == "work")).await;
    live.steer("try b");
    let summary = live.end().await;
    assert_eq!((summary.wrap, summary.text.as_str()), (None, "fine"));
}

/// Scenario R14.
#[tokio::test(start_paused = true)]
async fn only_the_users_requests_are_routed() {
    let lab = routed(vec![calls(&[("k", "work", "a")]), says("a"), says("b")], None, true);
    let mut live = lab.start();
    live.prompt("hello");
    live.until(|event| matches!(event, Event::ToolStart { .. })).await;
    live.steer("fix the build");
    live.follow_up("fix the tests");
    live.end().await;
    assert_eq!(selected(&live), [(Tier::Medium, 4), (Tier::Full, 10)]);
}

/// Scenario R15.
#[tokio::test(start_paused = true)]
async fn continue_after_a_report_keeps_the_tier() {
    let scripts = different(3).into_iter().chain([says("report"), says("more")]).collect();
    let lab = routed(scripts, None, false);
    let mut live = lab.run("hello").await;
    live.prompt("continue");
    live.end().await;
    assert_eq!(selected(&live), [(Tier::Medium, 4), (Tier::Medium, 4)]);
    assert_eq!(live.summary().text, "more");
}

/// What was asked in an earlier session decides when it is only continued.
#[tokio::test(start_paused = true)]
async fn a_resumed_request_is_routed_by_its_own_words() {
    let mut lab = routed(vec![says("done")], None, true);
    lab.history = vec![Message::User(UserMessage {
        id: "old".into(),
        at: Timestamp(1),
        origin: Origin::Prompt,
        blocks: vec![Block::text("fix the build")],
        before: None,
    })];
    let mut live = lab.start();
    live.handle.send(Command::Continue);
    live.end().await;
    assert_eq!(selected(&live), [(Tier::Full, 10)]);
}

#[tokio::test(start_paused = true)]
async fn the_user_can_pin_a_tier() {
    let lab = routed(vec![says("a"), says("b")], None, true);
    let mut live = lab.start();
    live.handle.send(Command::Configure(Setting::Route(Some(Tier::Full))));
    let pinned = live.until(|event| matches!(event, Event::RoutePinned { .. })).await;
    assert_eq!(pinned, Event::RoutePinned { tier: Some(Tier::Full) });
    live.prompt("hello");
    live.end().await;
    live.handle.send(Command::Configure(Setting::Route(None)));
    live.prompt("hello");
    live.end().await;
    assert_eq!(selected(&live), [(Tier::Full, 10), (Tier::Medium, 4)]);
}

/// The cap on turns ends with a report where that is wanted, never with a dead string.
#[tokio::test(start_paused = true)]
async fn the_last_turn_before_the_cap_is_a_report() {
    let mut lab = Lab::new(different(2).into_iter().chain([says("report")]).collect());
    lab.config.max_turns = 3;
    lab.config.wrap_at_cap = true;
    let mut live = lab.start();
    live.follow_up("later");
    live.prompt("go");
    let summary = live.end().await;
    assert_eq!((summary.reason, summary.wrap), (EndReason::MaxTurns, Some(WrapReason::MaxTurns)));
    assert_eq!((summary.text.as_str(), summary.turns), ("report", 3));
    assert_eq!(live.count(|event| matches!(event, Event::Error { .. })), 0);
    assert!(live.handle.snapshot().has_follow_ups());
}
