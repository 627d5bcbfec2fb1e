//! Requests of the last turn and answers in one piece: reminder, tool choice, no stream.

use codebot::kernel::message::{Message, Stop};
use codebot::kernel::ports::{Request, StreamEvent, ToolChoice};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::mock_llm::{MockLlm, Reply, anthropic, openai};
use super::support::{CLAUDE, GPT, ask, assistant_by, call, full_request, model, result, user};

fn after_a_tool() -> Vec<Message> {
    let read = call("toolu_1", "read", json!({"path": "a.txt"}));
    vec![user("go"), assistant_by("anthropic", "x", vec![read]), result("toolu_1", "alpha")]
}

fn last_turn(history: Vec<Message>) -> Request {
    Request {
        reminder: Some("Report now.".into()),
        tool_choice: ToolChoice::None,
        ..full_request(history)
    }
}

async fn sent(reference: &str, request: Request) -> Value {
    let mock = MockLlm::start().await;
    mock.push(if reference == CLAUDE { anthropic::text("ok") } else { openai::text("ok") });
    assert_eq!(ask(&model(&mock, reference), request).await.error, None);
    assert_eq!(mock.violations(), Vec::<String>::new());
    mock.bodies().remove(0)
}

/// Scenarios R10, M08, 151: at the very end, behind the cache mark, and the tools stay.
#[tokio::test]
async fn a_reminder_of_the_messages_format_stands_behind_the_cache_mark() {
    for history in [vec![user("go")], after_a_tool()] {
        let plain = sent(CLAUDE, full_request(history.clone())).await;
        let body = sent(CLAUDE, last_turn(history)).await;
        assert_eq!(body["tool_choice"], json!({"type": "none"}));
        assert_eq!((&body["tools"], &body["system"]), (&plain["tools"], &plain["system"]));
        let mut messages = body["messages"].as_array().unwrap().clone();
        let content = messages.last_mut().unwrap()["content"].as_array_mut().unwrap();
        assert_eq!(content.pop().unwrap(), json!({"type": "text", "text": "Report now."}));
        assert_eq!(content.last().unwrap()["cache_control"], json!({"type": "ephemeral"}));
        assert_eq!(&messages, plain["messages"].as_array().unwrap(), "the rest is untouched");
        assert_eq!(plain.get("tool_choice"), None);
    }
}

/// Scenarios R10, M08.
#[tokio::test]
async fn a_reminder_of_chat_completions_comes_last() {
    let body = sent(GPT, last_turn(after_a_tool())).await;
    assert_eq!(body["tool_choice"], "none");
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap(), &json!({"role": "user", "content": "Report now."}));
    assert_eq!(messages[messages.len() - 2]["role"], "tool");
    let body = sent(GPT, last_turn(vec![user("go")])).await;
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!({"role": "user", "content": "go\n\nReport now."}));
}

/// Without tools there is nothing to choose, and some services refuse the field then.
#[tokio::test]
async fn without_tools_no_choice_is_sent() {
    for reference in [CLAUDE, GPT] {
        let request = Request { tools: [].into(), ..last_turn(vec![user("go")]) };
        assert_eq!(sent(reference, request).await.get("tool_choice"), None);
    }
}

/// Scenario S04: the same shape of events as from a stream.
#[tokio::test]
async fn a_whole_answer_gives_the_events_of_a_stream() {
    let claude = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "x",
        "content": [
            {"type": "text", "text": "reading"},
            {"type": "tool_use", "id": "toolu_9", "name": "read", "input": {"path": "a"}},
        ],
        "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 7},
    });
    let gpt = json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "x",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "reading",
            "tool_calls": [{"id": "toolu_9", "type": "function",
                "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}],
        }}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
    });
    for (reference, reply) in [(CLAUDE, claude), (GPT, gpt)] {
        let mock = MockLlm::start().await;
        mock.push(Reply::json(200, &reply));
        let model = model(&mock, reference);
        let stream = model.complete(full_request(vec![user("go")])).await.unwrap();
        let events: Vec<StreamEvent> = stream.map(|event| event.unwrap()).collect().await;
        let body = mock.bodies().remove(0);
        assert_eq!(body["stream"], false);
        assert_eq!(body.get("stream_options"), None);
        assert_eq!(events.first(), Some(&StreamEvent::Start));
        assert_eq!(events.last(), Some(&StreamEvent::Done(Stop::ToolUse)));
        let text = |event: &StreamEvent| matches!(event, StreamEvent::TextDelta { text, .. } if text == "reading");
        let at = events.iter().position(text).expect("the text");
        let called = events.iter().position(
            |event| matches!(event, StreamEvent::CallComplete { call, .. } if call.name == "read"),
        );
        assert!(called.is_some_and(|called| called > at), "{events:?}");
        let counted = |event: &StreamEvent| matches!(event, StreamEvent::Usage(usage) if (usage.input, usage.output) == (5, 7));
        assert!(events.iter().any(counted));
        assert_eq!(mock.violations(), Vec::<String>::new());
    }
}
