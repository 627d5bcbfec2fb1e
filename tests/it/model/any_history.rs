//! Histories of any shape, by any makers: every format turns them into requests that a strict
//! service takes, the same each time.

use std::sync::Arc;

use codebot::kernel::message::{Block, CallStatus, Message, ModelRef, Opaque, Origin};
use codebot::kernel::ports::{Effort, Request, ToolChoice};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::mock_llm::{MockLlm, anthropic, gemini, openai, responses};
use super::support::{
    GEMINI, GPT, RESPONSES, ask, assistant_by, call, full_request, model, note, result_blocks,
    user, user_blocks,
};

/// One that takes a budget of thinking: it has the most rules.
const CLAUDE: &str = super::support::CLAUDE;

const MAKERS: [&str; 4] = [CLAUDE, GPT, RESPONSES, GEMINI];

fn of(maker: &str, data: Value) -> Opaque {
    let (provider, model) = maker.split_once('/').unwrap();
    Opaque { model: ModelRef { provider: provider.into(), model: model.into() }, data }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["", " ", "\n", "word", "two\nlines ", "你好🙂", "\u{fffd}"].prop_map(Into::into)
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("a".to_owned()),
        Just("b".to_owned()),
        Just("bad id!".to_owned()),
        Just("x".repeat(120)),
        Just("functions.read:3".to_owned()),
    ]
}

fn any_image() -> impl Strategy<Value = Block> {
    prop_oneof!["image/png", "image/gif", "image/bmp"]
        .prop_map(|media_type| Block::Image { media_type, data: "aGk=".into() })
}

/// A piece of an answer, with what its maker alone can read.
fn any_piece(maker: &'static str) -> impl Strategy<Value = Block> {
    let sealed = move |text: &str| match maker {
        CLAUDE => json!({"type": "thinking", "signature": "c2ln"}),
        RESPONSES => json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "c2VhbA",
            "summary": [{"type": "summary_text", "text": text}]}),
        GEMINI => json!({"thoughtSignature": "c2ln"}),
        _ => json!({"field": "reasoning_content"}),
    };
    let alone = match maker {
        CLAUDE => json!({"type": "redacted_thinking", "data": "QUJD"}),
        RESPONSES => json!({"type": "reasoning", "id": "rs_2", "encrypted_content": "c2VhbDI",
            "summary": []}),
        GEMINI => json!({"thoughtSignature": "c2ln", "covers": 2}),
        _ => json!({"odd": true}),
    };
    let phase = json!({"type": "message", "phase": "commentary"});
    let phase = if maker == RESPONSES { phase } else { alone.clone() };
    let name = prop_oneof!["read", "a.b c", ""];
    prop_oneof![
        3 => any_text().prop_map(Block::text),
        3 => (any_id(), name).prop_map(|(id, name)| call(&id, &name, json!({"path": "a"}))),
        1 => any_text().prop_map(|text| Block::Thinking { text, opaque: None }),
        2 => any_text().prop_map(move |text| {
            let opaque = Some(of(maker, sealed(&text)));
            Block::Thinking { text, opaque }
        }),
        1 => Just(Block::Opaque(of(maker, alone))),
        1 => Just(Block::Opaque(of(maker, phase))),
    ]
}

fn any_message() -> impl Strategy<Value = Message> {
    let answer = prop::sample::select(MAKERS.to_vec()).prop_flat_map(|maker| {
        let (provider, model) = maker.split_once('/').unwrap();
        vec(any_piece(maker), 0..5).prop_map(move |blocks| assistant_by(provider, model, blocks))
    });
    let shown = || vec(prop_oneof![any_text().prop_map(Block::text), any_image()], 0..3);
    let status = prop_oneof![Just(CallStatus::Ok), Just(CallStatus::Error)];
    prop_oneof![
        2 => shown().prop_map(|blocks| user_blocks(Origin::Prompt, blocks)),
        3 => answer,
        3 => (any_id(), status, shown())
            .prop_map(|(id, status, blocks)| result_blocks(&id, status, blocks)),
        1 => Just(note("n")),
    ]
}

fn any_request() -> impl Strategy<Value = Request> {
    let effort = prop::option::of(prop::sample::select(Effort::ALL.to_vec()));
    let reminder = prop::option::of(any_text());
    (vec(any_message(), 0..12), any::<(bool, bool)>(), effort, reminder).prop_map(
        |(mut history, (has_tools, may_call), effort, reminder)| {
            history.push(user("go on"));
            let mut request = full_request(history);
            if !has_tools {
                request.tools = Arc::from([]);
            }
            if !may_call {
                request.tool_choice = ToolChoice::None;
            }
            Request { effort, reminder, ..request }
        },
    )
}

/// The bytes of the request in each format, all of them taken.
async fn sent(request: &Request) -> Vec<Vec<u8>> {
    let mock = MockLlm::start().await;
    mock.rules(|rules| rules.needs_signatures = true);
    for reference in MAKERS {
        mock.push(match reference {
            CLAUDE => anthropic::text("ok"),
            RESPONSES => responses::text("ok"),
            GEMINI => gemini::text("ok"),
            _ => openai::text("ok"),
        });
        let answer = ask(&model(&mock, reference), request.clone()).await;
        assert_eq!(answer.error, None, "{reference}: {:?}", mock.bodies().last());
    }
    assert_eq!(mock.violations(), Vec::<String>::new());
    mock.requests().into_iter().map(|request| request.raw).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Cases B01, B04, B06, B08, B09, B17, B19 and B21 in any mixture and in all four formats.
    #[test]
    fn any_history_becomes_a_valid_request(request in any_request()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            assert_eq!(sent(&request).await, sent(&request).await, "the same bytes each time");
        });
    }
}
