//! An agent on fakes: scripts in, events out, everything checked on the way.

use std::sync::Arc;
use std::time::Duration;

use codebot::kernel::agent::{Agent, AgentConfig, AgentHandle};
use codebot::kernel::command::{Answer, Command};
use codebot::kernel::event::{Event, QueueKind, RunSummary};
use codebot::kernel::message::{Block, Message, ToolMessage};
use codebot::kernel::ports::{Middleware, Ports, StopGuard, Wrapped};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::fake_grammar::{check_events, check_history};
use super::fake_model::{FakeModel, Script};
use super::fake_ports::{
    CountedIds, FakeGate, FakeJournal, FakeNotices, PausedClock, Trace, WholeContext,
};
use super::fake_tools::FakeTools;

/// The parts of an agent before it starts.
pub(crate) struct Lab {
    pub(crate) model: Arc<FakeModel>,
    /// The model for fast chats.
    pub(crate) quick: Option<Arc<FakeModel>>,
    /// What stands around the tools.
    pub(crate) around: Vec<Arc<dyn Middleware>>,
    pub(crate) tools: Arc<FakeTools>,
    pub(crate) gate: Arc<FakeGate>,
    pub(crate) journal: Arc<FakeJournal>,
    pub(crate) notices: Arc<FakeNotices>,
    pub(crate) trace: Trace,
    pub(crate) config: AgentConfig,
    pub(crate) history: Vec<Message>,
    pub(crate) capacity: usize,
    pub(crate) guard: Option<Arc<dyn StopGuard>>,
    pub(crate) context: Arc<WholeContext>,
}

impl Lab {
    /// A model that plays these scripts, one a request.
    pub(crate) fn new(scripts: Vec<Script>) -> Self {
        Self::with_last(scripts, None)
    }

    /// The same, and then `last` for ever.
    pub(crate) fn with_last(scripts: Vec<Script>, last: Option<Script>) -> Self {
        let trace = Trace::default();
        Self {
            model: FakeModel::new(scripts, last, trace.clone()),
            quick: None,
            around: Vec::new(),
            tools: FakeTools::new(trace.clone()),
            gate: FakeGate::new(trace.clone()),
            journal: FakeJournal::new(trace.clone()),
            notices: Arc::default(),
            context: Arc::new(WholeContext::new(trace.clone())),
            trace,
            config: AgentConfig::default(),
            history: Vec::new(),
            capacity: 128,
            guard: None,
        }
    }

    pub(crate) fn ports(&self) -> Ports {
        Ports {
            model: self.model.clone(),
            quick: self.quick.clone().map(|model| model as _),
            tools: Arc::new(Wrapped::new(self.tools.clone(), self.around.clone())),
            gate: self.gate.clone(),
            context: self.context.clone(),
            journal: self.journal.clone(),
            notices: self.notices.clone(),
            clock: Arc::new(PausedClock(Instant::now())),
            ids: Arc::new(CountedIds::after(&self.history)),
            guard: self.guard.clone(),
        }
    }

    /// Starts the agent.
    pub(crate) fn start(&self) -> Live {
        let (sender, events) = mpsc::channel(self.capacity);
        let handle = Agent::spawn(self.ports(), self.config.clone(), self.history.clone(), sender);
        Live { handle, events, log: Vec::new() }
    }

    /// Prompts and runs to the end.
    pub(crate) async fn run(&self, prompt: &str) -> Live {
        let mut live = self.start();
        live.prompt(prompt);
        live.end().await;
        live
    }

    /// The last request's messages, each as one word and its text.
    pub(crate) fn request_lines(&self, index: usize) -> Vec<String> {
        self.model.requests()[index].messages.iter().map(|message| line(message)).collect()
    }
}

/// One message as `role:text`.
pub(crate) fn line(message: &Message) -> String {
    match message {
        Message::User(m) => format!("user:{}", codebot::kernel::message::text_of(&m.blocks)),
        Message::Assistant(m) => {
            let calls: Vec<_> = m.calls().map(|call| call.id.as_str()).collect();
            format!("assistant:{}[{}]", m.text(), calls.join(","))
        }
        Message::Tool(m) => format!("tool:{}={}", m.call_id, m.text()),
        Message::Note(m) => format!("note:{}", m.text),
    }
}

/// A running agent and the events so far.
pub(crate) struct Live {
    pub(crate) handle: AgentHandle,
    pub(crate) events: mpsc::Receiver<Event>,
    pub(crate) log: Vec<Event>,
}

impl Live {
    pub(crate) fn prompt(&self, text: &str) {
        self.handle.send(Command::Prompt { blocks: vec![Block::text(text)] });
    }

    pub(crate) fn steer(&self, text: &str) {
        self.handle.send(Command::Enqueue { kind: QueueKind::Steer, text: text.to_owned() });
    }

    pub(crate) fn follow_up(&self, text: &str) {
        self.handle.send(Command::Enqueue { kind: QueueKind::FollowUp, text: text.to_owned() });
    }

    pub(crate) fn answer(&self, id: &str, answer: Answer) {
        self.handle.send(Command::Answer { id: id.into(), answer });
    }

    pub(crate) fn abort(&self) {
        self.handle.send(Command::Abort);
    }

    /// Reads events until one fits.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Event) -> bool) -> Event {
        let limit = Duration::from_secs(100_000);
        loop {
            let event = tokio::time::timeout(limit, self.events.recv())
                .await
                .unwrap_or_else(|_| panic!("waited in vain; so far {:#?}", self.log))
                .unwrap_or_else(|| panic!("the channel closed; so far {:#?}", self.log));
            self.log.push(event.clone());
            if fits(&event) {
                return event;
            }
        }
    }

    /// Reads to the end of the run and checks all events and the history.
    pub(crate) async fn end(&mut self) -> RunSummary {
        let summary = self.end_unpaired().await;
        check_history(&self.history());
        summary
    }

    /// The same where a failing journal leaves calls without results.
    pub(crate) async fn end_unpaired(&mut self) -> RunSummary {
        let last = self.until(|event| matches!(event, Event::RunEnd { .. })).await;
        check_events(&self.log);
        let Event::RunEnd { summary } = last else { unreachable!() };
        summary
    }

    pub(crate) fn history(&self) -> Vec<Message> {
        self.handle.snapshot().history.iter().map(|message| (**message).clone()).collect()
    }

    /// The history, one line a message.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.history().iter().map(line).collect()
    }

    pub(crate) fn summary(&self) -> RunSummary {
        let end = self.log.iter().rev().find_map(|event| match event {
            Event::RunEnd { summary } => Some(summary.clone()),
            _ => None,
        });
        end.expect("the run has ended")
    }

    /// The results in the history.
    pub(crate) fn results(&self) -> Vec<ToolMessage> {
        let tool = |message| match message {
            Message::Tool(result) => Some(result),
            _ => None,
        };
        self.history().into_iter().filter_map(tool).collect()
    }

    /// Where the first event that fits stands.
    pub(crate) fn place(&self, fits: impl Fn(&Event) -> bool) -> usize {
        self.log.iter().position(fits).unwrap_or_else(|| panic!("no such event: {:#?}", self.log))
    }

    pub(crate) fn count(&self, fits: impl Fn(&Event) -> bool) -> usize {
        self.log.iter().filter(|event| fits(event)).count()
    }
}

/// Waits so many milliseconds of paused time.
pub(crate) async fn pass(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
