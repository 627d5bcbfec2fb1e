//! Replies in the chat completions format.

use serde_json::{Value, json};

use super::reply::Reply;

/// A chunk with this delta.
pub(crate) fn delta(delta: &Value) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "mock",
           "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]})
}

/// A chunk of text.
pub(crate) fn content(text: &str) -> Value {
    delta(&json!({"content": text}))
}

/// A chunk of reasoning.
pub(crate) fn reasoning(text: &str) -> Value {
    delta(&json!({"reasoning_content": text}))
}

/// A chunk with pieces of calls.
pub(crate) fn tool_calls(pieces: &Value) -> Value {
    delta(&json!({"tool_calls": pieces}))
}

/// The chunk that ends the answer.
pub(crate) fn finish(reason: &str) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "mock",
           "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// The chunk with the token counts.
pub(crate) fn usage(prompt: u64, cached: u64, completion: u64) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "mock",
           "choices": [], "usage": {
               "prompt_tokens": prompt, "completion_tokens": completion,
               "total_tokens": prompt + completion,
               "prompt_tokens_details": {"cached_tokens": cached}}})
}

/// A whole answer of these chunks: finish reason, counts and end mark are added.
pub(crate) fn answer(chunks: impl IntoIterator<Item = Value>, finish_reason: &str) -> Reply {
    let mut documents: Vec<Value> = chunks.into_iter().collect();
    documents.push(finish(finish_reason));
    documents.push(usage(25, 0, 12));
    Reply::data(documents).done()
}

/// A whole answer of one text.
pub(crate) fn text(text: &str) -> Reply {
    answer(text.split_inclusive(' ').map(content), "stop")
}

/// A whole answer of one call.
pub(crate) fn tool(id: &str, name: &str, arguments: &Value) -> Reply {
    tools(&[(id, name, arguments.clone())])
}

/// A whole answer of several calls `(id, name, arguments)`.
pub(crate) fn tools(calls: &[(&str, &str, Value)]) -> Reply {
    let mut chunks = Vec::new();
    for (index, (id, name, arguments)) in calls.iter().enumerate() {
        chunks.push(tool_calls(&json!([{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}}])));
        let text: Vec<char> = arguments.to_string().chars().collect();
        for piece in text.chunks(7) {
            let piece: String = piece.iter().collect();
            chunks.push(tool_calls(&json!([{"index": index, "function": {"arguments": piece}}])));
        }
    }
    answer(chunks, "tool_calls")
}

/// A refusal with a status.
pub(crate) fn refusal(status: u16, kind: &str, code: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"error": {"message": message, "type": kind, "code": code}}))
}
