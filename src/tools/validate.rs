//! A small schema check that reports every problem of a call at once, what is missing first, so
//! that the model can mend all of them in one go. It knows the keywords our schemas use and no
//! more: type, properties, required, additionalProperties, items, enum, bounds and lengths.

use serde_json::{Map, Number, Value};

/// Checks `args` against an object schema. The error is one text for the model.
pub fn check(tool: &str, schema: &Value, args: &Map<String, Value>) -> Result<(), String> {
    let mut problems = Problems::default();
    problems.object("", schema, args);
    problems.into_result(tool)
}

/// Brings accepted variants into the form that the argument types read: `3.0` where an integer is
/// wanted becomes `3`, and a null for an optional field is dropped.
pub fn adapt(schema: &Value, value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let adapted = fields.into_iter().filter_map(|(name, value)| {
                let field = &schema["properties"][&name];
                let absent = value.is_null() && !allows(field, "null");
                (!absent).then(|| {
                    let value = adapt(field, value);
                    (name, value)
                })
            });
            Value::Object(adapted.collect())
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| adapt(&schema["items"], item)).collect())
        }
        Value::Number(number) if allows(schema, "integer") => Value::Number(whole(number)),
        other => other,
    }
}

/// The number as an integer when it is one; the largest magnitude is what a float holds exactly.
fn whole(number: Number) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
            if float < 0.0 { Number::from(float as i64) } else { Number::from(float as u64) }
        }
        _ => number,
    }
}

fn allows(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(only) => only == kind,
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        _ => false,
    }
}

#[derive(Default)]
struct Problems {
    missing: Vec<String>,
    other: Vec<String>,
}

impl Problems {
    fn into_result(self, tool: &str) -> Result<(), String> {
        if self.missing.is_empty() && self.other.is_empty() {
            return Ok(());
        }
        let all: Vec<String> = self.missing.into_iter().chain(self.other).collect();
        Err(format!("invalid arguments for {tool}: {}", all.join("; ")))
    }

    fn object(&mut self, path: &str, schema: &Value, fields: &Map<String, Value>) {
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let is_required = |name: &str| required.iter().any(|one| one == name);
        for name in required.iter().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                self.missing.push(format!("missing `{}`", join(path, name)));
            }
        }
        let known = schema["properties"].as_object();
        for (name, value) in fields {
            match known.and_then(|known| known.get(name)) {
                Some(field) if value.is_null() && !is_required(name) && !allows(field, "null") => {}
                Some(field) => self.value(&join(path, name), field, value),
                None if schema["additionalProperties"] == Value::Bool(false) => {
                    self.other.push(unknown(&join(path, name), known));
                }
                None => {}
            }
        }
    }

    fn value(&mut self, path: &str, schema: &Value, value: &Value) {
        if !has_type(schema, value) {
            let wanted = kinds(schema);
            self.other.push(format!("`{path}` must be {wanted}, not {}", kind_of(value)));
            return;
        }
        if let Some(choices) = schema["enum"].as_array()
            && !choices.contains(value)
        {
            let list: Vec<String> = choices.iter().map(Value::to_string).collect();
            self.other.push(format!("`{path}` must be one of {}", list.join(", ")));
        }
        match value {
            Value::Number(number) => self.bounds(path, schema, number.as_f64().unwrap_or(0.0)),
            Value::String(text) => self.length(path, schema, "Length", text.chars().count()),
            Value::Array(items) => {
                self.length(path, schema, "Items", items.len());
                for (index, item) in items.iter().enumerate() {
                    self.value(&format!("{path}[{index}]"), &schema["items"], item);
                }
            }
            Value::Object(fields) => self.object(path, schema, fields),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn bounds(&mut self, path: &str, schema: &Value, number: f64) {
        let limit = |key: &str| schema[key].as_f64();
        if let Some(least) = limit("minimum").filter(|least| number < *least) {
            self.other.push(format!("`{path}` must be at least {least}"));
        }
        if let Some(least) = limit("exclusiveMinimum").filter(|least| number <= *least) {
            self.other.push(format!("`{path}` must be more than {least}"));
        }
        if let Some(most) = limit("maximum").filter(|most| number > *most) {
            self.other.push(format!("`{path}` must be at most {most}"));
        }
    }

    fn length(&mut self, path: &str, schema: &Value, what: &str, length: usize) {
        let limit = |key: String| schema[key].as_u64();
        let unit = if what == "Items" { "items" } else { "characters" };
        if let Some(least) = limit(format!("min{what}")).filter(|least| (length as u64) < *least) {
            self.other.push(format!("`{path}` must have at least {least} {unit}"));
        }
        if let Some(most) = limit(format!("max{what}")).filter(|most| length as u64 > *most) {
            self.other.push(format!("`{path}` must have at most {most} {unit}"));
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn unknown(path: &str, known: Option<&Map<String, Value>>) -> String {
    let names: Vec<&str> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    format!("unknown `{}` (known: {})", path.escape_debug(), names.join(", "))
}

fn has_type(schema: &Value, value: &Value) -> bool {
    if schema["type"].is_null() {
        return true;
    }
    match value {
        Value::Null => allows(schema, "null"),
        Value::Bool(_) => allows(schema, "boolean"),
        Value::Number(number) => {
            allows(schema, "number")
                || allows(schema, "integer")
                    && number.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        Value::String(_) => allows(schema, "string"),
        Value::Array(_) => allows(schema, "array"),
        Value::Object(_) => allows(schema, "object"),
    }
}

fn kinds(schema: &Value) -> String {
    let article = |kind: &str| match kind {
        "integer" | "array" | "object" => format!("an {kind}"),
        "null" => kind.to_owned(),
        _ => format!("a {kind}"),
    };
    match &schema["type"] {
        Value::String(only) => article(only),
        Value::Array(kinds) => {
            let list: Vec<String> = kinds.iter().filter_map(Value::as_str).map(article).collect();
            list.join(" or ")
        }
        _ => "something else".to_owned(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
