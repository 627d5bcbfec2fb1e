//! Failures below HTTP: no connection, no answer, a connection that broke. `reqwest` reports most
//! of them alike, so the chain of causes decides.

use std::error::Error;
use std::io;
use std::time::Duration;

use crate::kernel::error::{ModelError, ModelErrorKind as Kind};

use super::connection::is_loopback;
use super::error::{Service, broken, cap};

/// A request that got no answer.
pub fn from_send(service: &Service, error: &reqwest::Error) -> ModelError {
    let (who, url) = (&service.provider, &service.base_url);
    let text = chain(error);
    tracing::debug!(provider = %who, error = %text, "model request failed");
    if error.is_builder() {
        let line = format!("the request to {who} cannot be built: {text}; check base_url {url}");
        return ModelError::new(Kind::InvalidRequest, cap(&line));
    }
    if error.is_timeout() {
        let line = format!("cannot reach {who} at {url}: no connection within 10 s");
        return ModelError::new(Kind::Timeout, cap(&line));
    }
    if !error.is_connect() {
        let line = format!("{who} at {url} closed the connection without an answer: {text}");
        return ModelError::new(Kind::Network, cap(&line));
    }
    let lower = text.to_lowercase();
    let why = match io_kind(error) {
        Some(io::ErrorKind::ConnectionRefused) if is_loopback(url) => {
            "connection refused; start the server or correct its base_url".to_owned()
        }
        Some(io::ErrorKind::ConnectionRefused) => {
            "connection refused; check the base_url".to_owned()
        }
        _ if lower.contains("dns") || lower.contains("lookup address") => {
            "name not found; check the network and the base_url".to_owned()
        }
        _ if lower.contains("certificate") || lower.contains("unknownissuer") => {
            format!("{text}; install the CA certificates of this system or set SSL_CERT_FILE")
        }
        _ => text,
    };
    ModelError::new(Kind::Network, cap(&format!("cannot reach {who} at {url}: {why}")))
}

/// An answer that stopped coming with an error.
pub fn from_read(service: &Service, error: &reqwest::Error) -> ModelError {
    tracing::debug!(provider = %service.provider, error = %chain(error), "model stream failed");
    broken(service, "the connection was closed")
}

/// Headers never came.
pub fn no_first_byte(service: &Service, limit: Duration) -> ModelError {
    let line = format!("{} did not answer within {}", service.provider, spoken(limit));
    ModelError::new(Kind::Timeout, cap(&line))
}

/// Bytes stopped coming.
pub fn idle(service: &Service, limit: Duration) -> ModelError {
    let line = format!("{} sent nothing for {}", service.provider, spoken(limit));
    ModelError::new(Kind::StreamIdle, cap(&line))
}

fn spoken(limit: Duration) -> String {
    if limit < Duration::from_secs(1) {
        return format!("{} ms", limit.as_millis());
    }
    format!("{} s", limit.as_secs())
}

/// The causes of an error in one line, outermost first, without repetitions.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        next = error.source();
    }
    // The outermost text only repeats the address, which the message names anyway.
    if parts.len() > 1 && parts.first().is_some_and(|first| first.starts_with("error sending")) {
        parts.remove(0);
    }
    parts.join(": ")
}

fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        next = error.source();
    }
    None
}
