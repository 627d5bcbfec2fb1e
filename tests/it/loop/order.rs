//! The order of one call's steps, recorded over all ports.

use std::sync::Arc;

use codebot::kernel::agent::Agent;
use codebot::kernel::error::ToolError;
use codebot::kernel::event::Preview;
use codebot::kernel::message::{Stop, ToolCall};
use codebot::kernel::ports::{Access, CallContext, ToolOutcome, ToolSpec, ToolTraits, Toolbox};
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use super::fake_lab::{Lab, Live};
use super::fake_model::{Script, broken_call, calls, done, says};
use super::fake_ports::{Rule, Trace};
use super::fake_tools::FakeTools;

/// Notes every question that is asked of the tools, the first time for each call.
#[derive(Debug)]
struct Watched {
    tools: Arc<FakeTools>,
    trace: Trace,
}

impl Watched {
    fn note(&self, what: &str, of: &str) {
        let line = format!("{what} {of}");
        if !self.trace.all().contains(&line) {
            self.trace.add(line);
        }
    }
}

impl Toolbox for Watched {
    fn specs(&self) -> Arc<[ToolSpec]> {
        self.tools.specs()
    }

    fn traits(&self, name: &str) -> Option<ToolTraits> {
        self.note("lookup", name);
        self.tools.traits(name)
    }

    fn validate(&self, call: &ToolCall) -> Result<(), String> {
        self.note("schema", call.id.as_str());
        self.tools.validate(call)
    }

    fn access(&self, call: &ToolCall) -> Vec<Access> {
        self.note("access", call.id.as_str());
        self.tools.access(call)
    }

    fn preview<'a>(
        &'a self,
        call: &'a ToolCall,
    ) -> BoxFuture<'a, Result<Option<Preview>, ToolError>> {
        self.tools.preview(call)
    }

    fn cache_key(&self, call: &ToolCall) -> Option<String> {
        self.note("cache", call.id.as_str());
        self.tools.cache_key(call)
    }

    fn fingerprint<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Option<String>> {
        self.tools.fingerprint(call)
    }

    fn run(&self, call: ToolCall, context: CallContext) -> BoxFuture<'_, ToolOutcome> {
        self.tools.run(call, context)
    }
}

/// What happened in the run, without the model and the commits of the user's side.
async fn steps(lab: &Lab) -> Vec<String> {
    let mut ports = lab.ports();
    ports.tools = Arc::new(Watched { tools: lab.tools.clone(), trace: lab.trace.clone() });
    let (sender, events) = mpsc::channel(128);
    let handle = Agent::spawn(ports, lab.config.clone(), lab.history.clone(), sender);
    let mut live = Live { handle, events, log: Vec::new() };
    live.prompt("go");
    live.end().await;
    let outside = ["request", "project", "commit user", "commit assistant"];
    lab.trace.all().into_iter().filter(|line| !outside.contains(&line.as_str())).collect()
}

fn one(script: Script) -> Lab {
    Lab::new(vec![script, says("done")])
}

/// Places of these steps must rise.
fn in_order(trace: &[String], wanted: &[&str]) {
    let mut from = 0;
    for step in wanted {
        let at = trace[from..].iter().position(|line| line == step);
        let Some(at) = at else { panic!("{step} is missing or too early in {trace:#?}") };
        from += at + 1;
    }
}

/// Scenario L09 and the order of a call: look-up, schema, preview, gate, intent, cache, run, commit.
#[tokio::test(start_paused = true)]
async fn a_call_takes_its_steps_in_order() {
    let lab = one(calls(&[("k1", "write", "a"), ("k2", "read", "b")]));
    lab.tools.change("read", |tool| tool.cacheable = true);
    let trace = steps(&lab).await;
    in_order(
        &trace,
        &["lookup write", "schema k1", "preview k1", "access k1", "gate k1", "intent k1", "run k1"],
    );
    in_order(
        &trace,
        &["lookup read", "schema k2", "preview k2", "access k2", "gate k2", "cache k2", "run k2"],
    );
    in_order(&trace, &["commit k1", "commit k2"]);
    assert!(!trace.contains(&"cache k1".to_owned()), "a change is never looked up: {trace:?}");
    assert!(!trace.contains(&"intent k2".to_owned()));
}

/// Each refusal ends the way: nothing behind it is asked.
#[tokio::test(start_paused = true)]
async fn nothing_is_asked_after_a_refusal() {
    let unknown = one(calls(&[("k1", "nope", "a")]));
    let trace = steps(&unknown).await;
    assert_eq!(trace, ["lookup nope", "commit k1"]);

    let malformed = one(vec![broken_call(0, "k1", "read", "{\"a"), done(Stop::ToolUse)]);
    let trace = steps(&malformed).await;
    assert_eq!(trace, ["lookup read", "commit k1"]);

    let invalid = one(calls(&[("k1", "read", "a")]));
    invalid.tools.change("read", |tool| tool.required = vec!["path"]);
    let trace = steps(&invalid).await;
    assert_eq!(trace, ["lookup read", "schema k1", "commit k1"]);

    let denied = one(calls(&[("k1", "read", "a")]));
    denied.tools.change("read", |tool| tool.cacheable = true);
    denied.gate.rule("read", Rule::Deny("no"));
    let trace = steps(&denied).await;
    in_order(&trace, &["preview k1", "access k1", "gate k1", "commit k1"]);
    assert!(!trace.iter().any(|line| line.starts_with("cache") || line.starts_with("run")));
}

/// The breaker comes after the look-up and before everything else: malformed arguments of a
/// disabled tool are told that it is disabled.
#[tokio::test(start_paused = true)]
async fn the_breaker_is_asked_before_arguments_are_judged() {
    let mut lab = Lab::new(vec![
        calls(&[("k1", "fail", "a")]),
        vec![broken_call(0, "k2", "fail", "{\"a"), done(Stop::ToolUse)],
        calls(&[("k3", "fail", "a")]),
        says("done"),
    ]);
    lab.config.breaker_limit = 1;
    let trace = steps(&lab).await;
    let messages = lab.journal.messages();
    let disabled = |message: &codebot::kernel::message::Message| {
        super::fake_lab::line(message).contains("is disabled after 1 consecutive errors")
    };
    assert_eq!(messages.iter().filter(|message| disabled(message)).count(), 2);
    assert!(!trace.contains(&"preview k3".to_owned()) && !trace.contains(&"gate k3".to_owned()));
}
