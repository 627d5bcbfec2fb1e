//! The `anthropic` dialect: `POST {base}/v1/messages`, for Claude and compatible gateways.

pub mod request;
pub mod stream;

use std::sync::OnceLock;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::kernel::error::ModelError;
use crate::kernel::ports::{Model, ModelInfo, ModelStream, Request};

use super::catalog;
use super::connection::Connection;
use super::drive::drive;
use super::http::{self, Limits};

/// The version of the interface this code speaks.
const VERSION: &str = "2023-06-01";

/// One model behind the messages interface.
#[derive(Debug)]
pub struct Anthropic {
    connection: Connection,
    limits: Limits,
    info: OnceLock<ModelInfo>,
}

impl Anthropic {
    /// A model; nothing is opened yet.
    pub fn new(connection: Connection, limits: Limits) -> Self {
        Self { connection, limits, info: OnceLock::new() }
    }

    fn auth(&self) -> Result<HeaderMap, ModelError> {
        let service = self.connection.service();
        let mut headers = match &self.connection.key {
            Some(key) if self.connection.bearer => {
                let value = format!("Bearer {}", key.expose());
                http::key_header(&service, AUTHORIZATION, &value)?
            }
            Some(key) => {
                let name = HeaderName::from_static("x-api-key");
                http::key_header(&service, name, key.expose())?
            }
            None => HeaderMap::new(),
        };
        let version = HeaderName::from_static("anthropic-version");
        headers.insert(version, HeaderValue::from_static(VERSION));
        Ok(headers)
    }

    async fn open(&self, request: Request, streams: bool) -> Result<ModelStream, ModelError> {
        let body = request::body(&self.connection, &self.info(), &request, streams);
        drop(request);
        let answer =
            http::open(&self.connection, "/v1/messages", self.auth()?, body, self.limits).await?;
        let service = self.connection.service();
        let decoder = stream::Messages::new(service.clone(), self.connection.model_ref());
        Ok(drive(answer, decoder, service, self.limits))
    }
}

impl Model for Anthropic {
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
