//! Estimates and the view of a history.

use std::sync::Arc;

use codebot::context::estimate;
use codebot::context::project::SessionContext;
use codebot::kernel::event::Tier;
use codebot::kernel::message::{Block, Message, ModelRef, Origin, UserMessage};
use codebot::kernel::ports::{Context, ModelInfo, SystemBlock, View};

use super::support::*;

/// scenario C01
#[test]
fn ten_han_ten_letters_four_spaces_and_four_marks_are_21_tokens() {
    assert_eq!(estimate::text(&"汉".repeat(10)), 15);
    assert_eq!(estimate::text("abcdefghij"), 3);
    assert_eq!(estimate::text("汉汉汉汉汉汉汉汉汉汉abcdefghij    ,.;!"), 21);
    assert_eq!(estimate::text("かなカナ한글"), 9);
    assert_eq!(estimate::text(""), 0);
}

#[test]
fn a_message_counts_what_the_model_sees() {
    let image = Block::Image { media_type: "image/png".into(), data: "A".repeat(100_000) };
    let picture = Message::User(UserMessage {
        id: "u".into(),
        at: START,
        origin: Origin::Prompt,
        blocks: vec![image, Block::text("abcd")],
        before: None,
    });
    assert_eq!(estimate::message(&picture), 1201);
    assert_eq!(estimate::message(&note("n", "only for people")), 0);
    let with_call = assistant("a", "", &[call("k1", "bash")]);
    // bash, then {"command":"sleep 100"}
    assert_eq!(estimate::message(&with_call), 1 + 8);
    assert_eq!(estimate::history(&[picture, with_call]), 1210);
}

#[tokio::test]
async fn the_system_bytes_are_the_same_every_time_and_the_history_is_whole() {
    let block = |text: &str, cache| SystemBlock { text: text.into(), cache };
    let context = SessionContext::new(vec![block("stable", true), block(" \n", false)]);
    let model = ModelInfo {
        model: ModelRef::default(),
        context_window: 1000,
        max_output: 100,
        price: None,
        vision: false,
    };
    let history = [user("u1", "one"), note("n1", "x"), assistant("a1", "two", &[])].map(Arc::new);
    let view = View { model: &model, tier: Tier::Full, tools: &[] };
    let first = context.project(&history, view).await.unwrap();
    assert_eq!(first.messages, history);
    assert_eq!(first.system, [block("stable", true)]);
    let second = context.project(&history[..1], view).await.unwrap();
    assert_eq!(second.system, first.system);
}

/// Both places of the session's facts, and the short prompt of a quick look.
#[tokio::test]
async fn the_facts_stand_in_the_system_prompt_or_in_front_of_the_first_words() {
    let block = |text: &str, cache| SystemBlock { text: text.into(), cache };
    let whole = || vec![block("stable", true), block("facts", false)];
    let model = ModelInfo {
        model: ModelRef::default(),
        context_window: 1000,
        max_output: 100,
        price: None,
        vision: false,
    };
    let history = [user("u1", "one"), assistant("a1", "two", &[]), user("u2", "x")].map(Arc::new);
    let context = SessionContext::new(whole()).with_fast(vec![block("short", true)]);
    let full = View { model: &model, tier: Tier::Full, tools: &[] };
    assert_eq!(context.project(&history, full).await.unwrap().system, whole());
    let medium = View { tier: Tier::Medium, ..full };
    assert_eq!(context.project(&history, medium).await.unwrap().system, whole());
    let fast = View { tier: Tier::Fast, ..full };
    assert_eq!(context.project(&history, fast).await.unwrap().system, [block("short", true)]);
    let context = SessionContext::new(whole()).with_turn_context(true);
    for messages in [&history[..1], &history[..]] {
        let sent = context.project(messages, full).await.unwrap();
        assert_eq!(sent.system, [block("stable", true)]);
        let Message::User(first) = &*sent.messages[0] else { panic!() };
        assert_eq!(first.blocks, [Block::text("facts"), Block::text("one")]);
        assert_eq!(sent.messages[1..], messages[1..]);
    }
}
