//! The byte guard: any bytes, any chunks.

use codebot::kernel::error::ModelError;
use codebot::model::sse::{MAX_EVENT_BYTES, SseError, events};
use futures_util::{FutureExt, StreamExt, stream};
use proptest::prelude::*;

/// `name|data` of every event, and the error at the end.
fn read(chunks: Vec<Vec<u8>>) -> (Vec<String>, Option<SseError>) {
    let bytes = stream::iter(chunks.into_iter().map(Ok::<_, ModelError>));
    let mut found = Vec::new();
    let mut error = None;
    let mut stream = events(bytes);
    while let Some(item) = stream.next().now_or_never().expect("never waits") {
        match item {
            Ok(event) => found.push(format!("{}|{}", event.event, event.data)),
            Err(problem) => {
                error = Some(problem);
                break;
            }
        }
    }
    (found, error)
}

fn split(bytes: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    let mut rest = bytes;
    for cut in cuts {
        let (head, tail) = rest.split_at((*cut).min(rest.len()));
        chunks.push(head.to_vec());
        rest = tail;
    }
    chunks.push(rest.to_vec());
    chunks
}

fn whole(text: &str) -> Vec<String> {
    let (events, error) = read(vec![text.as_bytes().to_vec()]);
    assert_eq!(error, None);
    events
}

/// Case A52.
#[test]
fn all_line_ends_give_the_same_events() {
    let stream =
        "data: one\n\ndata:two\n\n: note\n\nevent: x\ndata: three\ndata: four\n\ndata: five\n\n";
    let expected = ["message|one", "message|two", "x|three\nfour", "message|five"];
    for end in ["\n", "\r\n", "\r"] {
        let text = stream.replace('\n', end);
        assert_eq!(whole(&text), expected, "{end:?}");
        let single: Vec<Vec<u8>> = text.bytes().map(|byte| vec![byte]).collect();
        assert_eq!(read(single).0, expected, "{end:?} byte by byte");
    }
}

/// Case A51.
#[test]
fn a_byte_order_mark_is_dropped_once() {
    assert_eq!(whole("\u{feff}data: Hi\n\n"), ["message|Hi"]);
    let bytes = "\u{feff}data: Hi\n\n".as_bytes();
    for cut in 0..5 {
        assert_eq!(read(split(bytes, &[cut])).0, ["message|Hi"], "cut at {cut}");
    }
    assert_eq!(read(split(bytes, &[1, 1, 1])).0, ["message|Hi"]);
    // Half a mark and nothing else is invalid, not a panic.
    assert_eq!(read(vec![b"\xef\xbb".to_vec()]).1, Some(SseError::InvalidUtf8));
}

/// Case A53.
#[test]
fn the_end_of_the_bytes_ends_the_last_event() {
    assert_eq!(whole("data: a\n\ndata: b\n"), ["message|a", "message|b"]);
    assert_eq!(whole("data: a\n\ndata: [DONE]"), ["message|a", "message|[DONE]"]);
    assert_eq!(whole("data: a\r\n\r\ndata: b\r"), ["message|a", "message|b"]);
}

/// Case A50.
#[test]
fn invalid_bytes_break_the_stream_after_the_events_before() {
    let (events, error) = read(vec![b"data: a\n\ndata: \xff\xfe\n\ndata: b\n\n".to_vec()]);
    assert_eq!(events, ["message|a"]);
    assert_eq!(error, Some(SseError::InvalidUtf8));
}

#[test]
fn an_endless_event_is_refused() {
    let chunk = vec![b'x'; 1024 * 1024];
    let chunks = std::iter::once(b"data: ".to_vec()).chain(std::iter::repeat_n(chunk, 17));
    assert_eq!(read(chunks.collect()).1, Some(SseError::TooLarge));
    let lines = "data: 0123456789\n".repeat(MAX_EVENT_BYTES / 16 + 1);
    assert_eq!(read(vec![lines.into_bytes()]).1, Some(SseError::TooLarge));
}

#[test]
fn a_large_event_and_many_small_ones_are_cheap() {
    let begin = std::time::Instant::now();
    let large = format!("data: {}\n\n", "x".repeat(10_000_000));
    let chunks: Vec<Vec<u8>> = large.as_bytes().chunks(16_384).map(<[u8]>::to_vec).collect();
    assert_eq!(read(chunks).0.len(), 1);
    let many = "data: {\"a\":1}\n\n".repeat(60_000);
    assert_eq!(read(vec![many.into_bytes()]).0.len(), 60_000);
    // Quadratic work would take minutes without optimisation.
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

fn stream_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(b"data: ".to_vec()),
        4 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        2 => Just(b"\n\n".to_vec()),
        1 => Just(b"event: e".to_vec()),
        1 => Just(b":".to_vec()),
        1 => Just(b"id: 1".to_vec()),
        1 => Just(b"retry: 7".to_vec()),
        1 => Just(b"\xef\xbb\xbf".to_vec()),
        1 => Just("你好🙂".as_bytes().to_vec()),
        2 => "[ -~]{0,8}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_change_nothing(bytes in stream_bytes(), cuts in proptest::collection::vec(0_usize..9, 0..80)) {
        prop_assert_eq!(read(vec![bytes.clone()]), read(split(&bytes, &cuts)));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(vec![bytes]);
    }
}
