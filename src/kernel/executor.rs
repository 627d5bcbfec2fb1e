//! Runs the calls of one answer: in order of arrival, side by side where tools allow it, results
//! in call order. A state machine that the turn drives: [`Executor::wait`] sleeps until something
//! happened, [`Executor::on`] reacts, and events pile up in an outbox that the turn sends.
//!
//! A call waits in the line until all calls before it have started or ended and every earlier call
//! that must run alone has ended. Only the call at the head is previewed, judged and asked about,
//! so a prompt always shows what the calls before it left behind.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agent::AgentConfig;
use super::call::{self, Refusal, Stage, StageDone};
use super::emit::Emitter;
use super::error::JournalError;
use super::event::{Approval, Event, Preview, Purpose};
use super::message::{
    Block, CallId, CallStatus, MessageId, RunId, Timestamp, ToolCall, ToolMessage, Usage,
};
use super::ports::{Ports, Told, ToolOutcome, ToolTraits};
use super::state::Shared;

mod answers;
mod halt;
mod line;

pub(crate) use halt::Halt;

/// The calls of one answer.
#[derive(Debug)]
pub(crate) struct Executor {
    cx: ExecutorContext,
    entries: Vec<Entry>,
    /// The first call that has neither started nor ended.
    head: usize,
    stage: Option<StageBox>,
    running: usize,
    ended: mpsc::UnboundedReceiver<(usize, End)>,
    ends: mpsc::UnboundedSender<(usize, End)>,
    /// Fire when a cancelled call has used up its grace time.
    graces: FuturesUnordered<BoxFuture<'static, usize>>,
    outbox: VecDeque<Event>,
    /// Calls whose results are to be handed out next, in the order of the message.
    due: VecDeque<usize>,
    /// The model is still talking.
    streaming: bool,
    /// Nothing may start any more.
    frozen: bool,
    /// Why calls that complete from now on do not run.
    closed: Option<Halt>,
    fatal: Option<JournalError>,
    /// The call that must be the only one.
    exclusive: Option<usize>,
    /// A tool that ends the run has succeeded.
    wants_stop: bool,
    tally: Tally,
}

/// How a call's work ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) outcome: ToolOutcome,
    /// Whether the result is an earlier one.
    pub(crate) cached: bool,
    /// What the tool told beside it.
    pub(crate) told: Told,
}

/// What an executor needs from its run.
#[derive(Clone, Debug)]
pub(crate) struct ExecutorContext {
    pub(crate) ports: Ports,
    pub(crate) config: Arc<AgentConfig>,
    pub(crate) emitter: Emitter,
    pub(crate) abort: CancellationToken,
    pub(crate) tasks: TaskTracker,
    pub(crate) shared: Arc<Shared>,
    pub(crate) run: RunId,
    pub(crate) turn: u32,
}

/// Counts for the summary of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) calls: u32,
    pub(crate) errors: u32,
    pub(crate) unasked: u32,
    pub(crate) spent: Usage,
    /// US dollars of that, as far as known.
    pub(crate) cost: Option<f64>,
    /// Time that tools spent on asking a person.
    pub(crate) asked_ms: i64,
}

#[derive(Debug)]
struct Entry {
    call: ToolCall,
    /// The arguments the gate wants instead of the model's.
    rewritten: Option<ToolCall>,
    traits: Result<ToolTraits, Refusal>,
    phase: Phase,
    /// `ToolStart` was sent.
    announced: bool,
    /// The breaker let it through.
    admitted: bool,
    /// Its intent is on disk.
    side_effect: bool,
    cancel: CancellationToken,
    /// Asks the running tool to go on in the background.
    background: CancellationToken,
    halt: Option<Halt>,
    task: Option<AbortHandle>,
    started: Timestamp,
    result: Option<ToolMessage>,
}

#[derive(Debug)]
enum Phase {
    /// In the line.
    Queued,
    /// Preview or gate under way.
    Checking,
    /// Would have to ask, which must wait until the answer is committed.
    Held(Box<Approval>),
    /// The user is asked.
    Asking(Box<Approval>),
    /// The user said yes and the rule is being saved.
    Remembering,
    /// May run; waits for its slot. `approved` when the user said so in person.
    Ready {
        approved: bool,
    },
    /// The intent is being written.
    Recording {
        approved: bool,
    },
    Running,
    Done,
}

struct StageBox(Stage);

impl std::fmt::Debug for StageBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stage")
    }
}

/// Something happened.
#[derive(Debug)]
pub(crate) enum Signal {
    Ended(usize, Box<End>),
    Stage(StageDone),
    GraceOver(usize),
}

impl Executor {
    /// An executor for an answer that is about to be streamed.
    pub(crate) fn new(cx: ExecutorContext) -> Self {
        let (ends, ended) = mpsc::unbounded_channel();
        Self {
            cx,
            entries: Vec::new(),
            head: 0,
            stage: None,
            running: 0,
            ended,
            ends,
            graces: FuturesUnordered::new(),
            outbox: VecDeque::new(),
            due: VecDeque::new(),
            streaming: true,
            frozen: false,
            closed: None,
            fatal: None,
            exclusive: None,
            wants_stop: false,
            tally: Tally::default(),
        }
    }

    /// Takes a completed call and starts what may start.
    pub(crate) fn add(&mut self, call: ToolCall) {
        let traits = call::check(&self.cx.ports, &call);
        let is_exclusive = traits.as_ref().is_ok_and(|traits| traits.exclusive);
        let is_late = self.exclusive.is_some();
        if is_exclusive && !is_late && self.closed.is_none() {
            self.clear_for_exclusive();
        }
        self.entries.push(Entry {
            call,
            rewritten: None,
            traits,
            phase: Phase::Queued,
            announced: false,
            admitted: false,
            side_effect: false,
            cancel: self.cx.abort.child_token(),
            background: CancellationToken::new(),
            halt: None,
            task: None,
            started: Timestamp::default(),
            result: None,
        });
        let halt = self.closed.or(is_late.then_some(Halt::Exclusive));
        match halt {
            Some(halt) => self.refuse(self.entries.len() - 1, halt.refusal()),
            None => self.advance(),
        }
    }

    /// The answer is committed: calls that waited for this may start.
    pub(crate) fn answer_committed(&mut self) {
        self.streaming = false;
        self.advance();
    }

    /// Ends when something happened; for ever when nothing is under way. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> Signal {
        let stage = async {
            match &mut self.stage {
                Some(stage) => (&mut stage.0).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some((at, end)) = self.ended.recv() => Signal::Ended(at, Box::new(end)),
            done = stage => Signal::Stage(done),
            Some(at) = self.graces.next(), if !self.graces.is_empty() => Signal::GraceOver(at),
        }
    }

    /// Reacts to a signal.
    pub(crate) fn on(&mut self, signal: Signal) {
        match signal {
            Signal::Ended(at, end) => self.ended(at, *end),
            Signal::GraceOver(at) => self.detach(at),
            Signal::Stage(done) => {
                self.stage = None;
                self.stage_done(done);
            }
        }
        self.advance();
    }

    /// The next event to send.
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        self.outbox.pop_front()
    }

    /// The order of the calls in the committed answer. It may differ from the order in which they
    /// were completed.
    pub(crate) fn arrange<'a>(&mut self, ids: impl Iterator<Item = &'a CallId>) {
        let place = |id: &CallId| self.entries.iter().position(|entry| &entry.call.id == id);
        self.due = ids.filter_map(place).collect();
    }

    /// The next result in call order, once it is there.
    pub(crate) fn next_result(&mut self) -> Option<ToolMessage> {
        let result = self.entries[*self.due.front()?].result.take()?;
        self.due.pop_front();
        Some(result)
    }

    /// Whether every call has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.head == self.entries.len() && self.running == 0
    }

    /// Whether a call that changes something has started.
    pub(crate) fn side_effect_started(&self) -> bool {
        self.entries.iter().any(|entry| entry.side_effect && entry.task.is_some())
    }

    /// Whether a tool that ends the run has succeeded.
    pub(crate) fn wants_stop(&self) -> bool {
        self.wants_stop
    }

    /// The calls taken so far.
    pub(crate) fn call_ids(&self) -> Vec<CallId> {
        self.entries.iter().map(|entry| entry.call.id.clone()).collect()
    }

    /// The journal's failure, when an intent could not be written.
    pub(crate) fn take_fatal(&mut self) -> Option<JournalError> {
        self.fatal.take()
    }

    /// The counts since the last time.
    pub(crate) fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    /// An abort counts at once, not only when the turn gets round to it.
    fn is_frozen(&self) -> bool {
        self.frozen || self.cx.abort.is_cancelled()
    }

    fn ended(&mut self, at: usize, End { mut outcome, cached, told }: End) {
        if !matches!(self.entries[at].phase, Phase::Running) {
            return;
        }
        self.running -= 1;
        self.tell(told);
        let named = self.cx.config.stop_after.contains(&self.entries[at].call.name);
        self.wants_stop |= outcome.status == CallStatus::Ok && (outcome.terminal || named);
        if outcome.status == CallStatus::Cancelled && outcome.blocks.is_empty() {
            let halt = self.entries[at].halt.unwrap_or(Halt::User);
            outcome.blocks.push(Block::text(halt.stopped()));
        }
        self.finish(at, outcome, cached);
    }

    /// Passes on what a tool told beside its result.
    fn tell(&mut self, Told { spent, cost, remarks }: Told) {
        if spent != Usage::default() {
            self.tally.spent += spent;
            if let Some(cost) = cost {
                *self.tally.cost.get_or_insert(0.0) += cost;
            }
            self.outbox.push_back(Event::Usage { purpose: Purpose::Compress, usage: spent, cost });
        }
        self.outbox.extend(remarks.into_iter().map(|text| Event::Status { text }));
    }

    fn announce(&mut self, at: usize, preview: Option<Preview>) {
        let entry = &mut self.entries[at];
        if !entry.announced {
            entry.announced = true;
            self.tally.calls += 1;
            self.outbox.push_back(Event::ToolStart { call: entry.call.clone(), preview });
        }
    }

    /// Ends a call that did not run.
    fn refuse(&mut self, at: usize, refusal: Refusal) {
        let outcome = ToolOutcome::new(refusal.status, vec![Block::text(refusal.text)]);
        self.finish(at, outcome, false);
    }

    fn finish(&mut self, at: usize, outcome: ToolOutcome, cached: bool) {
        let ToolOutcome { status, blocks, detail, terminal: _ } = outcome;
        self.announce(at, None);
        let entry = &mut self.entries[at];
        entry.phase = Phase::Done;
        if entry.task.is_some() && entry.traits.as_ref().is_ok_and(|traits| traits.exclusive) {
            self.tally.asked_ms += self.cx.ports.clock.now().0 - entry.started.0;
        }
        if entry.task.is_some() && entry.side_effect {
            self.cx.shared.cache.invalidate();
        }
        if entry.admitted {
            self.cx.shared.breaker.ended(&entry.call.name, status, detail.as_ref());
        }
        let result = ToolMessage {
            id: MessageId(self.cx.ports.ids.next("msg")),
            at: self.cx.ports.clock.now(),
            call_id: entry.call.id.clone(),
            tool: entry.call.name.clone(),
            status,
            blocks,
            detail,
            cached,
        };
        entry.result = Some(result.clone());
        if status != CallStatus::Ok {
            self.tally.errors += 1;
        }
        let (id, name) = (entry.call.id.clone(), entry.call.name.clone());
        self.outbox.push_back(Event::ToolEnd { id, name, status, result });
    }
}
