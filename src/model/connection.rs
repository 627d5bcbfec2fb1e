//! Everything that is needed to talk to one model, as plain data: address, key, headers, facts.

use std::net::IpAddr;

use reqwest::Url;

use crate::config::schema::ModelConfig;
use crate::kernel::message::ModelRef;

use super::error::Service;
use super::providers::Kind;

/// A key. Never printed: its `Debug` form hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; surrounding blanks (a common slip in shell profiles) are dropped.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// The key itself, for the request header only.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// How to reach one model.
#[derive(Clone, PartialEq)]
pub struct Connection {
    /// Config name of the provider.
    pub provider: String,
    /// Wire format.
    pub kind: Kind,
    /// Normalised: for `anthropic` and `gemini` without version, for the others up to
    /// and with the version.
    pub base_url: String,
    /// The key, when there is one.
    pub key: Option<Secret>,
    /// Whether the key is a bearer token (`Authorization`) where the format has its own header.
    pub bearer: bool,
    /// Environment variable to name when the key is refused; empty when none is needed.
    pub key_env: String,
    /// Further request headers, in stable order; they win over our own.
    pub headers: Vec<(String, String)>,
    /// The model's name at the service.
    pub model: String,
    /// Whether reasoning text goes back with the assistant messages.
    pub reasoning_replay: bool,
    /// Corrections of the catalogue.
    pub overrides: ModelConfig,
}

impl Connection {
    /// What the service said, without the key in case it repeats it: such texts are shown, logged
    /// and sometimes saved. Keys of a few characters (`k` for a local server) hide nothing.
    pub fn without_key(&self, said: String) -> String {
        match &self.key {
            Some(key) if key.expose().len() >= 8 => said.replace(key.expose(), "[key]"),
            _ => said,
        }
    }

    /// The model's full name.
    pub fn model_ref(&self) -> ModelRef {
        ModelRef { provider: self.provider.clone(), model: self.model.clone() }
    }

    /// Whether the service runs on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.base_url)
    }

    /// Whom messages talk about.
    pub fn service(&self) -> Service {
        Service {
            provider: self.provider.clone(),
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            key_env: self.key_env.clone(),
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Header values may be keys as well.
        f.debug_struct("Connection")
            .field("model", &self.model_ref().to_string())
            .field("kind", &self.kind)
            .field("base_url", &self.base_url)
            .field("key", &self.key)
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("reasoning_replay", &self.reasoning_replay)
            .finish_non_exhaustive()
    }
}

/// Whether a URL names this machine.
pub fn is_loopback(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A base URL as the request code wants it, from what people write: with or without a scheme, a
/// trailing slash, a version, or the whole endpoint. `None` when it is no web address.
pub fn normalise_base_url(text: &str, kind: Kind) -> Option<String> {
    let text = text.trim();
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&with_scheme).ok()?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    let mut base = with_scheme.trim_end_matches('/').to_owned();
    match kind {
        Kind::Anthropic => {
            for tail in ["/messages", "/v1"] {
                if let Some(shorter) = base.strip_suffix(tail) {
                    base = shorter.trim_end_matches('/').to_owned();
                }
            }
        }
        Kind::OpenAiChat | Kind::OpenAiResponses => {
            for tail in ["/chat/completions", "/responses"] {
                if let Some(shorter) = base.strip_suffix(tail) {
                    base = shorter.trim_end_matches('/').to_owned();
                }
            }
            let path = Url::parse(&base).ok()?.path().to_owned();
            if !path.split('/').any(is_version) {
                base.push_str("/v1");
            }
        }
        Kind::Gemini => {
            for tail in ["/models", "/v1beta", "/v1"] {
                if let Some(shorter) = base.strip_suffix(tail) {
                    base = shorter.trim_end_matches('/').to_owned();
                }
            }
        }
        Kind::Demo => {}
    }
    Some(base)
}

/// `v1`, `v4`, `v1beta`.
fn is_version(segment: &str) -> bool {
    let Some(rest) = segment.strip_prefix('v') else { return false };
    let digits = rest.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `OLLAMA_HOST` may be what the server binds to: a bare port, no port, or all interfaces.
pub fn ollama_url(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => (name, port),
        _ if authority.parse::<u16>().is_ok() => ("", authority),
        _ => (authority, if scheme == "https" { "443" } else { "11434" }),
    };
    let name = if matches!(name, "" | "0.0.0.0" | "[::]" | "::") { "127.0.0.1" } else { name };
    format!("{scheme}://{name}:{port}{path}")
}
