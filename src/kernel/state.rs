//! What the agent and its run share: history, queues, and the handles of the active run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::agent::Refused;
use super::breaker::Breaker;
use super::budget::Limits;
use super::command::Answer;
use super::dedupe::Cache;
use super::event::{EndReason, Event, RunSummary};
use super::message::{CallId, Message};
use super::queue::Queues;
use super::scope::RouteMemory;

/// Shared between the agent, its handles and its run. The lock is never held across an await.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    busy: watch::Sender<bool>,
    pub(crate) breaker: Breaker,
    pub(crate) cache: Cache,
}

#[derive(Debug)]
pub(crate) struct State {
    /// Grown in place as long as no snapshot is alive; otherwise the list is copied, never the
    /// messages.
    pub(crate) history: Arc<Vec<Arc<Message>>>,
    pub(crate) queues: Queues,
    /// The run, from its start until just before its `RunEnd`.
    pub(crate) active: Option<Active>,
    /// How many want that nothing runs.
    pub(crate) holds: usize,
    pub(crate) route: RouteMemory,
    /// Caps on runs.
    pub(crate) limits: Limits,
    /// Text of the answer under way.
    pub(crate) partial: String,
    /// Answers and results that the journal did not take; written before anything else.
    pub(crate) unsaved: VecDeque<Message>,
    /// The user wants the conversation summed up at the end of the run, with this focus.
    pub(crate) compact: Option<String>,
}

/// Ways to reach the active run.
#[derive(Clone, Debug)]
pub(crate) struct Active {
    pub(crate) abort: CancellationToken,
    /// Unbounded, a few entries per key press; the run drains it and drops what is stale.
    pub(crate) control: mpsc::UnboundedSender<Control>,
    /// An abort of this run leaves no mark in the conversation.
    pub(crate) silent: bool,
}

/// What a run may still wait for at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// It ends whatever the queues hold.
    Nothing,
    /// Steering keeps it alive.
    Steering,
    /// Any queued message does.
    Anything,
}

/// A request of the user to the active run.
#[derive(Debug)]
pub(crate) enum Control {
    Answer {
        id: CallId,
        answer: Answer,
    },
    CancelCall {
        id: CallId,
    },
    Background {
        id: CallId,
    },
    RetryNow,
    /// Steering was queued.
    Steered,
}

impl Shared {
    pub(crate) fn new(history: Vec<Arc<Message>>, limits: Limits) -> Self {
        let state = State {
            history: Arc::new(history),
            queues: Queues::default(),
            active: None,
            holds: 0,
            route: RouteMemory::default(),
            limits,
            partial: String::new(),
            unsaved: VecDeque::new(),
            compact: None,
        };
        Self {
            state: Mutex::new(state),
            busy: watch::Sender::new(false),
            breaker: Breaker::default(),
            cache: Cache::default(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while holding it, and every field is valid at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a run as active, unless there is one already or somebody holds the agent.
    pub(crate) fn begin(&self, active: Active) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.holds > 0 {
            return Err(Refused::Held);
        }
        if state.active.is_some() {
            return Err(Refused::Busy);
        }
        state.active = Some(active);
        self.busy.send_replace(true);
        Ok(())
    }

    /// Makes the agent idle and sends `RunEnd`, in one step: whoever sees the event can start the
    /// next run, and no event of that run can come first. Nothing happens and the permit comes back
    /// when a message of the kind that the run `waits` for is still there.
    pub(crate) fn end(
        &self,
        permit: Option<mpsc::OwnedPermit<Event>>,
        summary: RunSummary,
        waits: Waits,
    ) -> Result<(), Option<mpsc::OwnedPermit<Event>>> {
        let mut state = self.lock();
        let kept = match waits {
            Waits::Nothing => false,
            Waits::Steering => state.queues.has_steering(),
            Waits::Anything => !state.queues.is_empty(),
        };
        let stopped = summary.reason == EndReason::Stop;
        if stopped && (kept || state.compact.is_some() && waits == Waits::Anything) {
            return Err(permit);
        }
        state.compact = None;
        state.queues.release();
        state.active = None;
        if let Some(permit) = permit {
            permit.send(Event::RunEnd { summary });
        }
        self.busy.send_replace(false);
        Ok(())
    }

    /// Makes the agent idle after something that is no run, and tells what came of it, in one step
    /// as in [`Self::end`].
    pub(crate) fn finish(&self, permit: Option<mpsc::OwnedPermit<Event>>, event: Event) {
        let mut state = self.lock();
        state.active = None;
        if let Some(permit) = permit {
            permit.send(event);
        }
        self.busy.send_replace(false);
    }

    /// Ends when no run is active.
    pub(crate) async fn idle(&self) {
        let mut busy = self.busy.subscribe();
        // The sender lives in `self`, so the only outcome is success.
        let _closed = busy.wait_for(|busy| !busy).await;
    }
}
