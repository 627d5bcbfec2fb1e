//! From a kernel request to the body of a responses call. The same request gives the same bytes.

use serde_json::{Map, Value, json};

use crate::config::schema::Dose;
use crate::kernel::error::{ModelError, ModelErrorKind};
use crate::kernel::message::{Block, ModelRef, Opaque, ToolMessage};
use crate::kernel::ports::{ModelInfo, Request, ToolChoice, ToolSpec};

use super::super::adapter::Question;
use super::super::connection::Connection;
use super::super::history::{self, INTERRUPTED, NO_OUTPUT, Piece, Turn, WireResult, is_blank};
use super::super::wire_ids::{IdStyle, tool_name};
use super::super::{effort, images, tool_schema};

/// Least output that the service lets a request ask for, in tokens.
const MIN_OUTPUT: u64 = 16;

/// The body, ready to send.
pub fn body(question: &Question<'_>) -> Vec<u8> {
    let Question { connection, info, request, streams, without } = *question;
    let mut body = Map::new();
    body.insert("model".into(), json!(connection.model));
    let system = request.system.iter().map(|block| block.text.as_str());
    let system: Vec<&str> = system.filter(|text| !text.trim().is_empty()).collect();
    if !system.is_empty() {
        body.insert("instructions".into(), json!(system.join("\n\n")));
    }
    body.insert("input".into(), Value::Array(input(connection, info, request)));
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
        if request.tool_choice == ToolChoice::None {
            body.insert("tool_choice".into(), json!("none"));
        }
    }
    body.insert("store".into(), json!(false));
    body.insert("stream".into(), json!(streams));
    body.insert("max_output_tokens".into(), json!(info.max_output.max(MIN_OUTPUT)));
    let doses = effort::doses(connection);
    let may_think = !doses.is_empty() || may_think(&connection.model);
    if may_think && !without.contains(&SEALED) {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    if !doses.is_empty() {
        let dose = request.effort.and_then(|effort| effort::pick(&doses, effort));
        body.insert("reasoning".into(), reasoning(dose, !without.contains(&SUMMARY)));
    }
    if !request.cache_key.is_empty() {
        body.insert("prompt_cache_key".into(), json!(request.cache_key));
    }
    Value::Object(body).to_string().into_bytes()
}

/// How hard to think, and that a summary of the thoughts is wanted where there are some.
fn reasoning(dose: Option<Dose>, summary: bool) -> Value {
    let mut reasoning = match dose {
        Some(Dose::Word(word)) if word == "none" || word == "off" => {
            return json!({"effort": "none"});
        }
        Some(Dose::Word(word)) => json!({"effort": word}),
        Some(Dose::Tokens(_)) | None => json!({}),
    };
    if summary {
        reasoning["summary"] = json!("auto");
    }
    reasoning
}

/// Thoughts that only the service can read.
const SEALED: &str = "encrypted reasoning";
/// Thoughts that people can read.
const SUMMARY: &str = "summaries of reasoning";

/// What was refused: sealed thoughts by models without any, summaries to accounts that have not
/// proved who they are.
pub fn refused(error: &ModelError) -> Option<&'static str> {
    let said = error.message.to_lowercase();
    let is = |words: &str| error.kind == ModelErrorKind::InvalidRequest && said.contains(words);
    if is("encrypted content is not supported") {
        Some(SEALED)
    } else if is("reasoning summar") || is("reasoning.summary") {
        Some(SUMMARY)
    } else {
        None
    }
}

/// Whether a model that the catalogue knows no thinking of may think all the same. Those that don't
/// refuse requests that ask for their sealed thoughts.
fn may_think(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let plain = ["gpt-3", "gpt-4", "chatgpt-"].iter().any(|head| name.starts_with(head));
    !plain && !name.contains("-chat")
}

/// Strictness would be turned on by default, and strict schemas allow no optional fields.
fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool_name(&tool.name),
        "description": tool.description,
        "parameters": tool_schema::parameters(&tool.schema),
        "strict": false,
    })
}

fn input(connection: &Connection, info: &ModelInfo, request: &Request) -> Vec<Value> {
    let me = connection.model_ref();
    let turns = history::turns(&request.messages, IdStyle::Word64, |_, block| match block {
        Block::Thinking { opaque, .. } => own(&me, opaque.as_ref()).is_some(),
        Block::Opaque(opaque) => own(&me, Some(opaque)).is_some(),
        Block::Image { .. } => false,
        Block::Text { .. } | Block::Call(_) => true,
    });
    let mut items = Vec::new();
    for turn in turns {
        match turn {
            Turn::Assistant(pieces) => answer(&pieces, &mut items),
            Turn::User { results, blocks } => {
                items.extend(results.iter().map(|result| output(result, info.vision)));
                let written = blocks.into_iter().map(|block| part(block, info.vision));
                say(&written.collect::<Vec<_>>(), &mut items);
            }
        }
    }
    let reminder = request.reminder.as_deref().filter(|words| !words.trim().is_empty());
    if let Some(reminder) = reminder {
        remind(reminder, &mut items);
    }
    items
}

/// What this very model made, and nobody else can read.
fn own<'a>(me: &ModelRef, opaque: Option<&'a Opaque>) -> Option<&'a Value> {
    let data = &opaque.filter(|opaque| opaque.model == *me)?.data;
    data.get("type").is_some().then_some(data)
}

/// The items of an answer in their order. Reasoning belongs to what follows it: what stands at the
/// end alone is refused, so it is left out.
fn answer(pieces: &[Piece<'_>], items: &mut Vec<Value>) {
    let start = items.len();
    let mut phase: Option<&Value> = None;
    for piece in pieces {
        match piece {
            Piece::Call { id, call } => items.push(json!({
                "type": "function_call",
                "call_id": id,
                "name": tool_name(&call.name),
                "arguments": Value::Object(call.args.clone()).to_string(),
            })),
            Piece::Block(Block::Text { text }) => {
                let mut message = json!({
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": text}],
                });
                if let Some(phase) = phase.take() {
                    message["phase"] = phase.clone();
                }
                items.push(message);
            }
            Piece::Block(Block::Opaque(opaque) | Block::Thinking { opaque: Some(opaque), .. }) => {
                if opaque.data["type"] == "message" {
                    phase = opaque.data.get("phase");
                } else {
                    items.push(opaque.data.clone());
                }
            }
            Piece::Block(_) => {}
        }
    }
    while items.len() > start && items.last().is_some_and(|item| item["type"] == "reasoning") {
        items.pop();
    }
}

fn output(result: &WireResult<'_>, vision: bool) -> Value {
    let output = result.message.map_or_else(|| json!(INTERRUPTED), |m| content(m, vision));
    json!({"type": "function_call_output", "call_id": result.id, "output": output})
}

/// Text where it is only text: every server takes that.
fn content(message: &ToolMessage, vision: bool) -> Value {
    let shown: Vec<&Block> = message.blocks.iter().filter(|block| !is_blank(block)).collect();
    let is_image = |block: &&Block| matches!(block, Block::Image { .. });
    if shown.is_empty() {
        return json!(NO_OUTPUT);
    }
    if vision && shown.iter().any(is_image) {
        return shown.into_iter().map(|block| part(block, vision)).collect();
    }
    let texts: Vec<String> = shown.into_iter().map(words).collect();
    json!(texts.join("\n\n"))
}

fn words(block: &Block) -> String {
    match block {
        Block::Text { text } | Block::Thinking { text, .. } => text.clone(),
        Block::Image { media_type, .. } => images::left_out(media_type),
        Block::Call(_) | Block::Opaque(_) => NO_OUTPUT.to_owned(),
    }
}

fn part(block: &Block, vision: bool) -> Value {
    match block {
        Block::Image { media_type, data } if vision && images::is_common(media_type) => {
            let url = format!("data:{media_type};base64,{data}");
            json!({"type": "input_image", "image_url": url, "detail": "auto"})
        }
        Block::Image { media_type, .. } => {
            json!({"type": "input_text", "text": images::in_words(media_type, vision)})
        }
        other => json!({"type": "input_text", "text": words(other)}),
    }
}

fn say(content: &[Value], items: &mut Vec<Value>) {
    if !content.is_empty() {
        items.push(json!({"type": "message", "role": "user", "content": content}));
    }
}

/// Adds the reminder after everything else: to the user's words when they are last.
fn remind(reminder: &str, items: &mut Vec<Value>) {
    let part = json!({"type": "input_text", "text": reminder});
    let last = items.last_mut().filter(|item| item["role"] == "user");
    match last.and_then(|item| item["content"].as_array_mut()) {
        Some(content) => content.push(part),
        None => say(&[part], items),
    }
}
