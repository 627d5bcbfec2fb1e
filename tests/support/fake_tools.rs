//! Tools whose behaviour a test writes down in a line, with a record of every run.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codebot::kernel::dedupe::canonical;
use codebot::kernel::error::ToolError;
use codebot::kernel::event::{Preview, Progress};
use codebot::kernel::message::{Block, CallStatus, ToolCall};
use codebot::kernel::ports::{
    Access, CallContext, Capability, Interrupt, ToolOutcome, ToolSpec, ToolTraits, Toolbox,
};
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::fake_ports::Trace;

/// What a tool does when it runs.
#[derive(Clone, Debug)]
pub(crate) enum Does {
    /// Answers its own argument.
    Echo,
    /// Counts its runs and answers with the count.
    Count,
    /// Echoes, and the run may stop when the words are these.
    StopOn(&'static str),
    /// Answers with these blocks.
    Answer(Vec<Block>),
    /// Works so many milliseconds, then echoes; stops when cancelled.
    Work(u64),
    /// The same, but deaf to cancellation.
    Stubborn(u64),
    /// Fails.
    Fail,
    /// Echoes, and fails without an argument.
    EchoOrFail,
    /// Runs into its own time limit.
    TimeOut,
    /// Panics.
    Panic,
    /// Reports before its end and, from a task it leaves behind, after it.
    Report,
}

#[derive(Clone, Debug)]
pub(crate) struct FakeTool {
    pub(crate) traits: ToolTraits,
    pub(crate) does: Does,
    pub(crate) preview: Result<Option<Preview>, ToolError>,
    /// Arguments that must be there.
    pub(crate) required: Vec<&'static str>,
    /// Whether results may be used again.
    pub(crate) cacheable: bool,
    /// The state of what it looks at.
    pub(crate) fingerprint: Option<String>,
}

/// One run of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) tool: String,
    pub(crate) words: String,
    pub(crate) from: Instant,
    pub(crate) to: Option<Instant>,
    pub(crate) cancelled: bool,
}

#[derive(Debug)]
pub(crate) struct FakeTools {
    tools: Mutex<BTreeMap<String, FakeTool>>,
    ran: Mutex<Vec<Ran>>,
    trace: Trace,
}

impl FakeTools {
    /// `read` and `slow` (reads, side by side), `write` and `work` (change something, alone),
    /// `stop` (changes, cancelled by steering), and a few that misbehave.
    pub(crate) fn new(trace: Trace) -> Arc<Self> {
        let this = Self { tools: Mutex::default(), ran: Mutex::default(), trace };
        this.put("read", Capability::Read, true, Interrupt::Cancel, Does::Echo);
        this.put("slow", Capability::Read, true, Interrupt::Cancel, Does::Work(100));
        this.put("alone", Capability::Read, false, Interrupt::Finish, Does::Work(100));
        this.put("write", Capability::Write, false, Interrupt::Finish, Does::Echo);
        this.put("work", Capability::Write, false, Interrupt::Finish, Does::Work(100));
        this.put("stop", Capability::Shell, false, Interrupt::Cancel, Does::Work(5_000));
        this.put("fail", Capability::Read, true, Interrupt::Finish, Does::Fail);
        this.put("panic", Capability::Read, true, Interrupt::Finish, Does::Panic);
        this.put("deaf", Capability::Shell, false, Interrupt::Cancel, Does::Stubborn(60_000));
        Arc::new(this)
    }

    pub(crate) fn put(
        &self,
        name: &str,
        capability: Capability,
        concurrent: bool,
        interrupt: Interrupt,
        does: Does,
    ) {
        let traits = ToolTraits::new(capability, concurrent, interrupt);
        let tool = FakeTool {
            traits,
            does,
            preview: Ok(None),
            required: Vec::new(),
            cacheable: false,
            fingerprint: None,
        };
        self.tools.lock().unwrap().insert(name.to_owned(), tool);
    }

    pub(crate) fn change(&self, name: &str, change: impl FnOnce(&mut FakeTool)) {
        change(self.tools.lock().unwrap().get_mut(name).expect("a known tool"));
    }

    pub(crate) fn ran(&self) -> Vec<Ran> {
        self.ran.lock().unwrap().clone()
    }

    /// `tool:words` of every run, in the order they started.
    pub(crate) fn names(&self) -> Vec<String> {
        self.ran().iter().map(|ran| format!("{}:{}", ran.tool, ran.words)).collect()
    }

    /// The most runs that were under way at one time.
    pub(crate) fn peak(&self) -> usize {
        let ran = self.ran();
        let during = |at: Instant| {
            ran.iter().filter(|r| r.from <= at && r.to.is_none_or(|to| to > at)).count()
        };
        ran.iter().map(|r| during(r.from)).max().unwrap_or(0)
    }

    fn tool(&self, name: &str) -> Option<FakeTool> {
        self.tools.lock().unwrap().get(name).cloned()
    }
}

fn words(call: &ToolCall) -> String {
    call.args.get("text").and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

impl Toolbox for FakeTools {
    fn specs(&self) -> Arc<[ToolSpec]> {
        let spec = |name: &String| ToolSpec {
            deferred: false,
            name: name.clone(),
            description: String::new(),
            schema: serde_json::json!({"type": "object"}),
        };
        self.tools.lock().unwrap().keys().map(spec).collect()
    }

    fn traits(&self, name: &str) -> Option<ToolTraits> {
        self.tool(name).map(|tool| tool.traits)
    }

    fn validate(&self, call: &ToolCall) -> Result<(), String> {
        let tool = self.tool(&call.name).expect("looked up before");
        let missing: Vec<_> =
            tool.required.iter().filter(|name| !call.args.contains_key(**name)).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("missing: {missing:?}")) }
    }

    fn access(&self, _call: &ToolCall) -> Vec<Access> {
        Vec::new()
    }

    fn preview<'a>(
        &'a self,
        call: &'a ToolCall,
    ) -> BoxFuture<'a, Result<Option<Preview>, ToolError>> {
        self.trace.add(format!("preview {}", call.id));
        let preview = self.tool(&call.name).expect("looked up before").preview;
        Box::pin(async move { preview })
    }

    fn cache_key(&self, call: &ToolCall) -> Option<String> {
        let tool = self.tool(&call.name).filter(|tool| tool.cacheable)?;
        assert!(!tool.traits.capability.has_side_effects(), "only looks are asked for a key");
        Some(format!("{} {}", call.name, canonical(&call.args)))
    }

    fn fingerprint<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Option<String>> {
        let fingerprint = self.tool(&call.name).and_then(|tool| tool.fingerprint);
        Box::pin(async move { fingerprint })
    }

    fn run(&self, call: ToolCall, context: CallContext) -> BoxFuture<'_, ToolOutcome> {
        self.trace.add(format!("run {}", call.id));
        let tool = self.tool(&call.name).expect("looked up before");
        let said = words(&call);
        let at = {
            let mut ran = self.ran.lock().unwrap();
            ran.push(Ran {
                tool: call.name,
                words: said.clone(),
                from: Instant::now(),
                to: None,
                cancelled: false,
            });
            ran.len() - 1
        };
        Box::pin(async move {
            let outcome = perform(tool.does, said, at, &context).await;
            let mut ran = self.ran.lock().unwrap();
            ran[at].to = Some(Instant::now());
            ran[at].cancelled = outcome.status == CallStatus::Cancelled;
            outcome
        })
    }
}

async fn perform(does: Does, said: String, number: usize, context: &CallContext) -> ToolOutcome {
    let plain = |status| ToolOutcome::new(status, Vec::new());
    match does {
        Does::Count => ToolOutcome::ok(format!("run {number}")),
        Does::StopOn(words) if said == words => ToolOutcome::ok(said).and_stop(),
        Does::Echo | Does::StopOn(_) => ToolOutcome::ok(said),
        Does::Answer(blocks) => ToolOutcome::new(CallStatus::Ok, blocks),
        Does::Work(ms) => tokio::select! {
            biased;
            () = context.cancel.cancelled() => plain(CallStatus::Cancelled),
            () = tokio::time::sleep(Duration::from_millis(ms)) => ToolOutcome::ok(said),
        },
        Does::Stubborn(ms) => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            ToolOutcome::ok(said)
        }
        Does::EchoOrFail if !said.is_empty() => ToolOutcome::ok(said),
        Does::Fail | Does::EchoOrFail => {
            ToolOutcome::failed(&ToolError::new("Io", "the disk is on fire"))
        }
        Does::TimeOut => plain(CallStatus::TimedOut),
        Does::Panic => panic!("the tool panicked"),
        Does::Report => {
            let report = |tail: &str| Progress::Output { tail: tail.to_owned(), bytes: 1 };
            let late = context.progress.clone();
            context.progress.send(report("half"));
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                late.send(report("late"));
            });
            ToolOutcome::ok(said)
        }
    }
}
