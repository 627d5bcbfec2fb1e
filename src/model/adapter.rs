//! What all wire formats have in common: one request to one address, its answer read by a decoder.
//! A format is a [`Dialect`]: where it is asked, what a request looks like, how an answer is read.

use std::borrow::Cow;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::{Mutex, OnceLock, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::kernel::error::ModelError;
use crate::kernel::ports::{Model, ModelInfo, ModelStream, Request};

use super::connection::Connection;
use super::drive::{Decoder, drive};
use super::http::{self, Limits};
use super::{auth, catalog};

/// What a body is made of.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Whom it goes to.
    pub connection: &'a Connection,
    /// What is known of the model.
    pub info: &'a ModelInfo,
    /// What is asked.
    pub request: &'a Request,
    /// Whether the answer is wanted as a stream.
    pub streams: bool,
    /// What the service refused before, in the words of [`Dialect::refused`]; it is left out.
    pub without: &'a [&'static str],
}

/// One wire format.
pub trait Dialect: Debug + Send + Sync + 'static {
    /// Reads an answer: a stream, or the whole document in one event.
    type Decoder: Decoder;

    /// Where a model is asked, after the base URL.
    fn path(model: &str, streams: bool) -> Cow<'static, str>;

    /// The body of a request. The same question gives the same bytes.
    fn body(question: &Question<'_>) -> Vec<u8>;

    /// What a service refused that a request can do without; none by default.
    fn refused(error: &ModelError) -> Option<&'static str> {
        let _ = error;
        None
    }

    /// A decoder for one answer.
    fn decoder(connection: &Connection) -> Self::Decoder;
}

/// One model behind a service that speaks the dialect.
#[derive(Debug)]
pub struct Adapter<D> {
    connection: Connection,
    limits: Limits,
    info: OnceLock<ModelInfo>,
    /// What this model can't do, as its service said.
    without: Mutex<Vec<&'static str>>,
    dialect: PhantomData<fn() -> D>,
}

impl<D: Dialect> Adapter<D> {
    /// A model; nothing is opened yet.
    pub fn new(connection: Connection, limits: Limits) -> Self {
        let (info, without) = (OnceLock::new(), Mutex::default());
        Self { connection, limits, info, without, dialect: PhantomData }
    }

    /// Asks, and asks again without what the service says it can't do: it refused before it did
    /// anything. What that is is remembered, so it costs one request in the life of a model.
    async fn open(&self, request: Request, streams: bool) -> Result<ModelStream, ModelError> {
        loop {
            let error = match self.ask(&request, streams).await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            let mut without = self.without.lock().unwrap_or_else(PoisonError::into_inner);
            match D::refused(&error).filter(|refused| !without.contains(refused)) {
                Some(refused) => without.push(refused),
                None => return Err(error),
            }
            tracing::info!(?without, %error, "asked again with less");
        }
    }

    async fn ask(&self, request: &Request, streams: bool) -> Result<ModelStream, ModelError> {
        let Self { connection, limits, .. } = self;
        let info = self.info();
        let without = self.without.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let body =
            D::body(&Question { connection, info: &info, request, streams, without: &without });
        let path = D::path(&connection.model, streams);
        let auth = auth::headers(connection)?;
        let answer = http::open(connection, &path, auth, body, *limits).await?;
        Ok(drive(answer, D::decoder(connection), connection.service(), *limits))
    }
}

impl<D: Dialect> Model for Adapter<D> {
    fn info(&self) -> ModelInfo {
        self.info.get_or_init(|| catalog::info_of(&self.connection)).clone()
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.open(request, true).boxed()
    }

    fn complete(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.open(request, false).boxed()
    }
}
