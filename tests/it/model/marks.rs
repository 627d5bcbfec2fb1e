//! Cache marks of the messages format: where they stand, and where they never do.

use codebot::kernel::message::{Block, Message};
use serde_json::{Value, json};

use super::mock_llm::{MockLlm, anthropic};
use super::support::{CLAUDE, ask, assistant_by, call, full_request, model, result, user};

/// The places of all marks in the messages, as `message.block`.
async fn marks(history: Vec<Message>) -> (Vec<String>, Value) {
    let mock = MockLlm::start().await;
    mock.push(anthropic::text("ok"));
    assert_eq!(ask(&model(&mock, CLAUDE), full_request(history)).await.error, None);
    let body = mock.bodies().remove(0);
    let mut found = Vec::new();
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        for (block, content) in message["content"].as_array().unwrap().iter().enumerate() {
            if content.get("cache_control").is_some() {
                found.push(format!("{at}.{block}"));
            }
        }
    }
    (found, body)
}

fn asked() -> Vec<Message> {
    let read = call("toolu_1", "read", json!({"path": "a.txt"}));
    vec![user("go"), assistant_by("anthropic", "x", vec![Block::text("I read."), read])]
}

/// Scenarios 150, 155: the last message, and the end of the call before.
#[tokio::test]
async fn the_last_message_and_the_one_of_the_call_before_are_marked() {
    assert_eq!(marks(vec![user("go")]).await.0, ["0.0"]);
    let with_result = [asked(), vec![result("toolu_1", "alpha")]].concat();
    assert_eq!(marks(with_result.clone()).await.0, ["0.0", "2.0"]);
    let answered = assistant_by("anthropic", "x", vec![Block::text("done")]);
    let longer = [with_result, vec![answered, user("more")]].concat();
    assert_eq!(marks(longer).await.0, ["2.0", "4.0"]);
    let paused = vec![user("go"), assistant_by("anthropic", "x", vec![Block::text("wait")])];
    assert_eq!(marks(paused).await.0, ["0.0", "1.0"]);
}

#[tokio::test]
async fn there_are_four_marks_at_most() {
    let history = [asked(), vec![result("toolu_1", "alpha")]].concat();
    let (_, body) = marks(history).await;
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
}
