//! From a kernel request to the body of a generateContent call. The same request gives the same
//! bytes.

use serde_json::{Map, Value, json};

use crate::config::schema::Dose;
use crate::kernel::message::{AssistantMessage, Block, ModelRef, Opaque, ToolMessage};
use crate::kernel::ports::{ModelInfo, Request, ToolChoice, ToolSpec};

use super::super::adapter::Question;
use super::super::connection::Connection;
use super::super::history::{self, INTERRUPTED, NO_OUTPUT, Piece, Turn, WireResult, is_blank};
use super::super::wire_ids::{IdStyle, tool_name};
use super::super::{effort, images};
use super::schema;

/// Stands for the signature of a call that another model made; the service documents it for
/// histories that it did not write.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The body, ready to send. Whether the answer streams is said by the path alone.
pub fn body(question: &Question<'_>) -> Vec<u8> {
    let Question { connection, info, request, .. } = *question;
    let me = connection.model_ref();
    let turns = history::turns(&request.messages, IdStyle::Word64, |answer, block| {
        replayable(&me, answer, block)
    });
    let mut contents = contents(turns, &me, info.vision);
    if wants_signatures(&connection.model) {
        fill_signatures(&mut contents);
    }
    remind(&mut contents, request.reminder.as_deref());
    let mut body = Map::new();
    let system: Vec<Value> = request
        .system
        .iter()
        .filter(|block| !block.text.trim().is_empty())
        .map(|block| json!({"text": block.text}))
        .collect();
    if !system.is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": system}));
    }
    if !request.tools.is_empty() {
        let functions: Vec<Value> = request.tools.iter().map(function).collect();
        body.insert("tools".into(), json!([{"functionDeclarations": functions}]));
        if request.tool_choice == ToolChoice::None {
            let none = json!({"functionCallingConfig": {"mode": "NONE"}});
            body.insert("toolConfig".into(), none);
        }
    }
    body.insert("contents".into(), Value::Array(contents));
    body.insert("generationConfig".into(), generation(connection, info, request));
    Value::Object(body).to_string().into_bytes()
}

fn function(tool: &ToolSpec) -> Value {
    let mut function = json!({"name": tool_name(&tool.name), "description": tool.description});
    if let Some(parameters) = schema::parameters(&tool.schema) {
        function["parameters"] = parameters;
    }
    function
}

/// Output cap, and thoughts where the model is known to have some: others refuse the wish.
fn generation(connection: &Connection, info: &ModelInfo, request: &Request) -> Value {
    let mut config = json!({"maxOutputTokens": info.max_output});
    let doses = effort::doses(connection);
    if doses.is_empty() {
        return config;
    }
    let dose = request.effort.and_then(|effort| effort::pick(&doses, effort));
    let shown = dose.as_ref().is_none_or(|dose| !effort::is_off(dose));
    let mut thinking = json!({"includeThoughts": shown});
    match dose {
        Some(Dose::Tokens(tokens)) => thinking["thinkingBudget"] = json!(tokens),
        Some(Dose::Word(word)) => thinking["thinkingLevel"] = json!(word),
        None => {}
    }
    config["thinkingConfig"] = thinking;
    config
}

/// Signed thoughts and signatures of texts go back only to the model that made them.
fn replayable(me: &ModelRef, _answer: &AssistantMessage, block: &Block) -> bool {
    match block {
        Block::Thinking { opaque: Some(opaque), .. } | Block::Opaque(opaque) => {
            signature(me, Some(opaque)).is_some()
        }
        Block::Thinking { .. } | Block::Image { .. } => false,
        Block::Text { .. } | Block::Call(_) => true,
    }
}

/// A signature of this very model.
fn signature<'a>(me: &ModelRef, opaque: Option<&'a Opaque>) -> Option<&'a Value> {
    let data = &opaque.filter(|opaque| opaque.model == *me)?.data;
    data.get("thoughtSignature").filter(|signature| signature.is_string())
}

/// A call that waits for its response: its wire id, its name, and the service's own id.
type OpenCall = (String, String, Option<Value>);

fn contents(turns: Vec<Turn<'_>>, me: &ModelRef, vision: bool) -> Vec<Value> {
    let mut open: Vec<OpenCall> = Vec::new();
    let mut contents = Vec::new();
    for turn in turns {
        let (role, parts) = match turn {
            Turn::Assistant(pieces) => ("model", answer(&pieces, me, &mut open)),
            Turn::User { results, blocks } => {
                ("user", user(&results, &blocks, vision, &std::mem::take(&mut open)))
            }
        };
        contents.push(json!({"role": role, "parts": parts}));
    }
    contents
}

fn answer(pieces: &[Piece<'_>], me: &ModelRef, open: &mut Vec<OpenCall>) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Call { id, call } => {
                let own = call.opaque.as_ref().filter(|opaque| opaque.model == *me);
                let given = own.and_then(|opaque| opaque.data.get("id")).cloned();
                let name = tool_name(&call.name);
                let mut part = json!({"functionCall": {"name": name, "args": call.args}});
                if let Some(given) = &given {
                    part["functionCall"]["id"] = given.clone();
                }
                if let Some(signature) = signature(me, own) {
                    part["thoughtSignature"] = signature.clone();
                }
                parts.push(part);
                open.push((id.clone(), name, given));
            }
            Piece::Block(Block::Thinking { text, opaque }) => {
                if let Some(signature) = signature(me, opaque.as_ref()) {
                    parts.push(
                        json!({"thought": true, "text": text, "thoughtSignature": signature}),
                    );
                }
            }
            Piece::Block(Block::Opaque(opaque)) => sign_text(&mut parts, opaque),
            Piece::Block(Block::Text { text }) => parts.push(json!({"text": text})),
            Piece::Block(Block::Image { .. } | Block::Call(_)) => {}
        }
    }
    parts
}

/// Puts the signature of a text back onto the very part that carried it: the last `covers` bytes of
/// the text before it, or an empty text of its own.
fn sign_text(parts: &mut Vec<Value>, opaque: &Opaque) {
    if opaque.data["thought"] == true {
        let signature = &opaque.data["thoughtSignature"];
        parts.push(json!({"thought": true, "text": "", "thoughtSignature": signature}));
        return;
    }
    let covers = opaque.data["covers"].as_u64().and_then(|bytes| usize::try_from(bytes).ok());
    let open = parts.last_mut().filter(|part| part.get("thoughtSignature").is_none());
    let before = match open.and_then(|part| part.get_mut("text")) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let mut signed = String::new();
    if let (Some(text), Some(covers)) = (before, covers) {
        let at = text.len().checked_sub(covers).filter(|at| text.is_char_boundary(*at));
        signed = at.map(|at| text.split_off(at)).unwrap_or_default();
        if text.is_empty() {
            parts.pop();
        }
    }
    parts.push(json!({"text": signed, "thoughtSignature": opaque.data["thoughtSignature"]}));
}

/// As many responses as calls, in their order, before everything else; pictures in results follow
/// them, since a response is text only.
fn user(
    results: &[WireResult<'_>],
    blocks: &[&Block],
    vision: bool,
    open: &[OpenCall],
) -> Vec<Value> {
    let mut parts: Vec<Value> =
        results.iter().map(|result| response(result, vision, open)).collect();
    let shown = results.iter().filter_map(|result| result.message).flat_map(|m| &m.blocks);
    let pictures = shown.filter(|block| vision && matches!(block, Block::Image { .. }));
    parts.extend(pictures.chain(blocks.iter().copied()).map(|block| part(block, vision)));
    parts
}

fn response(result: &WireResult<'_>, vision: bool, open: &[OpenCall]) -> Value {
    let call = open.iter().find(|(id, ..)| *id == result.id);
    let name = call.map_or("unknown", |(_, name, _)| name);
    let text = result.message.map_or_else(|| INTERRUPTED.to_owned(), |m| output(m, vision));
    let key = if result.is_error() { "error" } else { "output" };
    let mut response = json!({"name": name, "response": {key: text}});
    if let Some((_, _, Some(given))) = call {
        response["id"] = given.clone();
    }
    json!({"functionResponse": response})
}

fn output(message: &ToolMessage, vision: bool) -> String {
    let words: Vec<String> = message
        .blocks
        .iter()
        .filter(|block| !is_blank(block))
        .filter_map(|block| match block {
            Block::Text { text } | Block::Thinking { text, .. } => Some(text.clone()),
            Block::Image { media_type, .. } => (!vision).then(|| images::left_out(media_type)),
            Block::Call(_) | Block::Opaque(_) => None,
        })
        .collect();
    if words.is_empty() { NO_OUTPUT.to_owned() } else { words.join("\n\n") }
}

fn part(block: &Block, vision: bool) -> Value {
    match block {
        Block::Image { media_type, data } if vision && takes(media_type) => {
            json!({"inlineData": {"mimeType": media_type, "data": data}})
        }
        Block::Image { media_type, .. } if vision => {
            json!({"text": images::not_taken(media_type)})
        }
        Block::Image { media_type, .. } => json!({"text": images::left_out(media_type)}),
        Block::Text { text } | Block::Thinking { text, .. } => json!({"text": text}),
        Block::Call(_) | Block::Opaque(_) => json!({"text": NO_OUTPUT}),
    }
}

/// Kinds of pictures the service reads.
fn takes(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/webp" | "image/heic" | "image/heif")
}

/// Whether calls of the current turn are refused without a signature: from the third generation on.
fn wants_signatures(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let version = name.strip_prefix("gemini-").unwrap_or_default();
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u32>().is_ok_and(|generation| generation >= 3)
}

/// Only the first call of each step of the current turn needs a signature, and only if it has none
/// (another model made it). The turn began with the last thing that was written.
fn fill_signatures(contents: &mut [Value]) {
    let is_response = |content: &Value| content["parts"][0].get("functionResponse").is_some();
    let start = contents
        .iter()
        .rposition(|content| content["role"] == "user" && !is_response(content))
        .unwrap_or(0);
    for content in contents.iter_mut().skip(start).filter(|content| content["role"] == "model") {
        let parts = content["parts"].as_array_mut();
        let call = parts
            .and_then(|parts| parts.iter_mut().find(|part| part.get("functionCall").is_some()));
        if let Some(call) = call.filter(|call| call.get("thoughtSignature").is_none()) {
            call["thoughtSignature"] = json!(NO_SIGNATURE);
        }
    }
}

/// Adds the reminder after everything else.
fn remind(contents: &mut Vec<Value>, reminder: Option<&str>) {
    let Some(reminder) = reminder.filter(|words| !words.trim().is_empty()) else { return };
    let last = contents.last_mut().filter(|content| content["role"] == "user");
    match last.and_then(|content| content["parts"].as_array_mut()) {
        Some(parts) => parts.push(json!({"text": reminder})),
        None => contents.push(json!({"role": "user", "parts": [{"text": reminder}]})),
    }
}
