//! Providers: one trait ([`Model`]), several wire formats. Requests are translated on the way out
//! and streams are normalised on the way in; nothing above this room knows which service answers.
//!
//! ```text
//! reference + environment + config → resolve → Connection → connect → Model
//! Request → history → <dialect>/request → http → sse → <dialect>/stream → StreamEvent
//! ```
//!
//! A new provider of a known dialect is one row in [`providers`].

pub mod adapter;
pub mod anthropic;
pub mod args;
pub mod assemble;
pub mod auth;
pub mod catalog;
pub mod connection;
pub mod drive;
pub mod effort;
pub mod error;
pub mod error_text;
pub mod gemini;
pub mod history;
pub mod http;
pub mod http_error;
pub mod images;
pub mod offered;
pub mod openai_chat;
pub mod openai_responses;
pub mod probe;
pub mod providers;
pub mod resolve;
pub mod retry_after;
pub mod scripted;
pub mod sse;
pub mod switch;
pub mod think;
pub mod tool_schema;
pub mod typed;
pub mod wire_ids;

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::kernel::error::{ModelError, ModelErrorKind};
use crate::kernel::ports::{Model, ModelInfo, ModelStream, Request};

use adapter::Adapter;
use anthropic::Anthropic;
use gemini::Gemini;
use openai_chat::OpenAiChat;
use openai_responses::OpenAiResponses;

pub use connection::{Connection, Secret};
pub use http::{Limits, warm};
pub use probe::{Served, probe_local};
pub use providers::{Kind, PROVIDERS, ProviderRow};
pub use resolve::{ResolveError, resolve};

/// A model behind that connection. Cheap: nothing is opened before the first request.
///
/// The demo has no service; its model is built from its script. A demo connection that ends up
/// here answers every request with an error that says so.
pub fn connect(connection: Connection) -> Arc<dyn Model> {
    connect_with(connection, Limits::default())
}

/// [`connect`] with other time limits.
pub fn connect_with(connection: Connection, limits: Limits) -> Arc<dyn Model> {
    match connection.kind {
        Kind::Anthropic => Arc::new(Adapter::<Anthropic>::new(connection, limits)),
        Kind::OpenAiChat => Arc::new(Adapter::<OpenAiChat>::new(connection, limits)),
        Kind::OpenAiResponses => Arc::new(Adapter::<OpenAiResponses>::new(connection, limits)),
        Kind::Gemini => Arc::new(Adapter::<Gemini>::new(connection, limits)),
        Kind::Demo => Arc::new(NoService(connection)),
    }
}

/// Stands for a connection without a service.
#[derive(Debug)]
struct NoService(Connection);

impl Model for NoService {
    fn info(&self) -> ModelInfo {
        catalog::info(&self.0.model_ref(), true, &self.0.overrides)
    }

    fn stream(&self, _request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let line = "the demo model plays a script and has no service; start it with --demo";
        let error = ModelError::new(ModelErrorKind::InvalidRequest, line);
        std::future::ready(Err(error)).boxed()
    }
}
