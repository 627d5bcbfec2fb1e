//! The mock service of the tests as a program, for clients that are not ours. It answers every
//! request by itself: with a call while tools are offered and no result has come, else with a text.
//! What a real service refuses is refused here too. It prints its address and runs until stdin ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Read, Write};

use mock_llm::{MockLlm, Recorded, Reply, anthropic, gemini, openai, responses};
use serde_json::{Value, json};

#[path = "../support/mock_llm/mod.rs"]
mod mock_llm;

const TEXT: &str = "Hello from the mock";

fn arguments() -> Value {
    json!({"path": "notes 你好.txt", "limit": 5})
}

fn main() {
    let mock = MockLlm::spawn_thread();
    mock.answers(answer);
    let mut out = std::io::stdout();
    writeln!(out, "{}", mock.base_url()).unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    for violation in mock.violations() {
        writeln!(out, "refused: {violation}").unwrap();
    }
}

fn answer(request: &Recorded) -> Reply {
    let body = &request.body;
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let said = body.to_string();
    let has_result = ["\"tool_result\"", "\"role\":\"tool\"", "_call_output\"", "functionResponse"]
        .iter()
        .any(|mark| said.contains(mark));
    let calls = has_tools && !has_result;
    let streams = body["stream"] == true || request.path.contains(":streamGenerateContent");
    let path = request.path.split('?').next().unwrap_or_default();
    match path.rsplit('/').next().unwrap_or_default() {
        "messages" => messages(calls, streams),
        "completions" => completions(calls, streams),
        "responses" => items(calls, streams),
        _ => contents(calls, streams),
    }
}

fn messages(calls: bool, streams: bool) -> Reply {
    if streams {
        let words = anthropic::text_block(1, TEXT);
        let mut thought = anthropic::thinking_block(0, "Let me see.", "");
        // In one piece, as the service sends it: its client keeps only the last one.
        let signature = json!({"type": "signature_delta", "signature": "c2lnbmVk"});
        thought.insert(2, anthropic::block_delta(0, &signature));
        thought.drain(3..5);
        let call = anthropic::tool_block(2, "toolu_1", "read", &arguments());
        return if calls {
            anthropic::answer([thought, words, call], "tool_use")
        } else {
            anthropic::answer([thought, words], "end_turn")
        };
    }
    let mut message = anthropic::message_start(25)["message"].take();
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": arguments()});
    let text = json!({"type": "text", "text": TEXT});
    message["content"] = if calls { json!([text, call]) } else { json!([text]) };
    message["stop_reason"] = json!(if calls { "tool_use" } else { "end_turn" });
    message["usage"]["output_tokens"] = json!(12);
    Reply::json(200, &message)
}

fn completions(calls: bool, streams: bool) -> Reply {
    if streams && calls {
        return openai::tool("call_1", "read", &arguments());
    }
    if streams {
        return openai::text(TEXT);
    }
    let function = json!({"name": "read", "arguments": arguments().to_string()});
    let message = if calls {
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": function}]})
    } else {
        json!({"role": "assistant", "content": TEXT})
    };
    let reason = if calls { "tool_calls" } else { "stop" };
    let mut whole = openai::usage(25, 0, 12);
    whole["object"] = json!("chat.completion");
    whole["choices"] = json!([{"index": 0, "message": message, "finish_reason": reason}]);
    Reply::json(200, &whole)
}

fn items(calls: bool, streams: bool) -> Reply {
    let mut items = vec![responses::reasoning("rs_1", "Let me see.", "c2VhbA")];
    items.push(if calls {
        responses::call("fc_1", "call_1", "read", &arguments())
    } else {
        responses::message("msg_1", TEXT)
    });
    if streams {
        responses::answer(&items)
    } else {
        Reply::json(200, &responses::response("completed", &items))
    }
}

fn contents(calls: bool, streams: bool) -> Reply {
    let call = gemini::signed(gemini::call_part("read", &arguments()), "c2ln");
    if streams {
        return if calls { gemini::answer([call], "STOP") } else { gemini::text(TEXT) };
    }
    let part = if calls { call } else { gemini::text_part(TEXT) };
    Reply::json(200, &gemini::last(&json!([part]), "STOP"))
}
