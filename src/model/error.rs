//! From a service's refusal (status, headers, body, or an error inside a stream) to one typed
//! [`ModelError`]. Texts are looked at here and nowhere above.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use crate::kernel::error::{ModelError, ModelErrorKind as Kind};

use super::error_text::{Said, clean, read_body};
use super::retry_after;

/// Who is being talked to, for messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// The provider's config name.
    pub provider: String,
    /// The model's name at the service.
    pub model: String,
    /// Base URL without secrets.
    pub base_url: String,
    /// Environment variable that would hold the key; empty when none is needed.
    pub key_env: String,
}

/// Longest error line for people, in characters.
pub const MAX_LINE: usize = 300;

/// Most characters of the service's words before a remedy.
const MAX_SAID: usize = 160;

/// Most characters of a web page in such a line.
const MAX_PAGE: usize = 100;

const OVERFLOW: &[&str] = &[
    "prompt is too long",
    "context_length_exceeded",
    "maximum context length",
    "context length exceeded",
    "exceeds the context window",
    "exceeds the model's context",
    "exceed context",
    "available context size",
    "input is too long",
    "input length and `max_tokens` exceed",
    "maximum number of tokens allowed",
    "reduce the length of the messages",
    "too large for model",
    "request_too_large",
    "model's context limit",
    "longer than the model's context",
    "maximum prompt length",
    "maximum model length",
    "exceeded max context length",
    "exceeded model token limit",
    "exceeds max length",
    "range of input length",
    "context window exceeds limit",
    "than the context length",
    "context overflows",
];
const QUOTA: &[&str] = &[
    "insufficient_quota",
    "exceeded your current quota",
    "credit balance is too low",
    "insufficient balance",
    "insufficient credits",
    "insufficient_balance",
    "requires more credits",
    "billing_hard_limit",
    "billing_error",
    "payment required",
    "spending limit",
    "arrearage",
];
/// Quotas that come back with the day and not with the minute, or that are none at all.
const SPENT: &[&str] = &["perday", "per day", "per_day", "limit: 0,"];
const FILTER: &[&str] = &[
    "content_filter",
    "content_policy",
    "content management policy",
    "responsibleaipolicyviolation",
    "data_inspection_failed",
    "flagged by",
    "safety_violation",
];
const AUTH: &[&str] = &[
    "authentication_error",
    "invalid_api_key",
    "invalid api key",
    "incorrect api key",
    "bad key",
    "invalid x-api-key",
    "unauthorized",
    "permission_error",
    "unauthenticated",
    "permission_denied",
];
/// Words about the key that one service says with status 400.
const KEY: &[&str] = &["api key not valid", "api_key_invalid", "api key expired"];
const BUSY: &[&str] = &["overloaded", "capacity", "unavailable", "not ready", "engine is busy"];
const RATE: &[&str] = &["rate_limit", "rate limit", "too many requests", "resource_exhausted"];

/// An answer with a status that is no success.
pub fn from_response(
    service: &Service,
    status: u16,
    headers: &HeaderMap,
    body: &str,
    now: SystemTime,
) -> ModelError {
    let said = read_body(body);
    tracing::debug!(provider = %service.provider, status, body, "model call refused");
    let wait = retry_after::from_headers(headers, now)
        .or(said.wait)
        .or_else(|| retry_after::from_text(&said.text));
    build(service, Some(status), &said, wait, headers.get("location").and_then(|v| v.to_str().ok()))
}

/// An error that came inside a stream or as the body of a "successful" answer.
pub fn from_body(service: &Service, body: &str) -> ModelError {
    let said = read_body(body);
    tracing::debug!(provider = %service.provider, body, "error inside a model stream");
    let wait = said.wait.or_else(|| retry_after::from_text(&said.text));
    build(service, said.status, &said, wait, None)
}

/// A page where an answer was expected: what it says, and where the mistake most likely is.
pub fn from_page(service: &Service, page: &str) -> ModelError {
    let mut error = from_body(service, page);
    if error.kind == Kind::Server {
        let (who, url) = (&service.provider, &service.base_url);
        let short: String = read_body(page).text.chars().take(MAX_PAGE).collect();
        error.message =
            cap(&format!("{who} at {url} answered with a web page ({short}); check its base_url"));
    }
    error
}

/// A stream that broke: cut, invalid or undecodable.
pub fn broken(service: &Service, what: &str) -> ModelError {
    let line = format!("the answer of {} broke off: {what}", service.provider);
    ModelError::new(Kind::PartialStream, cap(&line))
}

fn build(
    service: &Service,
    status: Option<u16>,
    said: &Said,
    wait: Option<Duration>,
    location: Option<&str>,
) -> ModelError {
    let kind = classify(status, said, wait.is_some());
    let message = cap(&sentence(service, kind, status, said, location));
    let retry_after =
        matches!(kind, Kind::RateLimit | Kind::Overloaded | Kind::Server).then_some(wait).flatten();
    ModelError { kind, status, message, retry_after }
}

/// The text about a full context decides before the status: services use 400, 413, 429 and 500.
fn classify(status: Option<u16>, said: &Said, wait_given: bool) -> Kind {
    let text = said.haystack();
    let has = |patterns: &[&str]| patterns.iter().any(|pattern| text.contains(pattern));
    if has(OVERFLOW) {
        return Kind::Overflow;
    }
    let limited = status.is_none_or(|status| status == 429) && has(RATE);
    if limited && has(SPENT) {
        return Kind::Quota;
    }
    let passing =
        (wait_given || text.contains("perminute")) && !text.contains("insufficient_quota");
    if status == Some(402) || (has(QUOTA) && !passing) {
        return Kind::Quota;
    }
    let refused = status.is_none_or(|status| (400..500).contains(&status) && status != 429);
    if refused && has(FILTER) {
        return Kind::ContentFilter;
    }
    if has(KEY) {
        return Kind::Auth;
    }
    if matches!(status, Some(400 | 422)) && says_no_stream(&text) {
        return Kind::StreamUnsupported;
    }
    match status {
        Some(status) => by_status(status, has(BUSY), has(RATE)),
        None if has(AUTH) => Kind::Auth,
        None if has(RATE) => Kind::RateLimit,
        None if has(BUSY) => Kind::Overloaded,
        None if text.contains("invalid_request_error") => Kind::InvalidRequest,
        None => Kind::Server,
    }
}

fn by_status(status: u16, busy: bool, rate: bool) -> Kind {
    match status {
        401 | 403 => Kind::Auth,
        429 => Kind::RateLimit,
        529 => Kind::Overloaded,
        500.. if busy => Kind::Overloaded,
        500.. if rate => Kind::RateLimit,
        408 | 409 | 500.. => Kind::Server,
        _ => Kind::InvalidRequest,
    }
}

fn says_no_stream(text: &str) -> bool {
    text.contains("stream")
        && ["not supported", "unsupported", "does not support", "must be verified to stream"]
            .iter()
            .any(|words| text.contains(words))
}

fn sentence(
    service: &Service,
    kind: Kind,
    status: Option<u16>,
    said: &Said,
    location: Option<&str>,
) -> String {
    let who = &service.provider;
    let code = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let words = if said.text.is_empty() { "no reason given" } else { said.text.as_str() };
    match kind {
        Kind::Auth if status == Some(403) => {
            format!("{who} refused access{code}: {words}; check what the key may use")
        }
        Kind::Auth => format!("{who} refused the key{code}: {}", wrong_key(service)),
        Kind::Quota if SPENT.iter().any(|words| said.haystack().contains(words)) => format!(
            "{who} has no quota left for {}{code}: {}; wait until it is renewed, raise it or \
             choose another model",
            service.model,
            first_sentence(words)
        ),
        Kind::Quota => {
            let words = first_sentence(words);
            format!("{who} has no credit left{code}: {words}; top up or choose another model")
        }
        Kind::RateLimit => format!("{who} limits the rate{code}: {words}"),
        Kind::Overloaded => format!("{who} is overloaded{code}: {words}"),
        Kind::Overflow => {
            format!("{who}: the request is larger than the context window{code}: {words}")
        }
        Kind::ContentFilter => format!("the content filter of {who} refused{code}: {words}"),
        Kind::StreamUnsupported => {
            format!("{who} does not stream {}{code}: {words}", service.model)
        }
        Kind::InvalidRequest if status == Some(404) => not_found(service, words),
        Kind::InvalidRequest if location.is_some() => format!(
            "{who} redirected the request{code} to {}; correct its base_url",
            location.unwrap_or_default()
        ),
        Kind::InvalidRequest => format!("{who} refused the request{code}: {words}"),
        Kind::Server | Kind::Timeout | Kind::Network | Kind::StreamIdle | Kind::PartialStream => {
            format!("{who} failed{code}: {words}")
        }
    }
}

/// So much of a long text that the remedy after it still fits.
fn first_sentence(words: &str) -> String {
    let end = words.find(". ").unwrap_or(words.len());
    words[..end].chars().take(MAX_SAID).collect::<String>().trim_end_matches('.').to_owned()
}

fn not_found(service: &Service, words: &str) -> String {
    let (who, model) = (&service.provider, &service.model);
    let words = words.trim_end_matches('.');
    if words.contains("model") || words.contains(model.as_str()) {
        return format!(
            "{who} does not know the model {model} (404): {words}; choose another with --model"
        );
    }
    format!("nothing at {} (404): {words}; correct the base_url of {who}", service.base_url)
}

/// What to do about a key that the service refused; it may come from either place.
fn wrong_key(service: &Service) -> String {
    let Service { key_env, provider, .. } = service;
    if key_env.is_empty() {
        return key_remedy(service);
    }
    format!("correct {key_env}, or api_key under [providers.{provider}] in the config file")
}

/// What to do about a missing key, or one that can't be sent.
pub fn key_remedy(service: &Service) -> String {
    if service.key_env.is_empty() {
        return format!("set api_key under [providers.{}] in the config file", service.provider);
    }
    // A key in the config file comes before the variable.
    let (env, who) = (&service.key_env, &service.provider);
    format!("correct {env}, or api_key under [providers.{who}] in the config file")
}

/// One line of at most [`MAX_LINE`] characters.
pub fn cap(line: &str) -> String {
    let line = clean(line);
    if line.chars().count() <= MAX_LINE {
        return line;
    }
    let mut short: String = line.chars().take(MAX_LINE - 1).collect();
    short.push('…');
    short
}
