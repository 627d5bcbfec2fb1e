//! The `openai-chat` dialect: `POST {base}/chat/completions`, spoken by `OpenAI` and by nearly every
//! other service and local server. Differences between them are kept in [`Quirks`].

pub mod chunk;
pub mod request;
pub mod stream;

use std::sync::OnceLock;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, HeaderMap};

use crate::kernel::error::ModelError;
use crate::kernel::ports::{Model, ModelInfo, ModelStream, Request};

use super::catalog;
use super::connection::Connection;
use super::drive::drive;
use super::http::{self, Limits};
use super::wire_ids::IdStyle;

/// Where compatible services differ in what they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// Name of the field that caps the output: `OpenAI`'s newer models refuse the old one.
    pub output_cap: &'static str,
    /// Whether a cache key is taken.
    pub cache_key: bool,
    /// What ids of calls look like.
    pub ids: IdStyle,
}

impl Quirks {
    /// What is known of a provider; the plain old interface for all others.
    pub fn of(provider: &str) -> Self {
        let plain = Self { output_cap: "max_tokens", cache_key: false, ids: IdStyle::Ascii40 };
        match provider {
            "openai" => Self { output_cap: "max_completion_tokens", cache_key: true, ..plain },
            "mistral" => Self { ids: IdStyle::Nine, ..plain },
            _ => plain,
        }
    }
}

/// One model behind a chat completions interface.
#[derive(Debug)]
pub struct OpenAiChat {
    connection: Connection,
    limits: Limits,
    info: OnceLock<ModelInfo>,
}

impl OpenAiChat {
    /// A model; nothing is opened yet.
    pub fn new(connection: Connection, limits: Limits) -> Self {
        Self { connection, limits, info: OnceLock::new() }
    }

    fn auth(&self) -> Result<HeaderMap, ModelError> {
        let Some(key) = &self.connection.key else { return Ok(HeaderMap::new()) };
        let value = format!("Bearer {}", key.expose());
        http::key_header(&self.connection.service(), AUTHORIZATION, &value)
    }

    async fn open(&self, request: Request, streams: bool) -> Result<ModelStream, ModelError> {
        let body = request::body(&self.connection, &self.info(), &request, streams);
        drop(request);
        let (auth, limits) = (self.auth()?, self.limits);
        let answer = http::open(&self.connection, "/chat/completions", auth, body, limits).await?;
        let service = self.connection.service();
        let replay = self.connection.reasoning_replay;
        let decoder = stream::Completion::new(service.clone(), self.connection.model_ref(), replay);
        Ok(drive(answer, decoder, service, limits))
    }
}

impl Model for OpenAiChat {
    fn info(&self) -> ModelInfo {
        self.info.get_or_init(|| catalog::info_of(&self.connection)).clone()
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.open(request, true).boxed()
    }

    /// The decoder reads a whole document as well as a stream.
    fn complete(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.open(request, false).boxed()
    }
}
