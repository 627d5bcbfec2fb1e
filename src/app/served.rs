//! How much context a local server really gives a model: often much less than the model could
//! take, and what does not fit is dropped there without a word.

use std::time::Duration;

use crate::config::schema::ModelConfig;
use crate::model::connection::Connection;
use crate::model::probe;

/// How long the server may take to say.
const LIMIT: Duration = Duration::from_secs(2);
/// Fewer tokens than this are too few for work on files.
pub const SMALL: u64 = 16_000;

/// Whether the server of a connection is to be asked: it runs on this machine, and nobody has set
/// the window.
pub fn is_asked(connection: &Connection) -> bool {
    let ModelConfig { context_window, .. } = connection.overrides;
    connection.is_loopback() && context_window.is_none()
}

/// Tokens that the server of a connection gives its model, where it tells.
pub async fn window(connection: &Connection) -> Option<u64> {
    let asked = probe::window_of(&connection.provider, &connection.base_url, &connection.model);
    tokio::time::timeout(LIMIT, asked).await.ok().flatten()
}

/// The connection with that window.
#[must_use]
pub fn with_window(mut connection: Connection, window: u64) -> Connection {
    connection.overrides.context_window = Some(window);
    connection
}

/// A warning about a window that is too small, with what to do about it.
pub fn warning(connection: &Connection, window: u64) -> Option<String> {
    if window >= SMALL {
        return None;
    }
    let remedy = match connection.provider.as_str() {
        "ollama" => "set OLLAMA_CONTEXT_LENGTH=32768 for its server, or num_ctx in the model",
        "llamacpp" => "start llama-server with -c 32768",
        "lmstudio" => "load the model with a longer context length",
        "vllm" => "start it with a larger --max-model-len",
        _ => "start its server with a longer context",
    };
    let model = connection.model_ref();
    Some(format!("{model} is served with {window} tokens of context, which is little: {remedy}"))
}
