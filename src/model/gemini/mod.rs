//! The `gemini` dialect: `POST {base}/v1beta/models/{model}:streamGenerateContent?alt=sse`.

pub mod request;
pub mod schema;
pub mod stream;

use std::fmt::Write;
use std::sync::OnceLock;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};

use crate::kernel::error::ModelError;
use crate::kernel::ports::{Model, ModelInfo, ModelStream, Request};

use super::catalog;
use super::connection::Connection;
use super::drive::drive;
use super::http::{self, Limits};

/// One model behind the generateContent interface.
#[derive(Debug)]
pub struct Gemini {
    connection: Connection,
    limits: Limits,
    info: OnceLock<ModelInfo>,
}

impl Gemini {
    /// A model; nothing is opened yet.
    pub fn new(connection: Connection, limits: Limits) -> Self {
        Self { connection, limits, info: OnceLock::new() }
    }

    fn auth(&self) -> Result<HeaderMap, ModelError> {
        let Some(key) = &self.connection.key else { return Ok(HeaderMap::new()) };
        let service = self.connection.service();
        if self.connection.bearer {
            let value = format!("Bearer {}", key.expose());
            return http::key_header(&service, AUTHORIZATION, &value);
        }
        http::key_header(&service, HeaderName::from_static("x-goog-api-key"), key.expose())
    }

    async fn open(&self, request: Request, streams: bool) -> Result<ModelStream, ModelError> {
        let body = request::body(&self.connection, &self.info(), &request);
        drop(request);
        let path = path(&self.connection.model, streams);
        let answer = http::open(&self.connection, &path, self.auth()?, body, self.limits).await?;
        let service = self.connection.service();
        let decoder = stream::Generation::new(service.clone(), self.connection.model_ref());
        Ok(drive(answer, decoder, service, self.limits))
    }
}

/// Where the model is asked. A name may come with the kind of its resource (`tunedModels/x`).
fn path(model: &str, streams: bool) -> String {
    let method = if streams { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let name = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
    let mut path = String::from("/v1beta/");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            path.push(char::from(byte));
        } else {
            let _ = write!(path, "%{byte:02X}");
        }
    }
    format!("{path}:{method}")
}

impl Model for Gemini {
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
