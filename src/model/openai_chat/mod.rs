//! The `openai-chat` dialect: `POST {base}/chat/completions`, spoken by `OpenAI` and by nearly every
//! other service and local server. Differences between them are kept in [`Quirks`].

pub mod chunk;
pub mod request;
pub mod stream;

use std::borrow::Cow;

use super::adapter::{Dialect, Question};
use super::connection::Connection;
use super::wire_ids::IdStyle;

/// Where compatible services differ in what they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// Name of the field that caps the output: `OpenAI`'s newer models refuse the old one.
    pub output_cap: &'static str,
    /// Whether counts of tokens have to be asked for. A service that counts by itself may refuse the
    /// question (Mistral: "Extra inputs are not permitted").
    pub asks_usage: bool,
    /// Whether a cache key is taken.
    pub cache_key: bool,
    /// What ids of calls look like.
    pub ids: IdStyle,
}

impl Quirks {
    /// What is known of a provider; the plain old interface for all others.
    pub fn of(provider: &str) -> Self {
        let plain = Self {
            output_cap: "max_tokens",
            asks_usage: true,
            cache_key: false,
            ids: IdStyle::Ascii40,
        };
        match provider {
            "openai" => Self { output_cap: "max_completion_tokens", cache_key: true, ..plain },
            "mistral" => Self { ids: IdStyle::Nine, asks_usage: false, ..plain },
            _ => plain,
        }
    }
}

/// The chat completions interface.
#[derive(Debug)]
pub struct OpenAiChat;

impl Dialect for OpenAiChat {
    type Decoder = stream::Completion;

    fn path(_model: &str, _streams: bool) -> Cow<'static, str> {
        "/chat/completions".into()
    }

    fn body(question: &Question<'_>) -> Vec<u8> {
        request::body(question)
    }

    fn decoder(connection: &Connection) -> Self::Decoder {
        let replay = connection.reasoning_replay;
        stream::Completion::new(connection.service(), connection.model_ref(), replay)
    }
}
