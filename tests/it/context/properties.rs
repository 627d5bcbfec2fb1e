//! Whatever the history: after any step the view is sendable, has the newest request in it, and is
//! never larger than before.

use std::sync::Arc;

use codebot::context::estimate;
use codebot::kernel::message::{CallId, Message};
use codebot::kernel::ports::Reason;
use codebot::kernel::repair;
use proptest::prelude::*;

use super::support::*;

/// One thing that happens in a conversation.
#[derive(Clone, Debug)]
enum Part {
    Asks(String),
    Says(String),
    /// Calls of a tool with these paths, each with a result of so many words.
    Works(Vec<(u8, usize)>),
}

fn part() -> impl Strategy<Value = Part> {
    let words = prop_oneof!["[a-z ]{0,60}", "(汉|字|👍|\n){0,40}", "(log line\n){200,900}"];
    prop_oneof![
        words.clone().prop_map(Part::Asks),
        words.prop_map(Part::Says),
        proptest::collection::vec((0u8..6, 0usize..4000), 1..4).prop_map(Part::Works),
    ]
}

fn history(parts: &[Part]) -> History {
    let mut history = vec![user("u-first", "the very first wish")];
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Asks(words) => history.push(user(&format!("u{at}"), &format!("wish {words}"))),
            Part::Says(words) => history.push(answer(&format!("a{at}"), &format!("{words}."), &[])),
            Part::Works(list) => {
                let calls: Vec<_> = (0u32..)
                    .zip(list)
                    .map(|(n, (path, _))| call(&format!("c{at}-{n}"), "read", &format!("p{path}")))
                    .collect();
                history.push(answer(&format!("a{at}"), "", &calls));
                for (n, (_, size)) in list.iter().enumerate() {
                    let id = format!("r{at}-{n}");
                    history.push(result(&id, &calls[n], &"word ".repeat(*size)));
                }
            }
        }
    }
    history
}

/// What services insist on: every call has its result directly after it, and nothing else has one.
fn check_pairs(view: &[Arc<Message>]) {
    let mut owed: Vec<CallId> = Vec::new();
    for message in view {
        match &**message {
            Message::Tool(result) => assert_eq!(Some(&result.call_id), owed.first(), "{view:?}"),
            _ => assert!(owed.is_empty(), "{owed:?} without a result"),
        }
        match &**message {
            Message::Tool(_) => drop(owed.remove(0)),
            Message::Assistant(answer) => owed = answer.calls().map(|c| c.id.clone()).collect(),
            Message::User(_) | Message::Note(_) => {}
        }
    }
    assert!(owed.is_empty(), "{owed:?} without a result");
}

fn newest_request(history: &History) -> String {
    let newest = history.iter().rev().find(|m| matches!(***m, Message::User(_)));
    text(newest.unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_step_keeps_pairs_and_the_newest_request_and_never_grows(
        parts in proptest::collection::vec(part(), 1..40),
        reasons in proptest::collection::vec(0u8..3, 1..4),
        sums_up in any::<bool>(),
        window in prop_oneof![Just(9_000u64), Just(16_000), Just(32_000)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let model = info(window);
            let replies = Replies::always("<summary>so far</summary>");
            let context = context(sums_up.then_some(&replies));
            let all = history(&parts);
            let half = all.len() / 2;
            let mut taken: History = all[..half.max(1)].to_vec();
            for reason in reasons {
                let reason = [Reason::Routine, Reason::Forced, Reason::Overflow][usize::from(reason)];
                let before = estimate::history(&shown(&context, &taken, &model).await);
                climb(&context, &taken, &model, reason).await;
                let view = shown(&context, &taken, &model).await;
                assert!(estimate::history(&view) <= before, "{} > {before}", estimate::history(&view));
                check_pairs(&repair::repair(view.clone()));
                // Results in the view need no repair: their calls are there.
                let asked = newest_request(&taken);
                assert!(view.iter().any(|m| text(m).contains(&asked)), "{asked:?} is lost");
                assert_eq!(view.last().map(|m| m.id()), taken.last().map(|m| m.id()));
                taken = all.clone();
            }
        });
    }
}

proptest! {
    /// The short way for ASCII counts as the long one does: each character by its kind, a sum of
    /// parts in whatever way a text is cut.
    #[test]
    fn ascii_is_counted_character_by_character(text in "[ -~\t\n\r\u{b}\u{c}\u{0}\u{1f}\u{7f}]{0,300}") {
        let weight = |c: char| if c.is_ascii_alphanumeric() || c.is_whitespace() { 25 } else { 50 };
        let slow: u64 = text.chars().map(weight).sum();
        prop_assert_eq!(estimate::text(&text), slow.div_ceil(100));
        // With one character that is not ASCII the long way is taken.
        prop_assert_eq!(estimate::text(&format!("{text}\u{2013}")), (slow + 50).div_ceil(100));
    }
}
