//! Checks responses requests as the real service does, and a little stricter.

use std::collections::HashSet;

use serde_json::Value;

use super::Rules;
use super::validate::{Check, ensure, keys, list, name, picture, schema, text, tool_names};

/// Checks the body.
pub(super) fn check(body: &Value, rules: &Rules) -> Check {
    let allowed = [
        "model",
        "input",
        "instructions",
        "tools",
        "tool_choice",
        "store",
        "stream",
        "include",
        "reasoning",
        "max_output_tokens",
        "prompt_cache_key",
        "parallel_tool_calls",
        "temperature",
    ];
    keys(body, &allowed, "body")?;
    text(&body["model"], "model")?;
    ensure(body["store"] == false, || "items of an earlier answer are not stored here".into())?;
    if let Some(words) = body.get("instructions") {
        text(words, "instructions")?;
    }
    let cap = body.get("max_output_tokens");
    ensure(cap.is_none_or(|cap| cap.as_u64().is_some_and(|cap| cap >= 16)), || {
        "Invalid 'max_output_tokens': expected a value >= 16".into()
    })?;
    for wish in body["include"].as_array().into_iter().flatten() {
        ensure(wish == "reasoning.encrypted_content", || format!("include: unknown {wish}"))?;
        ensure(!rules.plain_model, || {
            "Encrypted content is not supported with this model.".into()
        })?;
    }
    if let Some(reasoning) = body.get("reasoning") {
        keys(reasoning, &["effort", "summary"], "reasoning")?;
        ensure(!rules.no_summaries || reasoning.get("summary").is_none(), || {
            "Your organization must be verified to generate reasoning summaries.".into()
        })?;
    }
    tools(body)?;
    input(list(&body["input"], "input")?, rules)
}

fn tools(body: &Value) -> Check {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    ensure(body.get("tool_choice").is_none() || !tools.is_empty(), || {
        "Tool choice is not allowed when no tools are specified.".into()
    })?;
    for tool in tools {
        keys(tool, &["type", "name", "description", "parameters", "strict"], "tool")?;
        ensure(tool["type"] == "function", || format!("unknown kind of tool {}", tool["type"]))?;
        schema(&tool["parameters"], "parameters")?;
        ensure(tool["strict"] == false, || {
            "strict schemas need additionalProperties false and all properties required".into()
        })?;
    }
    tool_names(tools.iter().map(|tool| &tool["name"]))
}

fn input(items: &[Value], rules: &Rules) -> Check {
    ensure(!items.is_empty(), || "input: at least one item is required".into())?;
    let mut open: Vec<String> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut side = "";
    for (at, item) in items.iter().enumerate() {
        let place = format!("input[{at}]");
        let kind = item["type"].as_str().unwrap_or_default();
        let is_written = kind == "message" && item["role"] == "user";
        ensure(!is_written || open.is_empty(), || {
            format!("No tool output found for function call {}.", open.join(", "))
        })?;
        let now = if is_written || kind == "function_call_output" { "user" } else { "model" };
        ensure(!(now == "model" && side == "user") || open.is_empty(), || {
            format!("No tool output found for function call {}.", open.join(", "))
        })?;
        match kind {
            "message" if is_written => {
                let before = at.checked_sub(1).map(|before| &items[before]);
                ensure(before.is_none_or(|before| before["role"] != "user"), || {
                    format!("{place}: two messages of the user in a row")
                })?;
                user(item, &place)?;
            }
            "message" => assistant(item, &place)?,
            "reasoning" => reasoning(item, items.get(at + 1), rules, &place)?,
            "function_call" => {
                let id = call(item, &place)?;
                ensure(seen.insert(id.clone()), || format!("{place}: id {id} is used twice"))?;
                open.push(id);
            }
            "function_call_output" => {
                keys(item, &["type", "call_id", "output"], &place)?;
                let id = text(&item["call_id"], &place)?;
                let expected = open.first().cloned();
                ensure(expected.as_deref() == Some(id), || {
                    format!("No tool call found for function call output with call_id {id}.")
                })?;
                open.remove(0);
                content(&item["output"], &place)?;
            }
            other => return Err(format!("{place}: invalid value {other:?} of type")),
        }
        side = now;
    }
    ensure(open.is_empty(), || {
        format!("No tool output found for function call {}.", open.join(", "))
    })?;
    ensure(side == "user", || "the last item must be the user's or an output".into())
}

fn user(item: &Value, place: &str) -> Check {
    keys(item, &["type", "role", "content"], place)?;
    content(&item["content"], place)
}

/// Text, or a list of words and pictures.
fn content(content: &Value, place: &str) -> Check {
    let Some(parts) = content.as_array() else { return text(content, place).map(|_| ()) };
    ensure(!parts.is_empty(), || format!("{place}: content is empty"))?;
    for part in parts {
        match part["type"].as_str() {
            Some("input_text") => {
                keys(part, &["type", "text"], place)?;
                text(&part["text"], place)?;
            }
            Some("input_image") => {
                keys(part, &["type", "image_url", "detail"], place)?;
                let url = text(&part["image_url"], place)?;
                let kind = url.strip_prefix("data:").and_then(|url| url.split_once(";base64,"));
                picture(kind.map_or(url, |(kind, _)| kind), place)?;
            }
            other => return Err(format!("{place}: invalid value {other:?} of a content type")),
        }
    }
    Ok(())
}

fn assistant(item: &Value, place: &str) -> Check {
    keys(item, &["type", "role", "content", "phase", "id", "status"], place)?;
    ensure(item["role"] == "assistant", || format!("{place}: role {}", item["role"]))?;
    let parts = list(&item["content"], place)?;
    ensure(!parts.is_empty(), || format!("{place}: content is empty"))?;
    for part in parts {
        keys(part, &["type", "text", "annotations"], place)?;
        ensure(part["type"] == "output_text", || {
            format!("{place}: an answer holds output_text, not {}", part["type"])
        })?;
        text(&part["text"], place)?;
    }
    let phase = item.get("phase").is_none_or(Value::is_string);
    ensure(phase, || format!("{place}: phase is no word"))
}

fn call(item: &Value, place: &str) -> Result<String, String> {
    keys(item, &["type", "call_id", "name", "arguments"], place)?;
    name(&item["name"], place)?;
    name(&item["call_id"], place)?;
    let arguments = item["arguments"].as_str().unwrap_or_default();
    let parsed: Result<Value, _> = serde_json::from_str(arguments);
    ensure(parsed.is_ok_and(|value| value.is_object()), || {
        format!("{place}: arguments are no JSON object: {arguments}")
    })?;
    Ok(item["call_id"].as_str().unwrap_or_default().to_owned())
}

/// Thoughts are sealed, unchanged, and stand before what came of them.
fn reasoning(item: &Value, next: Option<&Value>, rules: &Rules, place: &str) -> Check {
    keys(item, &["type", "id", "summary", "content", "encrypted_content", "status"], place)?;
    let id = text(&item["id"], place)?;
    ensure(item["summary"].is_array(), || {
        format!("Missing required parameter: '{place}.summary'.")
    })?;
    let sealed = item["encrypted_content"].as_str().unwrap_or_default();
    ensure(!sealed.is_empty(), || {
        format!("Item with id '{id}' not found. Items are not persisted when store is false.")
    })?;
    if let Some(issued) = &rules.signatures {
        ensure(issued.get(sealed) == Some(&item.to_string()), || {
            format!("The encrypted content for item {id} could not be verified.")
        })?;
    }
    let follows = next.is_some_and(|next| {
        matches!(next["type"].as_str(), Some("reasoning" | "function_call"))
            || next["role"] == "assistant"
    });
    ensure(follows, || {
        format!("Item '{id}' of type 'reasoning' was provided without its required following item.")
    })
}
