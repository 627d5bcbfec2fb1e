//! Tool schemas as services take them that read JSON schema: an object at the top without
//! alternatives there, and lists that say what they hold. What is lost is only help for the model;
//! arguments are checked against the full schema anyway when a call comes in. Not here: Gemini,
//! which reads a language of its own.

use serde_json::{Map, Value, json};

/// How deep nested types are looked at.
const DEPTH: usize = 32;

/// Keys that no service takes at the top.
const TOP: &[&str] = &["oneOf", "anyOf", "allOf", "enum", "not"];

/// The schema of a tool's arguments, its keys sorted. The same schema gives the same bytes.
pub fn parameters(schema: &Value) -> Value {
    let mut fields = schema.as_object().cloned().unwrap_or_default();
    let parts: Vec<(bool, Value)> = TOP
        .iter()
        .filter_map(|key| Some((*key == "allOf", fields.remove(*key)?)))
        .flat_map(|(is_all, parts)| {
            let parts = if let Value::Array(parts) = parts { parts } else { Vec::new() };
            parts.into_iter().map(move |part| (is_all, part))
        })
        .collect();
    let mut properties = match fields.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let mut required = match fields.remove("required") {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    for (is_all, part) in parts {
        for (name, field) in part["properties"].as_object().into_iter().flatten() {
            properties.entry(name).or_insert_with(|| field.clone());
        }
        // What only one of several alternatives needs is not needed.
        let needed = part["required"].as_array().filter(|_| is_all);
        required.extend(needed.into_iter().flatten().cloned());
    }
    for field in properties.values_mut() {
        complete(field, DEPTH);
    }
    fields.insert("type".into(), json!("object"));
    fields.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        required.dedup();
        fields.insert("required".into(), Value::Array(required));
    }
    let mut schema = Value::Object(fields);
    schema.sort_all_objects();
    schema
}

/// A list without a type of its items may hold anything; that has to be said.
fn complete(schema: &mut Value, depth: usize) {
    let Some(fields) = schema.as_object_mut().filter(|_| depth > 0) else { return };
    let is_list = match fields.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    };
    if is_list && !fields.contains_key("items") {
        fields.insert("items".into(), json!({}));
    }
    for (key, value) in fields.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(fields)) => {
                for field in fields.values_mut() {
                    complete(field, depth - 1);
                }
            }
            ("items" | "additionalProperties", inner) => complete(inner, depth - 1),
            ("oneOf" | "anyOf" | "allOf", Value::Array(parts)) => {
                for part in parts {
                    complete(part, depth - 1);
                }
            }
            _ => {}
        }
    }
}
