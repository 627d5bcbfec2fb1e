//! Every configuration key: its type, default and meaning. Reading and layering is `load`'s work.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A `[providers.<name>]` section. Only the user's own file may have it; a project file may not.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ProviderConfig {
    /// `anthropic`, `openai-chat` or `demo`. Default: the built-in row of that name.
    pub kind: Option<String>,
    /// With or without a trailing `/` and `/v1`.
    pub base_url: Option<String>,
    /// The key itself.
    pub api_key: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Further request headers.
    pub headers: BTreeMap<String, String>,
    /// Whether assistant messages carry their `reasoning_content` back. Default: off for unknown
    /// servers.
    pub reasoning_replay: Option<bool>,
}

impl std::fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Keys and headers never reach a log.
        f.debug_struct("ProviderConfig")
            .field("kind", &self.kind)
            .field("base_url", &self.base_url)
            .field("has_key", &(self.api_key.is_some() || self.api_key_env.is_some()))
            .finish_non_exhaustive()
    }
}

/// A `[models."<provider>/<model>"]` section: corrections of the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ModelConfig {
    /// Tokens of context.
    pub context_window: Option<u64>,
    /// Tokens of output in one answer.
    pub max_output: Option<u64>,
    /// US dollars per million input tokens.
    pub price_in: Option<f64>,
    /// US dollars per million output tokens.
    pub price_out: Option<f64>,
}
