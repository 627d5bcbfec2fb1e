//! What the agent and its run share: history, queues, and the handles of the active run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::breaker::Breaker;
use super::command::Answer;
use super::dedupe::Cache;
use super::event::{EndReason, Event, RunSummary};
use super::message::{CallId, Message};
use super::queue::Queues;

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
}

/// Ways to reach the active run.
#[derive(Clone, Debug)]
pub(crate) struct Active {
    pub(crate) abort: CancellationToken,
    /// Unbounded, a few entries per key press; the run drains it and drops what is stale.
    pub(crate) control: mpsc::UnboundedSender<Control>,
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
    pub(crate) fn new(history: Vec<Arc<Message>>) -> Self {
        let state = State { history: Arc::new(history), queues: Queues::default(), active: None };
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

    /// Marks a run as active. `false` when there is one already.
    pub(crate) fn begin(&self, active: Active) -> bool {
        let mut state = self.lock();
        if state.active.is_some() {
            return false;
        }
        state.active = Some(active);
        self.busy.send_replace(true);
        true
    }

    /// Makes the agent idle and sends `RunEnd`, in one step: whoever sees the event can start the
    /// next run, and no event of that run can come first. With `if_drained` nothing happens and the
    /// permit comes back when a message is still waiting.
    pub(crate) fn end(
        &self,
        permit: Option<mpsc::OwnedPermit<Event>>,
        summary: RunSummary,
        if_drained: bool,
    ) -> Result<(), Option<mpsc::OwnedPermit<Event>>> {
        let mut state = self.lock();
        if if_drained && summary.reason == EndReason::Stop && !state.queues.is_empty() {
            return Err(permit);
        }
        state.queues.release();
        state.active = None;
        if let Some(permit) = permit {
            permit.send(Event::RunEnd { summary });
        }
        self.busy.send_replace(false);
        Ok(())
    }

    /// Ends when no run is active.
    pub(crate) async fn idle(&self) {
        let mut busy = self.busy.subscribe();
        // The sender lives in `self`, so the only outcome is success.
        let _closed = busy.wait_for(|busy| !busy).await;
    }
}
