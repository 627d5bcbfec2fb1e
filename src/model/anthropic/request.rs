//! From a kernel request to the body of a messages call. The same request gives the same bytes.

use serde_json::{Map, Value, json};

use crate::config::schema::Dose;
use crate::kernel::message::{AssistantMessage, Block, ModelRef, ToolMessage};
use crate::kernel::ports::{Request, ToolChoice};

use super::super::adapter::Question;
use super::super::history::{self, INTERRUPTED, NO_OUTPUT, Piece, Turn, WireResult, is_blank};
use super::super::wire_ids::{IdStyle, tool_name};
use super::super::{effort, images, tool_schema};

/// The body, ready to send.
pub fn body(question: &Question<'_>) -> Vec<u8> {
    let Question { connection, info, request, streams, .. } = *question;
    let me = connection.model_ref();
    let turns = history::turns(&request.messages, IdStyle::Word64, |answer, block| {
        replayable(&me, answer, block)
    });
    let mut messages: Vec<Value> =
        turns.into_iter().map(|turn| message(turn, info.vision)).collect();
    trim_open_answer(&mut messages);
    let mut system = system(request);
    let mut tools = tools(request);
    mark(&mut messages, &mut system, &mut tools, request);
    remind(&mut messages, request.reminder.as_deref());
    let mut body = Map::new();
    body.insert("model".into(), json!(connection.model));
    body.insert("max_tokens".into(), json!(info.max_output));
    body.insert("stream".into(), json!(streams));
    if !system.is_empty() {
        body.insert("system".into(), Value::Array(system));
    }
    if !tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools));
        if request.tool_choice == ToolChoice::None {
            body.insert("tool_choice".into(), json!({"type": "none"}));
        }
    }
    if let Some(dose) = effort::dose(connection, request.effort) {
        think(&mut body, &dose, &messages, info.max_output);
    }
    body.insert("messages".into(), Value::Array(messages));
    Value::Object(body).to_string().into_bytes()
}

/// Least tokens of thinking that the service takes, and what must be left for the answer.
const MIN_BUDGET: u64 = 1024;

/// Says how hard to think: a budget in tokens for older models, a word for those that decide
/// themselves how much a question needs.
fn think(body: &mut Map<String, Value>, dose: &Dose, messages: &[Value], max_output: u64) {
    let thinking = match dose {
        dose if effort::is_off(dose) => json!({"type": "disabled"}),
        Dose::Tokens(tokens) => {
            let most = max_output.saturating_sub(MIN_BUDGET);
            if most < MIN_BUDGET || answers_without_thought(messages) {
                return;
            }
            let budget = (*tokens).clamp(MIN_BUDGET, most);
            json!({"type": "enabled", "budget_tokens": budget})
        }
        Dose::Word(word) => {
            body.insert("output_config".into(), json!({"effort": word}));
            json!({"type": "adaptive"})
        }
    };
    body.insert("thinking".into(), thinking);
}

/// Whether the round of calls that is being answered began without thinking. With a budget the
/// service wants the thoughts of such a round back, and there are none.
fn answers_without_thought(messages: &[Value]) -> bool {
    let last = messages.iter().rfind(|message| message["role"] == "assistant");
    let is_answered = messages.last().is_some_and(|message| {
        message["content"][0]["type"] == "tool_result" || message["role"] == "assistant"
    });
    let begins_with_thought = last.is_some_and(|message| is_thought(&message["content"][0]));
    is_answered && !begins_with_thought
}

/// Signed and redacted thinking goes back only to the model that made it.
fn replayable(me: &ModelRef, _answer: &AssistantMessage, block: &Block) -> bool {
    match block {
        Block::Thinking { opaque: Some(opaque), .. } => {
            opaque.model == *me && opaque.data.get("signature").is_some()
        }
        Block::Opaque(opaque) => opaque.model == *me && opaque.data.get("type").is_some(),
        Block::Thinking { .. } | Block::Image { .. } => false,
        Block::Text { .. } | Block::Call(_) => true,
    }
}

fn message(turn: Turn<'_>, vision: bool) -> Value {
    match turn {
        Turn::User { results, blocks } => {
            let mut content: Vec<Value> =
                results.iter().map(|result| tool_result(result, vision)).collect();
            content.extend(blocks.into_iter().map(|block| user_block(block, vision)));
            json!({"role": "user", "content": content})
        }
        Turn::Assistant(pieces) => {
            let mut content: Vec<Value> = pieces.iter().map(assistant_block).collect();
            // Thoughts at which an answer broke off: no message may end in some.
            while content.last().is_some_and(is_thought) {
                content.pop();
            }
            json!({"role": "assistant", "content": content})
        }
    }
}

fn is_thought(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn user_block(block: &Block, vision: bool) -> Value {
    match block {
        Block::Image { media_type, data } if vision && images::is_common(media_type) => json!({
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": data},
        }),
        Block::Image { media_type, .. } => text(&images::in_words(media_type, vision)),
        Block::Text { text: words } | Block::Thinking { text: words, .. } => text(words),
        Block::Call(_) | Block::Opaque(_) => text(NO_OUTPUT),
    }
}

fn tool_result(result: &WireResult<'_>, vision: bool) -> Value {
    let content = result.message.map_or_else(|| vec![text(INTERRUPTED)], |m| output(m, vision));
    // A failure may hold text only; the text says that it failed.
    let is_text = content.iter().all(|part| part["type"] == "text");
    let mut value = json!({"type": "tool_result", "tool_use_id": result.id, "content": content});
    if result.is_error() && is_text {
        value["is_error"] = json!(true);
    }
    value
}

fn output(message: &ToolMessage, vision: bool) -> Vec<Value> {
    let shown = message.blocks.iter().filter(|block| !is_blank(block));
    let content: Vec<Value> = shown.map(|block| user_block(block, vision)).collect();
    if content.is_empty() { vec![text(NO_OUTPUT)] } else { content }
}

fn assistant_block(piece: &Piece<'_>) -> Value {
    let block = match piece {
        Piece::Call { id, call } => {
            let name = tool_name(&call.name);
            return json!({"type": "tool_use", "id": id, "name": name, "input": call.args});
        }
        Piece::Block(block) => *block,
    };
    match block {
        Block::Thinking { text, opaque: Some(opaque) } => json!({
            "type": "thinking",
            "thinking": text,
            "signature": opaque.data["signature"],
        }),
        Block::Opaque(opaque) if opaque.data["type"] == "thinking" => json!({
            "type": "thinking",
            "thinking": opaque.data.get("thinking").cloned().unwrap_or_else(|| json!("")),
            "signature": opaque.data["signature"],
        }),
        Block::Opaque(opaque) => opaque.data.clone(),
        other => user_block(other, false),
    }
}

/// An answer at the very end (a paused turn that goes on) may not end in blanks.
fn trim_open_answer(messages: &mut [Value]) {
    let Some(last) = messages.last_mut().filter(|message| message["role"] == "assistant") else {
        return;
    };
    let block = last["content"].as_array_mut().and_then(|content| content.last_mut());
    if let Some(Value::String(text)) = block.and_then(|block| block.get_mut("text")) {
        text.truncate(text.trim_end().len());
    }
}

fn system(request: &Request) -> Vec<Value> {
    let blocks = request.system.iter().filter(|block| !block.text.trim().is_empty());
    blocks.map(|block| text(&block.text)).collect()
}

fn tools(request: &Request) -> Vec<Value> {
    let tool = |tool: &crate::kernel::ports::ToolSpec| {
        json!({
            "name": tool_name(&tool.name),
            "description": tool.description,
            "input_schema": tool_schema::parameters(&tool.schema),
        })
    };
    request.tools.iter().map(tool).collect()
}

/// Adds the reminder after everything else. Behind the cache marks, so that the prefix of the next
/// request is the same without it.
fn remind(messages: &mut Vec<Value>, reminder: Option<&str>) {
    let Some(reminder) = reminder.filter(|words| !words.trim().is_empty()) else { return };
    let last = messages.last_mut().filter(|message| message["role"] == "user");
    match last.and_then(|message| message["content"].as_array_mut()) {
        Some(content) => content.push(text(reminder)),
        None => messages.push(json!({"role": "user", "content": [text(reminder)]})),
    }
}

/// Sets at most four cache marks: the last message, the stable system block, the last message of
/// the previous call, the last tool. What is left goes to further system blocks.
fn mark(messages: &mut [Value], system: &mut [Value], tools: &mut [Value], request: &Request) {
    let written = request.system.iter().filter(|block| !block.text.trim().is_empty());
    let cached: Vec<usize> =
        written.enumerate().filter(|(_, block)| block.cache).map(|(at, _)| at).collect();
    let last = messages.len().checked_sub(1);
    let users: Vec<usize> =
        (0..messages.len()).filter(|at| messages[*at]["role"] == "user").collect();
    let previous = users.into_iter().rev().find(|at| Some(*at) != last);
    let mut left = 4;
    for at in [last, previous].into_iter().flatten() {
        left -= usize::from(mark_message(&mut messages[at]));
    }
    if let Some(at) = cached.first() {
        system[*at]["cache_control"] = ephemeral();
        left -= 1;
    }
    if let Some(tool) = tools.last_mut() {
        tool["cache_control"] = ephemeral();
        left -= 1;
    }
    for at in cached.into_iter().skip(1).take(left) {
        system[at]["cache_control"] = ephemeral();
    }
}

fn ephemeral() -> Value {
    json!({"type": "ephemeral"})
}

/// Marks the last block that may carry a mark; thinking may not.
fn mark_message(message: &mut Value) -> bool {
    let content = message["content"].as_array_mut();
    let takes = |block: &&mut Value| !is_thought(block);
    let block = content.and_then(|content| content.iter_mut().rev().find(takes));
    block.map(|block| block["cache_control"] = ephemeral()).is_some()
}
