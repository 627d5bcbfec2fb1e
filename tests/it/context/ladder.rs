//! When a step is due, what it changes, what a failure leaves, and how a reload sees it.

use std::sync::Arc;

use codebot::context::ladder::Breaker;
use codebot::context::project::{Limits, OpenTasks};
use codebot::kernel::compaction::Step;
use codebot::kernel::error::{ModelError, ModelErrorKind};
use codebot::kernel::message::{Message, Usage};
use codebot::kernel::ports::{Context, Need, Reason};

use super::support::*;
use codebot::context::summary::Summariser;
use codebot::context::tell::Teller;

const SUMMARY: &str = "<summary>\n## Goal\nthe files\n</summary>";

fn steps(log: &[(Step, Result<codebot::kernel::compaction::Compaction, String>)]) -> Vec<Step> {
    log.iter().map(|(step, _)| *step).collect()
}

/// Words of some 28 300 tokens, none of them long enough to be cut.
fn talk() -> History {
    (0..29).map(|at| user(&format!("talk{at}"), &"w ".repeat(1950))).collect()
}

fn down() -> Arc<Replies> {
    Replies::new(|_, _| Err(ModelError::new(ModelErrorKind::Server, "the service is down")))
}

/// Scenarios C04 and 167: one batch, and then the beginning stays as it is for several rounds.
#[tokio::test]
async fn old_results_go_in_one_batch_and_the_prefix_is_stable_until_the_next() {
    let model = info(32_000);
    let context = context(None);
    let mut history = reads(&["a", "b", "c", "d"], 7_000);
    assert_eq!(climb(&context, &history, &model, Reason::Routine).await, [], "below the trigger");
    history.extend(reads(&["e", "f", "g", "h", "i", "j", "k"], 7_000).into_iter().skip(1));
    // Usage that is older than the batch says nothing about the view after it.
    let usage = Usage { input: 19_000, output: 10, ..Usage::default() };
    history.push(answer_with("told", "so", &[], usage));
    let log = climb(&context, &history, &model, Reason::Routine).await;
    assert_eq!(steps(&log), [Step::Micro]);
    let change = log[0].1.as_ref().unwrap();
    assert!(change.after < change.before, "{change:?}");
    assert!(context.weigh(&history, view(&model)).used < 19_000);
    let before = shown(&context, &history, &model).await;
    for round in 0..3 {
        history.push(user(&format!("more{round}"), "and?"));
        history.push(answer(&format!("well{round}"), "so", &[]));
        assert_eq!(climb(&context, &history, &model, Reason::Routine).await, []);
        let now = shown(&context, &history, &model).await;
        assert_eq!(now[..before.len()], before[..]);
    }
}

/// Old results are also cleared when no cache is left that could be lost by it.
#[tokio::test]
async fn a_long_pause_is_used_to_clear_old_results() {
    let (model, context) = (info(100_000), context(None));
    let mut history = reads(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], 7_000);
    let mut late = user("late", "go on");
    assert_eq!(climb(&context, &history, &model, Reason::Routine).await, []);
    if let Message::User(m) = Arc::make_mut(&mut late) {
        m.at.0 += Limits::default().cache_lifetime_ms + 1;
    }
    history.push(late);
    assert_eq!(steps(&climb(&context, &history, &model, Reason::Routine).await), [Step::Micro]);
}

/// Scenarios C05 and 181: summary, a short answer to it, and the waiting prompt word for word.
#[tokio::test]
async fn a_summary_stands_before_the_waiting_prompt() {
    let model = info(32_000);
    let replies = Replies::always(SUMMARY);
    let context = context(Some(&replies)).with_tasks(OpenTasks::new(|| "- write tests".into()));
    let mut history = reads(&["a", "b"], 3_000);
    history.push(user("next", "  now the tests, please\n"));
    let original = history.clone();
    let log = climb(&context, &history, &model, Reason::Forced).await;
    assert_eq!(steps(&log), [Step::Full]);
    assert_eq!(history, original, "the history itself is never changed");
    let view = shown(&context, &history, &model).await;
    assert_eq!(view.len(), 3);
    assert!(matches!(*view[0], Message::User(_)) && matches!(*view[1], Message::Assistant(_)));
    assert_eq!(view[2], history[6]);
    let summary = text(&view[0]);
    assert!(summary.starts_with("<conversation-summary>"), "{summary}");
    for part in ["## Goal\nthe files", "- write tests", "## Files read\n- a\n- b"] {
        assert!(summary.contains(part), "{part} in {summary}");
    }
}

/// Scenario C07: what a message brought along is not summed up; the waiting prompt keeps its words
/// and what it brought.
#[tokio::test]
async fn what_words_brought_along_is_told_anew_and_never_summed_up() {
    let model = info(32_000);
    let (main, small) = (Replies::always(SUMMARY), Replies::always(SUMMARY));
    let summariser = Summariser::new(main, Some(small.clone()), "s1");
    let context = context(None)
        .with_summariser(summariser)
        .with_teller(Teller::new(|said, _| format!("recalled for {said}")));
    let mut history = reads(&["a", "b"], 3_000);
    let first = text(&shown(&context, &history, &model).await[0]);
    assert!(first.contains("recalled for look at the files"), "{first}");
    history.push(user("next", "now the tests"));
    let log = climb(&context, &history, &model, Reason::Forced).await;
    assert_eq!(steps(&log), [Step::Full]);
    let asked = text(&small.requests()[0].messages[0]);
    assert!(asked.contains("look at the files") && !asked.contains("recalled"), "{asked}");
    let view = shown(&context, &history, &model).await;
    assert!(!text(&view[0]).contains("recalled"), "{}", text(&view[0]));
    let last = text(view.last().unwrap());
    assert!(last.contains("recalled for now the tests") && last.ends_with("now the tests"));
}

/// Scenarios C06 and 172: after a tool the answer that asked for it stays too.
#[tokio::test]
async fn one_long_run_of_tools_is_summed_up_between_its_rounds() {
    let model = info(32_000);
    let context = context(Some(&Replies::always(SUMMARY)));
    let mut history = reads(&["a", "b", "c", "d", "e", "f"], 4_000);
    history.pop();
    climb(&context, &history, &model, Reason::Forced).await;
    let view = shown(&context, &history, &model).await;
    assert!(matches!(*view[1], Message::Assistant(_)), "{view:?}");
    assert!(matches!(*view[2], Message::Tool(_)));
    assert!(text(&view[0]).contains("look at the files"), "the request is in the appendix");
    assert!(view.len() < history.len());
}

/// Scenarios C08, 179 and 170: everything stays, and the reason is told.
#[tokio::test]
async fn a_failed_summary_changes_nothing_and_is_not_tried_twice_for_one_answer() {
    let model = info(32_000);
    let replies = down();
    let context = context(Some(&replies));
    let history = talk();
    // Between the threshold and the point where something has to go: 27 840 and 29 920.
    let before = shown(&context, &history, &model).await;
    let used = context.weigh(&history, view(&model)).used;
    assert!((27_840..29_920).contains(&used), "{used}");
    let log = climb(&context, &history, &model, Reason::Routine).await;
    assert_eq!(log, [(Step::Full, Err("the service is down".to_owned()))]);
    assert_eq!(shown(&context, &history, &model).await, before);
    assert_eq!(climb(&context, &history, &model, Reason::Routine).await, [], "once an answer");
    assert_eq!(replies.requests().len(), 1);
}

/// Without a model that sums up, only what fits stays, and the request is word for word there.
#[tokio::test]
async fn what_does_not_fit_is_left_out_when_no_summary_can_be_made() {
    let model = info(32_000);
    let context = context(Some(&down()));
    let mut history = vec![user("wish", "port the parser, keep the tests")];
    for at in 0..40 {
        let call = call(&format!("c{at}"), "read", &format!("f{at}.rs"));
        history.push(answer(&format!("a{at}"), &"t".repeat(3000), std::slice::from_ref(&call)));
        history.push(result(&format!("r{at}"), &call, &"y".repeat(300)));
    }
    let log = climb(&context, &history, &model, Reason::Routine).await;
    assert_eq!(steps(&log), [Step::Full, Step::Mechanical], "{log:?}");
    let view = shown(&context, &history, &model).await;
    assert!(text(&view[0]).contains("port the parser, keep the tests"));
    let weighed = context.weigh(&history, super::support::view(&model));
    assert!(weighed.used < weighed.budget.threshold(), "{}", weighed.used);
    assert_eq!(view.last(), history.last());
}

/// Scenario 168.
#[test]
fn the_breaker_leaves_one_cycle_out() {
    let mut breaker = Breaker::default();
    for _ in 0..2 {
        assert_eq!(breaker.admits(2), Ok(()));
        breaker.failed();
    }
    assert_eq!(breaker.admits(2), Err(2));
    assert_eq!(breaker.failures(), 1, "armed again");
    assert_eq!(breaker.admits(2), Ok(()));
    breaker.succeeded();
    assert_eq!(breaker.failures(), 0);
}

/// Scenario 168 on the ladder: the third summary is not asked for, and that is told.
#[tokio::test]
async fn after_failures_in_a_row_a_summary_is_left_out_once() {
    let model = info(32_000);
    let replies = down();
    let context = context(Some(&replies)).with_limits(Limits { breaker: 2, ..Limits::default() });
    let mut history = talk();
    let mut reasons = Vec::new();
    for at in 0..4 {
        history.push(answer(&format!("a{at}"), "hm", &[]));
        history.push(user(&format!("u{at}"), "go"));
        let log = climb(&context, &history, &model, Reason::Routine).await;
        reasons.push(log[0].1.clone().unwrap_err());
    }
    let down = "the service is down";
    assert_eq!(reasons, [down, down, "left out after 2 failures in a row", down]);
    assert_eq!(replies.requests().len(), 3);
}

/// Scenarios C09 and 175: nothing but an earlier summary before the cut is nothing to sum up.
#[tokio::test]
async fn there_must_be_something_to_sum_up() {
    let model = info(32_000);
    let replies = Replies::always(SUMMARY);
    let context = context(Some(&replies));
    let history = vec![user("u", "hello")];
    for reason in [Reason::Routine, Reason::Forced, Reason::Overflow] {
        assert_eq!(climb(&context, &history, &model, reason).await, []);
    }
    let mut history = reads(&["a", "b"], 3_000);
    assert_eq!(steps(&climb(&context, &history, &model, Reason::Forced).await), [Step::Full]);
    assert_eq!(climb(&context, &history, &model, Reason::Forced).await, []);
    assert_eq!(replies.requests().len(), 1);
    // Something new after the summary can be summed up with it.
    history.extend(reads(&["c", "d"], 3_000).into_iter().skip(1).enumerate().map(|(at, m)| {
        let mut m = (*m).clone();
        match &mut m {
            Message::Assistant(m) => m.id = format!("n{at}").as_str().into(),
            Message::Tool(m) => m.id = format!("n{at}").as_str().into(),
            Message::User(_) | Message::Note(_) => {}
        }
        Arc::new(m)
    }));
    assert_eq!(steps(&climb(&context, &history, &model, Reason::Forced).await), [Step::Full]);
    let second = &replies.requests()[1];
    let first = text(&second.messages[0]);
    assert!(first.starts_with("<conversation-summary>"), "the earlier one leads: {first}");
    assert!(second.messages.iter().all(|m| !text(m).starts_with("a x")), "and only it");
}

/// The way back is by record: the view before the newest summary, with the steps before it.
#[tokio::test]
async fn undoing_gives_the_view_back_and_so_does_a_reload() {
    let model = info(32_000);
    let live = context(Some(&Replies::always(SUMMARY)));
    let history = reads(&["a", "b", "a", "b"], 3_000);
    let before = shown(&live, &history, &model).await;
    climb(&live, &history, &model, Reason::Forced).await;
    let after = shown(&live, &history, &model).await;
    assert_ne!(after, before);
    let reloaded = context(None).with_changes(live.changes());
    assert_eq!(shown(&reloaded, &history, &model).await, after, "replay equals live");
    let undone = live.undoable();
    assert_eq!(ids(&undone), ["k0"]);
    live.retract(&undone);
    assert_eq!(shown(&live, &history, &model).await, before);
    assert!(live.undoable().is_empty());
    // A change about messages that were taken back says nothing.
    let shorter: History = history[..3].to_vec();
    assert_eq!(shown(&reloaded, &shorter, &model).await, shorter);
}

/// Scenario 178: the newest usage counts, with its output; usage of before a change does not.
#[tokio::test]
async fn the_estimate_is_anchored_on_the_newest_usage() {
    let (model, context) = (info(100_000), context(Some(&Replies::always(SUMMARY))));
    let mut history = reads(&["a", "b"], 3_000);
    let usage = Usage { input: 500, output: 70, cache_read: 4000, cache_write: 430 };
    history.push(answer_with("told", "so", &[], usage));
    history.push(user("more", "abcd"));
    let used = |history: &History| context.weigh(history, view(&model)).used;
    assert_eq!(used(&history), 5000 + 1);
    climb(&context, &history, &model, Reason::Forced).await;
    assert!(used(&history) < 1500, "{}", used(&history));
    let usage = Usage { input: 900, output: 0, ..Usage::default() };
    history.push(answer_with("told again", "so", &[], usage));
    assert_eq!(used(&history), 900);
}

/// How far estimates are off is learnt from answers, and a window from a refusal.
#[tokio::test]
async fn answers_teach_the_ratio_and_refusals_the_window() {
    let (model, context) = (info(100_000), context(None));
    let mut history = vec![user("u", &"word ".repeat(4_000))];
    let estimated = context.weigh(&history, view(&model)).used;
    context.project(&history, view(&model)).await.unwrap();
    let usage = Usage { input: estimated * 2, output: 1, ..Usage::default() };
    history.push(answer_with("a", "ok", &[], usage));
    let weighed = context.weigh(&history, view(&model));
    assert!((weighed.ratio - 2.0).abs() < 0.01, "{}", weighed.ratio);
    assert_eq!(weighed.real(100), 200);
    context.refused(view(&model), "maximum context length is 8192 tokens");
    assert_eq!(context.weigh(&history, view(&model)).budget.window, 8192);
    let need = Need { reason: Reason::Overflow, focus: "", tried: &[], changed: false };
    assert!(context.plan(&history, view(&model), need).is_some());
}

/// Scenario 164.
#[tokio::test]
async fn no_step_changes_a_message() {
    let model = info(16_000);
    let context = context(Some(&Replies::always(SUMMARY)));
    let history = reads(&["a", "a", "b", "c", "d", "e", "f", "g", "h"], 9_000);
    let copy: Vec<Message> = history.iter().map(|message| (**message).clone()).collect();
    for reason in [Reason::Routine, Reason::Forced, Reason::Overflow] {
        climb(&context, &history, &model, reason).await;
        shown(&context, &history, &model).await;
    }
    assert!(history.iter().zip(&copy).all(|(now, before)| **now == *before));
}

/// Case G16: one huge result is cut, not reported as a success that saved nothing.
#[tokio::test]
async fn one_huge_result_is_cut_until_it_fits() {
    let model = info(16_000);
    let context = context(None);
    let huge = call("c", "bash", "cat log");
    let mut history = vec![user("u", "what is wrong?")];
    history.push(answer("a", "", std::slice::from_ref(&huge)));
    history.push(result("r", &huge, &"error: 12 ".repeat(90_000)));
    assert!(context.weigh(&history, view(&model)).used > 16_000);
    let log = climb(&context, &history, &model, Reason::Routine).await;
    assert!(log.iter().any(|(step, done)| *step == Step::Mechanical && done.is_ok()), "{log:?}");
    let weighed = context.weigh(&history, view(&model));
    assert!(weighed.used < weighed.budget.threshold(), "{}", weighed.used);
    let shown = shown(&context, &history, &model).await;
    assert!(shown.iter().any(|message| text(message).contains("what is wrong?")));
    assert!(text(shown.last().unwrap()).contains("characters left out"));
}

/// Case G19: no usage, a usage of 0 and an absurd one all fall back to the estimate; a fresh start
/// compacts nothing.
#[tokio::test]
async fn usage_that_is_missing_or_absurd_is_estimated() {
    let (model, context) = (info(32_000), context(None));
    for input in [0, 7_600_000] {
        let usage = Usage { input, output: 3, ..Usage::default() };
        let history = vec![user("u", "hello"), answer_with("a", "hi", &[], usage)];
        assert!(context.weigh(&history, view(&model)).used < 20);
        assert_eq!(climb(&context, &history, &model, Reason::Routine).await, []);
    }
    assert_eq!(climb(&context, &Vec::new(), &model, Reason::Routine).await, []);
    let usage = Usage { input: 100, cache_read: 4000, cache_write: 900, output: 50 };
    let history = vec![user("u", "hello"), answer_with("a", "hi", &[], usage)];
    assert_eq!(context.weigh(&history, view(&model)).used, 5050, "cached tokens count once");
}
