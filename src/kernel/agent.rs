//! The agent: takes commands, keeps the conversation and the queues, and has at most one run.
//!
//! Commands arrive on an unbounded channel and never wait; what answers them (`Queue`, `Rejected`,
//! …) goes out beside the run's own events as soon as the reader has room.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::budget::{Budget, Cap, Limits};
use super::command::{Command, Mode, QueueEdit, Setting};
use super::emit::LAST_WORDS;
use super::event::{Event, QueueItem, QueueKind};
use super::isolate::isolated_now;
use super::message::{Block, Message, QueueId};
use super::ports::{Effort, Ports};
pub use super::queue::Delivery;
use super::route::RouteConfig;
use super::run::{Run, Start};
use super::state::{Active, Control, Shared};

mod discard;
mod hold;

pub use discard::taken_from;
pub use hold::{Hold, Injected, Refused};

/// When a tool call may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolStart {
    /// As soon as it is complete, while the model still talks.
    #[default]
    Stream,
    /// The same for calls that only look and need no approval; others after the answer.
    ReadOnly,
    /// Only after the answer was committed.
    AfterMessage,
}

/// How the loop behaves.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "settings are independent switches")]
pub struct AgentConfig {
    /// Turns of one run; 0 means the default of 200.
    pub max_turns: u32,
    /// Calls beside each other, 4.
    pub max_tool_concurrency: usize,
    /// Repetitions of a failed model call, 3.
    pub max_retries: u32,
    /// When calls start.
    pub start: ToolStart,
    /// Whether somebody can be asked; without, ask means deny. True.
    pub interactive: bool,
    /// Whether a run goes on from a partial answer whose side effects have begun. True; otherwise
    /// it ends with the error.
    pub continue_partial: bool,
    /// How much steering one boundary delivers.
    pub steer_mode: Delivery,
    /// How many follow-ups one stop delivers.
    pub follow_mode: Delivery,
    /// Names the session to services that route by a cache key.
    pub cache_key: String,
    /// How long a cancelled call may take to end before it is left behind, 2 s.
    pub grace: Duration,
    /// Turns in a row in which a tool may fail before it is refused, 3.
    pub breaker_limit: u32,
    /// Tools whose success ends the run.
    pub stop_after: Vec<String>,
    /// Whether every call may be made twice: a broken answer is then thrown away and asked for
    /// again even when a call that changes something has started. False.
    pub idempotent: bool,
    /// What a run may use. No caps.
    pub budget: Budget,
    /// Whether the last turn before the cap is spent on a report. False.
    pub wrap_at_cap: bool,
    /// Whether a chat that repeats itself is told so and, in the end, wrapped up. False.
    pub monitor: bool,
    /// How chats are routed; without, every chat is full and has no budget of its own.
    pub route: Option<RouteConfig>,
    /// How hard the model should think. Its own default.
    pub effort: Option<Effort>,
}

/// The default cap on turns: far above honest work, low enough to stop an endless one.
const MAX_TURNS: u32 = 200;

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            max_turns: MAX_TURNS,
            max_tool_concurrency: 4,
            max_retries: 3,
            start: ToolStart::default(),
            interactive: true,
            continue_partial: true,
            steer_mode: Delivery::default(),
            follow_mode: Delivery::default(),
            cache_key: String::new(),
            grace: Duration::from_secs(2),
            breaker_limit: 3,
            stop_after: Vec::new(),
            idempotent: false,
            budget: Budget::default(),
            wrap_at_cap: false,
            monitor: false,
            route: None,
            effort: None,
        }
    }
}

/// Starts agents.
#[derive(Debug)]
pub struct Agent {
    ports: Ports,
    config: Arc<AgentConfig>,
    shared: Arc<Shared>,
    events: mpsc::Sender<Event>,
    /// Answers to commands that wait for room in `events`.
    outbox: VecDeque<Out>,
    tasks: TaskTracker,
}

#[derive(Debug)]
enum Out {
    Event(Box<Event>),
    /// The queues as they are when there is room.
    Queue,
}

#[derive(Debug)]
enum Input {
    Command(Command),
    Inject { text: String, reply: oneshot::Sender<Result<Injected, Refused>> },
    Shutdown,
}

/// What the agent looks like right now.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Whether a run is active.
    pub busy: bool,
    /// All committed messages.
    pub history: Arc<Vec<Arc<Message>>>,
    /// Undelivered messages in delivery order.
    pub queue: Vec<QueueItem>,
    /// Text of the answer under way; empty when there is none.
    pub partial: String,
}

impl Snapshot {
    /// Whether a message waits for the next stop; steering does not count.
    pub fn has_follow_ups(&self) -> bool {
        self.queue.iter().any(|item| item.kind == QueueKind::FollowUp)
    }
}

/// Reaches an agent. The agent ends, and its run with it, when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct AgentHandle {
    inputs: mpsc::UnboundedSender<Input>,
    shared: Arc<Shared>,
    ports: Ports,
    grace: Duration,
}

impl Agent {
    /// Starts an agent with this history. `events` is drained by the front end and should hold at
    /// least 2, better 128, events: a live run waits while it is full. A closed `events` aborts the
    /// run.
    pub fn spawn(
        ports: Ports,
        mut config: AgentConfig,
        history: impl IntoIterator<Item = impl Into<Arc<Message>>>,
        events: mpsc::Sender<Event>,
    ) -> AgentHandle {
        if config.max_turns == 0 {
            config.max_turns = MAX_TURNS;
        }
        let limits = Limits { max_turns: config.max_turns, budget: config.budget };
        let history = history.into_iter().map(Into::into).collect();
        let shared = Arc::new(Shared::new(history, limits));
        let (inputs, receiver) = mpsc::unbounded_channel();
        let handle = AgentHandle {
            inputs,
            shared: Arc::clone(&shared),
            ports: ports.clone(),
            grace: config.grace,
        };
        let tasks = TaskTracker::new();
        let agent = Self {
            ports,
            config: Arc::new(config),
            shared,
            events,
            outbox: VecDeque::new(),
            tasks: tasks.clone(),
        };
        tasks.spawn(agent.serve(receiver));
        handle
    }

    async fn serve(mut self, mut inputs: mpsc::UnboundedReceiver<Input>) {
        let events = self.events.clone();
        loop {
            tokio::select! {
                biased;
                input = inputs.recv() => match input {
                    Some(Input::Command(command)) => self.command(command),
                    Some(Input::Inject { text, reply }) => {
                        // Whoever asked may have lost interest.
                        let _gone = reply.send(self.inject(text));
                    }
                    Some(Input::Shutdown) | None => break,
                },
                permit = events.reserve(), if !self.outbox.is_empty() => {
                    let Ok(permit) = permit else { break };
                    match self.outbox.pop_front() {
                        Some(Out::Event(event)) => permit.send(*event),
                        Some(Out::Queue) => {
                            let state = self.shared.lock();
                            permit.send(Event::Queue { items: state.queues.items() });
                        }
                        None => {}
                    }
                }
            }
        }
        self.abort();
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Prompt { blocks } if is_blank(&blocks) => self.reject("the prompt is empty"),
            Command::Prompt { blocks } => self.start(Start::Prompt(blocks)),
            Command::Continue => self.start(Start::Continue),
            Command::Enqueue { kind, text } => self.enqueue(kind, text),
            Command::Abort => self.abort(),
            Command::Discard => self.discard(),
            Command::Compact { focus } => self.compact(focus),
            Command::UndoCompaction => self.start(Start::Undo),
            Command::Answer { id, answer } => self.control(Control::Answer { id, answer }),
            Command::RetryNow => self.control(Control::RetryNow),
            Command::Background { id } => self.control(Control::Background { id }),
            Command::CancelCall { id } => self.control(Control::CancelCall { id }),
            Command::Queue(edit) => self.edit(edit),
            Command::Configure(Setting::Mode(mode)) => self.set_mode(mode),
            Command::Configure(Setting::Plan(on)) => self.set_plan(on),
            Command::Configure(Setting::Route(tier)) => {
                self.shared.lock().route.pin = tier;
                self.tell(Event::RoutePinned { tier });
            }
            Command::Configure(Setting::Limit { cap, value }) => self.set_limit(cap, value),
        }
    }

    fn set_mode(&mut self, mode: Mode) {
        let gate = Arc::clone(&self.ports.gate);
        let set = isolated_now(|| {
            gate.set_mode(mode);
            gate.mode()
        });
        match set {
            Ok(mode) => self.tell(Event::Mode { mode }),
            Err(words) => self.reject(&format!("the mode could not be changed: {words}")),
        }
    }

    fn set_plan(&mut self, on: bool) {
        let gate = Arc::clone(&self.ports.gate);
        let set = isolated_now(|| {
            gate.set_plan(on);
            gate.planning()
        });
        match set {
            Ok(on) => self.tell(Event::Plan { on }),
            Err(words) => self.reject(&format!("planning could not be switched: {words}")),
        }
    }

    fn set_limit(&mut self, cap: Cap, value: f64) {
        if self.shared.lock().limits.set(cap, value) {
            self.tell(Event::LimitChanged { cap, value });
        } else {
            self.reject(&format!("{value} is no limit for {}; give a larger number", cap.unit()));
        }
    }

    fn start(&mut self, start: Start) {
        if let Err(refused) = self.try_start(start) {
            self.reject(&refused.to_string());
        }
    }

    /// At once when idle, else at the end of the run.
    fn compact(&mut self, focus: String) {
        {
            let mut state = self.shared.lock();
            if state.active.is_some() {
                state.compact = Some(focus);
                return;
            }
        }
        self.start(Start::Compact(focus));
    }

    fn try_start(&mut self, start: Start) -> Result<(), Refused> {
        let abort = CancellationToken::new();
        let (control, controls) = mpsc::unbounded_channel();
        self.shared.begin(Active { abort: abort.clone(), control, silent: false })?;
        let run = Run::new(
            self.ports.clone(),
            Arc::clone(&self.config),
            Arc::clone(&self.shared),
            self.tasks.clone(),
            self.events.clone(),
            abort,
            controls,
        );
        self.tasks.spawn(run.supervise(start));
        Ok(())
    }

    fn enqueue(&mut self, kind: QueueKind, text: String) {
        if text.trim().is_empty() {
            return self.reject("the message is empty");
        }
        let id = QueueId(self.ports.ids.next("queue"));
        self.shared.lock().queues.push(QueueItem { id, kind, text });
        self.queue_changed();
    }

    fn edit(&mut self, edit: QueueEdit) {
        let edited = self.shared.lock().queues.edit(edit);
        if let Some(items) = edited.returned {
            self.tell(Event::QueueReturned { items });
        }
        if edited.changed {
            self.queue_changed();
        }
    }

    fn queue_changed(&mut self) {
        if !matches!(self.outbox.back(), Some(Out::Queue)) {
            self.outbox.push_back(Out::Queue);
        }
        // The run looks for itself whether there is steering that it has not seen.
        self.control(Control::Steered);
    }

    fn control(&self, control: Control) {
        if let Some(active) = &self.shared.lock().active {
            // The run ended meanwhile: nothing is left to control.
            let _ended = active.control.send(control);
        }
    }

    fn abort(&self) {
        if let Some(active) = &self.shared.lock().active {
            active.abort.cancel();
        }
    }

    fn reject(&mut self, reason: &str) {
        self.tell(Event::Rejected { reason: reason.to_owned() });
    }

    fn tell(&mut self, event: Event) {
        self.outbox.push_back(Out::Event(Box::new(event)));
    }
}

impl AgentHandle {
    /// Sends a command. Never blocks; ignored after shutdown.
    pub fn send(&self, command: Command) {
        let _closed = self.inputs.send(Input::Command(command));
    }

    /// The state right now. Keep it for a short time only: while it lives, the next commit copies
    /// the list of messages.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.shared.lock();
        Snapshot {
            busy: state.active.is_some(),
            history: Arc::clone(&state.history),
            queue: state.queues.items(),
            partial: state.partial.clone(),
        }
    }

    /// Ends when no run is active.
    pub async fn idle(&self) {
        self.shared.idle().await;
    }

    /// Aborts the run and waits until it has ended, with every tool ended or left behind. Bounded
    /// by the grace time plus the time that last events wait for a reader.
    pub async fn shutdown(&self) {
        let _closed = self.inputs.send(Input::Shutdown);
        let ended = async {
            self.inputs.closed().await;
            self.shared.idle().await;
        };
        let limit = self.grace + 2 * LAST_WORDS + Duration::from_secs(1);
        tokio::select! {
            biased;
            () = ended => {}
            () = self.ports.clock.sleep(limit) => {}
        }
    }
}

/// Whether a message would say nothing.
fn is_blank(blocks: &[Block]) -> bool {
    blocks.iter().all(|block| matches!(block, Block::Text { text } if text.trim().is_empty()))
}
