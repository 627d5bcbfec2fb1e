//! The loop over the real tools for background work.

use std::sync::Arc;
use std::time::Duration;

use codebot::kernel::agent::{Agent, AgentConfig};
use codebot::kernel::command::Command;
use codebot::kernel::event::Event;
use codebot::kernel::message::{Block, Stop};
use codebot::kernel::ports::Ports;
use codebot::tools::{Tools, ToolsConfig};
use serde_json::json;
use tokio::sync::mpsc;

use super::fake_lab::Lab;
use super::fake_model::{Act, Script, call, done, says};

fn poll() -> Script {
    let args = json!({"id": "1"});
    vec![Act::Wait(150), call(0, "k", "task_output", args), done(Stop::ToolUse)]
}

/// Reflections while the output of a background command is asked for so often.
async fn reflections(command: &str, polls: usize) -> usize {
    let start = json!({"command": command, "background": true});
    let mut scripts = vec![vec![call(0, "k", "bash", start), done(Stop::ToolUse)]];
    scripts.extend((0..polls).map(|_| poll()));
    scripts.push(says("done"));
    let lab = Lab::new(scripts);
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let tools = Arc::new(Tools::new(ToolsConfig::new(&root, root.join("results"))));
    let ports = Ports { tools: tools.clone(), notices: tools.jobs(), ..lab.ports() };
    let (sender, mut events) = mpsc::channel(128);
    let config = AgentConfig { monitor: true, ..AgentConfig::default() };
    let agent = Agent::spawn(ports, config, lab.history.clone(), sender);
    agent.send(Command::Prompt { blocks: vec![Block::text("watch it")] });
    let mut count = 0;
    let limit = Duration::from_mins(1);
    while let Some(event) = tokio::time::timeout(limit, events.recv()).await.unwrap() {
        count += usize::from(matches!(event, Event::Reflection { .. }));
        if let Event::RunEnd { summary } = event {
            assert_eq!(summary.text, "done");
            assert_eq!(summary.tool_errors, 0);
            break;
        }
    }
    tools.stop_all();
    count
}

/// Scenario B12: five rounds in which the output grows are no standstill.
#[tokio::test]
async fn asking_for_growing_output_is_progress() {
    assert_eq!(reflections("while :; do echo more; sleep 0.02; done", 5).await, 0);
}

/// Scenario B12: the same answer three times is one.
#[tokio::test]
async fn asking_for_output_that_does_not_change_is_standstill() {
    assert_eq!(reflections("exec sleep 65.1", 3).await, 1);
}
