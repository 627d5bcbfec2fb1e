//! The table of known providers: one row each, and everything else (resolution, set-up offers,
//! probes) reads the rows. Not here: what a request to them looks like.

/// Which wire format a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `POST {base}/v1/messages`.
    Anthropic,
    /// `POST {base}/chat/completions`.
    OpenAiChat,
    /// `POST {base}/responses`.
    OpenAiResponses,
    /// `POST {base}/v1beta/models/{model}:streamGenerateContent`.
    Gemini,
    /// The built-in scripted model; no service behind it.
    Demo,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini, Self::Demo];

    /// The name used in the config file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
            Self::Demo => "demo",
        }
    }

    /// The kind of that config name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One known provider.
#[derive(Clone, Copy, Debug)]
pub struct ProviderRow {
    /// Config name and the part of a model reference before the slash.
    pub name: &'static str,
    /// For people.
    pub label: &'static str,
    /// Wire format.
    pub kind: Kind,
    /// Base URL when neither config nor environment sets one.
    pub base_url: &'static str,
    /// Environment variables that hold a key, first wins.
    pub key_env: &'static [&'static str],
    /// Environment variables that hold a bearer token, asked after the keys.
    pub bearer_env: &'static [&'static str],
    /// Environment variables that replace the base URL, first wins.
    pub base_env: &'static [&'static str],
    /// Model when a reference names only the provider; empty when the server decides.
    pub default_model: &'static str,
    /// Whether reasoning text goes back with the assistant messages.
    pub reasoning_replay: bool,
    /// Whether requests without a key are pointless.
    pub needs_key: bool,
}

const CLOUD: ProviderRow = ProviderRow {
    name: "",
    label: "",
    kind: Kind::OpenAiChat,
    base_url: "",
    key_env: &[],
    bearer_env: &[],
    base_env: &[],
    default_model: "",
    reasoning_replay: false,
    needs_key: true,
};
const LOCAL: ProviderRow = ProviderRow { needs_key: false, ..CLOUD };

/// All known providers. With several keys set and no model named, the first row with a key wins.
pub const PROVIDERS: &[ProviderRow] = &[
    ProviderRow {
        name: "anthropic",
        label: "Anthropic",
        kind: Kind::Anthropic,
        base_url: "https://api.anthropic.com",
        key_env: &["ANTHROPIC_API_KEY"],
        bearer_env: &["ANTHROPIC_AUTH_TOKEN"],
        base_env: &["ANTHROPIC_BASE_URL"],
        default_model: "claude-sonnet-5-5",
        ..CLOUD
    },
    ProviderRow {
        name: "openai",
        label: "OpenAI",
        base_url: "https://api.openai.com/v1",
        key_env: &["OPENAI_API_KEY"],
        base_env: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        default_model: "gpt-5.1",
        ..CLOUD
    },
    ProviderRow {
        name: "openai-responses",
        label: "OpenAI (Responses)",
        kind: Kind::OpenAiResponses,
        base_url: "https://api.openai.com/v1",
        key_env: &["OPENAI_API_KEY"],
        base_env: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        default_model: "gpt-5.1",
        ..CLOUD
    },
    ProviderRow {
        name: "gemini",
        label: "Google Gemini",
        kind: Kind::Gemini,
        base_url: "https://generativelanguage.googleapis.com",
        key_env: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base_env: &["GOOGLE_GEMINI_BASE_URL"],
        default_model: "gemini-3.5-flash",
        ..CLOUD
    },
    ProviderRow {
        name: "openrouter",
        label: "OpenRouter",
        base_url: "https://openrouter.ai/api/v1",
        key_env: &["OPENROUTER_API_KEY"],
        default_model: "anthropic/claude-sonnet-5.5",
        ..CLOUD
    },
    ProviderRow {
        name: "deepseek",
        label: "DeepSeek",
        base_url: "https://api.deepseek.com/v1",
        key_env: &["DEEPSEEK_API_KEY"],
        default_model: "deepseek-flash",
        reasoning_replay: true,
        ..CLOUD
    },
    ProviderRow {
        name: "groq",
        label: "Groq",
        base_url: "https://api.groq.com/openai/v1",
        key_env: &["GROQ_API_KEY"],
        default_model: "openai/gpt-oss-120b",
        ..CLOUD
    },
    ProviderRow {
        name: "mistral",
        label: "Mistral",
        base_url: "https://api.mistral.ai/v1",
        key_env: &["MISTRAL_API_KEY"],
        default_model: "mistral-medium-latest",
        ..CLOUD
    },
    ProviderRow {
        name: "xai",
        label: "xAI",
        base_url: "https://api.x.ai/v1",
        key_env: &["XAI_API_KEY"],
        default_model: "grok-4.6",
        ..CLOUD
    },
    ProviderRow {
        name: "moonshot",
        label: "Moonshot AI",
        base_url: "https://api.moonshot.ai/v1",
        key_env: &["MOONSHOT_API_KEY"],
        default_model: "kimi-k2.7-code",
        reasoning_replay: true,
        ..CLOUD
    },
    ProviderRow {
        name: "dashscope",
        label: "Alibaba Model Studio (Qwen)",
        base_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_env: &["DASHSCOPE_API_KEY"],
        default_model: "qwen3-coder-plus",
        ..CLOUD
    },
    ProviderRow {
        name: "zai",
        label: "Z.ai (GLM)",
        base_url: "https://api.z.ai/api/paas/v4",
        key_env: &["ZAI_API_KEY"],
        default_model: "glm-5.2",
        reasoning_replay: true,
        ..CLOUD
    },
    ProviderRow {
        name: "ollama",
        label: "Ollama",
        base_url: "http://127.0.0.1:11434/v1",
        base_env: &["OLLAMA_HOST"],
        ..LOCAL
    },
    ProviderRow {
        name: "llamacpp",
        label: "llama.cpp",
        base_url: "http://127.0.0.1:8080/v1",
        ..LOCAL
    },
    ProviderRow {
        name: "lmstudio",
        label: "LM Studio",
        base_url: "http://127.0.0.1:1234/v1",
        ..LOCAL
    },
    ProviderRow { name: "vllm", label: "vLLM", base_url: "http://127.0.0.1:8000/v1", ..LOCAL },
    ProviderRow {
        name: "demo",
        label: "Demo",
        kind: Kind::Demo,
        default_model: "demo",
        needs_key: false,
        ..CLOUD
    },
];

/// The row of that name.
pub fn row(name: &str) -> Option<&'static ProviderRow> {
    PROVIDERS.iter().find(|row| row.name == name)
}
