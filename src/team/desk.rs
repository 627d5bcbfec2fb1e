//! Where children's questions meet the user: they go out on the session's own event channel under
//! names of their own, and the answers find their way back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::kernel::agent::AgentHandle;
use crate::kernel::command::{Answer, Command};
use crate::kernel::event::{Approval, Event};
use crate::kernel::message::CallId;

/// The open questions of all children.
#[derive(Clone, Debug)]
pub struct Desk {
    events: mpsc::Sender<Event>,
    open: Arc<Mutex<HashMap<CallId, (AgentHandle, CallId)>>>,
}

impl Desk {
    /// A desk whose questions go to `events`.
    pub fn new(events: mpsc::Sender<Event>) -> Self {
        Self { events, open: Arc::default() }
    }

    /// Passes a child's question on.
    pub async fn ask(&self, child: &str, handle: &AgentHandle, mut approval: Approval) {
        let own = approval.call.id.clone();
        let id = named(child, &own);
        approval.call.id = id.clone();
        lock(&self.open).insert(id, (handle.clone(), own));
        // Without a front end nobody answers; the run's end withdraws the question.
        let _gone = self.events.send(Event::ApprovalAsked { approval }).await;
    }

    /// The child's question is no longer open.
    pub async fn close(&self, child: &str, own: &CallId, answer: Option<Answer>) {
        let id = named(child, own);
        if lock(&self.open).remove(&id).is_some() {
            let _gone = self.events.send(Event::ApprovalClosed { id, answer }).await;
        }
    }

    /// The child is gone, and with it whatever it still asked.
    pub async fn forget(&self, child: &str) {
        let gone: Vec<CallId> = {
            let mut open = lock(&self.open);
            let prefix = format!("{child}/");
            let ids: Vec<CallId> =
                open.keys().filter(|id| id.as_str().starts_with(&prefix)).cloned().collect();
            open.retain(|id, _| !ids.contains(id));
            ids
        };
        for id in gone {
            let _gone = self.events.send(Event::ApprovalClosed { id, answer: None }).await;
        }
    }

    /// Gives an answer to the child that asked; `false` when none of them did.
    pub fn answer(&self, id: &CallId, answer: &Answer) -> bool {
        let Some((handle, id)) = lock(&self.open).get(id).cloned() else { return false };
        handle.send(Command::Answer { id, answer: answer.clone() });
        true
    }
}

/// Providers number the calls of each answer anew, so children's ids need a name in front.
fn named(child: &str, own: &CallId) -> CallId {
    CallId::from(format!("{child}/{own}").as_str())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
