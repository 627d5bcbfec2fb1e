//! The one HTTP client. It has no total timeout and no retries of its own: how long is too long
//! is decided here by what the service sends, whether to try again is decided in the kernel.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use futures_util::Stream;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use crate::kernel::error::{ModelError, ModelErrorKind as Kind};

use super::connection::Connection;
use super::error::{self, Service};
use super::http_error;

/// Longest wait for a connection. Part of the shared client, so not adjustable per request.
const CONNECT: Duration = Duration::from_secs(10);

/// Most bytes read of an answer that is no stream.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// Chunks that may wait for a slow consumer before the socket is left alone. Chunks are at most
/// some tens of kilobytes, so this bounds the memory too.
const QUEUE: usize = 1024;

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the first byte of a remote service's answer. Default 300 s.
    pub first_byte: Duration,
    /// For the first byte of a server on this machine, which may still load a model.
    /// Default 1800 s.
    pub first_byte_loopback: Duration,
    /// Between two bytes of a stream; any byte counts. Default 90 s.
    pub idle: Duration,
    /// For what may still follow once the answer is complete (usage, end mark). Default 3 s; only
    /// servers that never send an end mark make anybody wait that long.
    pub tail: Duration,
    /// For the whole body of an answer that is no stream. Default 15 s.
    pub body: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_mins(5),
            first_byte_loopback: Duration::from_mins(30),
            idle: Duration::from_secs(90),
            tail: Duration::from_secs(3),
            body: Duration::from_secs(15),
        }
    }
}

impl Limits {
    fn first_byte_for(self, connection: &Connection) -> Duration {
        if connection.is_loopback() { self.first_byte_loopback } else { self.first_byte }
    }
}

/// An opened answer.
#[derive(Debug)]
pub enum Answer {
    /// A stream of events.
    Events(ByteStream),
    /// A JSON body: an error, or the whole answer of a service that ignored the wish to stream.
    Json(String),
}

/// The client, built on first use: loading the trust store takes some milliseconds that the start
/// must not pay. Servers on this machine get a client that ignores proxy settings.
pub fn client(loopback: bool) -> Result<&'static Client, ModelError> {
    static REMOTE: OnceLock<Result<Client, String>> = OnceLock::new();
    static LOOPBACK: OnceLock<Result<Client, String>> = OnceLock::new();
    let cell = if loopback { &LOOPBACK } else { &REMOTE };
    cell.get_or_init(|| build(loopback)).as_ref().map_err(|message| {
        let line = format!("cannot set up secure connections: {message}");
        ModelError::new(Kind::Network, error::cap(&line))
    })
}

fn build(loopback: bool) -> Result<Client, String> {
    // Fails when a provider is installed already, which is just as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .user_agent(concat!("codebot/", env!("CARGO_PKG_VERSION")));
    if loopback {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| http_error::chain(&error))
}

/// Builds the client for remote services in the background.
pub fn warm() {
    let started = std::thread::Builder::new().name("tls".to_owned()).spawn(|| {
        let _client = client(false);
    });
    if let Err(error) = started {
        tracing::debug!(%error, "no thread to warm up the http client");
    }
}

/// Sends a request and checks what comes back before anybody reads events from it.
pub async fn open(
    connection: &Connection,
    path: &str,
    auth: HeaderMap,
    body: Vec<u8>,
    limits: Limits,
) -> Result<Answer, ModelError> {
    let service = connection.service();
    let url = format!("{}{path}", connection.base_url);
    let headers = headers(connection, auth, &service)?;
    let first_byte = limits.first_byte_for(connection);
    let request =
        ready_client(connection.is_loopback()).await?.post(url).headers(headers).body(body);
    let response = match tokio::time::timeout(first_byte, request.send()).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(http_error::from_send(&service, &error)),
        Err(_) => return Err(http_error::no_first_byte(&service, first_byte)),
    };
    if !response.status().is_success() {
        return Err(refused(connection, &service, response, limits).await);
    }
    match content_type(&response).as_str() {
        "application/json" | "application/problem+json" => {
            Ok(Answer::Json(read_text(&service, response, limits).await?))
        }
        "text/html" | "application/xhtml+xml" => {
            let page = connection.without_key(read_text(&service, response, limits).await?);
            Err(error::from_page(&service, &page))
        }
        _ => Ok(Answer::Events(ByteStream::start(service, response, first_byte, limits.idle))),
    }
}

/// Asks for a document, for example the list of models.
///
/// # Errors
/// As [`open`]; what is no JSON is an error too.
pub async fn fetch(
    connection: &Connection,
    path: &str,
    auth: HeaderMap,
    limits: Limits,
) -> Result<serde_json::Value, ModelError> {
    let service = connection.service();
    let url = format!("{}{path}", connection.base_url);
    let mut headers = headers(connection, auth, &service)?;
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let request = ready_client(connection.is_loopback()).await?.get(url).headers(headers);
    let response = match tokio::time::timeout(limits.body, request.send()).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(http_error::from_send(&service, &error)),
        Err(_) => return Err(http_error::no_first_byte(&service, limits.body)),
    };
    if !response.status().is_success() {
        return Err(refused(connection, &service, response, limits).await);
    }
    let text = read_text(&service, response, limits).await?;
    serde_json::from_str(&text)
        .map_err(|_| error::from_page(&service, &connection.without_key(text)))
}

/// The first build blocks for some milliseconds, so it happens off the async threads.
async fn ready_client(loopback: bool) -> Result<&'static Client, ModelError> {
    match tokio::task::spawn_blocking(move || client(loopback)).await {
        Ok(client) => client,
        Err(_) => client(loopback),
    }
}

fn headers(
    connection: &Connection,
    auth: HeaderMap,
    service: &Service,
) -> Result<HeaderMap, ModelError> {
    let mut headers = auth;
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in &connection.headers {
        let parsed = (HeaderName::from_bytes(name.as_bytes()), secret_value(value));
        let (Ok(name), Some(value)) = parsed else {
            let line = format!("provider {}: header {name} cannot be sent", service.provider);
            return Err(ModelError::new(Kind::InvalidRequest, error::cap(&line)));
        };
        headers.insert(name, value);
    }
    Ok(headers)
}

/// A header value that is never printed; `None` when it holds what headers can't.
fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The header that carries a key.
pub fn key_header(
    service: &Service,
    name: HeaderName,
    value: &str,
) -> Result<HeaderMap, ModelError> {
    let Some(value) = secret_value(value) else {
        let remedy = error::key_remedy(service);
        let line = format!("the key of {} has illegal characters: {remedy}", service.provider);
        return Err(ModelError::new(Kind::Auth, error::cap(&line)));
    };
    Ok(HeaderMap::from_iter([(name, value)]))
}

async fn refused(
    connection: &Connection,
    service: &Service,
    response: Response,
    limits: Limits,
) -> ModelError {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    // A body that does not come changes nothing about the refusal.
    let body = read_text(service, response, limits).await.unwrap_or_default();
    let body = connection.without_key(body);
    error::from_response(service, status, &headers, &body, SystemTime::now())
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

async fn read_text(
    service: &Service,
    mut response: Response,
    limits: Limits,
) -> Result<String, ModelError> {
    let mut body = Vec::new();
    let read = async {
        while let Some(chunk) = response.chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_BODY {
                break;
            }
        }
        Ok::<(), reqwest::Error>(())
    };
    match tokio::time::timeout(limits.body, read).await {
        Ok(Err(error)) if body.is_empty() => Err(http_error::from_read(service, &error)),
        Err(_) if body.is_empty() => Err(http_error::idle(service, limits.body)),
        _ => Ok(String::from_utf8_lossy(&body).into_owned()),
    }
}

/// The bytes of an answer, drained from the socket by a task of their own: the idle limit counts
/// only the time spent waiting for the service, never the time the consumer takes. Dropping the
/// stream ends the task and closes the connection.
#[derive(Debug)]
pub struct ByteStream {
    chunks: mpsc::Receiver<Result<Vec<u8>, ModelError>>,
    _reader: AbortOnDropHandle<()>,
}

impl ByteStream {
    fn start(service: Service, mut response: Response, first: Duration, idle: Duration) -> Self {
        let (sender, chunks) = mpsc::channel(QUEUE);
        let reader = tokio::spawn(async move {
            let mut limit = first;
            loop {
                let item = match tokio::time::timeout(limit, response.chunk()).await {
                    Ok(Ok(Some(chunk))) => Ok(chunk.to_vec()),
                    Ok(Ok(None)) => break,
                    Ok(Err(error)) => Err(http_error::from_read(&service, &error)),
                    Err(_) => Err(http_error::idle(&service, limit)),
                };
                limit = idle;
                let last = item.is_err();
                if sender.send(item).await.is_err() || last {
                    break;
                }
            }
        });
        Self { chunks, _reader: AbortOnDropHandle::new(reader) }
    }
}

impl Stream for ByteStream {
    type Item = Result<Vec<u8>, ModelError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.chunks.poll_recv(cx)
    }
}
