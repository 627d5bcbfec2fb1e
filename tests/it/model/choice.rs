//! Models that can be chosen: the place they speak from, what services say they offer, keys that are
//! tried, and the window that a local server really gives.

use std::sync::Arc;

use codebot::app::served;
use codebot::kernel::error::ModelErrorKind;
use codebot::kernel::ports::{Effort, Model, Request, in_force};
use codebot::model::offered::{KeyCheck, check_key, offered};
use codebot::model::probe::window_of;
use codebot::model::switch::Switch;
use serde_json::json;

use super::mock_llm::{MockLlm, Reply, anthropic, openai};
use super::support::*;

#[tokio::test]
async fn a_place_asks_whoever_is_in_it_and_gives_the_effort_along() {
    let (first, second) = (MockLlm::start().await, MockLlm::start().await);
    first.push(anthropic::text("one"));
    second.push(openai::text("two"));
    let place = Arc::new(Switch::new(Some(model(&first, CLAUDE)), None));
    let dynamic: Arc<dyn Model> = place.clone();
    let held = in_force(&dynamic).unwrap();
    place.set_model(Some(model(&second, "openai/gpt-5")));
    place.set_effort(Some(Effort::High));
    assert_eq!(dynamic.info().model.to_string(), "openai/gpt-5");
    // Whoever began a request makes it whole.
    let answer = ask(&held, request(vec![user("hi")])).await;
    assert_eq!(answer.text(), "one");
    assert!(first.bodies()[0].get("thinking").is_none());
    let now = in_force(&dynamic).unwrap();
    assert_eq!(ask(&now, request(vec![user("hi")])).await.text(), "two");
    assert_eq!(second.bodies()[0]["reasoning_effort"], "high");
    place.set_model(None);
    assert!(in_force(&dynamic).is_none());
    let error = dynamic.stream(Request::default()).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::InvalidRequest);
    assert!(error.message.contains("/model"), "{}", error.message);
}

/// The request itself comes first: a summary or an agent may think less.
#[tokio::test]
async fn an_effort_in_the_request_wins_over_the_one_of_the_place() {
    let mock = MockLlm::start().await;
    mock.push(openai::text("two"));
    let place: Arc<dyn Model> =
        Arc::new(Switch::new(Some(model(&mock, "openai/gpt-5")), Some(Effort::High)));
    let low = Request { effort: Some(Effort::Low), ..request(vec![user("hi")]) };
    ask(&in_force(&place).unwrap(), low).await;
    assert_eq!(mock.bodies()[0]["reasoning_effort"], "low");
}

#[tokio::test]
async fn every_service_tells_its_models() {
    let mock = MockLlm::start().await;
    let data = json!({"data": [{"id": "claude-x", "type": "model"}], "has_more": false});
    mock.route("GET /v1/models", Reply::json(200, &data));
    let found = offered(&connection(&mock, CLAUDE), quick()).await.unwrap();
    assert_eq!(found.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["claude-x"]);
    let asked = mock.requests();
    assert_eq!(asked[0].headers["x-api-key"], "test-key");
    assert!(asked[0].headers.contains_key("anthropic-version"));

    let data = json!({"data": [
        {"id": "gpt-x", "context_length": 128_000}, {"id": "text-embedding-3"}, {"id": "whisper-1"},
        {"id": "no-chat", "capabilities": {"completion_chat": false}}, {"name": ""}, 7]});
    mock.route("GET /v1/models", Reply::json(200, &data));
    let found = offered(&connection(&mock, GPT), quick()).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].context_window), ("gpt-x", Some(128_000)));
    assert_eq!(mock.requests()[1].headers["authorization"], "Bearer test-key");

    let data = json!({"models": [
        {"name": "models/gemini-x", "inputTokenLimit": 1_048_576,
         "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]}]});
    mock.route("GET /v1beta/models", Reply::json(200, &data));
    let found = offered(&connection(&mock, GEMINI), quick()).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].context_window), ("gemini-x", Some(1_048_576)));
    assert_eq!(mock.requests()[2].headers["x-goog-api-key"], "test-key");
}

/// The list of the router is open to everybody, so the key is tried at another place.
#[tokio::test]
async fn a_key_of_the_router_is_tried_where_it_matters() {
    let mock = MockLlm::start().await;
    mock.route("GET /v1/models", Reply::json(200, &json!({"data": [{"id": "a/b"}]})));
    let at = connection(&mock, "openrouter/a/b");
    assert!(matches!(check_key(&at, quick()).await, KeyCheck::Unknown(_)), "there is no such page");
    mock.route("GET /v1/key", Reply::json(401, &json!({"error": {"message": "User not found."}})));
    assert!(matches!(check_key(&at, quick()).await, KeyCheck::Refused(_)));
    mock.route("GET /v1/key", Reply::json(200, &json!({"data": {"label": "mine"}})));
    assert!(matches!(check_key(&at, quick()).await, KeyCheck::Good(found) if found.len() == 1));
}

#[tokio::test]
async fn what_a_service_says_of_a_key_is_told_apart() {
    let says = |status: u16, text: &'static str| async move {
        let mock = MockLlm::start().await;
        let body = json!({"error": {"message": text, "type": "x"}});
        mock.route("GET /v1/models", Reply::json(status, &body));
        check_key(&connection(&mock, GPT), quick()).await
    };
    for status in [401, 403] {
        assert!(matches!(says(status, "wrong").await, KeyCheck::Refused(_)), "{status}");
    }
    for (status, text) in [(404, "no such page"), (429, "slow down"), (500, "sorry")] {
        let KeyCheck::Unknown(line) = says(status, text).await else { panic!("{status}") };
        assert!(!line.contains('\n') && !line.is_empty(), "{line}");
    }
    let absent = connection_at("http://127.0.0.1:9", GPT, |_| {});
    assert!(matches!(check_key(&absent, quick()).await, KeyCheck::Unknown(_)));
    let page = MockLlm::start().await;
    page.route("GET /v1/models", Reply::body(200, "text/html", "<html><body>Log in</body></html>"));
    assert!(matches!(check_key(&connection(&page, GPT), quick()).await, KeyCheck::Unknown(_)));
}

#[tokio::test]
async fn a_local_server_tells_the_window_it_gives_and_not_the_one_it_could() {
    let mock = MockLlm::start().await;
    let (root, v1) = (mock.base_url(), format!("{}/v1", mock.base_url()));
    let shown = json!({"parameters": "temperature 1", "model_info": {"q.context_length": 40960}});
    mock.route("POST /api/show", Reply::json(200, &shown));
    assert_eq!(window_of("ollama", &v1, "qwen3").await, None, "not loaded: nobody knows");
    let shown = json!({"parameters": "num_ctx 16384"});
    mock.route("POST /api/show", Reply::json(200, &shown));
    assert_eq!(window_of("ollama", &v1, "qwen3").await, Some(16_384));
    let running = json!({"models": [{"name": "qwen3:latest", "context_length": 4096}]});
    mock.route("GET /api/ps", Reply::json(200, &running));
    assert_eq!(window_of("ollama", &v1, "qwen3").await, Some(4096));
    assert_eq!(window_of("ollama", &v1, "other").await, Some(16_384));
    let props = json!({"default_generation_settings": {"n_ctx": 8192}});
    mock.route("GET /props", Reply::json(200, &props));
    assert_eq!(window_of("llamacpp", &v1, "any").await, Some(8192));
    let list = json!({"data": [{"id": "m", "loaded_context_length": 12_000,
        "max_context_length": 131_072}, {"id": "idle", "max_context_length": 131_072}]});
    mock.route("GET /api/v0/models", Reply::json(200, &list));
    assert_eq!(window_of("lmstudio", &v1, "m").await, Some(12_000));
    assert_eq!(window_of("lmstudio", &v1, "idle").await, None);
    mock.route(
        "GET /v1/models",
        Reply::json(200, &json!({"data": [{"id": "m", "max_model_len": 65536}]})),
    );
    assert_eq!(window_of("vllm", &v1, "m").await, Some(65_536));
    assert_eq!(window_of("vllm", &v1, "n").await, None);
    assert_eq!(window_of("vllm", "http://127.0.0.1:9/v1", "m").await, None);
    assert!(root.starts_with("http"));
}

#[test]
fn a_little_window_is_warned_of_with_what_to_do() {
    let at = |reference: &str| connection_at("http://127.0.0.1:1/v1", reference, |_| {});
    for (reference, remedy) in [
        ("ollama/q", "OLLAMA_CONTEXT_LENGTH"),
        ("llamacpp/q", "-c 32768"),
        ("lmstudio/q", "context length"),
        ("vllm/q", "--max-model-len"),
    ] {
        let line = served::warning(&at(reference), 4096).unwrap();
        assert!(line.contains("4096") && line.contains(remedy), "{line}");
    }
    assert_eq!(served::warning(&at("ollama/q"), 32_768), None);
    assert!(served::is_asked(&at("ollama/q")));
    assert!(!served::is_asked(&served::with_window(at("ollama/q"), 9)));
    assert!(!served::is_asked(&connection_at("https://x.example", GPT, |_| {})));
}
