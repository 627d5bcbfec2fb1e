//! Tools that have to be found before the model is told of them.

use std::sync::Arc;

use codebot::kernel::agent::Agent;
use codebot::kernel::command::Command;
use codebot::kernel::message::Stop;
use codebot::kernel::ports::{Capability, Interrupt, Request};
use codebot::tools::find_tools::Deferring;
use serde_json::json;
use tokio::sync::mpsc;

use super::compaction::context;
use super::fake_lab::{Lab, Live};
use super::fake_model::{Script, call, done, says, text, usage};
use super::fake_tools::Does;

/// A lab whose two tools from outside are deferred.
fn lab(scripts: Vec<Script>) -> Lab {
    let lab = Lab::new(scripts);
    for name in ["mcp__mail__send", "mcp__chart__draw"] {
        lab.tools.put(name, Capability::Read, true, Interrupt::Cancel, Does::Echo);
    }
    lab
}

fn start(lab: &Lab) -> Live {
    let (sender, events) = mpsc::channel(lab.capacity);
    let mut ports = lab.ports();
    ports.context = context(lab);
    ports.tools = Arc::new(Deferring::new(lab.tools.clone(), 1));
    let handle = Agent::spawn(ports, lab.config.clone(), lab.history.clone(), sender);
    Live { handle, events, log: Vec::new() }
}

fn names(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn outside(request: &Request) -> Vec<&str> {
    names(request).into_iter().filter(|name| name.starts_with("mcp__")).collect()
}

fn find(id: &str, query: &str) -> Script {
    vec![call(0, id, "find_tools", json!({"query": query})), done(Stop::ToolUse)]
}

/// Scenario 161: hidden, then found and sent, at the end of the list; also in a resumed session.
#[tokio::test(start_paused = true)]
async fn a_deferred_tool_is_sent_once_it_was_found() {
    let mut lab = lab(vec![
        find("c1", "draw a chart"),
        vec![call(0, "c2", "mcp__chart__draw", json!({"text": "pie"})), done(Stop::ToolUse)],
        find("c3", "mail"),
        says("done"),
        says("back"),
    ]);
    let mut live = start(&lab);
    live.prompt("go");
    live.end().await;
    let results = live.results();
    assert!(results[0].text().contains("- mcp__chart__draw:"), "{results:?}");
    assert_eq!(results[1].text(), "pie");
    let requests = lab.model.requests();
    assert_eq!(outside(&requests[0]), Vec::<&str>::new());
    assert_eq!(names(&requests[0]).last(), Some(&"find_tools"));
    for request in &requests[1..3] {
        assert_eq!(outside(request), ["mcp__chart__draw"]);
        assert_eq!(names(request).last(), Some(&"mcp__chart__draw"));
    }
    assert_eq!(outside(&requests[3]), ["mcp__chart__draw", "mcp__mail__send"], "it only grows");
    lab.history = live.history();
    let mut resumed = start(&lab);
    resumed.prompt("again");
    resumed.end().await;
    assert_eq!(names(&lab.model.requests()[4]), names(&requests[3]));
}

/// Scenario 162.
#[tokio::test(start_paused = true)]
async fn found_tools_survive_a_summary() {
    let long = "word ".repeat(700);
    let summary = vec![text(0, "<summary>a chart</summary>"), usage(100, 5), done(Stop::EndTurn)];
    let lab = lab(vec![find("c1", "chart"), says(&long), says("well"), summary, says("back")]);
    let mut live = start(&lab);
    for prompt in ["go", "more"] {
        live.prompt(prompt);
        live.end().await;
    }
    live.handle.send(Command::Compact { focus: String::new() });
    live.end().await;
    live.prompt("again");
    live.end().await;
    let last = &lab.model.requests()[4];
    assert!(!last.messages.iter().any(|m| super::fake_lab::line(m).contains("- mcp__chart__draw")));
    assert_eq!(outside(last), ["mcp__chart__draw"]);
}

/// A few tools from outside are sent as they are, and nothing has to be found.
#[tokio::test(start_paused = true)]
async fn few_tools_are_not_deferred() {
    let lab = lab(vec![says("hi")]);
    let (sender, events) = mpsc::channel(lab.capacity);
    let mut ports = lab.ports();
    ports.tools = Arc::new(Deferring::new(lab.tools.clone(), 2));
    let handle = Agent::spawn(ports, lab.config.clone(), lab.history.clone(), sender);
    let mut live = Live { handle, events, log: Vec::new() };
    live.prompt("go");
    live.end().await;
    let request = &lab.model.requests()[0];
    assert_eq!(outside(request).len(), 2);
    assert!(!names(request).contains(&"find_tools"));
}

/// What does not fit anything names what there is; blank words are refused.
#[tokio::test(start_paused = true)]
async fn a_search_without_a_hit_names_the_tools() {
    let lab = lab(vec![find("c1", "zebra"), find("c2", " "), says("none")]);
    let mut live = start(&lab);
    live.prompt("go");
    live.end().await;
    let results = live.results();
    assert_eq!(results[0].text(), "Nothing fits. There are: mcp__chart__draw, mcp__mail__send");
    assert!(results[1].text().contains("query is missing"), "{}", results[1].text());
    assert_eq!(outside(&lab.model.requests()[2]), Vec::<&str>::new());
}
