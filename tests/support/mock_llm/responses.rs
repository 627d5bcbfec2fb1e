//! Replies in the responses format: items, and the events that tell of them.

use serde_json::{Value, json};

use super::reply::Reply;

/// One event with its name.
pub(crate) fn event(document: &Value) -> String {
    let name = document["type"].as_str().unwrap_or("message");
    format!("event: {name}\ndata: {document}\n\n")
}

/// Events as a reply, numbered from 0.
pub(crate) fn events(documents: impl IntoIterator<Item = Value>) -> Reply {
    Reply::sse(documents.into_iter().enumerate().map(|(number, mut document)| {
        if document.get("sequence_number").is_none() {
            document["sequence_number"] = json!(number);
        }
        event(&document)
    }))
}

/// A whole message.
pub(crate) fn message(id: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": [
        {"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})
}

/// Sealed thoughts, without a summary when that is empty.
pub(crate) fn reasoning(id: &str, summary: &str, sealed: &str) -> Value {
    let part = json!({"type": "summary_text", "text": summary});
    let summary = if summary.is_empty() { json!([]) } else { json!([part]) };
    json!({"id": id, "type": "reasoning", "encrypted_content": sealed, "summary": summary})
}

/// A whole call.
pub(crate) fn call(id: &str, call_id: &str, name: &str, arguments: &Value) -> Value {
    json!({"type": "function_call", "id": id, "call_id": call_id, "name": name,
           "arguments": arguments.to_string(), "status": "completed"})
}

/// An item begins: as it will be, but with nothing in it yet.
pub(crate) fn added(at: usize, item: &Value) -> Value {
    let mut empty = item.clone();
    match item["type"].as_str() {
        Some("message") => empty["content"] = json!([]),
        Some("reasoning") => empty["summary"] = json!([]),
        Some("function_call") => empty["arguments"] = json!(""),
        _ => {}
    }
    if empty.get("status").is_some() {
        empty["status"] = json!("in_progress");
    }
    json!({"type": "response.output_item.added", "output_index": at, "item": empty})
}

/// An item is complete.
pub(crate) fn ended(at: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": at, "item": item})
}

/// A piece of a message's text.
pub(crate) fn text_delta(at: usize, id: &str, text: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": at, "item_id": id,
           "content_index": 0, "delta": text, "logprobs": []})
}

/// A piece of a call's arguments.
pub(crate) fn arguments_delta(at: usize, id: &str, text: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": at, "item_id": id,
           "delta": text})
}

/// A call's arguments as a whole.
pub(crate) fn arguments_done(at: usize, id: &str, arguments: &str) -> Value {
    json!({"type": "response.function_call_arguments.done", "output_index": at, "item_id": id,
           "name": "", "arguments": arguments})
}

/// All events of one item, its text or arguments in small pieces.
pub(crate) fn item(at: usize, item: &Value) -> Vec<Value> {
    let id = item["id"].as_str().unwrap_or_default();
    let mut events = vec![added(at, item)];
    let part = |kind: &str, part: &Value| {
        json!({"type": format!("response.content_part.{kind}"), "output_index": at,
               "item_id": id, "content_index": 0, "part": part})
    };
    match item["type"].as_str() {
        Some("message") => {
            let content = &item["content"][0];
            let text = content["text"].as_str().unwrap_or_default();
            let mut empty = content.clone();
            empty["text"] = json!("");
            events.push(part("added", &empty));
            events.extend(text.split_inclusive(' ').map(|piece| text_delta(at, id, piece)));
            events.push(json!({"type": "response.output_text.done", "output_index": at,
                "item_id": id, "content_index": 0, "text": text, "logprobs": []}));
            events.push(part("done", content));
        }
        Some("reasoning") => {
            for (number, summary) in item["summary"].as_array().into_iter().flatten().enumerate() {
                let of = |kind: &str, key: &str, value: &Value| {
                    json!({"type": format!("response.reasoning_summary_{kind}"), "item_id": id,
                           "output_index": at, "summary_index": number, key: value})
                };
                let empty = json!({"type": "summary_text", "text": ""});
                events.push(of("part.added", "part", &empty));
                events.push(of("text.delta", "delta", &summary["text"]));
                events.push(of("text.done", "text", &summary["text"]));
                events.push(of("part.done", "part", summary));
            }
        }
        Some("function_call") => {
            let arguments = item["arguments"].as_str().unwrap_or_default();
            let text: Vec<char> = arguments.chars().collect();
            for piece in text.chunks(7) {
                let piece: String = piece.iter().collect();
                events.push(arguments_delta(at, id, &piece));
            }
            let mut whole = arguments_done(at, id, arguments);
            whole["name"] = item["name"].clone();
            events.push(whole);
        }
        _ => {}
    }
    events.push(ended(at, item));
    events
}

/// Token counts; the cached ones are part of the input, the thoughts of the output.
pub(crate) fn usage(input: u64, cached: u64, output: u64, thoughts: u64) -> Value {
    json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": cached},
           "output_tokens": output, "output_tokens_details": {"reasoning_tokens": thoughts},
           "total_tokens": input + output})
}

/// The response as a document.
pub(crate) fn response(status: &str, output: &[Value]) -> Value {
    let usage = if status == "in_progress" { Value::Null } else { usage(25, 0, 12, 0) };
    json!({"id": "resp_1", "object": "response", "created_at": 1, "status": status,
           "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
           "max_output_tokens": null, "model": "mock", "output": output,
           "parallel_tool_calls": true, "previous_response_id": null, "store": false,
           "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto", "tools": [],
           "truncation": "disabled", "usage": usage})
}

/// The first two events.
pub(crate) fn begun() -> Vec<Value> {
    let of = |kind: &str| json!({"type": kind, "response": response("in_progress", &[])});
    vec![of("response.created"), of("response.in_progress")]
}

/// The last event of a good answer.
pub(crate) fn completed(output: &[Value]) -> Value {
    json!({"type": "response.completed", "response": response("completed", output)})
}

/// The last event of an answer that was cut.
pub(crate) fn incomplete(reason: &str, output: &[Value]) -> Value {
    let mut response = response("incomplete", output);
    response["incomplete_details"] = json!({"reason": reason});
    json!({"type": "response.incomplete", "response": response})
}

/// The last event of an answer that failed.
pub(crate) fn failed(code: &str, text: &str) -> Value {
    let mut response = response("failed", &[]);
    response["error"] = json!({"code": code, "message": text});
    json!({"type": "response.failed", "response": response})
}

/// An error event.
pub(crate) fn error_event(code: &str, text: &str) -> Value {
    json!({"type": "error", "code": code, "message": text, "param": null})
}

/// All events of an answer of these items.
pub(crate) fn documents(items: &[Value]) -> Vec<Value> {
    let mut events = begun();
    events.extend(items.iter().enumerate().flat_map(|(at, one)| item(at, one)));
    events.push(completed(items));
    events
}

/// A whole answer of these items.
pub(crate) fn answer(items: &[Value]) -> Reply {
    events(documents(items))
}

/// A whole answer of one text.
pub(crate) fn text(text: &str) -> Reply {
    answer(&[message("msg_1", text)])
}

/// A refusal with a status.
pub(crate) fn refusal(status: u16, kind: &str, code: &str, message: &str) -> Reply {
    Reply::json(
        status,
        &json!({"error": {"message": message, "type": kind, "param": null, "code": code}}),
    )
}
