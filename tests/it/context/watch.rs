//! Words about a cache that gives much less than before.

use std::sync::Arc;

use codebot::context::cache_watch::CacheWatch;
use codebot::kernel::message::{Message, Usage};
use codebot::kernel::ports::{SystemBlock, ToolSpec};
use serde_json::json;

use super::support::*;

fn told(id: &str, cache_read: u64) -> Arc<Message> {
    answer_with(id, "ok", &[], Usage { input: 10, output: 1, cache_read, cache_write: 0 })
}

fn block(text: &str) -> Vec<SystemBlock> {
    vec![SystemBlock { text: text.into(), cache: true }]
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec { name: name.into(), description: String::new(), schema: json!({}), deferred: false }
}

/// What the second of two requests is told to have lost.
fn second(
    change: impl FnOnce(&mut CacheWatch, &mut Vec<SystemBlock>, &mut Vec<ToolSpec>, &mut Message),
    found: u64,
) -> Vec<String> {
    let mut watch = CacheWatch::default();
    let (mut system, mut tools) = (block("s"), vec![tool("a")]);
    let mut history = vec![user("u", "hi")];
    watch.sent(&system, &tools, history.len());
    history.push(told("a1", 30_000));
    assert_eq!(watch.answered(&history, 300_000), Vec::<String>::new(), "nothing to compare with");
    let mut next = (*told("a2", found)).clone();
    change(&mut watch, &mut system, &mut tools, &mut next);
    watch.sent(&system, &tools, history.len());
    history.push(next.into());
    watch.answered(&history, 300_000)
}

#[test]
fn a_loss_is_told_with_its_likely_cause() {
    let cause = |lines: Vec<String>| lines.concat().rsplit(": ").next().unwrap().to_owned();
    let lines = second(|_, _, _, _| {}, 1_000);
    assert_eq!(
        lines,
        ["29000 tokens fewer came from the cache than before: the service gives no reason"]
    );
    let lost = second(|_, _, tools, _| tools.push(tool("b")), 0);
    assert_eq!(cause(lost), "the tools were changed");
    let lost = second(|_, system, _, _| *system = block("t"), 0);
    assert_eq!(cause(lost), "the system prompt was changed");
    assert_eq!(
        cause(second(|watch, _, _, _| watch.compacted(), 0)),
        "the conversation was compacted"
    );
    let later = |_: &mut CacheWatch, _: &mut Vec<_>, _: &mut Vec<_>, next: &mut Message| {
        if let Message::Assistant(m) = next {
            m.at.0 += 300_001;
        }
    };
    assert_eq!(cause(second(later, 0)), "the service has forgotten it meanwhile");
    let other = |_: &mut CacheWatch, _: &mut Vec<_>, _: &mut Vec<_>, next: &mut Message| {
        if let Message::Assistant(m) = next {
            m.model.model = "two".into();
        }
    };
    assert_eq!(cause(second(other, 0)), "the model was changed");
}

#[test]
fn small_losses_are_not_worth_a_word() {
    assert_eq!(second(|_, _, _, _| {}, 28_001), Vec::<String>::new());
    assert_eq!(second(|_, _, _, _| {}, 40_000), Vec::<String>::new());
    assert_eq!(second(|_, _, _, _| {}, 28_000).len(), 1, "2000 tokens are more than 5 %");
}
