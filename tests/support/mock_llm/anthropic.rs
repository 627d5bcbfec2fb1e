//! Replies in the messages format.

use serde_json::{Value, json};

use super::reply::Reply;

/// One event with its name.
pub(crate) fn event(document: &Value) -> String {
    let name = document["type"].as_str().unwrap_or("message");
    format!("event: {name}\ndata: {document}\n\n")
}

/// Events as a reply.
pub(crate) fn events(documents: impl IntoIterator<Item = Value>) -> Reply {
    Reply::sse(documents.into_iter().map(|document| event(&document)))
}

/// The first event, with the input count.
pub(crate) fn message_start(input: u64) -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "mock", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": input, "cache_creation_input_tokens": 0,
                  "cache_read_input_tokens": 0, "output_tokens": 1}}})
}

/// A block opens.
pub(crate) fn block_start(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

/// A block grows.
pub(crate) fn block_delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

/// A block closes.
pub(crate) fn block_stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

/// A whole text block in word-sized pieces.
pub(crate) fn text_block(index: u64, text: &str) -> Vec<Value> {
    let mut events = vec![block_start(index, &json!({"type": "text", "text": ""}))];
    for piece in text.split_inclusive(' ') {
        events.push(block_delta(index, &json!({"type": "text_delta", "text": piece})));
    }
    events.push(block_stop(index));
    events
}

/// A whole thinking block, its signature in two pieces.
pub(crate) fn thinking_block(index: u64, text: &str, signature: &str) -> Vec<Value> {
    let (first, second) = signature.split_at(signature.len() / 2);
    vec![
        block_start(index, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        block_delta(index, &json!({"type": "thinking_delta", "thinking": text})),
        block_delta(index, &json!({"type": "signature_delta", "signature": first})),
        block_delta(index, &json!({"type": "signature_delta", "signature": second})),
        block_stop(index),
    ]
}

/// A whole tool call, its arguments in small pieces.
pub(crate) fn tool_block(index: u64, id: &str, name: &str, input: &Value) -> Vec<Value> {
    let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let mut events = vec![block_start(index, &start)];
    let text: Vec<char> = input.to_string().chars().collect();
    for piece in text.chunks(7) {
        let piece: String = piece.iter().collect();
        let delta = json!({"type": "input_json_delta", "partial_json": piece});
        events.push(block_delta(index, &delta));
    }
    events.push(block_stop(index));
    events
}

/// The stop reason with the output count, and the end.
pub(crate) fn message_end(stop: &str, output: u64) -> Vec<Value> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
               "usage": {"output_tokens": output}}),
        json!({"type": "message_stop"}),
    ]
}

/// A whole answer of these blocks.
pub(crate) fn answer(blocks: impl IntoIterator<Item = Vec<Value>>, stop: &str) -> Reply {
    let mut documents = vec![message_start(25)];
    documents.extend(blocks.into_iter().flatten());
    documents.extend(message_end(stop, 12));
    events(documents)
}

/// A whole answer of one text.
pub(crate) fn text(text: &str) -> Reply {
    answer([text_block(0, text)], "end_turn")
}

/// A whole answer of one call.
pub(crate) fn tool(id: &str, name: &str, input: &Value) -> Reply {
    answer([tool_block(0, id, name, input)], "tool_use")
}

/// A whole answer of several calls `(id, name, input)`.
pub(crate) fn tools(calls: &[(&str, &str, Value)]) -> Reply {
    let blocks = calls.iter().enumerate();
    let blocks = blocks.map(|(at, (id, name, input))| tool_block(at as u64, id, name, input));
    answer(blocks, "tool_use")
}

/// An error event inside a stream.
pub(crate) fn error_event(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

/// A refusal with a status.
pub(crate) fn refusal(status: u16, kind: &str, message: &str) -> Reply {
    Reply::json(status, &error_event(kind, message))
}
