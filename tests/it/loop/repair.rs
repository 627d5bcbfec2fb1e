//! What is sent of a history that is not in order.

use codebot::kernel::message::{
    AssistantMessage, Block, CallStatus, Message, ModelRef, Note, Origin, Stop, Timestamp,
    ToolCall, ToolMessage, Usage, UserMessage,
};
use codebot::kernel::repair::{OUTCOME_UNKNOWN, awaits_answer, repair};
use proptest::prelude::*;
use serde_json::Map;

use super::fake_grammar::check_calls;
use super::fake_lab::line;

fn user(text: &str) -> Message {
    let blocks = vec![Block::text(text)];
    let (id, at) = ("u".into(), Timestamp(1));
    Message::User(UserMessage { id, at, origin: Origin::Prompt, blocks, before: None })
}

fn asks(ids: &[&str]) -> Message {
    answer("", ids, Stop::ToolUse)
}

fn answer(text: &str, ids: &[&str], stop: Stop) -> Message {
    let call = |id: &&str| {
        Block::Call(ToolCall {
            id: (*id).into(),
            name: "read".into(),
            args: Map::new(),
            invalid: None,
            opaque: None,
        })
    };
    let blocks = std::iter::once(Block::text(text)).chain(ids.iter().map(call)).collect();
    let (id, at, model) = ("a".into(), Timestamp(1), ModelRef::default());
    Message::Assistant(AssistantMessage { id, at, model, blocks, stop, usage: Usage::default() })
}

fn result(id: &str, text: &str) -> Message {
    Message::Tool(ToolMessage {
        id: "t".into(),
        at: Timestamp(1),
        call_id: id.into(),
        tool: "read".into(),
        status: CallStatus::Ok,
        blocks: vec![Block::text(text)],
        detail: None,
        cached: false,
    })
}

fn sent(history: &[Message]) -> Vec<String> {
    repair(history.to_vec()).iter().map(|message| line(message)).collect()
}

/// Scenario 156, case B01.
#[test]
fn a_missing_result_is_put_in() {
    let lines = sent(&[user("a"), asks(&["k1", "k2", "k3"]), result("k2", "r"), user("b")]);
    let unknown = |id: &str| format!("tool:{id}={OUTCOME_UNKNOWN}");
    let expected =
        ["user:a", "assistant:[k1,k2,k3]", &unknown("k1"), "tool:k2=r", &unknown("k3"), "user:b"];
    assert_eq!(lines, expected);
}

/// Scenario 156, case B04.
#[test]
fn a_result_without_a_call_is_left_out() {
    let lines = sent(&[user("a"), result("k7", "r"), answer("b", &[], Stop::EndTurn), user("c")]);
    assert_eq!(lines, ["user:a", "assistant:b[]", "user:c"]);
}

/// Scenario 157, case B23.
#[test]
fn results_come_directly_after_their_calls() {
    let lines = sent(&[asks(&["k1", "k2"]), user("x"), result("k2", "2"), result("k1", "1")]);
    assert_eq!(lines, ["assistant:[k1,k2]", "tool:k1=1", "tool:k2=2", "user:x"]);
}

/// Scenario 158.
#[test]
fn the_first_of_two_results_counts() {
    assert_eq!(sent(&[asks(&["k"]), result("k", "1"), result("k", "2")])[1..], ["tool:k=1"]);
}

/// Case B05 for histories from elsewhere.
#[test]
fn one_id_for_two_calls_is_told_apart() {
    let lines = sent(&[asks(&["f", "f", "f_2"]), result("f", "1"), result("f", "2")]);
    assert_eq!(lines[0], "assistant:[f,f_2,f_2_2]");
    assert_eq!(lines[1..3], ["tool:f=1", "tool:f_2=2"]);
}

/// Cases B06, B07.
#[test]
fn an_id_used_in_every_round_is_paired_within_its_round() {
    let mut history = Vec::new();
    for round in 1..=5 {
        history.push(asks(&["c0"]));
        history.push(result("c0", &format!("r{round}")));
        let results = sent(&history).into_iter().filter(|l| l.starts_with("tool")).count();
        assert_eq!(results, round);
    }
    assert_eq!(sent(&history)[9], "tool:c0=r5");
}

/// Case B08.
#[test]
fn answers_that_say_nothing_or_failed_are_left_out() {
    let mut thought = answer("", &[], Stop::EndTurn);
    if let Message::Assistant(m) = &mut thought {
        m.blocks = vec![Block::Thinking { text: "hm".into(), opaque: None }];
    }
    let history = [
        user("a"),
        answer("", &[], Stop::EndTurn),
        answer("  \n", &[], Stop::EndTurn),
        thought,
        answer("half", &[], Stop::Aborted),
        answer("half", &[], Stop::Error),
        Message::Note(Note { id: "n".into(), at: Timestamp(1), text: "interrupted".into() }),
        user("b"),
    ];
    assert_eq!(sent(&history), ["user:a", "user:b"]);
    assert!(awaits_answer(&history[..7]));
    assert!(!awaits_answer(&[user("a"), answer("b", &[], Stop::EndTurn)]));
}

/// A partial answer whose calls ran is sent.
#[test]
fn a_partial_answer_with_calls_is_sent() {
    let lines = sent(&[answer("half", &["k"], Stop::Aborted), result("k", "r")]);
    assert_eq!(lines, ["assistant:half[k]", "tool:k=r"]);
}

/// Case B09.
#[test]
fn blank_text_is_never_sent() {
    let lines = sent(&[user(" "), asks(&["k"]), result("k", "\n"), user("b")]);
    assert_eq!(lines, ["assistant:[k]", "tool:k=(no output)", "user:b"]);
    let Message::Assistant(sent) = &*repair(vec![asks(&["k"])])[0] else { panic!() };
    assert_eq!(sent.blocks.len(), 1);
}

fn any_message() -> impl Strategy<Value = Message> {
    let id = prop::sample::select(vec!["k1", "k2", "k3", "k1_2"]);
    let ids = prop::collection::vec(id.clone(), 0..4);
    let text = prop::sample::select(vec!["", " ", "words"]);
    let stop = prop::sample::select(vec![Stop::EndTurn, Stop::ToolUse, Stop::Aborted, Stop::Error]);
    prop_oneof![
        text.clone().prop_map(user),
        (text.clone(), ids, stop).prop_map(|(text, ids, stop)| answer(text, &ids, stop)),
        (id, text).prop_map(|(id, text)| result(id, text)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a history looks like: what is sent is in order, and repairing it changes nothing.
    #[test]
    fn anything_becomes_sendable(history in prop::collection::vec(any_message(), 0..12)) {
        let once = repair(history);
        let owned: Vec<Message> = once.iter().map(|message| (**message).clone()).collect();
        check_calls(&owned);
        prop_assert_eq!(&repair(once.clone()), &once);
    }
}
