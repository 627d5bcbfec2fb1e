//! The headers that carry a key, by wire format. Header values with keys are never printed.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::kernel::error::ModelError;

use super::connection::Connection;
use super::http;
use super::providers::Kind;

/// The version of the messages interface that this program speaks.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Key and version headers of a request.
///
/// # Errors
/// When the key holds characters that no header can carry.
pub fn headers(connection: &Connection) -> Result<HeaderMap, ModelError> {
    let own = match connection.kind {
        Kind::Anthropic => Some("x-api-key"),
        Kind::Gemini => Some("x-goog-api-key"),
        Kind::OpenAiChat | Kind::OpenAiResponses | Kind::Demo => None,
    };
    let service = connection.service();
    let mut headers = match (&connection.key, own) {
        (None, _) => HeaderMap::new(),
        (Some(key), Some(name)) if !connection.bearer => {
            http::key_header(&service, HeaderName::from_static(name), key.expose())?
        }
        (Some(key), _) => {
            http::key_header(&service, AUTHORIZATION, &format!("Bearer {}", key.expose()))?
        }
    };
    if connection.kind == Kind::Anthropic {
        let name = HeaderName::from_static("anthropic-version");
        headers.insert(name, HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    Ok(headers)
}
