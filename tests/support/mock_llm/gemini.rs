//! Replies in the generateContent format.

use serde_json::{Value, json};

use super::reply::Reply;

/// A chunk with these parts.
pub(crate) fn chunk(parts: &Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
           "usageMetadata": {"promptTokenCount": 25, "totalTokenCount": 25},
           "modelVersion": "mock", "responseId": "r1"})
}

/// The last chunk: these parts, the reason and the token counts.
pub(crate) fn last(parts: &Value, reason: &str) -> Value {
    let mut chunk = chunk(parts);
    chunk["candidates"][0]["finishReason"] = json!(reason);
    chunk["usageMetadata"] = usage(25, 0, 12, 0);
    chunk
}

/// Token counts; the cached ones are part of the prompt, the thoughts stand beside the answer.
pub(crate) fn usage(prompt: u64, cached: u64, written: u64, thoughts: u64) -> Value {
    let mut usage = json!({"promptTokenCount": prompt, "candidatesTokenCount": written,
        "totalTokenCount": prompt + written + thoughts});
    if cached > 0 {
        usage["cachedContentTokenCount"] = json!(cached);
    }
    if thoughts > 0 {
        usage["thoughtsTokenCount"] = json!(thoughts);
    }
    usage
}

/// A text part.
pub(crate) fn text_part(text: &str) -> Value {
    json!({"text": text})
}

/// A call part, without an id as the service mostly sends it.
pub(crate) fn call_part(name: &str, args: &Value) -> Value {
    json!({"functionCall": {"name": name, "args": args}})
}

/// A part with a signature.
pub(crate) fn signed(mut part: Value, signature: &str) -> Value {
    part["thoughtSignature"] = json!(signature);
    part
}

/// A stream of these chunks; the real service ends its lines with CRLF.
pub(crate) fn stream(chunks: impl IntoIterator<Item = Value>) -> Reply {
    Reply::sse(chunks.into_iter().map(|chunk| format!("data: {chunk}\r\n\r\n")))
}

/// A whole answer: one chunk for each part, then the reason.
pub(crate) fn answer(parts: impl IntoIterator<Item = Value>, reason: &str) -> Reply {
    let mut chunks: Vec<Value> = parts.into_iter().map(|part| chunk(&json!([part]))).collect();
    chunks.push(last(&json!([{"text": ""}]), reason));
    stream(chunks)
}

/// A whole answer of one text.
pub(crate) fn text(text: &str) -> Reply {
    answer(text.split_inclusive(' ').map(text_part), "STOP")
}

/// A refusal with a status.
pub(crate) fn refusal(status: u16, word: &str, message: &str) -> Reply {
    Reply::json(status, &error(status, word, message))
}

/// The document of a refusal.
pub(crate) fn error(status: u16, word: &str, message: &str) -> Value {
    json!({"error": {"code": status, "message": message, "status": word}})
}
