//! Streams of the responses format: the cases that concern it.

use std::time::{Duration, Instant};

use codebot::kernel::error::ModelErrorKind as Kind;
use codebot::kernel::message::{Block, Stop};
use codebot::kernel::ports::StreamEvent;
use serde_json::{Value, json};

use super::mock_llm::responses::{
    added, answer as reply, arguments_delta, arguments_done, begun, call, completed, documents,
    ended, error_event, event, events, failed, incomplete, item, message, reasoning, response,
    text, text_delta, usage,
};
use super::mock_llm::{MockLlm, Reply};
use super::support::{Answer, RESPONSES, answer, ask, failure, model, request, user};

/// The answer made of these events, after the first two.
async fn answer_of(documents: impl IntoIterator<Item = Value>) -> Answer {
    let mock = MockLlm::start().await;
    mock.push(events(begun().into_iter().chain(documents)));
    answer(&mock, RESPONSES).await
}

/// What came before it failed.
async fn cut(documents: impl IntoIterator<Item = Value>) -> (Answer, Kind) {
    let mock = MockLlm::start().await;
    mock.push(events(begun().into_iter().chain(documents)));
    let answer = ask(&model(&mock, RESPONSES), request(vec![user("hi")])).await;
    let kind = answer.error.as_ref().expect("an error").kind;
    (answer, kind)
}

fn read(id: &str, call_id: &str, path: &str) -> Value {
    call(id, call_id, "read", &json!({"path": path}))
}

#[tokio::test]
async fn a_text_answer_streams_and_ends() {
    let mock = MockLlm::start().await;
    mock.push(text("Hello from the mock"));
    let answer = answer(&mock, RESPONSES).await;
    assert_eq!(answer.text(), "Hello from the mock");
    assert_eq!(answer.stop, Some(Stop::EndTurn));
    assert_eq!((answer.usage.input, answer.usage.output), (25, 12));
    assert_eq!(answer.events.first(), Some(&StreamEvent::Start));
    let sent = &mock.requests()[0];
    assert_eq!(sent.path, "/v1/responses");
    assert_eq!(sent.headers["authorization"], "Bearer test-key");
    assert_eq!(sent.headers["accept-encoding"], "identity");
}

/// Case A46.
#[tokio::test]
async fn arguments_may_come_only_as_a_whole() {
    let one = call("fc_1", "call_1", "go", &json!({"p": 1}));
    let done = arguments_done(0, "fc_1", r#"{"p":1}"#);
    let (start, end) = (added(0, &one), ended(0, &one));
    let last = completed(std::slice::from_ref(&one));
    let whole = answer_of([start.clone(), done.clone(), end.clone(), last.clone()]).await;
    assert_eq!(whole.calls_text(), [r#"call_1 go {"p":1}"#]);
    assert_eq!(whole.stop, Some(Stop::ToolUse));
    // Pieces too: they are the same arguments, not more of them.
    let pieces = ["{\"p\"", ":1}"].map(|piece| arguments_delta(0, "fc_1", piece));
    let [first, second] = pieces;
    let both = answer_of([start.clone(), first, second, done, end, last.clone()]).await;
    assert_eq!(both.calls_text(), [r#"call_1 go {"p":1}"#]);
    // Only with the item's end, and then not even there.
    let mut empty = one.clone();
    empty["arguments"] = json!("");
    let late = answer_of([start.clone(), ended(0, &one), last.clone()]).await;
    assert_eq!(late.calls_text(), [r#"call_1 go {"p":1}"#]);
    let kept = [start, arguments_delta(0, "fc_1", r#"{"p":1}"#), ended(0, &empty), last];
    assert_eq!(answer_of(kept).await.calls_text(), [r#"call_1 go {"p":1}"#]);
}

/// Case A47: places and ids of items tell pieces apart, results go by the id of the call.
#[tokio::test]
async fn interleaved_pieces_find_their_call() {
    let (one, two) = (read("fc_1", "c_9", "a"), read("fc_2", "c_8", "b"));
    let pieces = |first: &dyn Fn(&str) -> Value, second: &dyn Fn(&str) -> Value| {
        vec![first("{\"path\":"), second("{\"path\":"), first("\"a\"}"), second("\"b\"}")]
    };
    let plain =
        pieces(&|text| arguments_delta(0, "fc_1", text), &|text| arguments_delta(1, "fc_2", text));
    // A server that says 0 for every place, and a gateway that makes up an id for every event.
    let flat =
        pieces(&|text| arguments_delta(0, "fc_1", text), &|text| arguments_delta(0, "fc_2", text));
    let made_up =
        pieces(&|text| arguments_delta(0, text, text), &|text| arguments_delta(1, text, text));
    for (second_place, deltas) in [(1, plain), (0, flat), (1, made_up)] {
        let mut events = vec![added(0, &one), added(second_place, &two)];
        events.extend(deltas);
        events.extend([ended(0, &one), ended(second_place, &two)]);
        events.push(completed(&[one.clone(), two.clone()]));
        let answer = answer_of(events).await;
        let expected = [r#"c_9 read {"path":"a"}"#, r#"c_8 read {"path":"b"}"#];
        assert_eq!(answer.calls_text(), expected, "{second_place}");
    }
}

/// Places decide about the order, not what came first.
#[tokio::test]
async fn items_stand_at_their_places() {
    let (words, one) = (message("msg_1", "First. "), read("fc_1", "c_1", "a"));
    let mut events = vec![added(1, &one), added(0, &words), text_delta(0, "msg_1", "First. ")];
    events.extend([ended(1, &one), ended(0, &words), completed(&[words, one])]);
    let answer = answer_of(events).await;
    let kinds: Vec<bool> =
        answer.blocks.values().map(|block| matches!(block, Block::Call(_))).collect();
    assert_eq!(kinds, [false, true]);
    assert_eq!(answer.text(), "First. ");
}

/// A call is complete when a later item begins; the last one when the response is complete.
#[tokio::test]
async fn a_call_is_complete_as_soon_as_something_follows_it() {
    let (one, two) = (read("fc_1", "c_1", "a"), read("fc_2", "c_2", "b"));
    let mut events = item(0, &one);
    let (answer, kind) = cut(events.clone()).await;
    assert_eq!((answer.calls(), kind), (vec![], Kind::PartialStream));
    events.extend(item(1, &two));
    let (answer, _) = cut(events).await;
    assert_eq!(answer.calls_text(), [r#"c_1 read {"path":"a"}"#]);
}

#[tokio::test]
async fn when_it_is_cut_the_last_call_is_unfinished() {
    let (one, two) = (read("fc_1", "c_1", "a"), read("fc_2", "c_2", "b"));
    for (reason, stop) in
        [("max_output_tokens", Stop::Length), ("content_filter", Stop::ContentFilter)]
    {
        let mut events = [item(0, &one), item(1, &two)].concat();
        events.push(incomplete(reason, &[one.clone(), two.clone()]));
        let answer = answer_of(events).await;
        assert_eq!(answer.calls_text(), [r#"c_1 read {"path":"a"}"#], "{reason}");
        assert_eq!(answer.stop, Some(stop));
    }
    // Cut in the middle of its arguments.
    let mut half = two.clone();
    half["status"] = json!("incomplete");
    half["arguments"] = json!("{\"pa");
    let mut events = item(0, &one);
    events.extend([added(1, &two), arguments_delta(1, "fc_2", "{\"pa"), ended(1, &half)]);
    events.push(incomplete("max_output_tokens", &[one, half]));
    assert_eq!(answer_of(events).await.calls_text(), [r#"c_1 read {"path":"a"}"#]);
}

/// The whole text repeats its pieces; what is missing of it is added, what differs is not.
#[tokio::test]
async fn the_whole_text_completes_its_pieces() {
    let words = message("msg_1", "Hello you");
    let end = [ended(0, &words), completed(std::slice::from_ref(&words))];
    for pieces in [vec!["Hello you"], vec!["Hel", "lo "], vec![]] {
        let mut events = vec![added(0, &words)];
        events.extend(pieces.iter().map(|piece| text_delta(0, "msg_1", piece)));
        events.extend(end.clone());
        assert_eq!(answer_of(events).await.text(), "Hello you", "{pieces:?}");
    }
    let mut events = vec![added(0, &words), text_delta(0, "msg_1", "Hullo")];
    events.extend(end.clone());
    assert_eq!(answer_of(events).await.text(), "Hullo");
    // No announcement, no places, no ids.
    let bare =
        ["Hello ", "you"].map(|text| json!({"type": "response.output_text.delta", "delta": text}));
    let mut events = bare.to_vec();
    events.push(completed(&[]));
    assert_eq!(answer_of(events).await.text(), "Hello you");
    // Nothing but the response.
    assert_eq!(answer_of([completed(std::slice::from_ref(&words))]).await.text(), "Hello you");
}

/// An event that is sent twice counts once: its number says so.
#[tokio::test]
async fn a_repeated_event_counts_once() {
    let words = message("msg_1", "ha ha");
    let numbered = |number: u64, mut document: Value| {
        document["sequence_number"] = json!(number);
        document
    };
    let twice = numbered(3, text_delta(0, "msg_1", "ha "));
    let events = [
        numbered(2, added(0, &words)),
        twice.clone(),
        twice,
        numbered(4, text_delta(0, "msg_1", "ha")),
        numbered(5, ended(0, &words)),
        numbered(5, ended(0, &words)),
        numbered(6, completed(&[])),
    ];
    assert_eq!(answer_of(events).await.text(), "ha ha");
    // Numbers that never rise mean nothing.
    let flat = [text_delta(0, "m", "ha "), text_delta(0, "m", "ha "), completed(&[])];
    let mock = MockLlm::start().await;
    mock.push(events_at_zero(flat));
    assert_eq!(answer(&mock, RESPONSES).await.text(), "ha ha ");
}

fn events_at_zero(documents: impl IntoIterator<Item = Value>) -> Reply {
    Reply::sse(documents.into_iter().map(|mut document| {
        document["sequence_number"] = json!(0);
        event(&document)
    }))
}

/// Case A12 and A13, A10 as well: the arguments are an object, whatever they are wrapped in.
#[tokio::test]
async fn arguments_that_are_no_object_never_run() {
    let with = |arguments: Value| {
        let mut item = read("fc_1", "c_1", "a");
        item["arguments"] = arguments;
        vec![added(0, &item), ended(0, &item), completed(&[])]
    };
    for arguments in [json!("[\"a.txt\"]"), json!("42"), json!("true"), json!("{\"pa")] {
        let calls = answer_of(with(arguments)).await.calls();
        let invalid = calls[0].invalid.as_ref().expect("unusable arguments");
        assert!(invalid.error.contains("expected a JSON object"), "{}", invalid.error);
    }
    for arguments in [json!({"path": "a"}), json!("\"{\\\"path\\\":\\\"a\\\"}\"")] {
        let answer = answer_of(with(arguments)).await;
        assert_eq!(answer.calls_text(), [r#"c_1 read {"path":"a"}"#]);
    }
}

/// Cases A07, A09 and A30: names and ids that are missing or come late.
#[tokio::test]
async fn what_the_announcement_lacks_the_end_may_give() {
    let whole = read("fc_1", "c_1", "a");
    let mut bare = whole.clone();
    bare["name"] = json!("");
    bare["call_id"] = json!("");
    let answer = answer_of([added(0, &bare), ended(0, &whole), completed(&[])]).await;
    assert_eq!(answer.calls_text(), [r#"c_1 read {"path":"a"}"#]);
    let answer = answer_of([added(0, &whole), ended(0, &bare), completed(&[])]).await;
    assert_eq!(answer.calls_text(), [r#"c_1 read {"path":"a"}"#], "nothing is erased");
    let calls = answer_of([added(0, &bare), ended(0, &bare), completed(&[])]).await.calls();
    assert!(calls[0].invalid.is_some(), "{calls:?}");
    let empty = json!({"type": "function_call", "id": "fc_1", "call_id": "c_1", "name": "ls"});
    let answer = answer_of([added(0, &empty), ended(0, &empty), completed(&[])]).await;
    assert_eq!(answer.calls_text(), ["c_1 ls {}"]);
}

/// Case B05: one id twice is two calls; one item told of twice is one.
#[tokio::test]
async fn two_calls_with_one_id_become_two_ids() {
    let answer = answer_of(documents(&[read("fc_1", "f", "a"), read("fc_2", "f", "b")])).await;
    assert_eq!(answer.calls_text(), [r#"f read {"path":"a"}"#, r#"f_2 read {"path":"b"}"#]);
    let one = read("fc_1", "c_1", "a");
    let events = [item(0, &one), item(0, &one), vec![completed(&[one])]].concat();
    assert_eq!(answer_of(events).await.calls_text(), [r#"c_1 read {"path":"a"}"#]);
}

/// Case A15 and A21: what was promised and did not come is no call.
#[tokio::test]
async fn an_answer_without_calls_is_over() {
    let answer = answer_of(documents(&[message("msg_1", "Working on it")])).await;
    assert_eq!((answer.text().as_str(), answer.stop), ("Working on it", Some(Stop::EndTurn)));
    assert_eq!(answer.calls(), []);
}

/// Case A18.
#[tokio::test]
async fn a_socket_that_stays_open_does_not_hold_the_turn() {
    let mock = MockLlm::start().await;
    mock.push(text("Hi").done().stalled());
    let begin = Instant::now();
    assert_eq!(answer(&mock, RESPONSES).await.text(), "Hi");
    assert!(begin.elapsed() < Duration::from_secs(1));
}

/// Case A20: counts come with the end; cached input and thoughts are parts of the totals.
#[tokio::test]
async fn counts_are_disjoint() {
    let mut end = completed(&[]);
    end["response"]["usage"] = usage(100, 40, 19, 12);
    end["response"]["usage"]["input_tokens_details"]["cache_write_tokens"] = json!(10);
    let words = message("msg_1", "x");
    let answer = answer_of([item(0, &words), vec![end]].concat()).await;
    let usage = answer.usage;
    assert_eq!((usage.input, usage.cache_read, usage.cache_write, usage.output), (50, 40, 10, 19));
}

/// Cases A22, A25 and A26: errors as events, as the end of the response, and after a call.
#[tokio::test]
async fn an_error_inside_a_good_stream_is_an_error() {
    let one = read("fc_1", "c_1", "a");
    for (document, expected) in [
        (error_event("rate_limit_exceeded", "Rate limit reached for gpt-5"), Kind::RateLimit),
        (
            json!({"type": "error", "error": {"type": "insufficient_quota", "code":
            "insufficient_quota", "message": "You exceeded your current quota"}}),
            Kind::Quota,
        ),
        (json!({"error": "boom"}), Kind::Server),
        (failed("server_error", "The model failed to generate a response."), Kind::Server),
        (
            failed("context_length_exceeded", "Your input exceeds the context window"),
            Kind::Overflow,
        ),
        (
            json!({"type": "response.failed", "response": response("failed", &[])}),
            Kind::PartialStream,
        ),
    ] {
        let mut events = item(0, &one);
        events.push(document.clone());
        let (answer, kind) = cut(events).await;
        assert_eq!(kind, expected, "{document}");
        assert_eq!(answer.calls(), [], "its end was never confirmed");
    }
    let (_, kind) = cut([error_event("server_is_overloaded", "Overloaded")]).await;
    assert_eq!(kind, Kind::Overloaded);
}

/// Case A24.
#[tokio::test]
async fn a_body_that_is_no_stream_is_read_as_well() {
    let mock = MockLlm::start().await;
    mock.push(Reply::body(200, "text/html", "<html><body>502 Bad Gateway</body></html>"));
    let error = failure(&mock, RESPONSES).await;
    assert!(error.message.contains("502 Bad Gateway") && !error.message.contains('<'), "{error}");
    mock.push(Reply::json(200, &json!({"error": {"message": "bad key"}})));
    assert_eq!(failure(&mock, RESPONSES).await.kind, Kind::Auth);
    let sealed = reasoning("rs_1", "Plan.", "c2VhbA");
    let items = [sealed, message("msg_1", "Hello"), read("fc_1", "c_1", "a")];
    mock.push(Reply::json(200, &response("completed", &items)));
    let whole = answer(&mock, RESPONSES).await;
    assert_eq!((whole.text().as_str(), whole.thinking().concat().as_str()), ("Hello", "Plan."));
    assert_eq!(whole.calls_text(), [r#"c_1 read {"path":"a"}"#]);
    assert_eq!((whole.stop, whole.usage.input), (Some(Stop::ToolUse), 25));
    let mut bad = response("failed", &[]);
    bad["error"] = json!({"code": "server_error", "message": "boom"});
    mock.push(Reply::json(200, &bad));
    assert_eq!(failure(&mock, RESPONSES).await.kind, Kind::Server);
}

/// Case A27.
#[tokio::test]
async fn unknown_events_items_and_parts_are_passed_over() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let mut words = message("msg_1", "Hello");
    words["content"].as_array_mut().unwrap().push(json!({"type": "future", "x": 1}));
    let mut events = vec![
        json!({"type": "keepalive"}),
        json!({"type": "response.future_thing", "delta": {"x": 1}, "item": 7}),
        added(0, &search),
        json!({"type": "response.web_search_call.searching", "output_index": 0}),
        ended(0, &search),
    ];
    events.extend(item(1, &words));
    events.push(completed(&[search, words]));
    let answer = answer_of(events).await;
    assert_eq!(answer.text(), "Hello");
    assert_eq!(answer.blocks.len(), 1, "{answer:?}");
}

/// Cases A49 to A53 in this format: bytes one by one, a mark at the start, other line ends, no
/// blank line at the end; invalid bytes are a broken stream.
#[tokio::test]
async fn bytes_may_come_in_any_way() {
    let mock = MockLlm::start().await;
    let words = "你好🙂 and more";
    mock.push(text(words).dribble());
    assert_eq!(answer(&mock, RESPONSES).await.text(), words);
    let stream: String = documents(&[message("msg_1", words)]).iter().map(event).collect();
    let endings = ["\n", "\r\n", "\r"].map(|end| stream.replace('\n', end));
    let marked = format!("\u{feff}{stream}");
    for bytes in endings.iter().map(String::as_str).chain([marked.as_str(), stream.trim_end()]) {
        mock.push(Reply::sse([bytes]));
        assert_eq!(answer(&mock, RESPONSES).await.text(), words, "{bytes:.20?}");
    }
    let start = event(&text_delta(0, "msg_1", "a"));
    mock.push(Reply::sse([start.as_bytes(), b"data: \xff\xfe\n\n", stream.as_bytes()]));
    assert_eq!(failure(&mock, RESPONSES).await.kind, Kind::PartialStream);
}

/// Case A54.
#[tokio::test]
async fn several_documents_in_one_event_are_all_read() {
    let mock = MockLlm::start().await;
    let pieces = ["a", "b"].map(|text| text_delta(0, "msg_1", text));
    let [first, second] = pieces.map(|piece| format!("data: {piece}\n"));
    mock.push(Reply::sse([first, second, format!("\ndata: {}\n\n", completed(&[]))]));
    assert_eq!(answer(&mock, RESPONSES).await.text(), "ab");
}

#[tokio::test]
async fn an_end_without_the_end_event_is_a_broken_stream() {
    let (answer, kind) = cut(item(0, &message("msg_1", "Hi"))).await;
    assert_eq!((answer.text().as_str(), kind), ("Hi", Kind::PartialStream));
    let mock = MockLlm::start().await;
    mock.push(Reply::sse(["event: response.output_text.delta\ndata: {\"type\": \"resp\n\n"]));
    assert_eq!(failure(&mock, RESPONSES).await.kind, Kind::PartialStream);
}

#[tokio::test]
async fn a_refusal_is_shown_and_named() {
    let refusal = json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [
        {"type": "refusal", "refusal": "I can't help with that."}]});
    let delta = json!({"type": "response.refusal.delta", "output_index": 0, "item_id": "msg_1",
        "content_index": 0, "delta": "I can't"});
    let answer = answer_of([added(0, &refusal), delta, ended(0, &refusal), completed(&[])]).await;
    assert_eq!(answer.text(), "I can't help with that.");
    assert_eq!(answer.stop, Some(Stop::Refusal));
}

/// Parts of a summary are paragraphs; thoughts without a summary are shown where they are open.
#[tokio::test]
async fn thoughts_are_shown() {
    let mut sealed = reasoning("rs_1", "Plan.", "c2VhbA");
    let more = json!({"type": "summary_text", "text": "Then act."});
    sealed["summary"].as_array_mut().unwrap().push(more);
    let answer = answer_of(documents(&[sealed.clone(), message("msg_1", "x")])).await;
    assert_eq!(answer.thinking(), ["Plan.\n\nThen act."]);
    let Some(Block::Thinking { opaque: Some(opaque), .. }) = answer.blocks.values().next() else {
        panic!("{answer:?}");
    };
    assert_eq!(opaque.data, sealed);
    let open = json!({"type": "reasoning", "id": "rs_1", "summary": [],
        "content": [{"type": "reasoning_text", "text": "Hm, yes"}]});
    let delta = json!({"type": "response.reasoning_text.delta", "output_index": 0,
        "item_id": "rs_1", "content_index": 0, "delta": "Hm, "});
    let answer = answer_of([added(0, &open), delta, ended(0, &open), completed(&[])]).await;
    assert_eq!(answer.thinking(), ["Hm, yes"]);
}

#[tokio::test]
async fn replies_of_the_builder_are_complete() {
    let mock = MockLlm::start().await;
    mock.push(reply(&[
        reasoning("rs_1", "", "c2VhbA"),
        message("msg_1", "Two reads."),
        read("fc_1", "c_1", "a"),
        read("fc_2", "c_2", "b"),
    ]));
    let answer = answer(&mock, RESPONSES).await;
    assert_eq!(answer.text(), "Two reads.");
    assert_eq!(answer.calls_text().len(), 2);
    assert!(matches!(answer.blocks.values().next(), Some(Block::Opaque(_))), "{answer:?}");
}
