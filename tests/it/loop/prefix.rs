//! The cached prefix on a real wire: what is sent before stays what it was, byte for byte.

use codebot::kernel::agent::Agent;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::compaction::context;
use super::fake_lab::{Lab, Live};
use crate::model::mock_llm::{MockLlm, anthropic};
use crate::model::support::{CLAUDE, model};

/// A body without the marks that say where the cache ends: they move on with the conversation.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(name, _)| *name != "cache_control");
            kept.map(|(name, value)| (name.clone(), unmarked(value))).collect()
        }
        Value::Array(list) => list.iter().map(unmarked).collect(),
        other => other.clone(),
    }
}

/// Scenario F02: ten rounds of tools and three prompts over HTTP.
#[tokio::test]
async fn ten_rounds_and_three_prompts_keep_the_prefix_on_the_wire() {
    let mock = MockLlm::start().await;
    for at in 0..10u64 {
        let id = format!("toolu_{at}");
        let input = json!({"text": format!("file {at}")});
        let mut reply = vec![anthropic::message_start(100)];
        reply.extend(anthropic::tool_block(0, &id, "read", &input));
        reply.extend(anthropic::message_end("tool_use", 5));
        mock.push(anthropic::events(reply));
        if matches!(at, 3 | 6 | 9) {
            mock.push(anthropic::text("so far"));
        }
    }
    let lab = Lab::new(Vec::new());
    let (sender, events) = mpsc::channel(lab.capacity);
    let mut ports = lab.ports();
    ports.model = model(&mock, CLAUDE);
    ports.context = context(&lab);
    let handle = Agent::spawn(ports, lab.config.clone(), lab.history.clone(), sender);
    let mut live = Live { handle, events, log: Vec::new() };
    for prompt in ["one", "two", "three"] {
        live.prompt(prompt);
        live.end().await;
    }
    assert_eq!(mock.violations(), Vec::<String>::new());
    let bodies = mock.bodies();
    assert_eq!(bodies.len(), 13);
    for pair in bodies.windows(2) {
        for part in ["system", "tools"] {
            assert_eq!(pair[0][part].to_string(), pair[1][part].to_string(), "{part}");
        }
        let list = |body: &Value| unmarked(&body["messages"]).as_array().unwrap().clone();
        let (before, after) = (list(&pair[0]), list(&pair[1]));
        let bytes = |list: &[Value]| serde_json::to_string(list).unwrap();
        assert_eq!(bytes(&before), bytes(&after[..before.len()]));
    }
}
