//! What the rules of all formats are made of. Whatever a strict service would refuse is refused with
//! the reason.

use std::collections::HashSet;

use serde_json::Value;

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

/// No two tools of one name.
pub(super) fn tool_names<'a>(names: impl Iterator<Item = &'a Value>) -> Check {
    let mut seen = HashSet::new();
    for tool in names {
        name(tool, "tool name")?;
        ensure(seen.insert(tool), || format!("tool names must be unique: {tool}"))?;
    }
    Ok(())
}

/// The schema of a tool: an object at its top, without alternatives there, its lists with items.
pub(super) fn schema(schema: &Value, place: &str) -> Check {
    ensure(schema["type"] == "object", || format!("{place}: schema must have type 'object'"))?;
    for key in ["oneOf", "anyOf", "allOf", "enum", "not"] {
        ensure(schema.get(key).is_none(), || format!("{place}: no {key} at the top level"))?;
    }
    inner(schema, place)
}

fn inner(schema: &Value, place: &str) -> Check {
    let is_list = schema["type"] == "array"
        || schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array"));
    ensure(!is_list || schema.get("items").is_some(), || {
        format!("{place}: array schema missing items")
    })?;
    for name in schema["required"].as_array().into_iter().flatten() {
        ensure(name.is_string(), || format!("{place}: required holds {name}"))?;
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        inner(field, &format!("{place}.{name}"))?;
    }
    schema.get("items").map_or(Ok(()), |items| inner(items, &format!("{place}.items")))
}

/// A picture that services read.
pub(super) fn picture(media_type: &str, place: &str) -> Check {
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    ensure(known.contains(&media_type), || format!("{place}: unsupported image {media_type:?}"))
}
