//! Cache marks of the messages format: where they stand, and where they never do.

use codebot::kernel::message::{Block, Message};
use codebot::kernel::ports::{Request, ToolChoice};
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

/// Scenario 152: what is sent is made anew; the request stays as it was, and the same request gives
/// the same bytes.
#[tokio::test]
async fn marks_change_nothing_of_the_request() {
    let mock = MockLlm::start().await;
    let history = [asked(), vec![result("toolu_1", "alpha"), user("more")]].concat();
    let request = full_request(history);
    let before = request.clone();
    for _ in 0..2 {
        mock.push(anthropic::text("ok"));
        assert_eq!(ask(&model(&mock, CLAUDE), request.clone()).await.error, None);
    }
    assert_eq!(request, before);
    let bodies = mock.bodies();
    assert_eq!(bodies[0].to_string(), bodies[1].to_string());
    assert_eq!(bodies[0]["max_tokens"].as_u64().map(|tokens| tokens > 0), Some(true));
}

/// Scenario 153: without messages there is nothing to mark among them.
#[tokio::test]
async fn a_request_of_system_text_alone_has_no_mark_in_messages() {
    let mock = MockLlm::start().await;
    mock.push(anthropic::text("ok"));
    // Services refuse it; what counts is what was sent.
    let _refused = ask(&model(&mock, CLAUDE), full_request(Vec::new())).await;
    let body = mock.bodies().remove(0);
    assert_eq!(body["messages"], json!([]));
    assert_eq!(body.to_string().matches("cache_control").count(), 2, "system and tools");
}

/// Scenario 154: a side question over the same conversation shares model, system text, tools and
/// the messages with their last mark; one option says that it wants text only.
#[tokio::test]
async fn a_side_question_shares_the_cached_prefix() {
    let history = [asked(), vec![result("toolu_1", "alpha")]].concat();
    let (_, main) = marks(history.clone()).await;
    let mock = MockLlm::start().await;
    mock.push(anthropic::text("ok"));
    let fork = Request {
        reminder: Some("Sum it up.".to_owned()),
        tool_choice: ToolChoice::None,
        ..full_request(history)
    };
    assert_eq!(ask(&model(&mock, CLAUDE), fork).await.error, None);
    let mut fork = mock.bodies().remove(0);
    let fields = fork.as_object_mut().unwrap();
    assert_eq!(fields.remove("tool_choice"), Some(json!({"type": "none"})));
    let last = fork["messages"].as_array_mut().unwrap().last_mut().unwrap();
    let added = last["content"].as_array_mut().unwrap().pop();
    assert_eq!(added, Some(json!({"type": "text", "text": "Sum it up."})));
    assert_eq!(fork, main);
}
