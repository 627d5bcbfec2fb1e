//! What happens on the way: slow, silent, broken and odd connections.

use std::time::{Duration, Instant};

use codebot::kernel::error::ModelErrorKind as Kind;
use codebot::kernel::ports::StreamEvent;
use codebot::model::{Limits, connect_with};
use futures_util::StreamExt;
use serde_json::json;

use super::mock_llm::openai::{content, finish, text};
use super::mock_llm::{MockLlm, Reply, Step, anthropic};
use super::support::{
    CLAUDE, GPT, answer, ask, connection, connection_at, failure, model, quick, request, user,
};

/// Case A49, both formats.
#[tokio::test]
async fn characters_survive_any_cut() {
    let words = "你好🙂 👩‍💻 é";
    let mock = MockLlm::start().await;
    mock.push(text(words).dribble());
    assert_eq!(answer(&mock, GPT).await.text(), words);
    mock.push(anthropic::text(words).dribble());
    assert_eq!(answer(&mock, CLAUDE).await.text(), words);
}

/// Case A50.
#[tokio::test]
async fn invalid_bytes_are_a_broken_stream() {
    let mock = MockLlm::start().await;
    let reply = Reply::data([content("a")]).bytes(b"data: \xff\xfe\n\n").event(&finish("stop"));
    mock.push(reply.done());
    let error = failure(&mock, GPT).await;
    assert_eq!(error.kind, Kind::PartialStream);
    assert_eq!(error.message, "the answer of openai broke off: the stream carried invalid bytes");
}

/// Cases A51 and A53 through the whole stack.
#[tokio::test]
async fn a_mark_in_front_and_no_line_end_behind_lose_nothing() {
    let mock = MockLlm::start().await;
    let body =
        format!("\u{feff}data: {}\n\ndata: {}\n\ndata: [DONE]", content("Hi"), finish("stop"));
    mock.push(Reply::sse([&body.as_bytes()[..1], &body.as_bytes()[1..]]));
    assert_eq!(answer(&mock, GPT).await.text(), "Hi");
}

/// Case A24.
#[tokio::test]
async fn pages_and_documents_instead_of_a_stream_are_errors() {
    let mock = MockLlm::start().await;
    let page = "<html><head><style>p{}</style></head><body>502 Bad Gateway</body></html>";
    mock.push(Reply::body(200, "text/html", page));
    let error = failure(&mock, GPT).await;
    let base = format!("{}/v1", mock.base_url());
    let message =
        format!("openai at {base} answered with a web page (502 Bad Gateway); check its base_url");
    assert_eq!((error.kind, error.message), (Kind::Server, message));
    mock.push(Reply::json(200, &json!({"error": {"message": "bad key"}})));
    let error = failure(&mock, GPT).await;
    assert_eq!(error.kind, Kind::Auth);
    mock.push(Reply::json(200, &json!({"detail": "maintenance"})));
    assert_eq!(failure(&mock, CLAUDE).await.message, "anthropic failed: maintenance");
}

/// Case B25.
#[tokio::test]
async fn a_long_page_becomes_one_short_line() {
    let mock = MockLlm::start().await;
    let page =
        format!("<!DOCTYPE html><body><h1>Bad Gateway</h1>{}</body>", "<p>noise</p>\n".repeat(400));
    mock.push(Reply::body(502, "text/html", page));
    let error = failure(&mock, GPT).await;
    assert_eq!((error.kind, error.status), (Kind::Server, Some(502)));
    assert!(
        error.message.chars().count() <= 300
            && error.message.starts_with("openai failed (502): Bad Gateway")
    );
    assert!(!error.message.contains(['<', '\n']));
}

/// Case A56.
#[tokio::test]
async fn an_unasked_gzip_stream_is_unpacked() {
    let mock = MockLlm::start().await;
    let body = format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", content("Hi"), finish("stop"));
    let mut reply = Reply::sse([gzip(body.as_bytes())]);
    reply = reply.header("content-encoding", "gzip");
    mock.push(reply);
    assert_eq!(answer(&mock, GPT).await.text(), "Hi");
}

/// A gzip file with one stored block.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(bytes);
    out.extend((!crc).to_le_bytes());
    out.extend(u32::from(length).to_le_bytes());
    out
}

/// Case A61.
#[tokio::test]
async fn any_byte_keeps_a_stream_alive_and_silence_ends_it() {
    let mock = MockLlm::start().await;
    let mut reply = Reply::data([content("a")]);
    for _ in 0..8 {
        reply = reply.bytes(": ping\n\n").then(Step::Delay(Duration::from_millis(100)));
    }
    mock.push(reply.event(&content("b")).event(&finish("stop")).done());
    assert_eq!(answer(&mock, GPT).await.text(), "ab");

    mock.push(Reply::data([content("a")]).stalled());
    let error = failure(&mock, GPT).await;
    assert_eq!(
        (error.kind, error.message.as_str()),
        (Kind::StreamIdle, "openai sent nothing for 300 ms")
    );
}

#[tokio::test]
async fn the_first_byte_has_a_limit_of_its_own() {
    let mock = MockLlm::start().await;
    let limits = Limits { first_byte_loopback: Duration::from_millis(150), ..quick() };
    mock.push(text("late").after(Duration::from_secs(5)));
    let model = connect_with(connection(&mock, GPT), limits);
    let error = ask(&model, request(vec![user("hi")])).await.error.unwrap();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (Kind::Timeout, "openai did not answer within 150 ms")
    );
    // Headers alone are no byte of the answer: a server that loads a model may take longer than
    // the idle limit.
    let mut slow = text("slow");
    slow.steps.insert(0, Step::Delay(Duration::from_millis(500)));
    mock.push(slow);
    assert_eq!(answer(&mock, GPT).await.text(), "slow");
}

#[tokio::test]
async fn a_slow_reader_is_no_silent_service() {
    let mock = MockLlm::start().await;
    mock.push(text("one two three"));
    let model = model(&mock, GPT);
    let mut stream = model.stream(request(vec![user("hi")])).await.unwrap();
    let (mut seen, mut said) = (0, String::new());
    while let Some(event) = stream.next().await {
        // Text that has arrived meanwhile comes as one delta.
        if let StreamEvent::TextDelta { text, .. } = event.unwrap() {
            said.push_str(&text);
        }
        seen += 1;
        if seen == 2 {
            tokio::time::sleep(Duration::from_millis(600)).await;
        }
    }
    assert_eq!(said, "one two three");
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let mock = MockLlm::start().await;
    mock.push(Reply::data([content("a")]).stalled());
    let model = model(&mock, GPT);
    let mut stream = model.stream(request(vec![user("hi")])).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    let begin = Instant::now();
    while mock.aborted() == 0 {
        assert!(begin.elapsed() < Duration::from_secs(2), "the service still waits");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_reset_is_a_broken_stream() {
    let mock = MockLlm::start().await;
    mock.push(Reply::data([content("a"), content("b")]).cut(2));
    assert_eq!(failure(&mock, GPT).await.kind, Kind::PartialStream);
}

#[tokio::test]
async fn a_refused_connection_names_the_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let model = connect_with(connection_at(&url, GPT, |_| {}), quick());
    let error = ask(&model, request(vec![user("hi")])).await.error.unwrap();
    assert_eq!(error.kind, Kind::Network);
    assert_eq!(
        error.message,
        format!(
            "cannot reach openai at {url}/v1: connection refused; start the server or correct its base_url"
        )
    );
}

#[tokio::test]
async fn own_headers_are_sent_and_win() {
    let mock = MockLlm::start().await;
    mock.push(text("ok"));
    let connection = connection_at(&mock.base_url(), GPT, |config| {
        config.headers = [("X-Team", "blue"), ("Authorization", "Bearer other")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    });
    assert!(!format!("{connection:?}").contains("other"));
    assert!(!format!("{connection:?}").contains("test-key"));
    let model = connect_with(connection, quick());
    assert!(!format!("{model:?}").contains("test-key"));
    assert_eq!(ask(&model, request(vec![user("hi")])).await.error, None);
    let headers = &mock.requests()[0].headers;
    assert_eq!(
        (headers["x-team"].as_str(), headers["authorization"].as_str()),
        ("blue", "Bearer other")
    );
}

#[tokio::test]
async fn a_key_that_fits_no_header_is_named_as_the_problem() {
    let mock = MockLlm::start().await;
    let connection = connection_at(&mock.base_url(), GPT, |config| {
        config.api_key = Some("two\nlines".to_owned());
    });
    let error =
        ask(&connect_with(connection, quick()), request(vec![user("hi")])).await.error.unwrap();
    assert_eq!(error.kind, Kind::Auth);
    assert!(error.message.contains("illegal characters") && !error.message.contains("lines"));
    assert!(mock.requests().is_empty());
}

#[test]
fn the_mock_also_runs_on_a_thread_of_its_own() {
    let mock = MockLlm::spawn_thread();
    mock.push(text("Hi"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(answer(&mock, GPT));
    assert_eq!(answer.text(), "Hi");
}
