//! Tool arguments: from the text a model wrote to one JSON object, once. What is no object stays
//! as text with a complaint, so that the call never runs and the model learns why.

use serde_json::{Map, Value};

use crate::kernel::message::{CallId, InvalidArgs, ToolCall};

/// The finished call. Empty text means no arguments. One extra level of encoding (a JSON string
/// that holds an object) is undone, more is not.
pub fn finish_call(id: CallId, name: String, raw: &str) -> ToolCall {
    if name.trim().is_empty() {
        let error = "the call has no tool name".to_owned();
        let invalid = Some(InvalidArgs { raw: raw.to_owned(), error });
        return ToolCall { id, name: String::new(), args: Map::new(), invalid, opaque: None };
    }
    let (args, invalid) = match parse_object(raw) {
        Ok(args) => (args, None),
        Err(error) => (Map::new(), Some(InvalidArgs { raw: raw.to_owned(), error })),
    };
    ToolCall { id, name, args, invalid, opaque: None }
}

fn parse_object(raw: &str) -> Result<Map<String, Value>, String> {
    if raw.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(raw) {
        Ok(Value::Object(args)) => Ok(args),
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(args)) => Ok(args),
            _ => Err("expected a JSON object with the arguments, got a string".to_owned()),
        },
        Ok(other) => {
            Err(format!("expected a JSON object with the arguments, got {}", kind(&other)))
        }
        Err(error) => Err(format!("expected a JSON object with the arguments: {error}")),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Follows a text of JSON byte by byte and tells where its first top-level object ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectScan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    opened: bool,
}

impl ObjectScan {
    /// Whether a whole object was seen.
    pub fn is_complete(self) -> bool {
        self.opened && self.depth == 0
    }

    /// Whether an object is open.
    pub fn is_open(self) -> bool {
        self.depth > 0
    }

    /// Takes one byte.
    pub fn step(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' if self.depth > 0 => self.in_string = true,
            b'{' | b'[' if self.depth > 0 || byte == b'{' => {
                self.depth += 1;
                self.opened = true;
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}
