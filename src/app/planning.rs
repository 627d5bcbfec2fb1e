//! Switching planning for the open session: the loop does it, the journal remembers it. What it means
//! is the gate's business.

use crate::kernel::command::{Command, Setting};
use crate::kernel::ports::{Clock, Durability, Journal, Record};

use super::build::Session;
use super::system::SystemClock;

impl Session {
    /// Switches planning. The record is no condition for going on.
    pub(super) fn plan(&self, on: bool) {
        self.agent.send(Command::Configure(Setting::Plan(on)));
        let (journal, record) =
            (self.journal.clone(), Record::Planning { at: SystemClock.now(), on });
        tokio::spawn(async move {
            if let Err(error) = journal.append(&record, Durability::Buffered).await {
                tracing::warn!(%error, "the switch of planning was not recorded");
            }
        });
    }
}
