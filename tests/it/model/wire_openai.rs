//! Streams of the chat completions format: the cases that concern it.

use std::collections::HashMap;

use codebot::config::schema::ProviderConfig;
use codebot::kernel::error::ModelErrorKind as Kind;
use codebot::kernel::message::{Block, Stop, ToolCall};
use codebot::model::connect_with;
use serde_json::{Value, json};

use super::mock_llm::openai::{
    answer as reply, content, delta, finish, reasoning, text, tool, tool_calls, usage,
};
use super::mock_llm::{MockLlm, Reply};
use super::support::{
    Answer, GPT, answer, ask, connection_at, failure, model, quick, request, result, user,
};

/// The answer made of these `tool_calls` lists.
async fn calls_of(pieces: impl IntoIterator<Item = Value>) -> Answer {
    let mock = MockLlm::start().await;
    mock.push(reply(pieces.into_iter().map(|piece| tool_calls(&piece)), "tool_calls"));
    answer(&mock, GPT).await
}

fn invalid(answer: &Answer) -> Vec<ToolCall> {
    let calls = answer.calls();
    assert!(calls.iter().all(|call| call.invalid.is_some() && call.args.is_empty()), "{calls:?}");
    calls
}

#[tokio::test]
async fn a_text_answer_streams_and_ends() {
    let mock = MockLlm::start().await;
    mock.push(text("Hello from the mock"));
    let answer = answer(&mock, GPT).await;
    assert_eq!(answer.text(), "Hello from the mock");
    assert_eq!(answer.stop, Some(Stop::EndTurn));
    assert_eq!((answer.usage.input, answer.usage.output), (25, 12));
    let sent = &mock.requests()[0];
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.headers["authorization"], "Bearer test-key");
    assert_eq!(sent.headers["accept-encoding"], "identity");
    assert_eq!(sent.body["stream_options"], json!({"include_usage": true}));
    assert_eq!(sent.body["max_completion_tokens"], 16384);
}

/// Case A01.
#[tokio::test]
async fn calls_without_an_index_are_keyed_by_id() {
    let piece = |id: &str, path: &str| {
        let arguments = json!({"path": path}).to_string();
        json!([{"id": id, "function": {"name": "read", "arguments": arguments}}])
    };
    let answer = calls_of([piece("k1", "a.txt"), piece("k2", "b.txt")]).await;
    assert_eq!(answer.calls_text(), [r#"k1 read {"path":"a.txt"}"#, r#"k2 read {"path":"b.txt"}"#]);
    assert_eq!(answer.stop, Some(Stop::ToolUse));
}

/// Case A04.
#[tokio::test]
async fn whole_objects_under_one_index_without_ids_are_calls_of_their_own() {
    let piece = |url: &str| {
        let arguments = json!({"url": url}).to_string();
        json!([{"index": 0, "function": {"name": "fetch", "arguments": arguments}}])
    };
    let answer = calls_of([piece("u1"), piece("u2"), piece("u3")]).await;
    let calls = answer.calls();
    let urls: Vec<&Value> = calls.iter().map(|call| &call.args["url"]).collect();
    assert_eq!(urls, ["u1", "u2", "u3"]);
    assert!(calls.iter().all(|call| call.name == "fetch" && call.invalid.is_none()));
    let mut ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

/// Case A04, all in one piece.
#[tokio::test]
async fn glued_objects_are_split() {
    let arguments = r#"{"url":"u{1}\"}"}{"url":"u2"} {"url":"u3"}"#;
    let answer =
        calls_of([json!([{"index": 0, "function": {"name": "fetch", "arguments": arguments}}])])
            .await;
    let calls = answer.calls();
    let urls: Vec<&Value> = calls.iter().map(|call| &call.args["url"]).collect();
    assert_eq!(urls, ["u{1}\"}", "u2", "u3"]);
}

/// Case A05.
#[tokio::test]
async fn interleaved_pieces_find_their_call() {
    let open = |index: u64, name: &str| json!([{"index": index, "id": format!("k{index}"), "function": {"name": name}}]);
    let piece = |index: u64, text: &str| json!([{"index": index, "function": {"arguments": text}}]);
    let answer = calls_of([
        open(0, "read"),
        open(1, "ls"),
        piece(0, r#"{"path":"#),
        piece(1, r#"{"dir":"#),
        piece(0, r#""a"}"#),
        piece(1, r#""b"}"#),
    ])
    .await;
    assert_eq!(answer.calls_text(), [r#"k0 read {"path":"a"}"#, r#"k1 ls {"dir":"b"}"#]);
}

/// Case A06.
#[tokio::test]
async fn a_repeated_name_is_the_same_name() {
    let pieces = [r#"{"pa"#, r#"th""#, r#":"a"#, r#""}"#].map(
        |text| json!([{"index": 0, "id": "k1", "function": {"name": "read", "arguments": text}}]),
    );
    assert_eq!(calls_of(pieces).await.calls_text(), [r#"k1 read {"path":"a"}"#]);
}

/// Case A07.
#[tokio::test]
async fn empty_names_and_ids_erase_nothing() {
    let answer = calls_of([
        json!([{"index": 0, "id": "k1", "function": {"name": "list_dir"}}]),
        json!([{"index": 0, "id": "", "function": {"name": "", "arguments": r#"{"p":"#}}]),
        json!([{"index": 0, "id": null, "function": {"name": null, "arguments": "1}"}}]),
    ])
    .await;
    assert_eq!(answer.calls_text(), [r#"k1 list_dir {"p":1}"#]);
}

/// Case A09.
#[tokio::test]
async fn a_call_without_a_name_is_invalid() {
    let answer =
        calls_of([json!([{"index": 0, "id": "k1", "function": {"arguments": "{}"}}])]).await;
    let calls = invalid(&answer);
    assert_eq!(calls[0].invalid.as_ref().unwrap().error, "the call has no tool name");
    // The next request is still valid.
    let mock = MockLlm::start().await;
    mock.push(text("ok"));
    let history = vec![user("hi"), answer.message(GPT), result("k1", "Error: no name")];
    assert_eq!(ask(&model(&mock, GPT), request(history)).await.error, None);
    assert_eq!(mock.bodies()[0]["messages"][1]["tool_calls"][0]["function"]["name"], "unknown");
}

/// Case A10.
#[tokio::test]
async fn arguments_may_be_an_object() {
    let arguments = json!({"path": "a.txt", "limit": 5});
    let piece =
        json!([{"index": 0, "id": "k1", "function": {"name": "read", "arguments": arguments}}]);
    assert_eq!(calls_of([piece]).await.calls_text(), [r#"k1 read {"path":"a.txt","limit":5}"#]);
}

/// Cases A12 and A13.
#[tokio::test]
async fn arguments_that_are_no_object_never_run() {
    for raw in [r#"["a.txt"]"#, "42", "true", "null", r#""text""#, r#"{"a":"#, "}{", r#""\"{}\"""#]
    {
        let piece =
            json!([{"index": 0, "id": "k1", "function": {"name": "read", "arguments": raw}}]);
        let answer = calls_of([piece]).await;
        let calls = invalid(&answer);
        assert_eq!(calls.len(), 1, "{raw}");
        let problem = calls[0].invalid.clone().unwrap();
        assert_eq!(problem.raw, raw);
        assert!(problem.error.contains("expected a JSON object"), "{raw}: {}", problem.error);
    }
    let twice = json!(r#"{"path":"a"}"#).to_string();
    let piece = json!([{"index": 0, "id": "k1", "function": {"name": "read", "arguments": twice}}]);
    assert_eq!(calls_of([piece]).await.calls_text(), [r#"k1 read {"path":"a"}"#]);
}

/// Case A15.
#[tokio::test]
async fn a_tool_stop_without_calls_is_a_normal_end() {
    let mock = MockLlm::start().await;
    mock.push(reply([content("Working on it")], "tool_calls"));
    let answer = answer(&mock, GPT).await;
    assert_eq!((answer.text().as_str(), answer.stop), ("Working on it", Some(Stop::EndTurn)));
}

/// Case A18.
#[tokio::test]
async fn an_open_socket_after_the_end_mark_holds_nothing_up() {
    let mock = MockLlm::start().await;
    mock.push(text("Hi").stalled());
    let begin = std::time::Instant::now();
    assert_eq!(answer(&mock, GPT).await.text(), "Hi");
    assert!(begin.elapsed().as_millis() < 1000);
}

#[tokio::test]
async fn a_finish_reason_is_enough_without_an_end_mark() {
    let mock = MockLlm::start().await;
    mock.push(Reply::data([content("Hi"), finish("stop"), usage(5, 0, 6)]));
    mock.push(Reply::data([content("Ho"), finish("stop")]).stalled());
    mock.push(Reply::data([content("Hu"), finish("stop")]).cut(2));
    let first = answer(&mock, GPT).await;
    assert_eq!((first.text().as_str(), first.usage.output), ("Hi", 6));
    assert_eq!(answer(&mock, GPT).await.text(), "Ho");
    assert_eq!(answer(&mock, GPT).await.text(), "Hu");
}

#[tokio::test]
async fn an_end_without_any_end_is_a_broken_stream() {
    let mock = MockLlm::start().await;
    mock.push(Reply::data([content("Hi")]));
    mock.push(Reply::data([content("Hi"), content("!")]).cut(1));
    mock.push(Reply::sse([""; 0]));
    for _ in 0..3 {
        assert_eq!(failure(&mock, GPT).await.kind, Kind::PartialStream);
    }
}

/// Case A20.
#[tokio::test]
async fn running_counts_end_nothing() {
    let mock = MockLlm::start().await;
    let chunk = |n: u64| {
        let mut chunk = reasoning(&format!("{n} "));
        chunk["usage"] = json!({"prompt_tokens": 10, "completion_tokens": n});
        chunk
    };
    let mut documents: Vec<Value> = (1..=5).map(chunk).collect();
    let mut last = finish("stop");
    last["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 6});
    documents.push(last);
    mock.push(Reply::data(documents).done());
    let answer = answer(&mock, GPT).await;
    assert_eq!(answer.thinking(), ["1 2 3 4 5 "]);
    assert_eq!((answer.usage.input, answer.usage.output), (10, 6));
}

/// Case A21.
#[tokio::test]
async fn empty_call_lists_are_no_calls() {
    let mock = MockLlm::start().await;
    let chunk = |text: &str| delta(&json!({"content": text, "tool_calls": []}));
    mock.push(reply([chunk("Hel"), chunk("lo")], "stop"));
    let answer = answer(&mock, GPT).await;
    assert_eq!(answer.text(), "Hello");
    assert_eq!(answer.calls(), []);
    assert_eq!(answer.blocks.len(), 1);
}

/// Case A22.
#[tokio::test]
async fn errors_inside_a_stream_are_errors() {
    let mock = MockLlm::start().await;
    mock.push(Reply::data([json!({"error": {"message": "quota", "code": 429}})]).done());
    let error = failure(&mock, GPT).await;
    assert_eq!((error.kind, error.status), (Kind::RateLimit, Some(429)));
    assert!(error.message.contains("quota"), "{}", error.message);

    mock.push(Reply::data([json!({"error": "boom"})]));
    let error = failure(&mock, GPT).await;
    assert_eq!((error.kind, error.message.as_str()), (Kind::Server, "openai failed: boom"));

    let late = json!({"id": "x", "choices": [], "error": {"message": "capacity", "code": 502}});
    mock.push(Reply::data([content("Par"), late]));
    let error = failure(&mock, GPT).await;
    assert_eq!((error.kind, error.status), (Kind::Overloaded, Some(502)));

    mock.push(Reply::sse(["event: error\ndata: upstream <b>died</b>\n\n"]));
    assert_eq!(failure(&mock, GPT).await.kind, Kind::Server);

    mock.push(Reply::sse(["data: <html><body>502 Bad Gateway</body></html>\n\n"]));
    let error = failure(&mock, GPT).await;
    assert_eq!(error.message, "openai failed: 502 Bad Gateway");
}

fn replaying(config: &mut ProviderConfig) {
    config.kind = Some("openai-chat".to_owned());
    config.reasoning_replay = Some(true);
}

fn plain(config: &mut ProviderConfig) {
    config.kind = Some("openai-chat".to_owned());
}

/// Case A32.
#[tokio::test]
async fn reasoning_goes_back_where_it_is_wanted() {
    let mock = MockLlm::start().await;
    mock.push(reply(
        [
            reasoning("wh"),
            reasoning("y"),
            content("Look: "),
            tool_calls(
                &json!([{"index": 0, "id": "k1", "function": {"name": "read", "arguments": "{}"}}]),
            ),
        ],
        "tool_calls",
    ));
    mock.push(text("done"));
    let model = connect_with(connection_at(&mock.base_url(), "own/m", replaying), quick());
    let first = ask(&model, request(vec![user("hi")])).await;
    assert_eq!((first.thinking().concat().as_str(), first.text().as_str()), ("why", "Look: "));
    mock.rules(|rules| rules.needs_reasoning = Some("why".to_owned()));
    let earlier = super::support::assistant_by("own", "m", vec![Block::text("earlier")]);
    let history =
        vec![user("a"), earlier, user("hi"), first.message("own/m"), result("k1", "content")];
    let second = ask(&model, request(history)).await;
    assert_eq!(second.error, None);
    let sent = &mock.bodies()[1]["messages"];
    assert_eq!(sent[3]["reasoning_content"], "why");
    // Once one answer has the field, all have it.
    assert_eq!(sent[1]["reasoning_content"], "");
}

/// Cases A33 and B16.
#[tokio::test]
async fn reasoning_stays_home_where_it_is_not_wanted() {
    let mock = MockLlm::start().await;
    mock.push(reply([reasoning("why"), content("Answer")], "stop"));
    mock.push(text("ok"));
    let model = connect_with(connection_at(&mock.base_url(), "own/m", plain), quick());
    let first = ask(&model, request(vec![user("hi")])).await;
    let history = vec![user("hi"), first.message("own/m"), user("more")];
    assert_eq!(ask(&model, request(history.clone())).await.error, None);
    assert_eq!(mock.bodies()[1]["messages"][1], json!({"role": "assistant", "content": "Answer"}));
    // The same history at a service that checks signatures.
    let claude = MockLlm::start().await;
    claude.rules(|rules| rules.signatures = Some(HashMap::new()));
    claude.push(super::mock_llm::anthropic::text("ok"));
    let model = super::support::model(&claude, super::support::CLAUDE);
    assert_eq!(ask(&model, request(history)).await.error, None);
}

/// Case A34.
#[tokio::test]
async fn think_tags_at_the_start_are_reasoning() {
    let mock = MockLlm::start().await;
    let pieces = |texts: &[&str]| reply(texts.iter().map(|text| content(text)), "stop");
    mock.push(pieces(&["<thi", "nk>plan</th", "ink>\n\nAnswer"]));
    let first = answer(&mock, GPT).await;
    assert_eq!((first.thinking().concat(), first.text()), ("plan".into(), "Answer".into()));

    mock.push(pieces(&["<think>plan"]));
    let open = answer(&mock, GPT).await;
    assert_eq!((open.thinking().concat(), open.text()), ("plan".into(), String::new()));

    mock.push(pieces(&["Close it with `</th", "ink>` and <think> is text"]));
    let quoted = answer(&mock, GPT).await;
    assert_eq!(quoted.text(), "Close it with `</think>` and <think> is text");

    mock.push(pieces(&["plan</think>", "Answer"]));
    assert!(answer(&mock, GPT).await.text().ends_with("Answer"));

    mock.push(pieces(&["<", "b>bold"]));
    assert_eq!(answer(&mock, GPT).await.text(), "<b>bold");
}

/// Case A54.
#[tokio::test]
async fn several_documents_in_one_event_are_all_read() {
    let mock = MockLlm::start().await;
    let (a, b, end) = (content("a"), content("b"), finish("stop"));
    mock.push(Reply::sse([format!("data: {a}\ndata: {b}\n\ndata: {end}\ndata: [DONE]\n\n")]));
    assert_eq!(answer(&mock, GPT).await.text(), "ab");
}

#[tokio::test]
async fn cached_input_is_split_off() {
    let mock = MockLlm::start().await;
    mock.push(Reply::data([content("x"), finish("stop"), usage(100, 80, 7)]).done());
    let usage_openai = answer(&mock, GPT).await.usage;
    assert_eq!((usage_openai.input, usage_openai.cache_read, usage_openai.output), (20, 80, 7));
    let mut hit = usage(100, 0, 7);
    hit["usage"] =
        json!({"prompt_tokens": 100, "prompt_cache_hit_tokens": 60, "completion_tokens": 7});
    mock.push(Reply::data([content("x"), finish("stop"), hit]).done());
    let other = answer(&mock, GPT).await.usage;
    assert_eq!((other.input, other.cache_read, other.output), (40, 60, 7));
}

#[tokio::test]
async fn at_the_output_limit_the_last_call_is_unfinished() {
    let mock = MockLlm::start().await;
    let open = |index: u64| {
        tool_calls(&json!([{"index": index, "id": format!("k{index}"),
            "function": {"name": "read", "arguments": "{}"}}]))
    };
    mock.push(reply([open(0), open(1)], "length"));
    let answer = answer(&mock, GPT).await;
    assert_eq!(answer.calls_text(), ["k0 read {}"]);
    assert_eq!(answer.stop, Some(Stop::Length));
}

#[tokio::test]
async fn calls_run_whatever_the_finish_reason_says() {
    let mock = MockLlm::start().await;
    let piece = json!([{"index": 0, "id": "k", "function": {"name": "read", "arguments": "{}"}}]);
    mock.push(reply([tool_calls(&piece)], "stop"));
    let answer = answer(&mock, GPT).await;
    assert_eq!((answer.calls().len(), answer.stop), (1, Some(Stop::ToolUse)));
}

#[tokio::test]
async fn content_may_be_a_list_of_parts() {
    let mock = MockLlm::start().await;
    let parts = json!([
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "Hi"}]);
    mock.push(reply([delta(&json!({"content": parts})), delta(&json!({"content": null}))], "stop"));
    let answer = answer(&mock, GPT).await;
    assert_eq!((answer.thinking().concat(), answer.text()), ("hm".into(), "Hi".into()));
}

#[tokio::test]
async fn a_service_that_ignores_the_wish_to_stream_is_read_as_well() {
    let mock = MockLlm::start().await;
    let message = json!({"role": "assistant", "content": "Hi", "tool_calls": [
        {"id": "k1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]});
    mock.push(Reply::json(
        200,
        &json!({"object": "chat.completion", "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
    ));
    let answer = answer(&mock, GPT).await;
    assert_eq!(answer.text(), "Hi");
    assert_eq!(answer.calls_text(), ["k1 read {}"]);
    assert_eq!(answer.usage.output, 4);
}

#[tokio::test]
async fn arguments_sent_once_more_at_the_end_count_once() {
    let piece = |text: &str| json!([{"index": 0, "id": "k1", "function": {"name": "read", "arguments": text}}]);
    let answer = calls_of([piece(r#"{"p":"#), piece("1}"), piece(r#"{"p":1}"#)]).await;
    assert_eq!(answer.calls_text(), [r#"k1 read {"p":1}"#]);
}

/// Case B05 in this format.
#[tokio::test]
async fn two_calls_with_one_id_become_two_ids() {
    let piece = |index: u64, p: &str| json!([{"index": index, "id": "f:1", "function": {"name": "read", "arguments": json!({"p": p}).to_string()}}]);
    let answer = calls_of([piece(0, "a"), piece(1, "b")]).await;
    assert_eq!(answer.calls_text(), [r#"f:1 read {"p":"a"}"#, r#"f:1_2 read {"p":"b"}"#]);
}

#[tokio::test]
async fn a_refusal_is_shown_and_named() {
    let mock = MockLlm::start().await;
    mock.push(reply([delta(&json!({"refusal": "I can't help with that."}))], "stop"));
    let answer = answer(&mock, GPT).await;
    assert_eq!(answer.text(), "I can't help with that.");
    assert_eq!(answer.stop, Some(Stop::Refusal));
}

#[tokio::test]
async fn text_after_a_call_is_a_block_of_its_own() {
    let mock = MockLlm::start().await;
    let piece = json!([{"index": 0, "id": "k", "function": {"name": "read", "arguments": "{}"}}]);
    mock.push(reply([content("a"), tool_calls(&piece), content("b")], "tool_calls"));
    let answer = answer(&mock, GPT).await;
    let kinds: Vec<bool> =
        answer.blocks.values().map(|block| matches!(block, Block::Call(_))).collect();
    assert_eq!(kinds, [false, true, false]);
}

#[tokio::test]
async fn tool_replies_of_the_builder_are_complete() {
    let mock = MockLlm::start().await;
    mock.push(tool("k1", "read", &json!({"path": "a.txt", "limit": 3})));
    let answer = answer(&mock, GPT).await;
    assert_eq!(answer.calls_text(), [r#"k1 read {"path":"a.txt","limit":3}"#]);
}

/// What a service does not take is not sent to it: Mistral refuses a request with a field it does
/// not know, and counts without being asked.
#[tokio::test]
async fn each_service_gets_only_the_fields_it_takes() {
    for (reference, cap, asks, key) in [
        ("openai/gpt-4o", "max_completion_tokens", true, true),
        ("mistral/mistral-medium-latest", "max_tokens", false, false),
        ("deepseek/deepseek-flash", "max_tokens", true, false),
        ("groq/openai/gpt-oss-120b", "max_tokens", true, false),
        ("ollama/qwen3", "max_tokens", true, false),
    ] {
        let mock = MockLlm::start().await;
        mock.push(text("ok"));
        ask(&model(&mock, reference), super::support::full_request(vec![user("hi")])).await;
        let body = mock.bodies().remove(0);
        for field in ["max_tokens", "max_completion_tokens"] {
            assert_eq!(body.get(field).is_some(), field == cap, "{reference} {field}");
        }
        assert_eq!(body.get("stream_options").is_some(), asks, "{reference}");
        assert_eq!(body.get("prompt_cache_key").is_some(), key, "{reference}");
    }
}
