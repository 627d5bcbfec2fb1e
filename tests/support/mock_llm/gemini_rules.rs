//! Checks generateContent requests as the real service does, and a little stricter.

use serde_json::Value;

use super::validate::{Check, ensure, keys, list, name, text};
use super::{Recorded, Rules};

/// The documented stand-in for a signature in histories of other models.
const STAND_IN: &str = "skip_thought_signature_validator";

/// Checks path and body.
pub(super) fn check(request: &Recorded, rules: &Rules) -> Check {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let streams = path.ends_with(":streamGenerateContent");
    ensure(path.starts_with("/v1beta/models/"), || format!("unknown path {path}"))?;
    ensure(!streams || query == "alt=sse", || format!("query {query:?}"))?;
    ensure(request.headers.contains_key("x-goog-api-key"), || "no x-goog-api-key".into())?;
    let body = &request.body;
    let allowed = ["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"];
    keys(body, &allowed, "body")?;
    if let Some(system) = body.get("systemInstruction") {
        keys(system, &["parts"], "systemInstruction")?;
        for part in list(&system["parts"], "systemInstruction")? {
            text(&part["text"], "systemInstruction")?;
        }
    }
    tools(body)?;
    config(&body["generationConfig"])?;
    contents(list(&body["contents"], "contents")?, rules)
}

fn config(config: &Value) -> Check {
    keys(config, &["maxOutputTokens", "thinkingConfig", "temperature"], "generationConfig")?;
    let Some(thinking) = config.get("thinkingConfig") else { return Ok(()) };
    keys(thinking, &["includeThoughts", "thinkingBudget", "thinkingLevel"], "thinkingConfig")?;
    let both = thinking.get("thinkingBudget").is_some() && thinking.get("thinkingLevel").is_some();
    ensure(!both, || "thinkingBudget and thinkingLevel exclude each other".into())
}

fn tools(body: &Value) -> Check {
    for tool in body["tools"].as_array().into_iter().flatten() {
        keys(tool, &["functionDeclarations"], "tool")?;
        for function in list(&tool["functionDeclarations"], "functionDeclarations")? {
            keys(function, &["name", "description", "parameters"], "function")?;
            name(&function["name"], "function name")?;
            let Some(parameters) = function.get("parameters") else { continue };
            let kind = parameters["type"].as_str().unwrap_or_default();
            ensure(kind.eq_ignore_ascii_case("object"), || "parameters are no object".into())?;
            let fields = parameters["properties"].as_object();
            ensure(fields.is_some_and(|fields| !fields.is_empty()), || {
                "parameters.properties: should be non-empty for OBJECT type".into()
            })?;
            schema(parameters, "parameters")?;
        }
    }
    Ok(())
}

fn schema(schema: &Value, place: &str) -> Check {
    let allowed = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "maxItems",
        "minItems",
        "properties",
        "required",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "default",
        "items",
        "minimum",
        "maximum",
    ];
    keys(schema, &allowed, place)?;
    if let Some(choices) = schema.get("anyOf") {
        keys(schema, &["anyOf"], place)?;
        return list(choices, place)?.iter().try_for_each(|one| self::schema(one, place));
    }
    // Written in capitals by the service's own client.
    let kind = schema["type"].as_str().ok_or_else(|| format!("{place}: type is no word"))?;
    let kind = kind.to_ascii_lowercase();
    let known = ["object", "array", "string", "integer", "number", "boolean"];
    ensure(known.contains(&kind.as_str()), || format!("{place}: unknown type {kind}"))?;
    if let Some(values) = schema.get("enum") {
        let words = list(values, place)?.iter().all(Value::is_string);
        ensure(words && kind == "string", || format!("{place}: only texts can be listed"))?;
    }
    if let Some(format) = schema["format"].as_str() {
        let known = ["enum", "date-time", "int32", "int64", "float", "double"];
        ensure(known.contains(&format), || format!("{place}: unknown format {format}"))?;
    }
    ensure(kind != "array" || schema.get("items").is_some(), || {
        format!("{place}.items: missing field")
    })?;
    if let Some(items) = schema.get("items") {
        self::schema(items, &format!("{place}.items"))?;
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        ensure(schema["properties"].get(name).is_some(), || {
            format!("{place}.required: property {name} is not defined")
        })?;
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        self::schema(field, &format!("{place}.{name}"))?;
    }
    Ok(())
}

/// A call that waits for its response: name and id.
type Open = (String, Option<String>);

fn contents(contents: &[Value], rules: &Rules) -> Check {
    let last = contents.last().ok_or("contents is not specified")?;
    ensure(last["role"] == "user", || "the last content must be a user's".into())?;
    let is_response = |content: &Value| content["parts"][0].get("functionResponse").is_some();
    let turn = contents
        .iter()
        .rposition(|content| content["role"] == "user" && !is_response(content))
        .unwrap_or(0);
    let mut open: Vec<Open> = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        let place = format!("contents.{at}");
        keys(content, &["role", "parts"], &place)?;
        let expected = if at % 2 == 0 { "user" } else { "model" };
        ensure(content["role"] == expected, || format!("{place}: role must be {expected}"))?;
        let parts = list(&content["parts"], &place)?;
        ensure(!parts.is_empty(), || format!("{place}: parts must not be empty"))?;
        for part in parts {
            self::part(part, &place, rules)?;
        }
        if expected == "user" {
            responses(parts, &std::mem::take(&mut open), &place)?;
            continue;
        }
        let calls: Vec<&Value> =
            parts.iter().filter(|part| part.get("functionCall").is_some()).collect();
        let unsigned = calls.first().is_some_and(|call| call.get("thoughtSignature").is_none());
        ensure(!(rules.needs_signatures && at > turn && unsigned), || {
            format!("{place}: Function call is missing a thought_signature")
        })?;
        open = calls.iter().map(|part| named(&part["functionCall"])).collect();
    }
    Ok(())
}

fn named(call: &Value) -> Open {
    let word = |key: &str| call[key].as_str().map(str::to_owned);
    (word("name").unwrap_or_default(), word("id"))
}

/// As many responses as calls, in their order, before everything else.
fn responses(parts: &[Value], open: &[Open], place: &str) -> Check {
    let is_response = |part: &&Value| part.get("functionResponse").is_some();
    let given: Vec<Open> =
        parts.iter().filter(is_response).map(|part| named(&part["functionResponse"])).collect();
    ensure(given == open, || {
        format!(
            "{place}: the number of function response parts must be equal to the number of \
             function call parts of the function call turn: {given:?} for {open:?}"
        )
    })?;
    let first = parts.iter().take_while(is_response).count();
    ensure(first == given.len(), || format!("{place}: a functionResponse after other parts"))
}

fn part(part: &Value, place: &str, rules: &Rules) -> Check {
    let kinds = ["text", "inlineData", "functionCall", "functionResponse"];
    keys(part, &[&kinds[..], &["thought", "thoughtSignature"]].concat(), place)?;
    let data = kinds.iter().filter(|kind| part.get(**kind).is_some()).count();
    ensure(data == 1, || format!("{place}: required oneof field 'data' must have one field"))?;
    let signature = part["thoughtSignature"].as_str();
    if part.get("text").is_some() && signature.is_none() {
        text(&part["text"], place)?;
    }
    if let Some(call) = part.get("functionCall") {
        keys(call, &["id", "name", "args"], place)?;
        name(&call["name"], place)?;
        ensure(call["args"].is_object(), || format!("{place}: args is no object"))?;
    }
    if let Some(response) = part.get("functionResponse") {
        keys(response, &["id", "name", "response"], place)?;
        name(&response["name"], place)?;
        ensure(response["response"].is_object(), || format!("{place}: response is no object"))?;
    }
    if let Some(picture) = part.get("inlineData") {
        keys(picture, &["mimeType", "data"], place)?;
        ensure(picture["mimeType"] != "image/gif", || format!("{place}: Unsupported MIME type"))?;
    }
    let Some(issued) = &rules.signatures else { return Ok(()) };
    match signature {
        Some(STAND_IN) | None => Ok(()),
        Some(signature) => {
            let mut covered = part.clone();
            covered.as_object_mut().map(|part| part.remove("thoughtSignature"));
            ensure(issued.get(signature) == Some(&covered.to_string()), || {
                format!("{place}: Thought signature is not valid")
            })
        }
    }
}
