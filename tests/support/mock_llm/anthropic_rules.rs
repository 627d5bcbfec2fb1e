//! Checks messages requests as the real service does, and a little stricter.

use std::collections::HashSet;

use serde_json::Value;

use super::Rules;
use super::validate::{Check, ensure, keys, list, name, picture, schema, text, tool_names};

/// Checks a messages request.
pub(super) fn check(body: &Value, rules: &Rules) -> Check {
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
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    for tool in tools {
        keys(tool, &["name", "description", "input_schema", "cache_control"], "tool")?;
        schema(&tool["input_schema"], "input_schema")?;
    }
    tool_names(tools.iter().map(|tool| &tool["name"]))?;
    if let Some(choice) = body.get("tool_choice") {
        let known = ["auto", "any", "none", "tool"];
        let kind = choice["type"].as_str().unwrap_or_default();
        ensure(known.contains(&kind) && !tools.is_empty(), || format!("tool_choice {choice}"))?;
    }
    let marks = body.to_string().matches("\"cache_control\"").count();
    ensure(marks <= 4, || format!("{marks} cache marks, at most 4 are allowed"))?;
    let messages = list(&body["messages"], "messages")?;
    ensure(!messages.is_empty(), || "messages: at least one message is required".into())?;
    thinking(body, messages)?;
    let mut open: Vec<String> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages.{at}");
        keys(message, &["role", "content"], &place)?;
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        ensure(message["role"] == expected, || format!("{place}: role must be {expected}"))?;
        let content = list(&message["content"], &place)?;
        ensure(!content.is_empty(), || format!("{place}: content is empty"))?;
        if expected == "user" {
            user(content, &mut open, &place)?;
        } else {
            assistant(content, &mut open, &mut seen, &place, rules)?;
        }
    }
    let last = messages.last().filter(|message| message["role"] == "assistant");
    let end = last.and_then(|message| message["content"].as_array()?.last()?["text"].as_str());
    ensure(end.is_none_or(|end| end.trim_end() == end), || {
        "final assistant content cannot end with trailing whitespace".into()
    })?;
    ensure(open.is_empty(), || format!("tool_use ids without tool_result: {}", open.join(", ")))
}

/// A budget leaves room for the answer, and wants the thoughts of a round that is being answered.
fn thinking(body: &Value, messages: &[Value]) -> Check {
    let thinking = &body["thinking"];
    let allowed: &[&str] = match thinking["type"].as_str() {
        None => return ensure(thinking.is_null(), || "thinking without a type".into()),
        Some("enabled") => &["type", "budget_tokens", "display"],
        Some("disabled") => &["type"],
        Some("adaptive") => &["type", "display"],
        Some(other) => return Err(format!("thinking: unknown type {other}")),
    };
    keys(thinking, allowed, "thinking")?;
    let Some(budget) = thinking["budget_tokens"].as_u64() else { return Ok(()) };
    ensure(budget >= 1024, || "thinking.budget_tokens: must be at least 1024".into())?;
    ensure(body["max_tokens"].as_u64().is_some_and(|most| budget < most), || {
        "`max_tokens` must be greater than `thinking.budget_tokens`".into()
    })?;
    let is_answering =
        messages.last().is_some_and(|last| last["content"][0]["type"] == "tool_result");
    let answer = messages.iter().rfind(|message| message["role"] == "assistant");
    let first = answer.and_then(|answer| answer["content"][0]["type"].as_str()).unwrap_or_default();
    ensure(!is_answering || matches!(first, "thinking" | "redacted_thinking"), || {
        format!("Expected `thinking` or `redacted_thinking`, but found `{first}`")
    })
}

fn user(content: &[Value], open: &mut Vec<String>, place: &str) -> Check {
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
                self::part(part, &place)?;
                ensure(block["is_error"] != true || part["type"] == "text", || {
                    format!("{place}: all content must be type text if `is_error` is true")
                })?;
            }
        } else {
            results_over = true;
            part(block, &place)?;
        }
    }
    let missing: Vec<String> = expected.collect();
    ensure(missing.is_empty(), || format!("{place}: no tool_result for {}", missing.join(", ")))
}

fn part(block: &Value, place: &str) -> Check {
    match block["type"].as_str() {
        Some("text") => {
            keys(block, &["type", "text", "cache_control"], place)?;
            text(&block["text"], place).map(|_| ())
        }
        Some("image") => {
            keys(block, &["type", "source", "cache_control"], place)?;
            let source = &block["source"];
            keys(source, &["type", "media_type", "data"], place)?;
            picture(source["media_type"].as_str().unwrap_or_default(), place)?;
            text(&source["data"], place).map(|_| ())
        }
        other => Err(format!("{place}: unexpected block {other:?}")),
    }
}

fn assistant(
    content: &[Value],
    open: &mut Vec<String>,
    seen: &mut HashSet<String>,
    place: &str,
    rules: &Rules,
) -> Check {
    for (at, block) in content.iter().enumerate() {
        let place = format!("{place}.content.{at}");
        match block["type"].as_str() {
            Some("text") => part(block, &place)?,
            Some("tool_use") => {
                keys(block, &["type", "id", "name", "input", "cache_control"], &place)?;
                name(&block["id"], &place)?;
                name(&block["name"], &place)?;
                ensure(block["input"].is_object(), || format!("{place}: input is no object"))?;
                let id = block["id"].as_str().unwrap_or_default().to_owned();
                ensure(seen.insert(id.clone()), || format!("{place}: id {id} is used twice"))?;
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
    let last = content.last().and_then(|block| block["type"].as_str()).unwrap_or_default();
    ensure(!matches!(last, "thinking" | "redacted_thinking"), || {
        format!("{place}: The final block in an assistant message cannot be `{last}`")
    })
}
