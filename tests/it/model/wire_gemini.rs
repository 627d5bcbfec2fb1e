//! Streams of the generateContent format: the cases that concern it.

use std::time::{Duration, Instant};

use codebot::kernel::error::ModelErrorKind as Kind;
use codebot::kernel::message::{Block, ModelRef, Opaque, Stop};
use codebot::kernel::ports::StreamEvent;
use serde_json::{Value, json};

use super::mock_llm::gemini::{
    answer as reply, call_part, chunk, error, last, signed, stream, text, text_part, usage,
};
use super::mock_llm::{MockLlm, Reply, Step};
use super::support::{GEMINI, answer, ask, failure, model, request, user};

#[tokio::test]
async fn a_text_answer_streams_and_ends() {
    let mock = MockLlm::start().await;
    mock.push(text("Hello from the mock"));
    let answer = answer(&mock, GEMINI).await;
    assert_eq!(answer.text(), "Hello from the mock");
    assert_eq!(answer.stop, Some(Stop::EndTurn));
    assert_eq!((answer.usage.input, answer.usage.output), (25, 12));
    assert_eq!(answer.events.first(), Some(&StreamEvent::Start));
    let sent = &mock.requests()[0];
    assert_eq!(sent.path, "/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse");
    assert_eq!(sent.headers["x-goog-api-key"], "test-key");
    assert_eq!(sent.headers["accept-encoding"], "identity");
    assert!(!sent.path.contains("test-key"), "a key in an address ends up in logs");
}

#[tokio::test]
async fn a_call_comes_in_one_piece_and_its_id_is_made_up() {
    let mock = MockLlm::start().await;
    mock.push(reply(
        [text_part("Both."), call_part("read", &json!({"path": "a"})), {
            json!({"functionCall": {"id": "fc9", "name": "read", "args": {"path": "b"}}})
        }],
        "STOP",
    ));
    let answer = answer(&mock, GEMINI).await;
    assert_eq!(answer.calls_text(), [r#"call_1 read {"path":"a"}"#, r#"fc9 read {"path":"b"}"#]);
    assert_eq!(answer.stop, Some(Stop::ToolUse));
}

/// The first call is complete when the next part opens, the last one only with the finish reason.
#[tokio::test]
async fn a_call_is_complete_as_soon_as_something_follows_it() {
    let mock = MockLlm::start().await;
    let calls = ["a", "b"].map(|path| chunk(&json!([call_part("read", &json!({"path": path}))])));
    mock.push(stream(calls));
    let answer = ask(&model(&mock, GEMINI), request(vec![user("hi")])).await;
    assert_eq!(answer.calls_text(), [r#"call_0 read {"path":"a"}"#]);
    assert_eq!(answer.error.unwrap().kind, Kind::PartialStream);
}

#[tokio::test]
async fn at_the_output_limit_or_a_filter_the_last_call_is_unfinished() {
    for (reason, stop) in [("MAX_TOKENS", Stop::Length), ("SAFETY", Stop::ContentFilter)] {
        let mock = MockLlm::start().await;
        let calls = ["a", "b"].map(|path| call_part("read", &json!({"path": path})));
        mock.push(stream([last(&Value::from(calls.to_vec()), reason)]));
        let answer = answer(&mock, GEMINI).await;
        assert_eq!(answer.calls_text(), [r#"call_0 read {"path":"a"}"#], "{reason}");
        assert_eq!(answer.stop, Some(stop));
    }
}

#[tokio::test]
async fn every_finish_reason_has_a_meaning() {
    let mock = MockLlm::start().await;
    for (word, stop) in [
        ("STOP", Stop::EndTurn),
        ("MAX_TOKENS", Stop::Length),
        ("SAFETY", Stop::ContentFilter),
        ("RECITATION", Stop::ContentFilter),
        ("PROHIBITED_CONTENT", Stop::ContentFilter),
        ("BLOCKLIST", Stop::ContentFilter),
        ("SPII", Stop::ContentFilter),
    ] {
        mock.push(reply([text_part("x")], word));
        assert_eq!(answer(&mock, GEMINI).await.stop, Some(stop), "{word}");
    }
    for (word, kind) in [
        ("MALFORMED_FUNCTION_CALL", Kind::PartialStream),
        ("UNEXPECTED_TOOL_CALL", Kind::PartialStream),
        ("OTHER", Kind::PartialStream),
        ("SOMETHING_NEW", Kind::PartialStream),
        ("MISSING_THOUGHT_SIGNATURE", Kind::InvalidRequest),
    ] {
        mock.push(reply([text_part("x")], word));
        assert_eq!(failure(&mock, GEMINI).await.kind, kind, "{word}");
    }
}

/// Cases A12 and A13: arguments that are no object, or an object written as text.
#[tokio::test]
async fn arguments_that_are_no_object_never_run() {
    let mock = MockLlm::start().await;
    for args in [json!(["a.txt"]), json!(42), json!(true), json!("plain")] {
        mock.push(reply([call_part("read", &args)], "STOP"));
        let calls = answer(&mock, GEMINI).await.calls();
        let invalid = calls[0].invalid.as_ref().expect("unusable arguments");
        assert!(invalid.error.contains("expected a JSON object"), "{}", invalid.error);
    }
    mock.push(reply([call_part("read", &json!(r#"{"path":"a"}"#))], "STOP"));
    assert_eq!(answer(&mock, GEMINI).await.calls_text(), [r#"call_0 read {"path":"a"}"#]);
}

/// Cases A09 and A30: no name, no arguments.
#[tokio::test]
async fn a_call_without_arguments_has_none_and_one_without_a_name_is_invalid() {
    let mock = MockLlm::start().await;
    mock.push(reply([json!({"functionCall": {"name": "ls"}})], "STOP"));
    assert_eq!(answer(&mock, GEMINI).await.calls_text(), ["call_0 ls {}"]);
    mock.push(reply([json!({"functionCall": {"args": {}}})], "STOP"));
    let calls = answer(&mock, GEMINI).await.calls();
    assert!(calls[0].invalid.is_some(), "{calls:?}");
}

/// Case B05.
#[tokio::test]
async fn two_calls_with_one_id_become_two_ids() {
    let mock = MockLlm::start().await;
    let call = |p: &str| json!({"functionCall": {"id": "f", "name": "read", "args": {"p": p}}});
    mock.push(reply([call("a"), call("b")], "STOP"));
    let answer = answer(&mock, GEMINI).await;
    assert_eq!(answer.calls_text(), [r#"f read {"p":"a"}"#, r#"f_2 read {"p":"b"}"#]);
}

/// Case A15: the calls decide, whatever the reason says.
#[tokio::test]
async fn an_answer_without_calls_is_over() {
    let mock = MockLlm::start().await;
    mock.push(reply([text_part("Working on it")], "STOP"));
    let answer = answer(&mock, GEMINI).await;
    assert_eq!((answer.text().as_str(), answer.stop), ("Working on it", Some(Stop::EndTurn)));
}

/// Case A18: there is no end mark; after the finish reason only a moment is waited.
#[tokio::test]
async fn a_socket_that_stays_open_does_not_hold_the_turn() {
    let mock = MockLlm::start().await;
    mock.push(text("Hi").stalled());
    let begin = Instant::now();
    assert_eq!(answer(&mock, GEMINI).await.text(), "Hi");
    assert!(begin.elapsed() < Duration::from_secs(1));
}

/// Case A20: counts on every chunk are reports; the last one counts.
#[tokio::test]
async fn running_counts_neither_end_nor_split_anything() {
    let mock = MockLlm::start().await;
    let mut chunks: Vec<Value> = Vec::new();
    for at in 1..=6 {
        let mut chunk = chunk(&json!([{"text": "t ", "thought": true}]));
        chunk["usageMetadata"] = usage(100, 40, 0, at);
        chunks.push(chunk);
    }
    let mut end = last(&json!([{"text": "done"}]), "STOP");
    end["usageMetadata"] = usage(100, 40, 7, 6);
    chunks.push(end);
    mock.push(stream(chunks));
    let answer = answer(&mock, GEMINI).await;
    assert_eq!(answer.thinking(), ["t t t t t t "]);
    assert_eq!(answer.text(), "done");
    let usage = answer.usage;
    assert_eq!((usage.input, usage.cache_read, usage.cache_write, usage.output), (60, 40, 0, 13));
}

/// Case A22.
#[tokio::test]
async fn an_error_inside_a_good_stream_is_an_error() {
    let mock = MockLlm::start().await;
    mock.push(stream([error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted")]));
    assert_eq!(failure(&mock, GEMINI).await.kind, Kind::RateLimit);
    mock.push(stream([json!({"error": "boom"})]));
    assert_eq!(failure(&mock, GEMINI).await.kind, Kind::Server);
    let cut = [chunk(&json!([{"text": "Par"}])), error(503, "UNAVAILABLE", "overloaded")];
    mock.push(stream(cut.clone()));
    let error = failure(&mock, GEMINI).await;
    assert_eq!((error.kind, error.status), (Kind::Overloaded, Some(503)));
    assert_eq!(error.message, "gemini is overloaded (503): overloaded");
}

/// Case A26: the call is the last part and its stream failed, so it never counts as complete.
#[tokio::test]
async fn a_call_before_an_error_is_not_complete() {
    let mock = MockLlm::start().await;
    let call = call_part("bash", &json!({"cmd": "echo hi >> log"}));
    mock.push(stream([chunk(&json!([call])), error(503, "UNAVAILABLE", "overloaded")]));
    let answer = ask(&model(&mock, GEMINI), request(vec![user("hi")])).await;
    assert_eq!(answer.calls(), []);
    assert_eq!(answer.error.unwrap().kind, Kind::Overloaded);
}

/// Case A24: pages and JSON where a stream was expected.
#[tokio::test]
async fn a_body_that_is_no_stream_is_one_short_line() {
    let mock = MockLlm::start().await;
    mock.push(Reply::body(200, "text/html", "<html><body>502 Bad Gateway</body></html>"));
    let error = failure(&mock, GEMINI).await;
    assert!(error.message.contains("502 Bad Gateway") && !error.message.contains('<'), "{error}");
    // Without `alt=sse` the service answers with a list, also when it refuses.
    mock.push(Reply::json(
        200,
        &json!([super::mock_llm::gemini::error(
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key."
        )]),
    ));
    assert_eq!(failure(&mock, GEMINI).await.kind, Kind::Auth);
    let whole = [chunk(&json!([{"text": "He"}])), last(&json!([{"text": "llo"}]), "STOP")];
    mock.push(Reply::json(200, &json!(whole)));
    assert_eq!(answer(&mock, GEMINI).await.text(), "Hello");
}

#[tokio::test]
async fn a_blocked_prompt_is_the_filters_error() {
    let mock = MockLlm::start().await;
    mock.push(stream([json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 5}})]));
    let error = failure(&mock, GEMINI).await;
    assert_eq!(error.kind, Kind::ContentFilter);
    assert_eq!(
        error.message,
        "the content filter of gemini refused the request: PROHIBITED_CONTENT"
    );
}

/// Case A27.
#[tokio::test]
async fn unknown_parts_and_fields_are_skipped() {
    let mock = MockLlm::start().await;
    let odd = json!([{"executableCode": {"code": "1"}}, {"text": "He"}, {"future": [1]}]);
    let mut chunks = vec![chunk(&odd)];
    chunks.push(json!({"somethingNew": {"x": 1}}));
    chunks.push(json!({"candidates": [{"index": 1, "content": {"parts": [{"text": "other"}]}}]}));
    let mut end = last(&json!([{"text": "llo"}]), "STOP");
    end["candidates"][0]["safetyRatings"] = json!([{"category": "x"}]);
    chunks.push(end);
    mock.push(stream(chunks));
    assert_eq!(answer(&mock, GEMINI).await.text(), "Hello");
}

/// Case A39: every signature stays with its own part, an empty one included.
#[tokio::test]
async fn signatures_stay_with_their_parts_and_go_back_there() {
    let mock = MockLlm::start().await;
    let parts = [
        json!({"text": "t", "thought": true}),
        signed(text_part(""), "S1"),
        text_part("Two "),
        signed(text_part("words"), "S3"),
        signed(call_part("read", &json!({"path": "a"})), "S2"),
        call_part("read", &json!({"path": "b"})),
    ];
    let bare = |part: &Value| {
        let mut part = part.clone();
        part.as_object_mut().unwrap().remove("thoughtSignature");
        part.to_string()
    };
    let issued = [("S1", 1), ("S3", 3), ("S2", 4)];
    let issued = issued.map(|(name, at): (&str, usize)| (name.to_owned(), bare(&parts[at])));
    mock.rules(|rules| {
        rules.signatures = Some(issued.into());
        rules.needs_signatures = true;
    });
    mock.push(reply(parts.clone(), "STOP")).push(text("done"));
    let model = model(&mock, GEMINI);
    let first = ask(&model, request(vec![user("hi")])).await;
    assert_eq!(first.text(), "Two words");
    let opaque = |data: Value| Opaque {
        model: ModelRef { provider: "gemini".into(), model: "gemini-3.5-flash".into() },
        data,
    };
    assert_eq!(first.calls()[0].opaque, Some(opaque(json!({"thoughtSignature": "S2"}))));
    let history = vec![
        user("hi"),
        first.message(GEMINI),
        super::support::result("call_4", "1"),
        super::support::result("call_5", "2"),
    ];
    assert_eq!(ask(&model, request(history)).await.error, None);
    // Unsigned thoughts are of no use to the service.
    assert_eq!(mock.bodies()[1]["contents"][1]["parts"], Value::from(parts[1..].to_vec()));
}

#[tokio::test]
async fn a_signed_thought_makes_a_round_trip() {
    let mock = MockLlm::start().await;
    let thoughts = [
        json!({"text": "a\n b ", "thought": true, "thoughtSignature": "T1"}),
        json!({"text": "", "thought": true, "thoughtSignature": "T2"}),
    ];
    let call = call_part("read", &json!({}));
    mock.push(reply([thoughts[0].clone(), thoughts[1].clone(), call], "STOP")).push(text("ok"));
    let model = model(&mock, GEMINI);
    let first = ask(&model, request(vec![user("hi")])).await;
    assert!(matches!(&first.blocks[&0], Block::Thinking { opaque: Some(_), .. }));
    let history = vec![user("hi"), first.message(GEMINI), super::support::result("call_2", "x")];
    assert_eq!(ask(&model, request(history)).await.error, None);
    let sent = &mock.bodies()[1]["contents"][1]["parts"];
    for (at, thought) in thoughts.iter().enumerate() {
        assert_eq!(sent[at]["thoughtSignature"], thought["thoughtSignature"]);
        assert_eq!((&sent[at]["text"], &sent[at]["thought"]), (&thought["text"], &json!(true)));
    }
}

/// Cases A49, A51, A52 and A53 on this format: borders, byte order mark, line ends, no last line.
#[tokio::test]
async fn bytes_may_come_in_any_pieces() {
    let mock = MockLlm::start().await;
    let chunks = || [chunk(&json!([{"text": "你好"}])), last(&json!([{"text": "🙂"}]), "STOP")];
    mock.push(stream(chunks()).dribble());
    let lines =
        |end: &str| -> String { chunks().map(|chunk| format!("data:{chunk}{end}{end}")).concat() };
    mock.push(Reply::sse(["\u{feff}".to_owned(), lines("\n")]));
    mock.push(Reply::sse([lines("\r\n")]).dribble());
    mock.push(Reply::sse([lines("\n").trim_end()]));
    while mock.left() > 0 {
        assert_eq!(answer(&mock, GEMINI).await.text(), "你好🙂");
    }
}

/// Case A50.
#[tokio::test]
async fn invalid_bytes_are_a_broken_stream() {
    let mock = MockLlm::start().await;
    let begin = format!("data: {}\n\n", chunk(&json!([{"text": "a"}])));
    let end = format!("data: {}\n\n", last(&json!([]), "STOP"));
    mock.push(Reply::sse([begin.as_bytes(), b"data: \xff\xfe\n\n", end.as_bytes()]));
    assert_eq!(failure(&mock, GEMINI).await.kind, Kind::PartialStream);
}

#[tokio::test]
async fn an_end_without_a_finish_reason_is_a_broken_stream() {
    let mock = MockLlm::start().await;
    mock.push(stream([chunk(&json!([{"text": "half"}]))]));
    assert_eq!(failure(&mock, GEMINI).await.kind, Kind::PartialStream);
    mock.push(Reply::sse(["data: {\"candidates\": [{\"cont\n\n"]));
    assert_eq!(failure(&mock, GEMINI).await.kind, Kind::PartialStream);
}

/// Case A61: any byte counts as life; silence does not.
#[tokio::test]
async fn comments_keep_a_quiet_stream_alive_and_silence_ends_it() {
    let mock = MockLlm::start().await;
    let mut quiet = Reply::sse(Vec::<&str>::new());
    for _ in 0..6 {
        quiet = quiet.bytes(": ping\n\n").then(Step::Delay(Duration::from_millis(100)));
    }
    mock.push(quiet.event(&last(&json!([{"text": "Hi"}]), "STOP")));
    assert_eq!(answer(&mock, GEMINI).await.text(), "Hi");
    mock.push(stream([chunk(&json!([{"text": "a"}]))]).stalled());
    assert_eq!(failure(&mock, GEMINI).await.kind, Kind::StreamIdle);
}

/// For services that do not stream: the other method, the same events.
#[tokio::test]
async fn a_whole_answer_can_be_asked_for() {
    let mock = MockLlm::start().await;
    let document = last(&json!([{"text": "Hi"}, call_part("ls", &json!({}))]), "STOP");
    mock.push(Reply::json(200, &document));
    let model = model(&mock, GEMINI);
    let stream = model.complete(request(vec![user("hi")])).await.unwrap();
    let events: Vec<_> = futures_util::StreamExt::collect(stream).await;
    assert_eq!(events.last(), Some(&Ok(StreamEvent::Done(Stop::ToolUse))));
    assert_eq!(mock.requests()[0].path, "/v1beta/models/gemini-3.5-flash:generateContent");
    assert_eq!(mock.violations(), Vec::<String>::new());
}
