//! From a kernel request to the body of a chat completion. The same request gives the same bytes.

use serde_json::{Map, Value, json};

use crate::config::schema::Dose;
use crate::kernel::message::{AssistantMessage, Block, ModelRef, ToolMessage};
use crate::kernel::ports::{Effort, ModelInfo, Request, ToolChoice, ToolSpec};

use super::super::adapter::Question;
use super::super::connection::Connection;
use super::super::history::{self, INTERRUPTED, NO_OUTPUT, Piece, Turn, WireResult, is_blank};
use super::super::wire_ids::tool_name;
use super::super::{effort, images, tool_schema};
use super::Quirks;

/// The body, ready to send.
pub fn body(question: &Question<'_>) -> Vec<u8> {
    let Question { connection, info, request, streams, .. } = *question;
    let quirks = Quirks::of(&connection.provider);
    let mut body = Map::new();
    body.insert("model".into(), json!(connection.model));
    body.insert("messages".into(), Value::Array(messages(connection, info, request, quirks)));
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
        if request.tool_choice == ToolChoice::None {
            body.insert("tool_choice".into(), json!("none"));
        }
    }
    body.insert("stream".into(), json!(streams));
    if streams && quirks.asks_usage {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    body.insert(quirks.output_cap.into(), json!(info.max_output));
    if quirks.cache_key && !request.cache_key.is_empty() {
        body.insert("prompt_cache_key".into(), json!(request.cache_key));
    }
    if !request.tools.is_empty() && refuses_effort(connection) {
        body.insert("reasoning_effort".into(), json!("none"));
    } else if let Some(dose) = effort::dose(connection, request.effort) {
        think(&mut body, dose, request.effort, &connection.provider);
    }
    Value::Object(body).to_string().into_bytes()
}

/// Whether tools and thinking exclude each other: `OpenAI` takes both only in its newer format since
/// this version, and some of these models think unless they are told not to.
fn refuses_effort(connection: &Connection) -> bool {
    const SINCE: (u32, u32) = (5, 4);
    let Some(version) = connection.model.strip_prefix("gpt-") else { return false };
    let version = version.split('-').next().unwrap_or_default();
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    let version = major.parse().ok().zip(minor.parse().ok());
    connection.provider == "openai" && version.is_some_and(|version| version >= SINCE)
}

/// Says how hard to think. The router has words of its own for all models behind it; services that
/// count tokens have no common field.
fn think(body: &mut Map<String, Value>, dose: Dose, effort: Option<Effort>, provider: &str) {
    if provider == "openrouter" {
        let word = match effort {
            Some(Effort::Off) => "none",
            Some(Effort::Max) => "xhigh",
            Some(effort) => effort.name(),
            None => return,
        };
        body.insert("reasoning".into(), json!({"effort": word}));
    } else if let Dose::Word(word) = dose {
        body.insert("reasoning_effort".into(), json!(word));
    }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool_name(&tool.name),
            "description": tool.description,
            "parameters": tool_schema::parameters(&tool.schema),
        },
    })
}

fn messages(
    connection: &Connection,
    info: &ModelInfo,
    request: &Request,
    quirks: Quirks,
) -> Vec<Value> {
    let me = connection.model_ref();
    let replay = connection.reasoning_replay;
    let turns = history::turns(&request.messages, quirks.ids, |answer, block| {
        replay && is_own_reasoning(&me, answer, block)
    });
    let system: Vec<&str> = request.system.iter().map(|block| block.text.as_str()).collect();
    let system = join(system.into_iter());
    let mut messages = Vec::new();
    if !system.is_empty() {
        // One message: chat templates of local models take no second one.
        messages.push(json!({"role": "system", "content": system}));
    }
    for turn in turns {
        match turn {
            Turn::User { results, blocks } => user(&results, &blocks, info.vision, &mut messages),
            Turn::Assistant(pieces) => messages.push(assistant(&pieces)),
        }
    }
    level_reasoning(&mut messages);
    remind(&mut messages, request.reminder.as_deref());
    messages
}

/// Adds the reminder after everything else: to the user's words when they are last, so that no two
/// messages of one role follow each other.
fn remind(messages: &mut Vec<Value>, reminder: Option<&str>) {
    let Some(reminder) = reminder.filter(|words| !words.trim().is_empty()) else { return };
    let last = messages.last_mut().filter(|message| message["role"] == "user");
    match last.map(|message| &mut message["content"]) {
        Some(Value::String(words)) => {
            words.push_str("\n\n");
            words.push_str(reminder);
        }
        Some(Value::Array(parts)) => parts.push(json!({"type": "text", "text": reminder})),
        _ => messages.push(json!({"role": "user", "content": reminder})),
    }
}

/// Reasoning text goes back only where it came from.
fn is_own_reasoning(me: &ModelRef, _answer: &AssistantMessage, block: &Block) -> bool {
    matches!(block, Block::Thinking { opaque: Some(opaque), .. }
        if opaque.model == *me && opaque.data.get("field").is_some_and(Value::is_string))
}

/// Services that want reasoning back want it on every answer as soon as one has it.
fn level_reasoning(messages: &mut [Value]) {
    let field = ["reasoning_content", "reasoning"]
        .into_iter()
        .find(|field| messages.iter().any(|message| message.get(field).is_some()));
    let Some(field) = field else { return };
    for message in messages.iter_mut().filter(|message| message["role"] == "assistant") {
        if let Some(fields) = message.as_object_mut() {
            fields.entry(field).or_insert_with(|| json!(""));
        }
    }
}

fn assistant(pieces: &[Piece<'_>]) -> Value {
    let mut reasoning: Option<(&str, String)> = None;
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Call { id, call } => calls.push(json!({
                "id": id,
                "type": "function",
                "function": {
                    "name": tool_name(&call.name),
                    "arguments": Value::Object(call.args.clone()).to_string(),
                },
            })),
            Piece::Block(Block::Thinking { text, opaque: Some(opaque) }) => {
                let field = opaque.data["field"].as_str().unwrap_or("reasoning_content");
                reasoning.get_or_insert_with(|| (field, String::new())).1.push_str(text);
            }
            Piece::Block(Block::Text { text }) => texts.push(text.as_str()),
            Piece::Block(_) => {}
        }
    }
    let content = join(texts.into_iter());
    let content = if content.is_empty() { Value::Null } else { json!(content) };
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    message.insert("content".into(), content);
    if let Some((field, text)) = reasoning {
        message.insert(field.into(), json!(text));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), Value::Array(calls));
    }
    Value::Object(message)
}

/// Results first, each its own message; pictures in results move to the user's message, since
/// results are text only here.
fn user(results: &[WireResult<'_>], blocks: &[&Block], vision: bool, messages: &mut Vec<Value>) {
    let mut written: Vec<&Block> = Vec::new();
    for result in results {
        let content = match result.message {
            Some(message) => output(message, vision),
            None => INTERRUPTED.to_owned(),
        };
        messages.push(json!({"role": "tool", "tool_call_id": result.id, "content": content}));
        let shown = result.message.into_iter().flat_map(|message| &message.blocks);
        written.extend(shown.filter(|block| vision && matches!(block, Block::Image { .. })));
    }
    written.extend(blocks);
    if written.is_empty() {
        return;
    }
    let has_image = written.iter().any(|block| matches!(block, Block::Image { .. }));
    let content = if vision && has_image {
        Value::Array(written.into_iter().map(part).collect())
    } else {
        let texts: Vec<String> = written.into_iter().map(words).collect();
        json!(join(texts.iter().map(String::as_str)))
    };
    messages.push(json!({"role": "user", "content": content}));
}

fn output(message: &ToolMessage, vision: bool) -> String {
    let shown = message.blocks.iter().filter(|block| {
        let moved = vision && matches!(block, Block::Image { .. });
        !is_blank(block) && !moved
    });
    let texts: Vec<String> = shown.map(words).collect();
    if texts.is_empty() { NO_OUTPUT.to_owned() } else { join(texts.iter().map(String::as_str)) }
}

fn words(block: &Block) -> String {
    match block {
        Block::Text { text } | Block::Thinking { text, .. } => text.clone(),
        Block::Image { media_type, .. } => images::left_out(media_type),
        Block::Call(_) | Block::Opaque(_) => String::new(),
    }
}

fn part(block: &Block) -> Value {
    match block {
        Block::Image { media_type, data } if images::is_common(media_type) => {
            let url = format!("data:{media_type};base64,{data}");
            json!({"type": "image_url", "image_url": {"url": url}})
        }
        Block::Image { media_type, .. } => {
            json!({"type": "text", "text": images::not_taken(media_type)})
        }
        other => json!({"type": "text", "text": words(other)}),
    }
}

fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.filter(|text| !text.trim().is_empty()).collect();
    texts.join("\n\n")
}
