//! When the journal can't be written (a full disk), the run ends, but what has already happened is
//! not forgotten: answers and results wait in memory and go into the journal, and only then into
//! the conversation, before anything of the next run does.

use std::sync::Arc;

use super::event::Event;
use super::message::Message;
use super::ports::{Durability, Record};
use super::run::Run;
use super::stop::Exit;

impl Run {
    /// Keeps a message that the journal did not take. Words of the user stay in their queue or go
    /// back to their writer instead.
    pub(super) fn keep_unsaved(&self, message: Message) {
        if matches!(message, Message::Assistant(_) | Message::Tool(_)) {
            self.shared.lock().unsaved.push_back(message);
        }
    }

    /// Whether messages wait that must be written first.
    pub(super) fn has_unsaved(&self) -> bool {
        !self.shared.lock().unsaved.is_empty()
    }

    /// Writes what an earlier run could not.
    pub(super) async fn write_unsaved(&mut self) -> Result<(), Exit> {
        loop {
            let Some(message) = self.shared.lock().unsaved.front().cloned() else { return Ok(()) };
            let record = Record::Message { message };
            self.ports.journal.append(&record, Durability::Flush).await?;
            let Record::Message { message } = record else { return Ok(()) };
            {
                let mut state = self.shared.lock();
                state.unsaved.pop_front();
                Arc::make_mut(&mut state.history).push(Arc::new(message.clone()));
            }
            if let Message::Assistant(answer) = &message {
                self.emitter.send(Event::MessageStart { id: answer.id.clone() }).await;
            }
            self.emitter.send(Event::MessageEnd { message }).await;
        }
    }
}

/// The failure of a message that can't be written before those that wait.
pub(super) fn still_unsaved() -> Exit {
    Exit::failed("cannot write the session file: earlier messages still wait to be saved")
}
