//! Requests in the responses format: what goes out, and what goes back to its maker.

use std::collections::HashMap;

use codebot::config::schema::{Dose, ModelConfig};
use codebot::kernel::message::{Block, Message, ModelRef, Opaque, Origin};
use codebot::kernel::ports::{Effort, Request, ToolChoice};
use codebot::model::connect_with;
use serde_json::{Value, json};

use super::mock_llm::responses::{
    added, answer as reply, begun, call as call_item, ended, events, message, reasoning, text,
};
use super::mock_llm::{MockLlm, anthropic};
use super::support::{
    CLAUDE, RESPONSES, ask, assistant, assistant_by, call, connection, full_request, model, quick,
    request, result, result_blocks, user, user_blocks,
};

/// The body of a request, taken by the strict service.
async fn sent(reference: &str, request: Request, overrides: ModelConfig) -> Value {
    let mock = MockLlm::start().await;
    mock.push(text("ok"));
    let mut connection = connection(&mock, reference);
    connection.overrides = overrides;
    assert_eq!(ask(&connect_with(connection, quick()), request).await.error, None);
    assert_eq!(mock.violations(), Vec::<String>::new());
    mock.bodies().remove(0)
}

async fn body(request: Request) -> Value {
    sent(RESPONSES, request, ModelConfig::default()).await
}

async fn input(messages: Vec<Message>) -> Value {
    body(request(messages)).await["input"].take()
}

fn own(data: Value) -> Opaque {
    Opaque { model: ModelRef { provider: "openai-responses".into(), model: "gpt-5".into() }, data }
}

fn sealed(id: &str) -> Value {
    reasoning(id, "", "c2VhbA")
}

#[tokio::test]
async fn nothing_is_stored_and_everything_is_named() {
    let body = body(full_request(vec![user("go")])).await;
    assert_eq!(body["store"], false);
    assert_eq!(body["stream"], true);
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(body["prompt_cache_key"], "session-1");
    assert_eq!(body["instructions"], "You are codebot.\n\nToday's chat.");
    assert_eq!(body["max_output_tokens"], 128_000);
    assert_eq!(body["tools"][0]["name"], "read");
    assert_eq!(body["tools"][0]["strict"], false);
    assert_eq!(body.get("tool_choice"), None);
    let none = Request { tool_choice: ToolChoice::None, ..full_request(vec![user("go")]) };
    assert_eq!(self::body(none).await["tool_choice"], "none");
}

#[tokio::test]
async fn the_effort_is_a_word() {
    let mut words = Vec::new();
    for effort in Effort::ALL {
        let request = Request { effort: Some(effort), ..request(vec![user("go")]) };
        words.push(body(request).await["reasoning"].take());
    }
    let of = |word: &str| json!({"effort": word, "summary": "auto"});
    assert_eq!(words, ["minimal", "low", "medium", "high", "high"].map(of));
    let asked = body(request(vec![user("go")])).await;
    assert_eq!(asked["reasoning"], json!({"summary": "auto"}));
    let off = Request { effort: Some(Effort::Off), ..request(vec![user("go")]) };
    let body = sent("openai-responses/gpt-5.1", off, ModelConfig::default()).await;
    assert_eq!(body["reasoning"], json!({"effort": "none"}));
}

/// Models that don't think refuse requests that ask for their thoughts; unknown ones may think.
#[tokio::test]
async fn thoughts_are_asked_for_where_there_may_be_some() {
    let go = || request(vec![user("go")]);
    let plain = sent("openai-responses/gpt-4o", go(), ModelConfig::default()).await;
    assert_eq!((plain.get("include"), plain.get("reasoning")), (None, None));
    let unknown = sent("openai-responses/unheard-of", go(), ModelConfig::default()).await;
    assert!(unknown.get("include").is_some() && unknown.get("reasoning").is_none(), "{unknown}");
    let taught =
        ModelConfig { thinking: Some(vec![Dose::Word("low".into())]), ..ModelConfig::default() };
    let taught = sent("openai-responses/gpt-4o", go(), taught).await;
    assert!(taught.get("include").is_some() && taught.get("reasoning").is_some(), "{taught}");
}

/// A service that refuses something a request can do without is asked again without it, and from
/// then on it is not wished for any more.
#[tokio::test]
async fn what_is_refused_is_left_out() {
    for (plain_model, no_summaries, asked) in [(true, false, 3), (false, true, 3), (true, true, 4)]
    {
        let mock = MockLlm::start().await;
        mock.push(text("ok")).push(text("ok"));
        mock.rules(|rules| {
            (rules.plain_model, rules.no_summaries) = (plain_model, no_summaries);
        });
        let model = model(&mock, RESPONSES);
        for _ in 0..2 {
            assert_eq!(ask(&model, request(vec![user("go")])).await.error, None);
        }
        let bodies = mock.bodies();
        assert_eq!(bodies.len(), asked);
        let last = bodies.last().unwrap();
        assert_eq!(last.get("include").is_none(), plain_model);
        assert_eq!(last["reasoning"].get("summary").is_none(), no_summaries);
    }
}

/// Case A47, the way back: a result names the call, not the item.
#[tokio::test]
async fn results_answer_calls() {
    let mock = MockLlm::start().await;
    let read = |id: &str, call: &str| call_item(id, call, "read", &json!({"path": id}));
    mock.push(reply(&[read("fc_1", "c_9"), read("fc_2", "c_8")])).push(text("ok"));
    let model = model(&mock, RESPONSES);
    let first = ask(&model, request(vec![user("go")])).await;
    let history =
        vec![user("go"), first.message(RESPONSES), result("c_8", "two"), result("c_9", "one")];
    assert_eq!(ask(&model, request(history)).await.error, None);
    let input = mock.bodies()[1]["input"].take();
    assert_eq!(input[1]["call_id"], "c_9");
    assert_eq!(
        input[3],
        json!({"type": "function_call_output", "call_id": "c_9",
        "output": "one"})
    );
    assert_eq!(input[4]["call_id"], "c_8");
}

/// Case A48: thoughts go back unchanged, in their order, before what came of them.
#[tokio::test]
async fn sealed_thoughts_go_back_in_their_order() {
    let mock = MockLlm::start().await;
    let thoughts = [sealed("rs_1"), reasoning("rs_2", "Plan. ", "c2VhbDI")];
    let items = [
        thoughts[0].clone(),
        message("msg_1", "I look."),
        thoughts[1].clone(),
        call_item("fc_1", "c_1", "ls", &json!({})),
    ];
    mock.push(reply(&items)).push(text("ok"));
    let issued = ["c2VhbA", "c2VhbDI"].into_iter().zip(&thoughts);
    let issued = issued.map(|(sealed, item)| (sealed.to_owned(), item.to_string()));
    let issued: HashMap<String, String> = issued.collect();
    mock.rules(|rules| rules.signatures = Some(issued));
    let model = model(&mock, RESPONSES);
    let first = ask(&model, request(vec![user("go")])).await;
    let history = vec![user("go"), first.message(RESPONSES), result("c_1", "a.txt")];
    assert_eq!(ask(&model, request(history)).await.error, None);
    assert_eq!(mock.violations(), Vec::<String>::new());
    let input = mock.bodies()[1]["input"].take();
    assert_eq!((&input[1], &input[3]), (&thoughts[0], &thoughts[1]));
    assert_eq!(input[1]["summary"], json!([]));
}

/// Case A48: thoughts at which an answer broke off belong to nothing and are left out.
#[tokio::test]
async fn orphaned_thoughts_are_left_out() {
    let mock = MockLlm::start().await;
    let mut begun = begun();
    begun.extend([added(0, &sealed("rs_1")), ended(0, &sealed("rs_1"))]);
    mock.push(events(begun)).push(text("ok"));
    let model = model(&mock, RESPONSES);
    let broken = ask(&model, request(vec![user("go")])).await;
    assert!(broken.error.is_some() && broken.blocks.len() == 1, "{broken:?}");
    let history = vec![user("go"), broken.message(RESPONSES), user("again")];
    assert_eq!(ask(&model, request(history)).await.error, None);
    // After a call that had been made: only the thought after it goes.
    let thought = |id: &str| Block::Opaque(own(sealed(id)));
    let blocks = vec![thought("rs_1"), call("c_1", "ls", json!({})), thought("rs_2")];
    let answer = assistant_by("openai-responses", "gpt-5", blocks);
    let input = input(vec![user("go"), answer, result("c_1", "a")]).await;
    let kinds: Vec<&Value> = input.as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["message", "reasoning", "function_call", "function_call_output"]);
}

/// Cases B16 and B17: what another model sealed stays at home, its words go along.
#[tokio::test]
async fn thoughts_of_others_stay_at_home() {
    let signature = Opaque {
        model: ModelRef { provider: "anthropic".into(), model: "claude-sonnet-4-5".into() },
        data: json!({"type": "thinking", "signature": "c2ln"}),
    };
    let of_claude = Block::Thinking { text: "Hm.".into(), opaque: Some(signature) };
    let theirs = assistant(vec![of_claude, Block::text("Claude says.")]);
    let mine = Block::Opaque(own(sealed("rs_1")));
    let ours = assistant_by("openai-responses", "gpt-5", vec![mine, Block::text("I say.")]);
    let history = vec![user("a"), theirs, user("b"), ours, user("c")];
    let input = input(history.clone()).await;
    assert_eq!(input.as_array().unwrap().len(), 6, "{input}");
    assert_eq!(input[3], sealed("rs_1"));
    let other =
        sent("openai-responses/gpt-5-mini", request(history.clone()), ModelConfig::default());
    assert_eq!(other.await["input"].as_array().unwrap().len(), 5, "another model of the same");
    let mock = MockLlm::start().await;
    mock.push(anthropic::text("ok"));
    assert_eq!(ask(&model(&mock, CLAUDE), request(history)).await.error, None);
    let sent = mock.bodies()[0].to_string();
    assert!(sent.contains("c2ln") && !sent.contains("c2VhbA"), "{sent}");
}

#[tokio::test]
async fn the_phase_of_a_message_goes_back() {
    let mock = MockLlm::start().await;
    let mut words = message("msg_1", "I look.");
    words["phase"] = json!("commentary");
    mock.push(reply(&[words, call_item("fc_1", "c_1", "ls", &json!({}))])).push(text("ok"));
    let model = model(&mock, RESPONSES);
    let first = ask(&model, request(vec![user("go")])).await;
    let history = vec![user("go"), first.message(RESPONSES), result("c_1", "a.txt")];
    assert_eq!(ask(&model, request(history)).await.error, None);
    assert_eq!(mock.violations(), Vec::<String>::new());
    let input = mock.bodies()[1]["input"].take();
    assert_eq!(
        input[1],
        json!({"type": "message", "role": "assistant", "phase": "commentary",
        "content": [{"type": "output_text", "text": "I look."}]})
    );
}

#[tokio::test]
async fn pictures_go_along_also_in_results() {
    let picture = || Block::Image { media_type: "image/png".into(), data: "aGk=".into() };
    let history = vec![
        user_blocks(Origin::Prompt, vec![Block::text("look"), picture()]),
        assistant_by("openai", "gpt-4o", vec![call("c_1", "read", json!({}))]),
        result_blocks("c_1", codebot::kernel::message::CallStatus::Ok, vec![picture()]),
    ];
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,aGk=",
        "detail": "auto"});
    let sees = input(history.clone()).await;
    assert_eq!((&sees[0]["content"][1], &sees[2]["output"][0]), (&image, &image));
    let blind = ModelConfig { vision: Some(false), ..ModelConfig::default() };
    let blind = sent(RESPONSES, request(history), blind).await["input"].take();
    assert!(blind[2]["output"].is_string() && blind[0]["content"][1]["type"] == "input_text");
}

#[tokio::test]
async fn a_reminder_stands_last() {
    let reminder = Some("Mind the time.".to_owned());
    let after_words = Request { reminder, ..request(vec![user("go")]) };
    let words = body(after_words.clone()).await["input"].take();
    assert_eq!(words[0]["content"][1]["text"], "Mind the time.");
    let history = vec![user("go"), assistant(vec![call("c", "ls", json!({}))]), result("c", "")];
    let after_result = Request { reminder: after_words.reminder, ..request(history) };
    let input = body(after_result).await["input"].take();
    assert_eq!(input[2]["output"], "(no output)");
    assert_eq!(input[3]["content"][0]["text"], "Mind the time.");
}
