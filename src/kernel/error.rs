//! Failures the loop decides on. Adapters classify at the edge; above them nobody looks at texts.

use std::time::Duration;

/// A failed model call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The class that decides about a retry.
    pub kind: ModelErrorKind,
    /// HTTP status, when there was one.
    pub status: Option<u16>,
    /// One clean line for people: tags stripped, capped at 300 characters, names the provider and,
    /// where there is one, the remedy.
    pub message: String,
    /// How long the service asks us to wait.
    pub retry_after: Option<Duration>,
}

impl ModelError {
    /// An error of that class without status or wait.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, status: None, message: message.into(), retry_after: None }
    }
}

/// The classes of `spec` errors: which are worth another attempt is decided in [`super::retry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelErrorKind {
    /// Key missing, wrong or without rights (401, 403).
    Auth,
    /// Out of credit; waiting does not help.
    Quota,
    /// Too many requests (429).
    RateLimit,
    /// The service has no room (529, 503 overloaded).
    Overloaded,
    /// The service failed (5xx, 408, 409).
    Server,
    /// No connection or no first byte in time.
    Timeout,
    /// Connection refused, reset, name not found.
    Network,
    /// No byte for the idle limit while streaming.
    StreamIdle,
    /// The stream ended before its terminal event, or carried invalid bytes.
    PartialStream,
    /// The request is larger than the context window.
    Overflow,
    /// The service's filter refused.
    ContentFilter,
    /// The request was refused as wrong (400, 404, 413, 422), unknown model included.
    InvalidRequest,
    /// The service does not stream this; raised before any event only.
    StreamUnsupported,
}

impl ModelErrorKind {
    /// The name used in `LLM call failed: <Kind>: …`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auth => "Auth",
            Self::Quota => "Quota",
            Self::RateLimit => "RateLimit",
            Self::Overloaded => "Overloaded",
            Self::Server => "Server",
            Self::Timeout => "Timeout",
            Self::Network => "Network",
            Self::StreamIdle => "StreamIdle",
            Self::PartialStream => "PartialStream",
            Self::Overflow => "ContextOverflow",
            Self::ContentFilter => "ContentFilter",
            Self::InvalidRequest => "InvalidRequest",
            Self::StreamUnsupported => "StreamUnsupported",
        }
    }
}

/// A tool that could not do its work; the model sees `Error: <kind>: <message>`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ToolError {
    /// For example `NotFound`, `InvalidArguments`, `Io`.
    pub kind: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

impl ToolError {
    /// A failure of that kind.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// The journal could not be written; the run ends before any further side effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot write the session file {path}: {message}")]
pub struct JournalError {
    /// The file.
    pub path: String,
    /// The system's words.
    pub message: String,
}

/// The context could not be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ContextError(pub String);

/// The gate could not decide; the call is denied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GateError(pub String);
