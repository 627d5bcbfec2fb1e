//! From an argument type to the JSON schema that a model is shown: plain enough for every service
//! and the same bytes in every build.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Keys that say nothing to a model or are refused by some service.
const DROPPED: [&str; 4] = ["$schema", "title", "format", "default"];

/// The cleaned schema of `T`: no references, no null types, closed objects, keys in fixed order.
pub fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = clean(settings.into_generator().into_root_schema_for::<T>().to_value());
    if let Some(root) = schema.as_object_mut() {
        // The tool has a description of its own.
        root.shift_remove("description");
    }
    schema
}

/// Cleans one schema and everything below it.
pub fn clean(schema: Value) -> Value {
    let Value::Object(object) = schema else { return schema };
    let mut out = Map::new();
    let mut keys: Vec<(String, Value)> =
        object.into_iter().filter(|(key, _)| !DROPPED.contains(&key.as_str())).collect();
    keys.sort_by(|a, b| rank(&a.0).cmp(&rank(&b.0)).then_with(|| a.0.cmp(&b.0)));
    for (key, value) in keys {
        let value = match key.as_str() {
            "type" => without_null(value),
            "properties" => properties(value),
            "minimum" if value.as_f64() == Some(0.0) => continue,
            "items" => clean(value),
            "anyOf" | "oneOf" | "allOf" => each(value),
            _ => value,
        };
        out.insert(key, value);
    }
    if out.get("type").and_then(Value::as_str) == Some("object") {
        out.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    Value::Object(out)
}

/// What a reader wants to know first comes first; the rest follows by name.
fn rank(key: &str) -> usize {
    ["type", "description", "properties", "required", "additionalProperties"]
        .iter()
        .position(|known| *known == key)
        .unwrap_or(usize::MAX)
}

/// The fields keep the order of the type, which is the order of importance.
fn properties(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    Value::Object(fields.into_iter().map(|(name, schema)| (name, clean(schema))).collect())
}

fn each(value: Value) -> Value {
    let Value::Array(list) = value else { return value };
    Value::Array(list.into_iter().map(clean).collect())
}

fn without_null(value: Value) -> Value {
    let Value::Array(mut kinds) = value else { return value };
    kinds.retain(|kind| kind != "null");
    match kinds.len() {
        1 => kinds.remove(0),
        _ => Value::Array(kinds),
    }
}
