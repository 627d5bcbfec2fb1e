//! Prompts of the executor: one is open at a time, and only an answer that names its call closes
//! it.

use super::{Executor, Phase, StageBox};
use crate::kernel::agent::ToolStart;
use crate::kernel::approvals::{UNASKED, allows, denied_because, denied_by_user};
use crate::kernel::call::{self, Refusal};
use crate::kernel::command::Answer;
use crate::kernel::event::{Approval, Event};
use crate::kernel::message::CallId;

impl Executor {
    /// Takes an answer. Without an open prompt for that call it is ignored.
    pub(crate) fn answer(&mut self, id: &CallId, answer: Answer) {
        let frozen = self.is_frozen();
        let Some(entry) = self.entries.get_mut(self.head) else { return };
        if frozen || &entry.call.id != id || !matches!(entry.phase, Phase::Asking(_)) {
            return;
        }
        let phase = std::mem::replace(&mut entry.phase, Phase::Ready { approved: true });
        let Phase::Asking(approval) = phase else { return };
        self.cx.ports.gate.record(&entry.call, allows(&answer), "user");
        self.outbox
            .push_back(Event::ApprovalClosed { id: id.clone(), answer: Some(answer.clone()) });
        match answer {
            Answer::Once => {}
            Answer::Partly { hunks } => self.cx.ports.tools.choose(id, hunks),
            Answer::Always if approval.rule.is_none() => {}
            Answer::Always => {
                self.entries[self.head].phase = Phase::Remembering;
                self.stage = Some(StageBox(call::remember(&self.cx.ports, *approval)));
            }
            Answer::Deny { words } => {
                self.refuse(self.head, Refusal::denied(denied_by_user(words.as_deref())));
            }
        }
        self.advance();
    }

    /// The gate wants the user to decide about the call at the head.
    pub(super) fn must_ask(&mut self, approval: Box<Approval>) {
        if self.streaming && self.cx.config.start != ToolStart::Stream {
            self.entries[self.head].phase = Phase::Held(approval);
            return;
        }
        let id = self.entries[self.head].call.id.clone();
        self.outbox.push_back(Event::ApprovalAsked { approval: Approval::clone(&approval) });
        if self.cx.config.interactive {
            self.entries[self.head].phase = Phase::Asking(approval);
            return;
        }
        self.cx.ports.gate.record(&self.entries[self.head].call, false, "nobody");
        self.outbox.push_back(Event::ApprovalClosed { id, answer: None });
        self.tally.unasked += 1;
        self.refuse(self.head, Refusal::denied(denied_because(UNASKED)));
    }

    /// Asks what had to wait for the end of the answer.
    pub(super) fn ask_held(&mut self) -> bool {
        let entry = &mut self.entries[self.head];
        let phase = std::mem::replace(&mut entry.phase, Phase::Queued);
        let Phase::Held(approval) = phase else {
            entry.phase = phase;
            return false;
        };
        self.must_ask(approval);
        true
    }
}
