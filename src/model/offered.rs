//! Asks a service which models it offers. The same question shows whether a key is good: it costs
//! nothing and needs no model.

use serde_json::Value;

use crate::kernel::error::{ModelError, ModelErrorKind};

use super::auth;
use super::connection::Connection;
use super::http::{self, Limits};
use super::providers::Kind;

/// A model that a service offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Its name, without the provider.
    pub name: String,
    /// Tokens of context, where the service tells.
    pub context_window: Option<u64>,
}

/// What a look at a service showed about a key.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyCheck {
    /// It is taken; these models can be used, in the service's order.
    Good(Vec<Offered>),
    /// It is refused: one line for people with what to do.
    Refused(String),
    /// Nothing can be said: one line why. The key may be good.
    Unknown(String),
}

/// Tries the key of a connection. Takes at most about 15 s.
pub async fn check_key(connection: &Connection, limits: Limits) -> KeyCheck {
    match offered(connection, limits).await {
        Ok(models) => KeyCheck::Good(models),
        Err(error) if error.kind == ModelErrorKind::Auth => KeyCheck::Refused(error.message),
        // Known to the service, though it may not be used as it is.
        Err(error) if error.kind == ModelErrorKind::Quota => KeyCheck::Unknown(error.message),
        Err(error) => KeyCheck::Unknown(error.message),
    }
}

/// The models that a service offers.
///
/// # Errors
/// When it can't be reached, refuses the key, or has no such list.
pub async fn offered(connection: &Connection, limits: Limits) -> Result<Vec<Offered>, ModelError> {
    let path = match connection.kind {
        Kind::Anthropic => "/v1/models?limit=1000",
        Kind::Gemini => "/v1beta/models?pageSize=1000",
        Kind::OpenAiChat | Kind::OpenAiResponses => "/models",
        Kind::Demo => return Ok(Vec::new()),
    };
    if connection.provider == "openrouter" {
        // The list of the router is open to everybody; this is not.
        http::fetch(connection, "/key", auth::headers(connection)?, limits).await?;
    }
    let list = http::fetch(connection, path, auth::headers(connection)?, limits).await?;
    Ok(read(&list))
}

/// The names in a list of any of the formats; what is no model that talks is left out.
fn read(list: &Value) -> Vec<Offered> {
    // Some services send the list bare.
    let items = list.get("data").or_else(|| list.get("models")).unwrap_or(list);
    items.as_array().into_iter().flatten().filter(|item| talks(item)).filter_map(model).collect()
}

fn model(item: &Value) -> Option<Offered> {
    let name = item.get("id").or_else(|| item.get("name")).and_then(Value::as_str)?;
    let name = name.strip_prefix("models/").unwrap_or(name);
    let windows = [
        "context_length",
        "context_window",
        "max_context_length",
        "max_model_len",
        "max_input_tokens",
        "inputTokenLimit",
    ];
    let context_window = windows.iter().find_map(|key| item.get(*key).and_then(Value::as_u64));
    (!name.is_empty()).then(|| Offered { name: name.to_owned(), context_window })
}

/// Whether a listed model answers in words: where the list says what its models do, or their names
/// do.
fn talks(item: &Value) -> bool {
    if let Some(methods) = item.get("supportedGenerationMethods").and_then(Value::as_array) {
        return methods.iter().any(|method| method == "generateContent");
    }
    if let Some(chat) = item.pointer("/capabilities/completion_chat").and_then(Value::as_bool) {
        return chat;
    }
    let name = item.get("id").and_then(Value::as_str).unwrap_or_default();
    let other = ["embed", "whisper", "tts", "dall-e", "moderation", "rerank", "transcribe"];
    !other.iter().any(|word| name.contains(word))
}
