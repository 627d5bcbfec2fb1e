//! Histories as they come out of crashes, aborts and other services: what leaves is always valid.
//! The mock refuses whatever a strict service would.

use codebot::kernel::message::{Block, CallStatus, Message, Origin};
use serde_json::{Value, json};

use super::mock_llm::{MockLlm, anthropic, openai};
use super::support::{
    CLAUDE, GPT, ask, assistant, call, model, note, request, result, result_blocks, user,
    user_blocks,
};

/// Sends a history in both formats and returns the messages as sent.
async fn sent(history: Vec<Message>) -> (Vec<Value>, Vec<Value>) {
    let mock = MockLlm::start().await;
    mock.push(anthropic::text("ok")).push(openai::text("ok"));
    for reference in [CLAUDE, GPT] {
        let answer = ask(&model(&mock, reference), request(history.clone())).await;
        assert_eq!(answer.error, None, "{reference}");
    }
    assert_eq!(mock.violations(), Vec::<String>::new());
    let bodies = mock.bodies();
    let messages = |at: usize| bodies[at]["messages"].as_array().unwrap().clone();
    (messages(0), messages(1))
}

fn roles(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["role"].as_str().unwrap()).collect()
}

/// Case B01.
#[tokio::test]
async fn a_call_without_a_result_is_answered_as_interrupted() {
    let history = vec![user("hi"), assistant(vec![call("k1", "bash", json!({}))]), user("go on")];
    let (claude, gpt) = sent(history).await;
    let answer = &claude[2]["content"][0];
    assert_eq!((&answer["tool_use_id"], &answer["is_error"]), (&json!("k1"), &json!(true)));
    assert_eq!(answer["content"][0]["text"], "interrupted, outcome unknown");
    assert_eq!(claude[2]["content"][1]["text"], "go on");
    assert_eq!(roles(&gpt), ["user", "assistant", "tool", "user"]);
    assert_eq!(gpt[2]["content"], "interrupted, outcome unknown");
}

/// Case B02.
#[tokio::test]
async fn results_come_in_call_order() {
    let calls = ["k1", "k2", "k3"].map(|id| call(id, "read", json!({}))).to_vec();
    let cancelled = |id| result_blocks(id, CallStatus::Cancelled, vec![Block::text("cancelled")]);
    let history = vec![
        user("hi"),
        assistant(calls),
        cancelled("k3"),
        result("k1", "real"),
        cancelled("k2"),
        user("x"),
    ];
    let (claude, gpt) = sent(history).await;
    let ids: Vec<&Value> = claude[2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .take(3)
        .map(|r| &r["tool_use_id"])
        .collect();
    assert_eq!(ids, ["k1", "k2", "k3"]);
    assert_eq!(gpt[2]["content"], "real");
}

/// Case B04.
#[tokio::test]
async fn an_orphan_result_is_dropped() {
    let history =
        vec![user("a"), result("k7", "lost"), assistant(vec![Block::text("b")]), user("c")];
    let (claude, gpt) = sent(history).await;
    assert_eq!((claude.len(), gpt.len()), (3, 3));
    assert!(!json!([claude, gpt]).to_string().contains("lost"));
}

/// Cases B06 and B07.
#[tokio::test]
async fn an_id_used_in_every_round_keeps_every_result_once() {
    let mut history = vec![user("hi")];
    for round in 1..=5 {
        history.push(assistant(vec![call("c0", "search", json!({"n": round}))]));
        history.push(result("c0", &format!("r{round}")));
    }
    let (claude, gpt) = sent(history).await;
    let text = json!(claude).to_string();
    for round in 1..=5 {
        assert_eq!(text.matches(&format!("\"r{round}\"")).count(), 1);
    }
    let ids: Vec<&Value> =
        gpt.iter().filter(|m| m["role"] == "tool").map(|m| &m["tool_call_id"]).collect();
    assert_eq!(ids, ["c0", "c0_1", "c0_2", "c0_3", "c0_4"]);
}

/// Case B08, scenario 159: blank and mere thought of nobody we can prove.
#[tokio::test]
async fn empty_answers_are_dropped_and_their_neighbours_merge() {
    for blocks in [
        vec![],
        vec![Block::text("")],
        vec![Block::text("  \n")],
        vec![Block::Thinking { text: "only thought".into(), opaque: None }],
    ] {
        let (claude, gpt) = sent(vec![user("one"), assistant(blocks), user("two")]).await;
        assert_eq!(claude.len(), 1);
        assert_eq!(claude[0]["content"][1]["text"], "two");
        assert_eq!(gpt[0]["content"], "one\n\ntwo");
    }
}

/// Case B09.
#[tokio::test]
async fn blank_text_never_leaves() {
    let history = vec![
        user("hi"),
        assistant(vec![
            Block::text("\n"),
            call("k1", "bash", json!({})),
            call("k2", "grep", json!({})),
        ]),
        result("k1", ""),
        result("k2", " \n"),
        user_blocks(Origin::Steer, vec![Block::text("  "), Block::text("go")]),
    ];
    let (claude, gpt) = sent(history).await;
    let texts = claude[2].to_string();
    assert_eq!(texts.matches("(no output)").count(), 2);
    assert_eq!(
        (&gpt[2]["content"], &gpt[3]["content"]),
        (&json!("(no output)"), &json!("(no output)"))
    );
    assert_eq!(gpt[4]["content"], "go");
}

/// Case B19, scenario 159: long ids are cut, in call and result alike.
#[tokio::test]
async fn illegal_ids_are_rewritten_alike_in_call_and_result() {
    let long = "x".repeat(120);
    let ids = ["functions.read:3", "functions.read_3", long.as_str(), ""];
    let calls = ids.map(|id| call(id, "read", json!({}))).to_vec();
    let mut history = vec![user("hi"), assistant(calls)];
    history.extend(ids.map(|id| result(id, &format!("for {}", id.len()))));
    let (claude, gpt) = sent(history.clone()).await;
    let uses: Vec<&Value> =
        claude[1]["content"].as_array().unwrap().iter().map(|b| &b["id"]).collect();
    assert_eq!(uses[0], "functions_read_3");
    assert_eq!(uses[1], "functions_read_3_1");
    assert_eq!(uses[3], "call");
    // Kept where it is legal.
    assert_eq!(gpt[1]["tool_calls"][0]["id"], "functions.read:3");
    // The same again after more history: the cached prefix stays.
    history.push(assistant(vec![Block::text("ok"), call("", "read", json!({}))]));
    let (longer, _) = sent(history).await;
    let ids = |messages: &[Value]| {
        let content = messages[1]["content"].as_array().unwrap().clone();
        content.into_iter().map(|block| block["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&claude), ids(&longer));
}

/// Case B23.
#[tokio::test]
async fn notices_between_call_and_result_move_behind_the_results() {
    let history = vec![
        user("hi"),
        assistant(vec![call("k1", "grep", json!({})), call("k2", "read", json!({}))]),
        result("k1", "one"),
        user_blocks(Origin::Notice, vec![Block::text("<background-notifications>")]),
        result("k2", "two"),
    ];
    let (claude, gpt) = sent(history).await;
    assert_eq!(claude[2]["content"][2]["text"], "<background-notifications>");
    assert_eq!(roles(&gpt), ["user", "assistant", "tool", "tool", "user"]);
}

#[tokio::test]
async fn duplicate_results_count_once_and_notes_never() {
    let history = vec![
        user("hi"),
        assistant(vec![call("k1", "read", json!({}))]),
        note("interrupted"),
        result("k1", "first"),
        result("k1", "second"),
    ];
    let (claude, _) = sent(history).await;
    let text = json!(claude).to_string();
    assert!(text.contains("first") && !text.contains("second") && !text.contains("interrupted"));
}

#[tokio::test]
async fn a_history_that_begins_with_an_answer_gets_a_user_message() {
    let (claude, _) = sent(vec![assistant(vec![Block::text("hello")]), user("hi")]).await;
    assert_eq!(roles(&claude), ["user", "assistant", "user"]);
}

#[tokio::test]
async fn pictures_are_sent_only_to_models_that_see() {
    let picture = || Block::Image { media_type: "image/png".into(), data: "aGk=".into() };
    let history = || {
        vec![
            user_blocks(Origin::Prompt, vec![Block::text("look"), picture()]),
            assistant(vec![call("k1", "read", json!({}))]),
            result_blocks("k1", CallStatus::Ok, vec![picture()]),
        ]
    };
    let (claude, gpt) = sent(history()).await;
    assert_eq!(claude[0]["content"][1]["source"]["data"], "aGk=");
    assert_eq!(claude[2]["content"][0]["content"][0]["type"], "image");
    assert_eq!(gpt[0]["content"][1]["image_url"]["url"], "data:image/png;base64,aGk=");
    assert_eq!(gpt[2]["content"], "(no output)");
    assert_eq!(gpt[3]["content"][0]["type"], "image_url");

    let mock = MockLlm::start().await;
    mock.push(openai::text("ok"));
    let blind = ask(&model(&mock, "openai/blind-model"), request(history())).await;
    assert_eq!(blind.error, None);
    let messages = &mock.bodies()[0]["messages"];
    assert_eq!(
        messages[0]["content"],
        "look\n\n[image/png left out: this model does not take images]"
    );
    assert_eq!(messages[2]["content"], "[image/png left out: this model does not take images]");
}

/// Scenario 160.
#[tokio::test]
async fn long_ids_that_are_equal_after_cutting_stay_apart() {
    let ids = ["a", "b"].map(|end| format!("{}{end}", "x".repeat(100)));
    let calls = ids.iter().map(|id| call(id, "read", json!({}))).collect();
    let mut history = vec![user("hi"), assistant(calls)];
    history.extend(ids.iter().map(|id| result(id, &id[99..])));
    let (claude, gpt) = sent(history).await;
    let uses = |at: usize| claude[1]["content"][at]["id"].clone();
    assert_ne!(uses(0), uses(1));
    for (at, text) in ["xa", "xb"].into_iter().enumerate() {
        let answer = &claude[2]["content"][at];
        assert_eq!(
            (&answer["tool_use_id"], &answer["content"][0]["text"]),
            (&uses(at), &json!(text))
        );
        assert_eq!(gpt[2 + at]["tool_call_id"], gpt[1]["tool_calls"][at]["id"]);
    }
}

#[tokio::test]
async fn mistral_gets_ids_of_nine_letters() {
    let mock = MockLlm::start().await;
    mock.push(openai::text("ok"));
    let history = vec![
        user("hi"),
        assistant(vec![
            call("toolu_01ABC", "read", json!({})),
            call("abcDEF123", "read", json!({})),
        ]),
        result("toolu_01ABC", "x"),
        result("abcDEF123", "y"),
    ];
    assert_eq!(
        ask(&model(&mock, "mistral/mistral-medium-latest"), request(history)).await.error,
        None
    );
    let calls = &mock.bodies()[0]["messages"][1]["tool_calls"];
    let id = calls[0]["id"].as_str().unwrap();
    assert!(id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
    assert_eq!(calls[1]["id"], "abcDEF123");
}
