//! Reads what services write when they fail: JSON in a dozen shapes, plain text, HTML pages. Gives
//! one clean text, the machine words beside it, and a status where the body names one.

use std::time::Duration;

use serde_json::Value;

use super::retry_after;

/// What a body says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// For people: no tags, one line.
    pub text: String,
    /// Type, code and status words, joined.
    pub words: String,
    /// Status the body itself names.
    pub status: Option<u16>,
    /// Wait that its details ask for.
    pub wait: Option<Duration>,
}

impl Said {
    /// Everything in lower case, to search in.
    pub fn haystack(&self) -> String {
        format!("{} {}", self.words, self.text).to_lowercase()
    }
}

/// Reads a body of any shape.
pub fn read_body(body: &str) -> Said {
    match serde_json::from_str::<Value>(body.trim()) {
        Ok(value) => from_json(&value),
        Err(_) => Said { text: clean(&strip_tags(body)), ..Said::default() },
    }
}

fn from_json(value: &Value) -> Said {
    match value {
        Value::String(text) => Said { text: clean(&strip_tags(text)), ..Said::default() },
        Value::Array(items) => items.first().map(from_json).unwrap_or_default(),
        Value::Object(outer) => {
            let error = outer.get("error").filter(|error| !error.is_null()).unwrap_or(value);
            let mut said = if error.is_object() { from_object(error) } else { from_json(error) };
            if said.text.is_empty() {
                said.text = clean(&strip_tags(&fallback_text(value)));
            }
            said
        }
        _ => Said::default(),
    }
}

fn from_object(error: &Value) -> Said {
    let mut words = Vec::new();
    let mut status = None;
    for key in ["type", "code", "status", "status_code", "error_type"] {
        match error.get(key) {
            Some(Value::String(word)) => {
                status = status.or_else(|| word_status(word));
                words.push(word.clone());
            }
            Some(Value::Number(number)) => {
                let code = number.as_u64().and_then(|code| u16::try_from(code).ok());
                status = code.filter(|code| (300..600).contains(code)).or(status);
            }
            _ => {}
        }
    }
    let text = message_of(error);
    let inner = text.trim_start().starts_with('{').then(|| read_body(&text));
    if let Some(inner) = inner.filter(|inner| !inner.text.is_empty()) {
        // A proxy that hands on the whole body as its message.
        let words = [words.join(" "), inner.words].join(" ");
        return Said { words, status: inner.status.or(status), ..inner };
    }
    let wait = read_details(error, &mut words);
    Said { text: clean(&strip_tags(&text)), words: words.join(" "), status, wait }
}

/// The machine's part of an error with typed details: the reason, the quota that is used up, and
/// how long to wait.
fn read_details(error: &Value, words: &mut Vec<String>) -> Option<Duration> {
    let mut wait = None;
    for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
        let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
        words.extend(text(detail, "reason"));
        let violations = detail.get("violations").and_then(Value::as_array);
        for violation in violations.into_iter().flatten() {
            words.extend(text(violation, "quotaId"));
        }
        let delay = text(detail, "retryDelay");
        wait = wait.or(delay.as_deref().and_then(retry_after::spelled));
    }
    wait
}

/// The upstream text where a router wraps it, else the service's own.
fn message_of(error: &Value) -> String {
    let own = ["message", "msg", "detail", "error_description"]
        .iter()
        .find_map(|key| error.get(*key).and_then(text_in))
        .unwrap_or_default();
    let upstream = error.pointer("/metadata/raw").and_then(Value::as_str).map(read_body);
    match upstream {
        Some(said) if !said.text.is_empty() && own.contains("rovider") => said.text,
        _ => own,
    }
}

fn text_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => items.first().and_then(text_in),
        Value::Object(_) => value.get("msg").or_else(|| value.get("message")).and_then(text_in),
        _ => None,
    }
}

fn fallback_text(value: &Value) -> String {
    let inner = ["message", "detail", "errors"].iter().find_map(|key| value.get(*key));
    inner.and_then(text_in).unwrap_or_else(|| value.to_string())
}

/// The status that a machine word stands for.
fn word_status(word: &str) -> Option<u16> {
    if let Ok(code) = word.parse::<u16>() {
        return (300..600).contains(&code).then_some(code);
    }
    Some(match word {
        "authentication_error" | "invalid_api_key" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" | "model_not_found" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => 429,
        "api_error" | "server_error" | "internal_server_error" | "INTERNAL" => 500,
        "server_overloaded" | "UNAVAILABLE" => 503,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        "invalid_request_error" => 400,
        _ => return None,
    })
}

/// Removes markup when the text is a page; leaves a plain text with a lone `<` alone.
pub fn strip_tags(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let is_page = ["<html", "<!doctype", "<head", "<body", "<h1", "<p>", "<center", "<title"]
        .iter()
        .any(|tag| lower.contains(tag));
    if !is_page {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut at = 0;
    while let Some(open) = lower[at..].find('<').map(|open| at + open) {
        out.push_str(&text[at..open]);
        out.push(' ');
        at = end_of_tag(&lower, open);
    }
    out.push_str(&text[at..]);
    for (entity, plain) in [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        out = out.replace(entity, plain);
    }
    out
}

/// Where the text goes on after a tag; scripts and styles are skipped whole.
fn end_of_tag(lower: &str, open: usize) -> usize {
    for (start, end) in [("<script", "</script>"), ("<style", "</style>"), ("<!--", "-->")] {
        if lower[open..].starts_with(start) {
            return lower[open..].find(end).map_or(lower.len(), |at| open + at + end.len());
        }
    }
    lower[open..].find('>').map_or(lower.len(), |at| open + at + 1)
}

/// One line without control characters and doubled blanks.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(1024));
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > 4096 {
            break;
        }
    }
    out
}
