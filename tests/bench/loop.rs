//! What the loop itself costs, with a model, a tool and a journal that take no time: a turn, a
//! streamed piece of text, and a turn behind a long history (which must not copy it).
//!
//! `cargo bench --bench loop`
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use codebot::app::system::{SystemClock, SystemIds};
use codebot::context::project::SessionContext;
use codebot::kernel::agent::{Agent, AgentConfig};
use codebot::kernel::command::{Command, Mode};
use codebot::kernel::error::{GateError, JournalError, ModelError, ToolError};
use codebot::kernel::event::{Approval, Event, Preview};
use codebot::kernel::message::{
    AssistantMessage, Block, Message, ModelRef, Origin, Stop, Timestamp, ToolCall, Usage,
    UserMessage,
};
use codebot::kernel::ports::{
    Access, CallContext, Capability, Durability, Gate, GateRequest, Interrupt, Journal, Model,
    ModelInfo, ModelStream, NoNotices, Ports, Record, Request, StreamEvent, ToolOutcome, ToolSpec,
    ToolTraits, Toolbox, Verdict,
};
use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const TURNS: u32 = 200;
const PIECES: usize = 10_000;

/// Asks for the tool until the turns are used up, then answers in so many pieces.
#[derive(Debug)]
struct Instant {
    calls: AtomicU32,
    pieces: usize,
}

impl Model for Instant {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            model: ModelRef { provider: "bench".into(), model: "instant".into() },
            context_window: 1_000_000,
            max_output: 8_000,
            price: None,
            vision: false,
        }
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let left = self.calls.load(Ordering::Relaxed);
        let mut events = vec![StreamEvent::Start];
        if left > 0 {
            self.calls.store(left - 1, Ordering::Relaxed);
            let mut args = serde_json::Map::new();
            args.insert("n".into(), left.into());
            let id = format!("c{left}").as_str().into();
            let call = ToolCall { id, name: "look".into(), args, invalid: None, opaque: None };
            events.push(StreamEvent::CallComplete { index: 0, call });
            events.push(StreamEvent::Done(Stop::ToolUse));
        } else {
            let piece = || StreamEvent::TextDelta { index: 0, text: "word ".into() };
            events.extend((0..self.pieces).map(|_| piece()));
            events.push(StreamEvent::Done(Stop::EndTurn));
        }
        drop(request);
        let stream = futures_util::stream::iter(events.into_iter().map(Ok)).boxed();
        Box::pin(async move { Ok(stream) })
    }
}

#[derive(Debug)]
struct Look;

impl Toolbox for Look {
    fn specs(&self) -> Arc<[ToolSpec]> {
        let schema = serde_json::json!({"type": "object"});
        Arc::from([ToolSpec {
            name: "look".into(),
            description: "looks".into(),
            schema,
            deferred: false,
        }])
    }

    fn traits(&self, _name: &str) -> Option<ToolTraits> {
        Some(ToolTraits::new(Capability::Read, true, Interrupt::Cancel))
    }

    fn validate(&self, _call: &ToolCall) -> Result<(), String> {
        Ok(())
    }

    fn access(&self, _call: &ToolCall) -> Vec<Access> {
        Vec::new()
    }

    fn preview<'a>(
        &'a self,
        _call: &'a ToolCall,
    ) -> BoxFuture<'a, Result<Option<Preview>, ToolError>> {
        Box::pin(async { Ok(None) })
    }

    fn run(&self, _call: ToolCall, _context: CallContext) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async { ToolOutcome::ok("seen") })
    }
}

#[derive(Debug)]
struct Open;

impl Gate for Open {
    fn judge<'a>(&'a self, _request: GateRequest<'a>) -> BoxFuture<'a, Result<Verdict, GateError>> {
        Box::pin(async { Ok(Verdict::Allow) })
    }

    fn remember<'a>(&'a self, _approval: &'a Approval) -> BoxFuture<'a, Result<(), GateError>> {
        Box::pin(async { Ok(()) })
    }

    fn record(&self, _call: &ToolCall, _allowed: bool, _by: &str) {}

    fn set_mode(&self, _mode: Mode) {}

    fn mode(&self) -> Mode {
        Mode::Trust
    }
}

#[derive(Debug)]
struct Nowhere;

impl Journal for Nowhere {
    fn append<'a>(
        &'a self,
        _record: &'a Record,
        _durability: Durability,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async { Ok(()) })
    }
}

fn ports(calls: u32, pieces: usize) -> Ports {
    Ports {
        model: Arc::new(Instant { calls: AtomicU32::new(calls), pieces }),
        quick: None,
        tools: Arc::new(Look),
        gate: Arc::new(Open),
        context: Arc::new(SessionContext::new(Vec::new())),
        journal: Arc::new(Nowhere),
        notices: Arc::new(NoNotices),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds::new()),
        guard: None,
    }
}

/// Prompts and waits for the end of the run.
fn run(runtime: &Runtime, ports: Ports, history: Vec<Arc<Message>>) {
    runtime.block_on(async {
        let (sender, mut events) = mpsc::channel(128);
        let config = AgentConfig { monitor: true, ..AgentConfig::default() };
        let agent = Agent::spawn(ports, config, history, sender);
        agent.send(Command::Prompt { blocks: vec![Block::text("go")] });
        while let Some(event) = events.recv().await {
            if let Event::RunEnd { summary } = event {
                assert!(summary.error.is_none(), "{:?}", summary.error);
                break;
            }
        }
    });
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// So many messages of a kilobyte, questions and answers.
fn history(count: usize) -> Vec<Arc<Message>> {
    let words = "word ".repeat(200);
    let blocks = || vec![Block::text(words.clone())];
    let one = |n: usize| {
        let id = format!("m{n}").as_str().into();
        let at = Timestamp(i64::try_from(n).expect("a small number"));
        if n.is_multiple_of(2) {
            let origin = Origin::Prompt;
            Message::User(UserMessage { id, at, origin, blocks: blocks(), before: None })
        } else {
            let (model, stop, usage) = (ModelRef::default(), Stop::EndTurn, Usage::default());
            Message::Assistant(AssistantMessage { id, at, model, blocks: blocks(), stop, usage })
        }
    };
    (0..count).map(one).map(Arc::new).collect()
}

/// A run of 200 turns with one call each; the count is turns.
#[divan::bench]
fn turns(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    bencher
        .counter(ItemsCount::new(TURNS))
        .with_inputs(|| ports(TURNS - 1, 1))
        .bench_values(|ports| run(&runtime, ports, Vec::new()));
}

/// One answer that is streamed in 10 000 pieces; the count is pieces.
#[divan::bench]
fn streamed_pieces(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    bencher
        .counter(ItemsCount::new(PIECES))
        .with_inputs(|| ports(0, PIECES))
        .bench_values(|ports| run(&runtime, ports, Vec::new()));
}

/// 100 turns behind a history of this length; the count is turns. Time and allocated bytes of a
/// turn must not grow with the size of the history's texts.
#[divan::bench(args = [0, 1_000, 10_000])]
fn turns_behind_a_history(bencher: Bencher<'_, '_>, length: usize) {
    let runtime = runtime();
    let past = history(length);
    bencher
        .counter(ItemsCount::new(100_u32))
        .with_inputs(|| (ports(99, 1), past.clone()))
        .bench_values(|(ports, past)| run(&runtime, ports, past));
}
