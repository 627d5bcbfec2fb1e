//! Tool schemas as Gemini takes them: a small part of JSON schema. What has an equivalent is
//! translated (`const`, type lists, `oneOf`, references), the rest is left out; arguments are
//! checked against the full schema anyway when a call comes in.

use serde_json::{Map, Value, json};

/// How deep references and nested types are followed; a type that holds itself ends there.
const DEPTH: usize = 16;

/// Keys that pass as they are.
const PLAIN: &[&str] = &[
    "title",
    "description",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "default",
];

/// The parameters of a function, or `None` when it takes none: an object without properties is
/// refused.
pub fn parameters(schema: &Value) -> Option<Value> {
    let mut reduced = reduce(schema, schema, DEPTH);
    let fields = reduced.get("properties").and_then(Value::as_object);
    fields.filter(|fields| !fields.is_empty())?;
    reduced["type"] = json!("object");
    reduced.sort_all_objects();
    Some(reduced)
}

fn reduce(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(given) = schema.as_object().filter(|_| depth > 0) else {
        // `true` and everything too deep: anything, which a text can carry.
        return json!({"type": "string"});
    };
    let merged = merged(given, root, depth);
    let description = merged.get("description").cloned();
    if let Some(choices) = choices(&merged) {
        return alternatives(&choices, description, root, depth);
    }
    let (kind, nullable) = kind(&merged);
    let mut out = Map::new();
    out.insert("type".into(), json!(kind));
    if nullable {
        out.insert("nullable".into(), json!(true));
    }
    for key in PLAIN {
        if let Some(value) = merged.get(*key).filter(|value| !value.is_null()) {
            out.insert((*key).into(), value.clone());
        }
    }
    if let Some(values) = words(&merged, &kind) {
        out.insert("enum".into(), values);
    }
    if let Some(format) = merged.get("format").filter(|format| takes_format(&kind, format)) {
        out.insert("format".into(), format.clone());
    }
    if kind == "object" {
        fields(&merged, root, depth, &mut out);
    }
    if kind == "array" {
        let items = merged.get("items").cloned().unwrap_or_else(|| json!({"type": "string"}));
        out.insert("items".into(), reduce(&items, root, depth - 1));
    }
    Value::Object(out)
}

/// The schema with what it refers to and all parts of `allOf` laid into it; its own keys win.
fn merged(given: &Map<String, Value>, root: &Value, depth: usize) -> Map<String, Value> {
    let mut out = Map::new();
    let mut lay = |part: &Value| {
        let Some(part) = part.as_object() else { return };
        let inner = if depth > 1 { merged(part, root, depth - 1) } else { Map::new() };
        for (key, value) in inner {
            match (out.get_mut(&key), value) {
                (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
                (Some(Value::Array(old)), Value::Array(new)) if key == "required" => {
                    old.extend(new);
                }
                (_, value) => {
                    out.insert(key, value);
                }
            }
        }
    };
    if let Some(target) = given.get("$ref").and_then(Value::as_str)
        && let Some(target) = target.strip_prefix('#').and_then(|path| root.pointer(path))
    {
        lay(target);
    }
    for part in given.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        lay(part);
    }
    for (key, value) in given {
        if !matches!(key.as_str(), "$ref" | "allOf") {
            out.insert(key.clone(), value.clone());
        }
    }
    out
}

/// The alternatives of `anyOf`, `oneOf` or a list of types, `null` among them.
fn choices(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    if let Some(list) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array()) {
        return Some(list.clone());
    }
    let types = schema.get("type")?.as_array()?;
    if types.iter().filter(|kind| *kind != "null").count() < 2 {
        return None;
    }
    let with = |kind: &Value| {
        let mut one = schema.clone();
        one.insert("type".into(), kind.clone());
        one.remove("description");
        Value::Object(one)
    };
    Some(types.iter().map(with).collect())
}

/// One of several types. `null` becomes a mark; what is left alone needs no list.
fn alternatives(choices: &[Value], words: Option<Value>, root: &Value, depth: usize) -> Value {
    let is_null = |choice: &Value| choice["type"] == "null";
    let nullable = choices.iter().any(is_null);
    let mut kept: Vec<Value> = choices
        .iter()
        .filter(|choice| !is_null(choice))
        .flat_map(|choice| flat(reduce(choice, root, depth - 1)))
        .collect();
    if let Some(first) = kept.first_mut().and_then(Value::as_object_mut) {
        if nullable {
            first.insert("nullable".into(), json!(true));
        }
        // Beside a list of alternatives no other key is taken.
        if let Some(words) = words {
            first.insert("description".into(), words);
        }
    }
    match kept.len() {
        0 => json!({"type": "string", "nullable": true}),
        1 => kept.remove(0),
        _ => json!({"anyOf": kept}),
    }
}

/// A list of alternatives as its members, so that none stands inside another.
fn flat(mut schema: Value) -> Vec<Value> {
    match schema.get_mut("anyOf").map(Value::take) {
        Some(Value::Array(inner)) => inner,
        _ => vec![schema],
    }
}

/// The one type of a schema and whether `null` is taken as well.
fn kind(schema: &Map<String, Value>) -> (String, bool) {
    let nullable = schema.get("nullable") == Some(&json!(true));
    match schema.get("type") {
        Some(Value::String(kind)) if kind != "null" => (kind.to_lowercase(), nullable),
        Some(Value::Array(kinds)) => {
            let kind = kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null");
            (kind.unwrap_or("string").to_lowercase(), kinds.iter().any(|kind| kind == "null"))
        }
        Some(Value::String(_)) => ("string".into(), true),
        _ if schema.contains_key("properties") => ("object".into(), nullable),
        _ if schema.contains_key("items") => ("array".into(), nullable),
        _ => (kind_of_values(schema).into(), nullable),
    }
}

fn kind_of_values(schema: &Map<String, Value>) -> &'static str {
    let listed = schema.get("enum").and_then(|values| values.get(0));
    match schema.get("const").or(listed) {
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(number)) if number.is_f64() => "number",
        Some(Value::Number(_)) => "integer",
        _ => "string",
    }
}

/// Listed values; only texts can be listed.
fn words(schema: &Map<String, Value>, kind: &str) -> Option<Value> {
    if kind != "string" {
        return None;
    }
    let single = schema.get("const").map(|value| vec![value.clone()]);
    let values = single.or_else(|| schema.get("enum")?.as_array().cloned())?;
    let words: Vec<Value> = values.into_iter().filter(Value::is_string).collect();
    (!words.is_empty()).then_some(Value::Array(words))
}

fn takes_format(kind: &str, format: &Value) -> bool {
    let known: &[&str] = match kind {
        "string" => &["date-time", "enum"],
        "integer" => &["int32", "int64"],
        "number" => &["float", "double"],
        _ => &[],
    };
    format.as_str().is_some_and(|format| known.contains(&format))
}

/// Properties, and which of those that exist are required.
fn fields(schema: &Map<String, Value>, root: &Value, depth: usize, out: &mut Map<String, Value>) {
    let Some(given) = schema.get("properties").and_then(Value::as_object) else { return };
    let reduced: Map<String, Value> =
        given.iter().map(|(name, field)| (name.clone(), reduce(field, root, depth - 1))).collect();
    let mut required: Vec<Value> = Vec::new();
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if name.as_str().is_some_and(|name| reduced.contains_key(name)) && !required.contains(name)
        {
            required.push(name.clone());
        }
    }
    if !required.is_empty() {
        out.insert("required".into(), Value::Array(required));
    }
    if !reduced.is_empty() {
        out.insert("properties".into(), Value::Object(reduced));
    }
}
