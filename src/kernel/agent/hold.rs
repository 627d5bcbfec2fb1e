//! The agent for other parts of the program: put a message in wherever the conversation stands,
//! keep everything quiet for a while, start over. Front ends with a person use commands instead.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Agent, AgentHandle, Input};
use crate::kernel::event::{QueueItem, QueueKind};
use crate::kernel::message::{Message, QueueId};
use crate::kernel::queue::Queues;
use crate::kernel::repair;
use crate::kernel::run::Start;
use crate::kernel::scope::RouteMemory;
use crate::kernel::state::Shared;

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is a run.
    #[error("a run is active; queue the message or stop the run first")]
    Busy,
    /// Somebody holds the agent.
    #[error("the agent is held for a moment; try again when it is released")]
    Held,
    /// The message has no words.
    #[error("the message is empty")]
    Empty,
    /// The agent has ended.
    #[error("the agent has ended; start a new session")]
    Closed,
}

/// What became of an injected message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injected {
    /// It steers the live run.
    Steered,
    /// A run was started with it.
    Resumed,
    /// The conversation already waits for an answer: it is delivered with the next run.
    Queued,
}

/// Keeps an agent from running until it is dropped.
#[derive(Debug)]
#[must_use = "dropping it lets the agent run again"]
pub struct Hold {
    shared: Arc<Shared>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.shared.lock().holds -= 1;
    }
}

impl AgentHandle {
    /// Puts a message in: into the live run, as the start of one, or into the queue.
    ///
    /// # Errors
    /// Nothing was queued or started when the message is empty or the agent held or ended.
    pub async fn inject(&self, text: impl Into<String>) -> Result<Injected, Refused> {
        let (reply, answer) = oneshot::channel();
        let _closed = self.inputs.send(Input::Inject { text: text.into(), reply });
        answer.await.unwrap_or(Err(Refused::Closed))
    }

    /// Ends the active run without a mark in the conversation, waits until it is over, and refuses
    /// runs until every holder has let go. Messages may still be queued.
    pub async fn hold(&self) -> Hold {
        {
            let mut state = self.shared.lock();
            state.holds += 1;
            if let Some(active) = &mut state.active {
                active.silent = true;
                active.abort.cancel();
            }
        }
        let hold = Hold { shared: Arc::clone(&self.shared) };
        self.shared.idle().await;
        hold
    }

    /// Ends the active run and forgets the conversation and the queues.
    pub async fn reset(&self) {
        let hold = self.hold().await;
        {
            let mut state = self.shared.lock();
            state.history = Arc::default();
            state.queues = Queues::default();
            state.route = RouteMemory { previous: None, ..state.route };
            state.unsaved.clear();
        }
        self.shared.cache.invalidate();
        self.shared.breaker.clear();
        drop(hold);
    }

    /// Puts another conversation in the place of this one.
    ///
    /// # Errors
    /// While a run is active.
    pub fn replace(
        &self,
        history: impl IntoIterator<Item = impl Into<Arc<Message>>>,
    ) -> Result<(), Refused> {
        let history = history.into_iter().map(Into::into).collect();
        let mut state = self.shared.lock();
        if state.active.is_some() {
            return Err(Refused::Busy);
        }
        state.history = Arc::new(history);
        drop(state);
        self.shared.cache.invalidate();
        Ok(())
    }
}

impl Agent {
    pub(super) fn inject(&mut self, text: String) -> Result<Injected, Refused> {
        if text.trim().is_empty() {
            return Err(Refused::Empty);
        }
        let injected = {
            let mut state = self.shared.lock();
            if state.holds > 0 {
                return Err(Refused::Held);
            }
            let is_live = state.active.is_some();
            if !is_live && repair::is_answered(&state.history) {
                Injected::Resumed
            } else {
                let id = QueueId(self.ports.ids.next("queue"));
                let item = QueueItem { id, kind: QueueKind::Steer, text: text.clone() };
                state.queues.push(item);
                if is_live { Injected::Steered } else { Injected::Queued }
            }
        };
        if injected == Injected::Resumed {
            self.try_start(Start::Inject(text))?;
        } else {
            self.queue_changed();
        }
        Ok(injected)
    }
}
