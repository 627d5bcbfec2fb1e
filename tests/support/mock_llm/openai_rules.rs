//! Checks chat completions requests as the real service does, and a little stricter.

use std::collections::HashSet;

use serde_json::Value;

use super::Rules;
use super::validate::{Check, ensure, keys, list, name, picture, schema, text, tool_names};

/// Checks a chat completions request.
pub(super) fn check(body: &Value, rules: &Rules) -> Check {
    let allowed = [
        "model",
        "messages",
        "tools",
        "stream",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "prompt_cache_key",
        "tool_choice",
        "temperature",
        "reasoning",
        "reasoning_effort",
    ];
    keys(body, &allowed, "body")?;
    text(&body["model"], "model")?;
    let both = body.get("max_tokens").is_some() && body.get("max_completion_tokens").is_some();
    ensure(!both, || "max_tokens and max_completion_tokens exclude each other".into())?;
    ensure(body.get("stream_options").is_none() || body["stream"] == true, || {
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.".into()
    })?;
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    ensure(body.get("tools").is_none() || !tools.is_empty(), || "[] is too short: tools".into())?;
    ensure(body.get("tool_choice").is_none() || !tools.is_empty(), || {
        "'tool_choice' is only allowed when 'tools' are specified.".into()
    })?;
    for tool in tools {
        keys(tool, &["type", "function"], "tool")?;
        keys(&tool["function"], &["name", "description", "parameters", "strict"], "tool")?;
        schema(&tool["function"]["parameters"], "parameters")?;
    }
    tool_names(tools.iter().map(|tool| &tool["function"]["name"]))?;
    let messages = list(&body["messages"], "messages")?;
    let mut open: Vec<String> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut last_role = "";
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages.{at}");
        let role = message["role"].as_str().unwrap_or_default();
        ensure(role == "tool" || open.is_empty(), || {
            format!("{place}: tool_call_ids without response: {}", open.join(", "))
        })?;
        match role {
            "system" => {
                keys(message, &["role", "content"], &place)?;
                ensure(at == 0, || format!("{place}: a system message must come first"))?;
                text(&message["content"], &place)?;
            }
            "user" => {
                ensure(last_role != "user", || format!("{place}: two user messages in a row"))?;
                keys(message, &["role", "content"], &place)?;
                user(&message["content"], &place)?;
            }
            "assistant" => {
                ensure(!matches!(last_role, "" | "system" | "assistant"), || {
                    format!("{place}: an assistant message must follow a user or tool message")
                })?;
                assistant(message, &mut open, &mut seen, &place, rules)?;
            }
            "tool" => {
                keys(message, &["role", "content", "tool_call_id"], &place)?;
                text(&message["content"], &place)?;
                let id = text(&message["tool_call_id"], &place)?;
                let expected = open.first().cloned();
                ensure(expected.as_deref() == Some(id), || {
                    format!("{place}: result {id} where {expected:?} is expected")
                })?;
                open.remove(0);
            }
            other => return Err(format!("{place}: unknown role {other:?}")),
        }
        last_role = role;
    }
    ensure(open.is_empty(), || format!("tool_call_ids without response: {}", open.join(", ")))?;
    ensure(matches!(last_role, "user" | "tool"), || "the last message must be a user's".into())
}

fn user(content: &Value, place: &str) -> Check {
    let Some(parts) = content.as_array() else { return text(content, place).map(|_| ()) };
    ensure(!parts.is_empty(), || format!("{place}: content is empty"))?;
    for part in parts {
        match part["type"].as_str() {
            Some("text") => {
                keys(part, &["type", "text"], place)?;
                text(&part["text"], place)?;
            }
            Some("image_url") => {
                keys(part, &["type", "image_url"], place)?;
                keys(&part["image_url"], &["url", "detail"], place)?;
                let url = text(&part["image_url"]["url"], place)?;
                let kind = url.strip_prefix("data:").and_then(|url| url.split_once(";base64,"));
                picture(kind.map_or(url, |(kind, _)| kind), place)?;
            }
            other => return Err(format!("{place}: unexpected part {other:?}")),
        }
    }
    Ok(())
}

fn assistant(
    message: &Value,
    open: &mut Vec<String>,
    seen: &mut HashSet<String>,
    place: &str,
    rules: &Rules,
) -> Check {
    let mut allowed = vec!["role", "content", "tool_calls"];
    if rules.takes_reasoning || rules.needs_reasoning.is_some() {
        allowed.push("reasoning_content");
    }
    keys(message, &allowed, place)?;
    let calls = message["tool_calls"].as_array();
    if let Some(calls) = calls {
        ensure(!calls.is_empty(), || format!("{place}: tool_calls is empty"))?;
        if let Some(needed) = &rules.needs_reasoning {
            ensure(message["reasoning_content"] == **needed, || {
                format!("{place}: reasoning_content must be passed back")
            })?;
        }
    } else {
        text(&message["content"], place)?;
    }
    for call in calls.into_iter().flatten() {
        keys(call, &["id", "type", "function"], place)?;
        keys(&call["function"], &["name", "arguments"], place)?;
        name(&call["function"]["name"], place)?;
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let parsed: Result<Value, _> = serde_json::from_str(arguments);
        ensure(parsed.is_ok_and(|value| value.is_object()), || {
            format!("{place}: arguments are no JSON object: {arguments}")
        })?;
        let id = text(&call["id"], place)?.to_owned();
        ensure(id.len() <= 40, || format!("{place}: id is longer than 40: {id}"))?;
        ensure(seen.insert(id.clone()), || format!("{place}: id {id} is used twice"))?;
        open.push(id);
    }
    Ok(())
}
