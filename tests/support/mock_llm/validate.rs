//! Checks requests as the real services do, and a little stricter: whatever a strict service would
//! refuse is refused here with the reason.

use std::collections::HashSet;

use serde_json::Value;

use super::Rules;

pub(super) type Check = Result<(), String>;

pub(super) fn ensure(condition: bool, problem: impl FnOnce() -> String) -> Check {
    if condition { Ok(()) } else { Err(problem()) }
}

pub(super) fn keys(value: &Value, allowed: &[&str], place: &str) -> Check {
    let object = value.as_object().ok_or_else(|| format!("{place} is no object"))?;
    let unknown = object.keys().find(|key| !allowed.contains(&key.as_str()));
    ensure(unknown.is_none(), || format!("{place}: unknown key {}", unknown.map_or("", |k| k)))
}

pub(super) fn list<'a>(value: &'a Value, place: &str) -> Result<&'a Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("{place} is no list"))
}

pub(super) fn text<'a>(value: &'a Value, place: &str) -> Result<&'a str, String> {
    let text = value.as_str().ok_or_else(|| format!("{place} is no text"))?;
    ensure(!text.trim().is_empty(), || format!("{place} is blank"))?;
    Ok(text)
}

pub(super) fn name(value: &Value, place: &str) -> Check {
    let name = text(value, place)?;
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    ensure(name.len() <= 64 && name.chars().all(legal), || format!("{place}: illegal name {name}"))
}

// ---- messages format ---------------------------------------------------------------------------

/// Checks a messages request.
pub(super) fn anthropic(body: &Value, rules: &Rules) -> Check {
    let allowed = [
        "model",
        "max_tokens",
        "stream",
        "system",
        "tools",
        "messages",
        "tool_choice",
        "temperature",
        "thinking",
        "output_config",
        "metadata",
    ];
    keys(body, &allowed, "body")?;
    text(&body["model"], "model")?;
    ensure(body["max_tokens"].as_u64().is_some_and(|n| n > 0), || "max_tokens missing".into())?;
    for (at, block) in body["system"].as_array().into_iter().flatten().enumerate() {
        keys(block, &["type", "text", "cache_control"], "system block")?;
        text(&block["text"], &format!("system.{at}"))?;
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        keys(tool, &["name", "description", "input_schema", "cache_control"], "tool")?;
        name(&tool["name"], "tool name")?;
        ensure(tool["input_schema"]["type"] == "object", || "tool schema is no object".into())?;
    }
    let marks = body.to_string().matches("\"cache_control\"").count();
    ensure(marks <= 4, || format!("{marks} cache marks, at most 4 are allowed"))?;
    let messages = list(&body["messages"], "messages")?;
    ensure(!messages.is_empty(), || "messages: at least one message is required".into())?;
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages.{at}");
        keys(message, &["role", "content"], &place)?;
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        ensure(message["role"] == expected, || format!("{place}: role must be {expected}"))?;
        let content = list(&message["content"], &place)?;
        ensure(!content.is_empty(), || format!("{place}: content is empty"))?;
        if expected == "user" {
            anthropic_user(content, &mut open, &place)?;
        } else {
            anthropic_assistant(content, &mut open, &place, rules)?;
        }
    }
    ensure(open.is_empty(), || format!("tool_use ids without tool_result: {}", open.join(", ")))
}

fn anthropic_user(content: &[Value], open: &mut Vec<String>, place: &str) -> Check {
    let mut results_over = false;
    let mut expected = std::mem::take(open).into_iter();
    for (at, block) in content.iter().enumerate() {
        let place = format!("{place}.content.{at}");
        if block["type"] == "tool_result" {
            let allowed = ["type", "tool_use_id", "content", "is_error", "cache_control"];
            keys(block, &allowed, &place)?;
            ensure(!results_over, || format!("{place}: tool_result after other content"))?;
            let id = text(&block["tool_use_id"], &place)?;
            let next = expected.next();
            ensure(next.as_deref() == Some(id), || {
                format!("{place}: tool_result {id} where {next:?} is expected")
            })?;
            let inner = list(&block["content"], &place)?;
            ensure(!inner.is_empty(), || format!("{place}: empty tool_result"))?;
            for part in inner {
                anthropic_part(part, &place)?;
            }
        } else {
            results_over = true;
            anthropic_part(block, &place)?;
        }
    }
    let missing: Vec<String> = expected.collect();
    ensure(missing.is_empty(), || format!("{place}: no tool_result for {}", missing.join(", ")))
}

fn anthropic_part(block: &Value, place: &str) -> Check {
    match block["type"].as_str() {
        Some("text") => {
            keys(block, &["type", "text", "cache_control"], place)?;
            text(&block["text"], place).map(|_| ())
        }
        Some("image") => {
            keys(block, &["type", "source", "cache_control"], place)?;
            text(&block["source"]["data"], place).map(|_| ())
        }
        other => Err(format!("{place}: unexpected block {other:?}")),
    }
}

fn anthropic_assistant(
    content: &[Value],
    open: &mut Vec<String>,
    place: &str,
    rules: &Rules,
) -> Check {
    for (at, block) in content.iter().enumerate() {
        let place = format!("{place}.content.{at}");
        match block["type"].as_str() {
            Some("text") => anthropic_part(block, &place)?,
            Some("tool_use") => {
                keys(block, &["type", "id", "name", "input", "cache_control"], &place)?;
                name(&block["id"], &place)?;
                name(&block["name"], &place)?;
                ensure(block["input"].is_object(), || format!("{place}: input is no object"))?;
                let id = block["id"].as_str().unwrap_or_default().to_owned();
                ensure(!open.contains(&id), || format!("{place}: id {id} is used twice"))?;
                open.push(id);
            }
            Some("thinking") => {
                keys(block, &["type", "thinking", "signature"], &place)?;
                let signature = text(&block["signature"], &place)?;
                if let Some(issued) = &rules.signatures {
                    let covered = issued.get(signature).map(String::as_str);
                    ensure(covered == block["thinking"].as_str(), || {
                        format!("{place}: invalid signature in thinking block")
                    })?;
                }
            }
            Some("redacted_thinking") => {
                keys(block, &["type", "data"], &place)?;
                text(&block["data"], &place)?;
            }
            other => return Err(format!("{place}: unexpected block {other:?}")),
        }
    }
    Ok(())
}

// ---- chat completions format -------------------------------------------------------------------

/// Checks a chat completions request.
pub(super) fn openai(body: &Value, rules: &Rules) -> Check {
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
    for tool in body["tools"].as_array().into_iter().flatten() {
        keys(tool, &["type", "function"], "tool")?;
        keys(&tool["function"], &["name", "description", "parameters", "strict"], "tool")?;
        name(&tool["function"]["name"], "tool name")?;
    }
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
                openai_user(&message["content"], &place)?;
            }
            "assistant" => {
                ensure(!matches!(last_role, "" | "system" | "assistant"), || {
                    format!("{place}: an assistant message must follow a user or tool message")
                })?;
                openai_assistant(message, &mut open, &mut seen, &place, rules)?;
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

fn openai_user(content: &Value, place: &str) -> Check {
    let Some(parts) = content.as_array() else { return text(content, place).map(|_| ()) };
    ensure(!parts.is_empty(), || format!("{place}: content is empty"))?;
    for part in parts {
        match part["type"].as_str() {
            Some("text") => text(&part["text"], place).map(|_| ())?,
            Some("image_url") => text(&part["image_url"]["url"], place).map(|_| ())?,
            other => return Err(format!("{place}: unexpected part {other:?}")),
        }
    }
    Ok(())
}

fn openai_assistant(
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
