//! Bytes of any kind in chunks of any size, through the byte guard and all decoders: the outcome
//! depends on the bytes alone, nothing panics and nothing waits for ever.

use std::collections::BTreeMap;
use std::time::Duration;

use codebot::kernel::error::{ModelError, ModelErrorKind};
use codebot::kernel::message::{Block, Stop, Usage};
use codebot::kernel::ports::ModelStream;
use codebot::model::adapter::Dialect;
use codebot::model::anthropic::Anthropic;
use codebot::model::drive::drive_bytes;
use codebot::model::gemini::Gemini;
use codebot::model::openai_chat::OpenAiChat;
use codebot::model::openai_responses::OpenAiResponses;
use futures_util::{Stream, StreamExt, stream};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::mock_llm::{Reply, Step, anthropic, gemini, openai, responses};
use super::support::{Answer, CLAUDE, GEMINI, GPT, RESPONSES, connection_at, quick};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Anthropic,
    Chat,
    Responses,
    Gemini,
}

const FORMATS: [Format; 4] = [Format::Anthropic, Format::Chat, Format::Responses, Format::Gemini];

fn read<D: Dialect>(
    reference: &str,
    bytes: impl Stream<Item = Result<Vec<u8>, ModelError>> + Send + Unpin + 'static,
) -> ModelStream {
    let connection = connection_at("http://127.0.0.1:1", reference, |_| {});
    drive_bytes(bytes, D::decoder(&connection), connection.service(), quick())
}

/// What an answer comes to; how it was cut into deltas is left out.
type Outcome =
    (BTreeMap<usize, Block>, Option<Stop>, Usage, Option<(ModelErrorKind, Option<u16>, String)>);

/// Reads chunks; `waits` makes each of them come late.
fn outcome(format: Format, chunks: Vec<Vec<u8>>, waits: bool) -> Outcome {
    let bytes = stream::iter(chunks).then(move |chunk| async move {
        if waits {
            tokio::task::yield_now().await;
        }
        Ok(chunk)
    });
    let bytes = bytes.boxed();
    let mut stream = match format {
        Format::Anthropic => read::<Anthropic>(CLAUDE, bytes),
        Format::Chat => read::<OpenAiChat>(GPT, bytes),
        Format::Responses => read::<OpenAiResponses>(RESPONSES, bytes),
        Format::Gemini => read::<Gemini>(GEMINI, bytes),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut answer = Answer::default();
        let all = async {
            while let Some(event) = stream.next().await {
                assert!(
                    answer.stop.is_none() && answer.error.is_none(),
                    "it goes on after its end"
                );
                match event {
                    Ok(event) => answer.take(event),
                    Err(error) => answer.error = Some(error),
                }
            }
        };
        tokio::time::timeout(Duration::from_mins(1), all).await.expect("an end");
        assert!(answer.stop.is_some() != answer.error.is_some(), "one end: {answer:?}");
        let error = answer.error.map(|error| (error.kind, error.status, error.message));
        (answer.blocks, answer.stop, answer.usage, error)
    })
}

fn split(bytes: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.sort_unstable();
    let mut chunks = Vec::new();
    let mut start = 0;
    for cut in cuts {
        chunks.push(bytes[start..cut].to_vec());
        start = cut;
    }
    chunks.push(bytes[start..].to_vec());
    chunks
}

/// Thoughts, words and two calls, as each service writes them.
fn good(format: Format) -> Vec<Vec<u8>> {
    let path = |name: &str| json!({"path": format!("{name} 你好🙂")});
    let reply: Reply = match format {
        Format::Anthropic => anthropic::answer(
            [
                anthropic::thinking_block(0, "Hm 你好", "c2lnbmVk"),
                anthropic::text_block(1, "Two 🙂 reads"),
                anthropic::tool_block(2, "t1", "read", &path("a")),
                anthropic::tool_block(3, "t2", "read", &path("b")),
            ],
            "tool_use",
        ),
        Format::Chat => {
            let call = |at: usize, name: &str| {
                let function = json!({"name": "read", "arguments": path(name).to_string()});
                json!([{"index": at, "id": format!("c{at}"), "function": function}])
            };
            openai::answer(
                [
                    openai::reasoning("Hm 你好"),
                    openai::content("Two 🙂 "),
                    openai::content("reads"),
                    openai::tool_calls(&call(0, "a")),
                    openai::tool_calls(&call(1, "b")),
                ],
                "tool_calls",
            )
        }
        Format::Responses => responses::answer(&[
            responses::reasoning("rs_1", "Hm 你好", "c2VhbA"),
            responses::message("msg_1", "Two 🙂 reads"),
            responses::call("fc_1", "c1", "read", &path("a")),
            responses::call("fc_2", "c2", "read", &path("b")),
        ]),
        Format::Gemini => {
            let thought = json!({"text": "Hm 你好", "thought": true});
            gemini::answer(
                [
                    gemini::signed(thought, "c2ln"),
                    gemini::text_part("Two 🙂 "),
                    gemini::text_part("reads"),
                    gemini::call_part("read", &path("a")),
                    gemini::call_part("read", &path("b")),
                ],
                "STOP",
            )
        }
    };
    let steps = reply.steps.into_iter();
    steps
        .filter_map(|step| if let Step::Bytes(bytes) = step { Some(bytes) } else { None })
        .collect()
}

/// A good answer whose events are left out, doubled, exchanged, and bytes of it changed.
fn spoiled(format: Format, moves: &[(usize, usize, u8)], flips: &[(usize, u8)]) -> Vec<u8> {
    let mut events = good(format);
    for (from, to, what) in moves {
        let count = events.len();
        if count < 2 {
            break;
        }
        let (from, to) = (from % count, to % count);
        match what % 3 {
            0 => events.swap(from, to),
            1 => drop(events.remove(from)),
            _ => events.insert(to, events[from].clone()),
        }
    }
    let mut bytes = events.concat();
    for (at, byte) in flips {
        if !bytes.is_empty() {
            let at = at % bytes.len();
            bytes[at] = *byte;
        }
    }
    bytes
}

#[test]
fn a_good_answer_is_the_same_in_any_chunks() {
    for format in FORMATS {
        let bytes = good(format).concat();
        let whole = outcome(format, vec![bytes.clone()], false);
        assert_eq!(whole.3, None, "{format:?}");
        assert_eq!(whole.1, Some(Stop::ToolUse));
        let calls = whole.0.values().filter(|block| matches!(block, Block::Call(_))).count();
        assert_eq!((calls, whole.0.len()), (2, 4), "{format:?} {:?}", whole.0);
        let single: Vec<Vec<u8>> = bytes.iter().map(|byte| vec![*byte]).collect();
        assert_eq!(outcome(format, single.clone(), false), whole, "{format:?}");
        assert_eq!(outcome(format, single, true), whole, "{format:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes_have_one_outcome(
        bytes in prop_oneof![
            vec(any::<u8>(), 0..200),
            "(data: ?(\\{.{0,40}\\}|\\[DONE\\]|.{0,20})(\r\n|\n|\r){1,2}){0,6}"
                .prop_map(String::into_bytes),
        ],
        cuts in vec(any::<usize>(), 0..8),
    ) {
        for format in FORMATS {
            let whole = outcome(format, vec![bytes.clone()], false);
            prop_assert_eq!(&outcome(format, split(&bytes, &cuts), false), &whole);
            prop_assert_eq!(&outcome(format, split(&bytes, &cuts), true), &whole);
        }
    }

    /// Case A49, A52 and A53 with everything else that can happen to a stream.
    #[test]
    fn a_spoiled_answer_has_one_outcome(
        moves in vec(any::<(usize, usize, u8)>(), 0..5),
        flips in vec((any::<usize>(), prop_oneof![any::<u8>(), Just(b'"'), Just(b'}'), Just(b'\n')]), 0..3),
        cuts in vec(any::<usize>(), 0..8),
        end in any::<usize>(),
    ) {
        for format in FORMATS {
            let mut bytes = spoiled(format, &moves, &flips);
            if end % 3 == 0 {
                bytes.truncate(end % (bytes.len() + 1));
            }
            let whole = outcome(format, vec![bytes.clone()], false);
            prop_assert_eq!(&outcome(format, split(&bytes, &cuts), false), &whole);
            prop_assert_eq!(&outcome(format, split(&bytes, &cuts), true), &whole);
        }
    }
}
