//! Streams of the messages format: the cases that concern it.

use std::collections::HashMap;

use codebot::kernel::error::ModelErrorKind as Kind;
use codebot::kernel::message::{Block, ModelRef, Opaque, Stop};
use codebot::kernel::ports::StreamEvent;
use serde_json::json;

use super::mock_llm::anthropic::{
    answer as reply, block_delta, block_start, block_stop, error_event, event, events, message_end,
    message_start, text, text_block, thinking_block, tool, tool_block,
};
use super::mock_llm::{MockLlm, Reply};
use super::support::{CLAUDE, answer, ask, failure, full_request, model, request, result, user};

#[tokio::test]
async fn a_text_answer_streams_and_ends() {
    let mock = MockLlm::start().await;
    mock.push(text("Hello from the mock"));
    let answer = answer(&mock, CLAUDE).await;
    assert_eq!(answer.text(), "Hello from the mock");
    assert_eq!(answer.stop, Some(Stop::EndTurn));
    assert_eq!((answer.usage.input, answer.usage.output), (25, 12));
    assert_eq!(answer.events.first(), Some(&StreamEvent::Start));
    let sent = &mock.requests()[0];
    assert_eq!(sent.path, "/v1/messages");
    assert_eq!(sent.headers["x-api-key"], "test-key");
    assert_eq!(sent.headers["anthropic-version"], "2023-06-01");
    assert_eq!(sent.headers["accept-encoding"], "identity");
    assert_eq!(sent.headers["accept"], "text/event-stream");
}

/// Case A29.
#[tokio::test]
async fn argument_pieces_are_joined_before_they_are_parsed() {
    let mock = MockLlm::start().await;
    let piece =
        |text: &str| block_delta(0, &json!({"type": "input_json_delta", "partial_json": text}));
    let start =
        block_start(0, &json!({"type": "tool_use", "id": "t1", "name": "write", "input": {}}));
    mock.push(reply(
        [vec![
            start,
            piece(""),
            piece(r#"{"path":"a"#),
            piece(r#".txt","content":"\u4f"#),
            piece(r#"60"}"#),
            block_stop(0),
        ]],
        "tool_use",
    ));
    let answer = answer(&mock, CLAUDE).await;
    assert_eq!(answer.calls_text(), [r#"t1 write {"path":"a.txt","content":"你"}"#]);
    assert_eq!(answer.stop, Some(Stop::ToolUse));
}

/// Case A30.
#[tokio::test]
async fn a_call_without_argument_pieces_has_no_arguments() {
    let mock = MockLlm::start().await;
    let start = |input| {
        block_start(0, &json!({"type": "tool_use", "id": "t", "name": "w", "input": input}))
    };
    mock.push(reply([vec![start(json!({})), block_stop(0)]], "tool_use"));
    mock.push(reply([vec![start(json!({"p": 1})), block_stop(0)]], "tool_use"));
    assert_eq!(answer(&mock, CLAUDE).await.calls_text(), ["t w {}"]);
    // A gateway that gives them with the start.
    assert_eq!(answer(&mock, CLAUDE).await.calls_text(), [r#"t w {"p":1}"#]);
}

/// Case A31.
#[tokio::test]
async fn interleaved_blocks_are_told_apart_by_index() {
    let mock = MockLlm::start().await;
    let start =
        |at, id| block_start(at, &json!({"type": "tool_use", "id": id, "name": "t", "input": {}}));
    let piece = |at, text: &str| {
        block_delta(at, &json!({"type": "input_json_delta", "partial_json": text}))
    };
    mock.push(reply(
        [vec![
            start(1, "A"),
            start(2, "B"),
            piece(1, r#"{"s":"#),
            piece(2, r#"{"q":"#),
            piece(1, "1}"),
            piece(2, "2}"),
            block_stop(1),
            block_stop(2),
        ]],
        "tool_use",
    ));
    let answer = answer(&mock, CLAUDE).await;
    assert_eq!(answer.calls_text(), [r#"A t {"s":1}"#, r#"B t {"q":2}"#]);
}

/// Case A27.
#[tokio::test]
async fn unknown_events_deltas_and_blocks_are_skipped() {
    let mock = MockLlm::start().await;
    let ping = json!({"type": "ping"});
    let mut documents = vec![message_start(1), ping.clone()];
    documents.extend([json!({"type": "future_thing", "index": "x", "delta": [1]}), ping.clone()]);
    documents.push(block_start(0, &json!({"type": "server_note", "text": "secret"})));
    documents.push(block_delta(0, &json!({"type": "text_delta", "text": "secret"})));
    documents.push(block_stop(0));
    documents.push(block_start(1, &json!({"type": "text", "text": ""})));
    documents.push(block_delta(1, &json!({"type": "text_delta", "text": "He"})));
    documents.push(block_delta(1, &json!({"type": "zzz_delta", "text": 5})));
    documents.push(ping);
    documents.push(block_delta(1, &json!({"type": "text_delta", "text": "llo"})));
    documents.push(block_stop(1));
    documents.extend(message_end("end_turn", 3));
    mock.push(events(documents));
    assert_eq!(answer(&mock, CLAUDE).await.text(), "Hello");
}

/// Case A25.
#[tokio::test]
async fn an_error_event_after_text_is_an_error() {
    let mock = MockLlm::start().await;
    let mut documents = vec![message_start(1)];
    documents.extend(text_block(0, "Par").into_iter().take(2));
    documents.push(error_event("overloaded_error", "Overloaded"));
    mock.push(events(documents));
    let answer = ask(&model(&mock, CLAUDE), request(vec![user("hi")])).await;
    let error = answer.error.unwrap();
    assert_eq!((error.kind, error.status), (Kind::Overloaded, Some(529)));
    assert_eq!(error.message, "anthropic is overloaded (529): Overloaded");
    assert_eq!(answer.stop, None);
}

/// Case A26: the call is the last block and its stream failed, so it never counts as complete.
#[tokio::test]
async fn a_call_before_an_error_event_is_not_complete() {
    let mock = MockLlm::start().await;
    let mut documents = vec![message_start(1)];
    documents.extend(tool_block(0, "t1", "bash", &json!({"cmd": "echo hi >> log"})));
    documents.push(error_event("overloaded_error", "Overloaded"));
    mock.push(events(documents));
    let answer = ask(&model(&mock, CLAUDE), request(vec![user("hi")])).await;
    assert_eq!(answer.calls(), []);
    assert_eq!(answer.error.unwrap().kind, Kind::Overloaded);
}

#[tokio::test]
async fn a_call_is_complete_as_soon_as_the_next_block_opens() {
    let mock = MockLlm::start().await;
    let mut documents = vec![message_start(1)];
    documents.extend(tool_block(0, "t1", "read", &json!({"path": "a"})));
    documents.extend(tool_block(1, "t2", "read", &json!({"path": "b"})).into_iter().take(2));
    mock.push(events(documents));
    let answer = ask(&model(&mock, CLAUDE), request(vec![user("hi")])).await;
    assert_eq!(answer.calls_text(), [r#"t1 read {"path":"a"}"#]);
    assert_eq!(answer.error.unwrap().kind, Kind::PartialStream);
}

#[tokio::test]
async fn at_the_output_limit_the_last_call_is_unfinished() {
    let mock = MockLlm::start().await;
    let blocks = || {
        [
            tool_block(0, "t1", "read", &json!({"path": "a"})),
            tool_block(1, "t2", "write", &json!({})),
        ]
    };
    mock.push(reply(blocks(), "max_tokens"));
    let answer = answer(&mock, CLAUDE).await;
    assert_eq!(answer.calls_text(), [r#"t1 read {"path":"a"}"#]);
    assert_eq!(answer.stop, Some(Stop::Length));
}

/// Case B05.
#[tokio::test]
async fn two_calls_with_one_id_become_two_ids() {
    let mock = MockLlm::start().await;
    let blocks = [
        tool_block(0, "f", "read", &json!({"p": "a"})),
        tool_block(1, "f", "read", &json!({"p": "b"})),
    ];
    mock.push(reply(blocks, "tool_use"));
    let answer = answer(&mock, CLAUDE).await;
    assert_eq!(answer.calls_text(), [r#"f read {"p":"a"}"#, r#"f_2 read {"p":"b"}"#]);
}

/// Cases A35 and A37.
#[tokio::test]
async fn signed_thinking_goes_back_byte_for_byte_and_in_place() {
    let mock = MockLlm::start().await;
    let thought = "a\n b ";
    let signatures = [("SIGNATURE".to_owned(), thought.to_owned())].into();
    mock.rules(|rules| rules.signatures = Some(signatures));
    mock.push(reply(
        [
            thinking_block(0, thought, "SIGNATURE"),
            text_block(1, "Let me look."),
            tool_block(2, "t1", "read", &json!({"path": "a"})),
        ],
        "tool_use",
    ));
    mock.push(text("done"));
    let model = model(&mock, CLAUDE);
    let first = ask(&model, request(vec![user("hi")])).await;
    let expected = Opaque {
        model: ModelRef { provider: "anthropic".into(), model: "claude-sonnet-4-5".into() },
        data: json!({"type": "thinking", "signature": "SIGNATURE"}),
    };
    assert_eq!(
        first.blocks[&0],
        Block::Thinking { text: thought.to_owned(), opaque: Some(expected) }
    );
    let history = vec![user("hi"), first.message(CLAUDE), result("t1", "content")];
    let second = ask(&model, request(history)).await;
    assert_eq!(second.error, None);
    let sent = &mock.bodies()[1]["messages"][1]["content"];
    assert_eq!(sent[0], json!({"type": "thinking", "thinking": thought, "signature": "SIGNATURE"}));
    assert_eq!((&sent[1]["type"], &sent[2]["type"]), (&json!("text"), &json!("tool_use")));
}

/// Newer models may keep the thinking text to themselves and give only the signature.
#[tokio::test]
async fn a_signature_without_text_makes_a_round_trip() {
    let mock = MockLlm::start().await;
    let start = json!({"type": "thinking", "thinking": "", "signature": ""});
    let signed = json!({"type": "signature_delta", "signature": "c2ln"});
    let thinking = vec![block_start(0, &start), block_delta(0, &signed), block_stop(0)];
    mock.push(reply([thinking, tool_block(1, "t1", "read", &json!({}))], "tool_use"));
    mock.push(text("ok"));
    let model = model(&mock, CLAUDE);
    let first = ask(&model, request(vec![user("hi")])).await;
    assert!(matches!(first.blocks[&0], Block::Opaque(_)), "{:?}", first.blocks);
    let history = vec![user("hi"), first.message(CLAUDE), result("t1", "x")];
    assert_eq!(ask(&model, request(history)).await.error, None);
    assert_eq!(
        mock.bodies()[1]["messages"][1]["content"][0],
        json!({"type": "thinking", "thinking": "", "signature": "c2ln"})
    );
}

/// Case A36.
#[tokio::test]
async fn redacted_thinking_makes_a_round_trip() {
    let mock = MockLlm::start().await;
    let redacted = json!({"type": "redacted_thinking", "data": "QUJD"});
    let blocks = [
        vec![block_start(0, &redacted), block_stop(0)],
        text_block(1, "Hm."),
        tool_block(2, "t1", "read", &json!({})),
    ];
    mock.push(reply(blocks, "tool_use")).push(text("ok"));
    let model = model(&mock, CLAUDE);
    let first = ask(&model, request(vec![user("hi")])).await;
    assert!(!first.text().contains("QUJD"));
    let history = vec![user("hi"), first.message(CLAUDE), result("t1", "x")];
    assert_eq!(ask(&model, request(history)).await.error, None);
    assert_eq!(mock.bodies()[1]["messages"][1]["content"][0], redacted);
}

/// Case B17, scenario 159: thinking goes back to its maker only.
#[tokio::test]
async fn signatures_of_another_provider_are_left_out() {
    let mock = MockLlm::start().await;
    mock.rules(|rules| rules.signatures = Some(HashMap::new()));
    mock.push(text("ok"));
    let opaque = Opaque {
        model: ModelRef { provider: "cloud".into(), model: "claude-sonnet-4-5".into() },
        data: json!({"type": "thinking", "signature": "other"}),
    };
    let blocks = vec![
        Block::Thinking { text: "hm".into(), opaque: Some(opaque) },
        Block::Thinking { text: "plain".into(), opaque: None },
        Block::text("answer"),
    ];
    let history = vec![
        user("hi"),
        super::support::assistant_by("cloud", "claude-sonnet-4-5", blocks),
        user("go"),
    ];
    assert_eq!(ask(&model(&mock, CLAUDE), request(history)).await.error, None);
    let content = &mock.bodies()[0]["messages"][1]["content"];
    assert_eq!(content.as_array().unwrap().len(), 1);
    assert_eq!(content[0]["text"], "answer");
}

#[tokio::test]
async fn an_end_without_the_end_event_is_a_broken_stream() {
    let mock = MockLlm::start().await;
    let mut documents = vec![message_start(1)];
    documents.extend(text_block(0, "half"));
    mock.push(events(documents.clone()));
    assert_eq!(failure(&mock, CLAUDE).await.kind, Kind::PartialStream);
    documents.extend(message_end("end_turn", 1).into_iter().take(1));
    mock.push(events(documents));
    assert_eq!(failure(&mock, CLAUDE).await.kind, Kind::PartialStream);
}

#[tokio::test]
async fn token_counts_stay_disjoint_and_the_last_report_wins() {
    let mock = MockLlm::start().await;
    let mut start = message_start(10);
    start["message"]["usage"]["cache_read_input_tokens"] = json!(300);
    start["message"]["usage"]["cache_creation_input_tokens"] = json!(20);
    let mut documents = vec![start];
    documents.extend(text_block(0, "x"));
    documents.extend(message_end("end_turn", 77));
    mock.push(events(documents));
    let usage = answer(&mock, CLAUDE).await.usage;
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (10, 77, 300, 20));
    assert_eq!(usage.total_input(), 330);
}

#[tokio::test]
async fn every_stop_reason_has_a_meaning() {
    let mock = MockLlm::start().await;
    for (word, stop) in [
        ("end_turn", Stop::EndTurn),
        ("stop_sequence", Stop::EndTurn),
        ("max_tokens", Stop::Length),
        ("model_context_window_exceeded", Stop::Length),
        ("refusal", Stop::Refusal),
        ("pause_turn", Stop::Pause),
        ("tool_use", Stop::EndTurn),
        ("something_new", Stop::EndTurn),
    ] {
        mock.push(reply([text_block(0, "x")], word));
        assert_eq!(answer(&mock, CLAUDE).await.stop, Some(stop), "{word}");
    }
}

#[tokio::test]
async fn a_gateway_that_does_not_stream_is_read_as_well() {
    let mock = MockLlm::start().await;
    mock.push(Reply::json(
        200,
        &json!({"id": "m", "type": "message", "role": "assistant", "content": [
            {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}],
            "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 4}}),
    ));
    let answer = answer(&mock, CLAUDE).await;
    assert_eq!(answer.text(), "Hi");
    assert_eq!(answer.calls_text(), [r#"t1 read {"path":"a"}"#]);
    assert_eq!((answer.stop, answer.usage.output), (Some(Stop::ToolUse), 4));
}

#[tokio::test]
async fn a_stream_closed_late_ends_in_time() {
    let mock = MockLlm::start().await;
    mock.push(text("Hi").stalled());
    let begin = std::time::Instant::now();
    assert_eq!(answer(&mock, CLAUDE).await.text(), "Hi");
    assert!(begin.elapsed().as_millis() < 1000);
}

#[tokio::test]
async fn a_token_goes_as_bearer() {
    let mock = MockLlm::start().await;
    mock.push(text("Hi"));
    let mut connection = super::support::connection(&mock, CLAUDE);
    connection.bearer = true;
    let model = codebot::model::connect_with(connection, super::support::quick());
    assert_eq!(ask(&model, request(vec![user("hi")])).await.error, None);
    let headers = &mock.requests()[0].headers;
    assert_eq!(headers["authorization"], "Bearer test-key");
    assert!(!headers.contains_key("x-api-key"));
}

/// Cache marks: at most four, on the last tool, the stable system block, the last message and the
/// one before.
#[tokio::test]
async fn cache_marks_sit_where_prefixes_end() {
    let mock = MockLlm::start().await;
    mock.push(text("ok"));
    let history = vec![
        user("one"),
        super::support::assistant(vec![super::support::call("t1", "read", json!({}))]),
        result("t1", "x"),
    ];
    assert_eq!(ask(&model(&mock, CLAUDE), full_request(history)).await.error, None);
    let body = &mock.bodies()[0];
    let mark = json!({"type": "ephemeral"});
    assert_eq!(body["tools"][1]["cache_control"], mark);
    assert_eq!(body["system"][0]["cache_control"], mark);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], mark);
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], mark);
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
}

#[tokio::test]
async fn an_undecodable_event_is_a_broken_stream() {
    let mock = MockLlm::start().await;
    let start = event(&message_start(1));
    mock.push(Reply::sse([start, "data: {\"type\":\"content_block_de\n\n".to_owned()]));
    assert_eq!(failure(&mock, CLAUDE).await.kind, Kind::PartialStream);
}

#[tokio::test]
async fn tool_replies_of_the_builder_are_complete() {
    let mock = MockLlm::start().await;
    mock.push(tool("toolu_1", "read", &json!({"path": "a.txt", "limit": 3})));
    let answer = answer(&mock, CLAUDE).await;
    assert_eq!(answer.calls_text(), [r#"toolu_1 read {"path":"a.txt","limit":3}"#]);
}
