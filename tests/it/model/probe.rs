//! Local model servers.

use std::time::{Duration, Instant};

use codebot::model::probe::{Served, Target, probe, targets};
use serde_json::json;

use super::mock_llm::{MockLlm, Reply};

fn target(provider: &str, mock: &MockLlm) -> Target {
    let base_url = format!("{}/v1", mock.base_url());
    Target { provider: provider.to_owned(), label: provider.to_owned(), base_url }
}

fn served(provider: &str, mock: &MockLlm, models: &[&str], context_window: Option<u64>) -> Served {
    let Target { provider, label, base_url } = target(provider, mock);
    let models = models.iter().map(|name| (*name).to_owned()).collect();
    Served { label, provider, base_url, models, context_window }
}

#[tokio::test]
async fn models_and_context_are_read_from_every_kind_of_server() {
    let mock = MockLlm::start().await;
    mock.route("GET /api/tags", Reply::json(200, &json!({"models": [{"name": "qwen3:8b"}]})));
    let shown = json!({"parameters": "stop \"<x>\"\nnum_ctx    16384",
        "model_info": {"qwen3.context_length": 40960}});
    mock.route("POST /api/show", Reply::json(200, &shown));
    let list =
        json!({"object": "list", "data": [{"id": "m1", "max_model_len": 65536}, {"id": "m2"}]});
    mock.route("GET /v1/models", Reply::json(200, &list));
    let props = json!({"default_generation_settings": {"n_ctx": 8192}});
    mock.route("GET /props", Reply::json(200, &props));
    let kinds = ["ollama", "llamacpp", "lmstudio", "vllm"];
    let found = probe(kinds.map(|kind| target(kind, &mock)).to_vec(), Duration::from_secs(5)).await;
    assert_eq!(
        found,
        [
            served("ollama", &mock, &["qwen3:8b"], Some(16_384)),
            served("llamacpp", &mock, &["m1", "m2"], Some(8192)),
            served("lmstudio", &mock, &["m1", "m2"], Some(65_536)),
            served("vllm", &mock, &["m1", "m2"], Some(65_536)),
        ]
    );
}

#[tokio::test]
async fn silent_absent_and_foreign_servers_cost_little_time() {
    let silent = MockLlm::start().await;
    let slow = Reply::json(200, &json!({})).after(Duration::from_secs(20));
    silent.route("GET /v1/models", slow);
    let foreign = MockLlm::start().await;
    foreign.route("GET /v1/models", Reply::body(200, "text/html", "<html>hello</html>"));
    let absent = Target {
        provider: "vllm".into(),
        label: "vLLM".into(),
        base_url: "http://127.0.0.1:9/v1".into(),
    };
    // The client is built before the clock of the test starts.
    probe(Vec::new(), Duration::ZERO).await;
    let begin = Instant::now();
    let targets = vec![target("lmstudio", &silent), target("llamacpp", &foreign), absent];
    assert_eq!(probe(targets, Duration::from_millis(150)).await, []);
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[test]
fn the_usual_ports_are_looked_at() {
    let urls = |env: fn(&str) -> Option<String>| {
        targets(&env).into_iter().map(|target| target.base_url).collect::<Vec<_>>()
    };
    assert_eq!(
        urls(|_| None),
        [11434, 8080, 1234, 8000].map(|port| format!("http://127.0.0.1:{port}/v1"))
    );
    assert_eq!(
        urls(|name| (name == "OLLAMA_HOST").then(|| ":5".into()))[0],
        "http://127.0.0.1:5/v1"
    );
    // Never another machine.
    assert_eq!(urls(|name| (name == "OLLAMA_HOST").then(|| "gpu.lan".into())).len(), 3);
}
