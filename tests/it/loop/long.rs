//! A session of 300 turns in a window of 32 000 tokens, with a service that refuses what is larger.

use std::sync::{Arc, Mutex};

use codebot::context::estimate;
use codebot::context::project::SessionContext;
use codebot::context::summary::Summariser;
use codebot::kernel::agent::{Agent, AgentConfig};
use codebot::kernel::error::{ModelError, ModelErrorKind};
use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::message::{Message, ModelRef, Stop, ToolCall, Usage, text_of};
use codebot::kernel::ports::{
    Model, ModelInfo, ModelStream, Request, StreamEvent, SystemBlock, ToolChoice,
};
use futures_util::future::BoxFuture;
use serde_json::{Map, json};
use tokio::sync::mpsc;

use super::fake_grammar::check_calls;
use super::fake_lab::{Lab, Live};

const WINDOW: u64 = 32_000;
const TURNS: u32 = 300;
const TASK: &str = "port the parser to the new tokens and keep every test green";

/// Works through its turns with a call each; refuses what does not fit, and histories that real
/// services refuse.
#[derive(Debug, Default)]
struct Worker {
    sums_up: bool,
    done: Mutex<Done>,
}

#[derive(Debug, Default)]
struct Done {
    turns: u32,
    refused: u32,
    summaries: u32,
    /// Tokens sent in turns, and for summaries.
    sent: u64,
    side: u64,
    largest: u64,
    /// Tokens that the request before had at its beginning too, in the same bytes.
    cached: u64,
    before: Option<Request>,
    /// Turns in which the task was not in sight.
    blind: u32,
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { turns, sent, side, summaries, largest, cached, .. } = self;
        let share = cached * 100 / sent.max(&1);
        write!(f, "{turns} turns sent {sent} tokens, {share}% of them as before, {summaries} ")?;
        write!(f, "summaries {side} more; the largest request had {largest}")
    }
}

fn tokens(request: &Request) -> u64 {
    let reminder = request.reminder.as_deref().map_or(0, estimate::text);
    estimate::history(&request.messages)
        + estimate::system(&request.system)
        + estimate::tools(&request.tools)
        + reminder
}

fn says(text: &str) -> Vec<StreamEvent> {
    vec![StreamEvent::TextDelta { index: 0, text: text.to_owned() }]
}

/// Tokens of the beginning that two requests share; nothing when system or tools differ.
fn shared(before: &Request, request: &Request) -> u64 {
    if before.system != request.system || before.tools != request.tools {
        return 0;
    }
    let pairs = before.messages.iter().zip(&request.messages);
    let same = pairs.take_while(|(a, b)| a == b).count();
    estimate::history(&request.messages[..same])
        + estimate::system(&request.system)
        + estimate::tools(&request.tools)
}

impl Worker {
    fn answer(&self, request: &Request) -> Result<Vec<StreamEvent>, ModelError> {
        let plain: Vec<Message> = request.messages.iter().map(|m| (**m).clone()).collect();
        check_calls(&plain);
        let size = tokens(request);
        let mut done = self.done.lock().unwrap();
        if size > WINDOW {
            done.refused += 1;
            return Err(ModelError::new(ModelErrorKind::Overflow, "too long"));
        }
        let mut events = if request.tool_choice == ToolChoice::None || request.tools.is_empty() {
            if !self.sums_up {
                return Err(ModelError::new(ModelErrorKind::Server, "no summaries today"));
            }
            done.summaries += 1;
            done.side += size;
            says(&format!("<summary>## Goal\n{TASK}\n{}</summary>", "fact ".repeat(800)))
        } else {
            done.turns += 1;
            done.sent += size;
            done.cached += done.before.as_ref().map_or(0, |before| shared(before, request));
            done.before = Some(request.clone());
            done.largest = done.largest.max(size);
            let sees = plain
                .iter()
                .any(|m| matches!(m, Message::User(u) if text_of(&u.blocks).contains(TASK)));
            done.blind += u32::from(!sees);
            if done.turns == TURNS { says("all done") } else { work(done.turns) }
        };
        events.push(StreamEvent::Usage(Usage { input: size, output: 60, ..Usage::default() }));
        events.push(StreamEvent::Done(Stop::EndTurn));
        Ok(events)
    }
}

/// A few words and a call whose result has some 700 tokens.
fn work(turn: u32) -> Vec<StreamEvent> {
    let text = format!("file {} {}", turn % 40, "x".repeat(2_800));
    let args = Map::from_iter([("text".to_owned(), json!(text))]);
    let id = format!("call-{turn}").as_str().into();
    let call = ToolCall { id, name: "read".to_owned(), args, invalid: None, opaque: None };
    let mut events = says("Looking at the next one.");
    events.push(StreamEvent::CallComplete { index: 1, call });
    events
}

impl Model for Worker {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            model: ModelRef { provider: "fake".into(), model: "worker".into() },
            context_window: WINDOW,
            max_output: 2_000,
            price: None,
            vision: false,
        }
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let answer = self.answer(&request);
        Box::pin(std::future::ready(answer.map(|events| -> ModelStream {
            Box::pin(futures_util::stream::iter(events.into_iter().map(Ok)))
        })))
    }
}

async fn session(sums_up: bool) -> (Arc<Worker>, Live) {
    let worker = Arc::new(Worker { sums_up, ..Worker::default() });
    let lab = Lab::new(Vec::new());
    let system = vec![SystemBlock { text: "be brief".to_owned(), cache: true }];
    let summariser = Summariser::new(worker.clone(), None, "key");
    let mut ports = lab.ports();
    ports.model = worker.clone();
    ports.context = Arc::new(SessionContext::new(system).with_summariser(summariser));
    let (sender, events) = mpsc::channel(lab.capacity);
    let config = AgentConfig { max_turns: 400, ..AgentConfig::default() };
    let handle = Agent::spawn(ports, config, lab.history.clone(), sender);
    let mut live = Live { handle, events, log: Vec::new() };
    live.prompt(TASK);
    let end = live.end().await;
    assert_eq!((end.reason, end.text.as_str()), (EndReason::Stop, "all done"));
    (worker, live)
}

#[tokio::test(start_paused = true)]
async fn three_hundred_turns_fit_into_a_small_window() {
    let (worker, live) = session(true).await;
    let done = worker.done.lock().unwrap();
    assert_eq!((done.turns, done.refused, done.blind), (TURNS, 0, 0));
    assert!(done.largest < WINDOW);
    let whole = estimate::history(&live.history());
    // Without the ladder every turn would send all before it: half of the square.
    let without = whole * u64::from(TURNS) / 2;
    assert!(whole > 4 * WINDOW, "{whole}");
    assert!((done.sent + done.side) * 4 < without, "{done} of {without}");
    // Every step of the ladder costs the cached beginning; batches make that rare.
    assert!(done.cached * 100 > done.sent * 75, "{done}");
    let steps = live.count(|event| matches!(event, Event::Compaction { .. })) / 2;
    assert!(steps < 120, "{steps} steps");
    eprintln!("{done}, without the ladder {without}, steps {steps}");
}

/// The same where no summary can ever be made.
#[tokio::test(start_paused = true)]
async fn three_hundred_turns_fit_without_a_single_summary() {
    let (worker, _live) = session(false).await;
    let done = worker.done.lock().unwrap();
    assert_eq!((done.turns, done.refused, done.summaries, done.blind), (TURNS, 0, 0, 0));
    eprintln!("{done}");
}
