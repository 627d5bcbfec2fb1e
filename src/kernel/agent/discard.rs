//! Taking back the last turn: the user's newest message and everything after it leave the
//! conversation, by their ids, so that it does not matter what else was done to the history. The
//! journal is told first; a reload then gives the same conversation. What tools did stays done.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Agent;
use crate::kernel::emit::Emitter;
use crate::kernel::event::Event;
use crate::kernel::isolate::isolated;
use crate::kernel::message::{Message, MessageId, text_of};
use crate::kernel::notices;
use crate::kernel::ports::{Durability, Ports, Record};
use crate::kernel::state::{Active, Shared};

/// What is to go.
struct Last {
    ids: Vec<MessageId>,
    text: String,
}

impl Agent {
    pub(super) fn discard(&mut self) {
        let abort = CancellationToken::new();
        // Nobody controls this; it is over at once.
        let (control, _controls) = mpsc::unbounded_channel();
        let active = Active { abort: abort.clone(), control, silent: true };
        if let Err(refused) = self.shared.begin(active) {
            return self.reject(&refused.to_string());
        }
        let (ports, shared) = (self.ports.clone(), Arc::clone(&self.shared));
        let emitter = Emitter::new(self.events.clone(), abort, Arc::clone(&ports.clock));
        self.tasks.spawn(async move {
            let event = match take_back(&ports, &shared).await {
                Ok(Last { ids, text }) => Event::TakenBack { ids, text },
                Err(reason) => Event::Rejected { reason },
            };
            let permit = emitter.reserve_last().await;
            shared.finish(permit, event);
        });
    }
}

async fn take_back(ports: &Ports, shared: &Shared) -> Result<Last, String> {
    let last = {
        let state = shared.lock();
        if !state.unsaved.is_empty() {
            return Err("the session file does not take words at the moment; send one first".into());
        }
        last(&state.history).ok_or("there is nothing to take back")?
    };
    let record = Record::TakenBack { ids: last.ids.clone() };
    isolated(ports.journal.append(&record, Durability::Flush))
        .await
        .map_err(|words| format!("internal error: {words}"))?
        .map_err(|error| error.to_string())?;
    let mut state = shared.lock();
    Arc::make_mut(&mut state.history).retain(|message| !last.ids.contains(message.id()));
    shared.cache.invalidate();
    Ok(last)
}

/// The newest message of the user and what follows it. News of background work stays: it was told
/// once and is acknowledged, so nobody would hear of it again.
fn last(history: &[Arc<Message>]) -> Option<Last> {
    let written = |message: &Message| match message {
        Message::User(user) if user.origin.is_user_written() => Some(text_of(&user.blocks)),
        _ => None,
    };
    let at = history.iter().rposition(|message| written(message).is_some())?;
    let text = written(&history[at])?;
    Some(Last { ids: taken_from(history, at), text })
}

/// What leaves the conversation when everything from that place on is taken back. News of background
/// work stays: see [`last`].
pub fn taken_from(history: &[Arc<Message>], at: usize) -> Vec<MessageId> {
    let gone = history[at..].iter().filter(|message| !notices::is_news(message));
    gone.map(|message| message.id().clone()).collect()
}
