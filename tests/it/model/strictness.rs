//! What single services refuse beyond the order of messages: the strict service says no to the
//! mistake itself, and to nothing that leaves the adapters.

use codebot::kernel::message::{Block, CallStatus, ModelRef, Opaque};
use codebot::kernel::ports::{Effort, Request};
use serde_json::{Value, json};

use super::mock_llm::{MockLlm, anthropic, gemini, openai, responses};
use super::support::{
    CLAUDE, GEMINI, GPT, RESPONSES, ask, assistant, call, model, request, result, result_blocks,
    user,
};

/// What leaves for a model, after the strict service took it.
async fn sent(reference: &str, request: Request) -> Value {
    let mock = MockLlm::start().await;
    mock.push(match reference {
        CLAUDE => anthropic::text("ok"),
        GEMINI => gemini::text("ok"),
        RESPONSES => responses::text("ok"),
        _ => openai::text("ok"),
    });
    assert_eq!(ask(&model(&mock, reference), request).await.error, None, "{reference}");
    assert_eq!(mock.violations(), Vec::<String>::new());
    mock.bodies().remove(0)
}

fn signed(text: &str) -> Block {
    let data = json!({"type": "thinking", "signature": "c2ln"});
    let model = ModelRef { provider: "anthropic".into(), model: "claude-sonnet-4-5".into() };
    Block::Thinking { text: text.into(), opaque: Some(Opaque { model, data }) }
}

fn picture(media_type: &str) -> Block {
    Block::Image { media_type: media_type.into(), data: "aGk=".into() }
}

/// Case A37: thoughts come first in their message and never last.
#[tokio::test]
async fn thoughts_at_which_an_answer_broke_off_are_left_out() {
    let blocks = vec![signed("a"), call("t", "ls", json!({})), signed("b")];
    let history = vec![user("go"), assistant(blocks), result("t", "x")];
    let request = Request { effort: Some(Effort::High), ..request(history) };
    let body = sent(CLAUDE, request).await;
    let kinds = body["messages"][1]["content"].as_array().unwrap().iter().map(|b| &b["type"]);
    assert_eq!(kinds.collect::<Vec<_>>(), ["thinking", "tool_use"]);
    assert_eq!(body["thinking"]["type"], "enabled");
}

/// A failure that shows a picture: one service takes only text in a marked failure.
#[tokio::test]
async fn a_failure_may_show_a_picture() {
    let shown = vec![Block::text("Error: it looks wrong"), picture("image/png")];
    let history = vec![
        user("go"),
        assistant(vec![call("t", "shot", json!({}))]),
        result_blocks("t", CallStatus::Error, shown),
    ];
    for reference in [CLAUDE, GPT, RESPONSES, GEMINI] {
        let body = sent(reference, request(history.clone())).await.to_string();
        assert!(body.contains("it looks wrong") && body.contains("aGk="), "{body}");
    }
}

#[tokio::test]
async fn a_picture_of_an_unknown_kind_becomes_words() {
    let message = super::support::user_blocks(
        codebot::kernel::message::Origin::Prompt,
        vec![Block::text("look"), picture("image/bmp")],
    );
    for reference in [CLAUDE, GPT, RESPONSES, GEMINI] {
        let body = sent(reference, request(vec![message.clone()])).await.to_string();
        assert!(!body.contains("aGk=") && body.contains("image/bmp left out"), "{body}");
    }
}

/// The strict service itself: each of these is refused by the real one.
#[tokio::test]
async fn the_strict_service_refuses_what_the_real_ones_refuse() {
    let mock = MockLlm::start().await;
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let user = json!({"role": "user", "content": text("hi")});
    let wrong: Vec<(&str, Value)> = vec![
        ("messages", json!({"messages": [{"role": "assistant", "content": text("x")}]})),
        ("messages", json!({"messages": [user, {"role": "assistant", "content": text("x ")}]})),
        ("messages", json!({"messages": [user], "tool_choice": {"type": "auto"}})),
        (
            "messages",
            json!({"messages": [user],
            "thinking": {"type": "enabled", "budget_tokens": 5000}}),
        ),
        (
            "messages",
            json!({"messages": [user], "tools": [
            {"name": "a", "input_schema": {"type": "object", "anyOf": []}}]}),
        ),
        (
            "messages",
            json!({"messages": [{"role": "user", "content": [{"type": "image",
            "source": {"type": "base64", "media_type": "image/bmp", "data": "x"}}]}]}),
        ),
        ("chat/completions", json!({"messages": [{"role": "user", "content": "hi"}], "tools": []})),
        (
            "chat/completions",
            json!({"messages": [{"role": "user", "content": "hi"}],
            "max_tokens": 1, "max_completion_tokens": 1}),
        ),
        (
            "chat/completions",
            json!({"messages": [{"role": "tool", "tool_call_id": "x",
            "content": "y"}]}),
        ),
        (
            "responses",
            json!({"store": true, "input": [{"type": "message", "role": "user",
            "content": "hi"}]}),
        ),
        (
            "responses",
            json!({"store": false, "input": [{"type": "function_call_output",
            "call_id": "c", "output": "x"}]}),
        ),
        (
            "responses",
            json!({"store": false, "input": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
            {"type": "message", "role": "user", "content": "hi"}]}),
        ),
        (
            "responses",
            json!({"store": false, "input": [
            {"type": "reasoning", "id": "rs_1", "encrypted_content": "x"},
            {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "x"}]},
            {"type": "message", "role": "user", "content": "hi"}]}),
        ),
    ];
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (path, mut body) in wrong {
        body["model"] = json!("m");
        if path == "messages" {
            body["max_tokens"] = json!(4096);
        }
        let url = format!("{}/v1/{path}", mock.base_url());
        let status = client.post(url).body(body.to_string()).send().await.unwrap().status();
        assert_eq!(status.as_u16(), 400, "{path}: {body}");
    }
}
