//! Levels of thinking in each wire format.

use codebot::config::schema::{Dose, ModelConfig};
use codebot::kernel::ports::{Effort, Request};
use codebot::model::connect_with;
use serde_json::{Value, json};

use super::mock_llm::{MockLlm, anthropic, gemini, openai};
use super::support::{
    CLAUDE, GEMINI, GPT, ask, assistant, assistant_by, call, connection, full_request, quick,
    request, result, user,
};

async fn sent(reference: &str, request: Request, overrides: ModelConfig) -> Value {
    let mock = MockLlm::start().await;
    mock.push(match reference.split('/').next() {
        Some("anthropic") => anthropic::text("ok"),
        Some("gemini") => gemini::text("ok"),
        _ => openai::text("ok"),
    });
    let mut connection = connection(&mock, reference);
    connection.overrides = overrides;
    assert_eq!(ask(&connect_with(connection, quick()), request).await.error, None);
    assert_eq!(mock.violations(), Vec::<String>::new());
    mock.bodies().remove(0)
}

async fn with(reference: &str, effort: Option<Effort>) -> Value {
    let request = Request { effort, ..request(vec![user("go")]) };
    sent(reference, request, ModelConfig::default()).await
}

/// What each level becomes, from off to max.
async fn levels(reference: &str, pick: impl Fn(&Value) -> Value) -> Vec<Value> {
    let mut seen = Vec::new();
    for effort in Effort::ALL {
        seen.push(pick(&with(reference, Some(effort)).await));
    }
    seen
}

#[tokio::test]
async fn without_a_level_nothing_is_said() {
    for reference in [CLAUDE, "anthropic/claude-sonnet-5-5", GPT, "openai/gpt-5.1"] {
        let body = with(reference, None).await;
        for key in ["thinking", "output_config", "reasoning", "reasoning_effort"] {
            assert_eq!(body.get(key), None, "{reference} {key}");
        }
    }
    // Thoughts are shown where there are some; how many is the model's own matter.
    let config = with(GEMINI, None).await["generationConfig"]["thinkingConfig"].clone();
    assert_eq!(config, json!({"includeThoughts": true}));
    let unknown = with("gemini/unheard-of", Some(Effort::High)).await;
    assert_eq!(unknown["generationConfig"], json!({"maxOutputTokens": 8192}));
}

#[tokio::test]
async fn messages_take_a_budget_or_a_word() {
    let budgets = levels(CLAUDE, |body| body["thinking"]["budget_tokens"].clone()).await;
    assert_eq!(budgets, [Value::Null, json!(2048), json!(8192), json!(16384), json!(32000)]);
    let off = with(CLAUDE, Some(Effort::Off)).await;
    assert_eq!(off["thinking"], json!({"type": "disabled"}));
    let new = "anthropic/claude-sonnet-5-5";
    let words = levels(new, |body| body["output_config"]["effort"].clone()).await;
    assert_eq!(words, [Value::Null, json!("low"), json!("medium"), json!("high"), json!("max")]);
    let high = with(new, Some(Effort::High)).await;
    assert_eq!(high["thinking"], json!({"type": "adaptive"}));
}

/// A budget leaves room for the answer, and a round that began without thoughts gets none.
#[tokio::test]
async fn a_budget_never_breaks_a_request() {
    let small = ModelConfig { max_output: Some(8192), ..ModelConfig::default() };
    let go = || Request { effort: Some(Effort::Max), ..request(vec![user("go")]) };
    let body = sent(CLAUDE, go(), small).await;
    assert_eq!(body["thinking"]["budget_tokens"], 7168);
    let tiny = ModelConfig { max_output: Some(1500), ..ModelConfig::default() };
    assert_eq!(sent(CLAUDE, go(), tiny).await.get("thinking"), None);
    let round = |message| {
        let history = vec![user("go"), message, result("t", "1")];
        Request { effort: Some(Effort::High), ..request(history) }
    };
    let ls = || call("t", "ls", json!({}));
    let foreign = assistant_by("openai", "gpt-5.1", vec![ls()]);
    let body = sent(CLAUDE, round(foreign), ModelConfig::default()).await;
    assert_eq!(body.get("thinking"), None);
    let own = codebot::kernel::message::Block::Thinking {
        text: "hm".into(),
        opaque: Some(codebot::kernel::message::Opaque {
            model: codebot::kernel::message::ModelRef {
                provider: "anthropic".into(),
                model: "claude-sonnet-4-5".into(),
            },
            data: json!({"type": "thinking", "signature": "s"}),
        }),
    };
    let body = sent(CLAUDE, round(assistant(vec![own, ls()])), ModelConfig::default()).await;
    assert_eq!(body["thinking"]["type"], "enabled");
}

#[tokio::test]
async fn chat_completions_take_a_word_where_the_model_is_known_to() {
    let words = levels("openai/gpt-5.1", |body| body["reasoning_effort"].clone()).await;
    assert_eq!(words, ["none", "low", "medium", "high", "high"]);
    let words = levels(GPT, |body| body["reasoning_effort"].clone()).await;
    assert_eq!(words, vec![Value::Null; 5], "this model does not think");
    let router = "openrouter/anthropic/claude-sonnet-4.5";
    let words = levels(router, |body| body["reasoning"]["effort"].clone()).await;
    assert_eq!(words, ["none", "low", "medium", "high", "xhigh"]);
}

/// These refuse a call with tools unless they are told not to think.
#[tokio::test]
async fn newer_models_think_in_chat_completions_only_without_tools() {
    let model = "openai/gpt-6-astra";
    for effort in [None, Some(Effort::High)] {
        let request = Request { effort, ..full_request(vec![user("go")]) };
        let body = sent(model, request, ModelConfig::default()).await;
        assert_eq!(body["reasoning_effort"], "none");
    }
    assert_eq!(with(model, Some(Effort::High)).await["reasoning_effort"], "high");
    let older = Request { effort: Some(Effort::High), ..full_request(vec![user("go")]) };
    let body = sent("openai/gpt-5.1", older, ModelConfig::default()).await;
    assert_eq!(body["reasoning_effort"], "high");
}

#[tokio::test]
async fn generate_content_takes_a_level_or_a_budget() {
    let config = |body: &Value| body["generationConfig"]["thinkingConfig"].clone();
    let level = levels(GEMINI, |body| config(body)["thinkingLevel"].clone()).await;
    assert_eq!(level, ["minimal", "low", "medium", "high", "high"]);
    let budget = levels("gemini/gemini-2.5-flash", config).await;
    assert_eq!(budget[0], json!({"includeThoughts": false, "thinkingBudget": 0}));
    assert_eq!(budget[4], json!({"includeThoughts": true, "thinkingBudget": 24576}));
}

#[tokio::test]
async fn the_config_corrects_what_a_level_means() {
    let own = ModelConfig {
        thinking: Some(vec![Dose::Word("low".into()), Dose::Word("high".into())]),
        ..ModelConfig::default()
    };
    let request = Request { effort: Some(Effort::Max), ..request(vec![user("go")]) };
    let body = sent("openai/unheard-of", request, own).await;
    assert_eq!(body["reasoning_effort"], "high");
    let parsed: ModelConfig = toml::from_str("thinking = [0, 'high']\nvision = true").unwrap();
    assert_eq!(parsed.thinking, Some(vec![Dose::Tokens(0), Dose::Word("high".into())]));
}
