//! Every configuration key: its type, default and meaning. Reading and layering is `load`'s work.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::kernel::command::Mode;
use crate::kernel::ports::Effort;

/// A `[providers.<name>]` section. Only the user's own file may have it; a project file may not.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ProviderConfig {
    /// `anthropic`, `openai-chat`, `openai-responses`, `gemini` or `demo`. Default: the built-in row
    /// of that name.
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
    /// Whether it takes images.
    pub vision: Option<bool>,
    /// What the service takes for the efforts off, low, medium, high and max.
    pub thinking: Option<Vec<Dose>>,
}

/// How much thinking a service is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Dose {
    /// At most so many tokens; 0 turns it off.
    Tokens(u64),
    /// A word of the service; `off` turns it off.
    Word(String),
}

/// All settings after layering. Every key has a row in [`super::keys::KEYS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `provider/model`. Default: the one provider that has a key.
    pub model: Option<String>,
    /// `provider/model` for side work. Default: the main model.
    pub small_model: Option<String>,
    /// How hard the model thinks. Default: as the model does by itself.
    pub effort: Option<Effort>,
    /// How much may happen without asking. Default: `balanced`.
    pub permission_mode: Mode,
    /// Services by name. Default: the built-in rows.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Corrections of the catalogue by `provider/model`.
    pub models: BTreeMap<String, ModelConfig>,
    /// What may happen unasked, and what never.
    pub permissions: PermissionConfig,
    /// Caps of a run.
    pub limits: LimitConfig,
    /// How much a request is thought to need.
    pub route: RouteSettings,
    /// What happens after a failed model call.
    pub retry: RetryConfig,
    /// How tools run.
    pub tools: ToolConfig,
    /// What holds commands in.
    pub sandbox: SandboxConfig,
    /// The web.
    pub web: WebConfig,
    /// What the model sees of a long conversation.
    pub context: ContextConfig,
    /// How the system prompt is put together.
    pub prompt: PromptConfig,
    /// What is kept over sessions.
    pub memory: MemoryConfig,
    /// Work beside the run.
    pub background: BackgroundConfig,
    /// The screen.
    pub ui: UiConfig,
    /// Filter of the log file, for example `debug`. Default: off.
    pub log: Option<String>,
}

/// `[permissions]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionConfig {
    /// Rules that run unasked. Default: none.
    pub allow: Vec<String>,
    /// Rules that ask each time; those of all layers add up. Default: none.
    pub ask: Vec<String>,
    /// Rules that never run; those of all layers add up. Default: none.
    pub deny: Vec<String>,
    /// Further folders that count as workspace. Default: none.
    pub roots: Vec<PathBuf>,
}

/// `[limits]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitConfig {
    /// Most model calls of one run. Default: 200.
    pub max_turns: u32,
    /// Whether the last of them is spent on a report. Default: true.
    pub wrap_at_cap: bool,
    /// Most tokens of one run, in and out. Default: none.
    pub max_tokens: Option<u64>,
    /// Most US dollars of one run, where the price is known. Default: none.
    pub max_cost: Option<f64>,
    /// Most minutes of one run, without the time spent waiting for the user. Default: none.
    pub max_minutes: Option<u32>,
}

impl Default for LimitConfig {
    fn default() -> Self {
        Self {
            max_turns: 200,
            wrap_at_cap: true,
            max_tokens: None,
            max_cost: None,
            max_minutes: None,
        }
    }
}

/// `[route]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteSettings {
    /// Whether a request that used up its model calls and still moves gets more. Default: true.
    pub escalate: bool,
    /// Model calls of a short request. Default: 4.
    pub medium: u32,
    /// Model calls of a long one. Default: 10.
    pub full: u32,
    /// Whole requests that are a quick look, `*` for anything. Default: none.
    pub fast: Vec<String>,
}

impl Default for RouteSettings {
    fn default() -> Self {
        Self { escalate: true, medium: 4, full: 10, fast: Vec::new() }
    }
}

/// `[retry]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryConfig {
    /// Attempts after a failed model call. Default: 3.
    pub max_retries: u32,
    /// Whether a broken answer whose tools had begun is kept and continued. Default: true.
    pub continue_partial: bool,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self { max_retries: 3, continue_partial: true }
    }
}

/// `[tools]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolConfig {
    /// When a completed call may start. Default: `stream`.
    pub start: ToolStart,
    /// Most calls that run beside each other. Default: 4.
    pub max_concurrency: u32,
    /// Seconds after which a command is stopped when it names no limit. Default: 120.
    pub bash_timeout_s: u32,
}

impl Default for ToolConfig {
    fn default() -> Self {
        Self { start: ToolStart::Stream, max_concurrency: 4, bash_timeout_s: 120 }
    }
}

/// `[web]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebConfig {
    /// Hosts on this machine or in private networks that may be fetched from. Default: none.
    pub allow_hosts: Vec<String>,
    /// Address of a search service, with `{query}` where the query goes. Default: no search.
    pub search_url: Option<String>,
    /// The environment variable that holds its key. Default: no key.
    pub search_key_env: Option<String>,
    /// The header that carries the key. Default: `Authorization`, as a bearer token.
    pub search_header: Option<String>,
}

/// `[sandbox]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxConfig {
    /// Whether commands are held in. Default: `auto`.
    pub mode: SandboxMode,
    /// Whether accept-edits runs commands of the workspace unasked while the sandbox is on. Default:
    /// false.
    pub auto_allow: bool,
    /// Whether commands may reach other machines. Default: false.
    pub network: bool,
    /// Further folders that commands may change. Default: none.
    pub write: Vec<PathBuf>,
}

/// Whether commands are held in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// Where the system can.
    #[default]
    Auto,
    /// Always; where the system cannot, nothing starts.
    On,
    /// Never.
    Off,
}

/// When a completed call may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStart {
    /// While the model still writes.
    #[default]
    Stream,
    /// While the model still writes, for calls that only look and need no question.
    ReadOnly,
    /// After the whole answer was saved.
    AfterMessage,
}

/// `[context]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextConfig {
    /// Most tokens of one result that the model sees. Default: 20000.
    pub result_tokens: u32,
    /// Most tokens of all results together. Default: 100000.
    pub results_tokens: u32,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self { result_tokens: 20_000, results_tokens: 100_000 }
    }
}

/// `[prompt]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptConfig {
    /// Where the facts of the session stand. Default: `system_tail`.
    pub dynamic: PromptPlace,
}

/// Where the facts of a session stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptPlace {
    /// In a system block of their own, after the cached one.
    #[default]
    SystemTail,
    /// In front of the user's words, where a service takes one system block only.
    TurnContext,
}

/// `[memory]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryConfig {
    /// Whether there is a memory at all. Default: true.
    pub enabled: bool,
    /// Whether conversations are searched for things worth keeping. Default: false.
    pub extract: bool,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { enabled: true, extract: false }
    }
}

/// `[background]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundConfig {
    /// Whether the end of a background task starts a run while nothing else runs. Default: false.
    pub wake: bool,
}

/// `[ui]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UiConfig {
    /// Name of a theme; `auto` follows the terminal's background. Default: `auto`.
    pub theme: String,
    /// Whether wheel, click and drag belong to us. Default: true.
    pub mouse: bool,
    /// Whether the alternate screen is used. Default: true.
    pub alt_screen: bool,
    /// No moving signs. Default: false.
    pub reduced_motion: bool,
}

impl Default for UiConfig {
    fn default() -> Self {
        Self { theme: "auto".to_owned(), mouse: true, alt_screen: true, reduced_motion: false }
    }
}
