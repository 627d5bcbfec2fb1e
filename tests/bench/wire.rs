//! What reading an answer costs in each wire format, from the bytes of the service to events of the
//! loop: throughput, and allocations per token. A token is one event of a few letters.
//!
//! `cargo bench --bench wire`
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use codebot::kernel::ports::StreamEvent;
use codebot::model::adapter::Dialect;
use codebot::model::anthropic::Anthropic;
use codebot::model::drive::drive_bytes;
use codebot::model::gemini::Gemini;
use codebot::model::openai_chat::OpenAiChat;
use codebot::model::openai_responses::OpenAiResponses;
use codebot::model::{Connection, Limits, resolve};
use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher};
use futures_util::{StreamExt, stream};
use mock_llm::{Reply, Step, anthropic, gemini, openai, responses};
use std::collections::BTreeMap;
use tokio::runtime::{Builder, Runtime};

#[path = "../support/mock_llm/mod.rs"]
mod mock_llm;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const TOKENS: usize = 20_000;

/// Bytes of a read from a busy socket.
const READ: usize = 16 * 1024;

/// The pieces that a service writes, one for each token and a few around them.
fn pieces(reply: Reply) -> Vec<Vec<u8>> {
    let steps = reply.steps.into_iter();
    steps
        .filter_map(|step| if let Step::Bytes(bytes) = step { Some(bytes) } else { None })
        .collect()
}

fn packed(pieces: &[Vec<u8>]) -> Vec<Vec<u8>> {
    pieces.concat().chunks(READ).map(<[u8]>::to_vec).collect()
}

fn words() -> String {
    "token ".repeat(TOKENS)
}

fn connection(reference: &str) -> Connection {
    let key = |name: &str| name.ends_with("_API_KEY").then(|| "k".to_owned());
    resolve(Some(reference), &key, &BTreeMap::new(), &BTreeMap::new()).unwrap()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn read<D: Dialect>(bencher: Bencher<'_, '_>, reference: &str, chunks: &[Vec<u8>]) {
    let (runtime, connection) = (runtime(), connection(reference));
    let bytes: usize = chunks.iter().map(Vec::len).sum();
    bencher
        .counter(BytesCount::new(bytes))
        .counter(ItemsCount::new(TOKENS))
        .with_inputs(|| chunks.to_vec())
        .bench_local_values(|chunks| {
            let bytes = stream::iter(chunks.into_iter().map(Ok));
            let decoder = D::decoder(&connection);
            let mut events = drive_bytes(bytes, decoder, connection.service(), Limits::default());
            runtime.block_on(async {
                let mut letters = 0;
                while let Some(event) = events.next().await {
                    if let StreamEvent::TextDelta { text, .. } = event.unwrap() {
                        letters += text.len();
                    }
                }
                assert_eq!(letters, TOKENS * 6);
            });
        });
}

/// A fast service: hundreds of tokens in one read.
#[divan::bench_group]
mod many_in_one_read {
    use super::{
        Anthropic, Bencher, Gemini, OpenAiChat, OpenAiResponses, anthropic, gemini, openai, packed,
        pieces, read, responses, words,
    };

    #[divan::bench]
    fn messages(bencher: Bencher<'_, '_>) {
        let chunks = packed(&pieces(anthropic::text(&words())));
        read::<Anthropic>(bencher, "anthropic/claude-sonnet-4-5", &chunks);
    }

    #[divan::bench]
    fn chat_completions(bencher: Bencher<'_, '_>) {
        let chunks = packed(&pieces(openai::text(&words())));
        read::<OpenAiChat>(bencher, "openai/gpt-4o", &chunks);
    }

    #[divan::bench]
    fn responses_items(bencher: Bencher<'_, '_>) {
        let chunks = packed(&pieces(responses::text(&words())));
        read::<OpenAiResponses>(bencher, "openai-responses/gpt-5", &chunks);
    }

    #[divan::bench]
    fn generate_content(bencher: Bencher<'_, '_>) {
        let chunks = packed(&pieces(gemini::text(&words())));
        read::<Gemini>(bencher, "gemini/gemini-3.5-flash", &chunks);
    }
}

/// Every token comes alone.
#[divan::bench_group]
mod one_in_one_read {
    use super::{
        Anthropic, Bencher, Gemini, OpenAiChat, OpenAiResponses, anthropic, gemini, openai, pieces,
        read, responses, words,
    };

    #[divan::bench]
    fn messages(bencher: Bencher<'_, '_>) {
        let chunks = pieces(anthropic::text(&words()));
        read::<Anthropic>(bencher, "anthropic/claude-sonnet-4-5", &chunks);
    }

    #[divan::bench]
    fn chat_completions(bencher: Bencher<'_, '_>) {
        read::<OpenAiChat>(bencher, "openai/gpt-4o", &pieces(openai::text(&words())));
    }

    #[divan::bench]
    fn responses_items(bencher: Bencher<'_, '_>) {
        let chunks = pieces(responses::text(&words()));
        read::<OpenAiResponses>(bencher, "openai-responses/gpt-5", &chunks);
    }

    #[divan::bench]
    fn generate_content(bencher: Bencher<'_, '_>) {
        read::<Gemini>(bencher, "gemini/gemini-3.5-flash", &pieces(gemini::text(&words())));
    }
}
