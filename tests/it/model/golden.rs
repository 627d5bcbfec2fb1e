//! Requests byte for byte. With `UPDATE_GOLDEN=1` the files are written anew.

use std::path::PathBuf;

use codebot::kernel::message::{Block, CallStatus, Message, ModelRef, Opaque, Origin};
use serde_json::{Value, json};

use super::mock_llm::{MockLlm, anthropic, gemini, openai, responses};
use super::support::{
    CLAUDE, GEMINI, GPT, RESPONSES, ask, assistant_by, call, full_request, model, result,
    result_blocks, user, user_blocks,
};

fn history() -> Vec<Message> {
    let signature = Opaque {
        model: ModelRef { provider: "anthropic".into(), model: "claude-sonnet-4-5".into() },
        data: json!({"type": "thinking", "signature": "c2ln"}),
    };
    vec![
        user("Read a.txt and b.txt, please."),
        assistant_by(
            "anthropic",
            "claude-sonnet-4-5",
            vec![
                Block::Thinking { text: "Two reads. ".into(), opaque: Some(signature) },
                Block::text("Reading both."),
                call("toolu_1", "read", json!({"path": "a.txt"})),
                call("toolu_2", "read", json!({"path": "b.txt", "limit": 5})),
            ],
        ),
        result("toolu_1", "alpha 你好"),
        result_blocks("toolu_2", CallStatus::Error, vec![Block::text("Error: NotFound: b.txt")]),
        user_blocks(Origin::Steer, vec![Block::text("Skip b.txt.")]),
    ]
}

async fn check(reference: &str, file: &str) {
    let mock = MockLlm::start().await;
    let reply = match reference {
        CLAUDE => anthropic::text("ok"),
        GEMINI => gemini::text("ok"),
        RESPONSES => responses::text("ok"),
        _ => openai::text("ok"),
    };
    mock.otherwise(reply);
    let model = model(&mock, reference);
    for _ in 0..2 {
        assert_eq!(ask(&model, full_request(history())).await.error, None);
    }
    let requests = mock.requests();
    assert_eq!(requests[0].raw, requests[1].raw, "the same request gives the same bytes");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sse").join(file);
    // Keys keep their order: the file shows the bytes, only indented.
    let pretty = serde_json::to_string_pretty(&requests[0].body).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &pretty).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), pretty, "{}", path.display());
    let compact: Value = serde_json::from_str(&pretty).unwrap();
    assert_eq!(compact.to_string().into_bytes(), requests[0].raw);
}

#[tokio::test]
async fn a_messages_request_matches_its_golden_file() {
    check(CLAUDE, "anthropic-request.json").await;
}

#[tokio::test]
async fn a_chat_completions_request_matches_its_golden_file() {
    check(GPT, "openai-chat-request.json").await;
}

#[tokio::test]
async fn a_responses_request_matches_its_golden_file() {
    check(RESPONSES, "openai-responses-request.json").await;
}

#[tokio::test]
async fn a_generate_content_request_matches_its_golden_file() {
    check(GEMINI, "gemini-request.json").await;
}
