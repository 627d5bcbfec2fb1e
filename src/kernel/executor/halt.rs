//! Stopping calls: steering, abort, a broken answer, one cancelled call, and the calls that do not
//! stop when told to.

use super::{Executor, Phase, Signal};
use crate::kernel::call::Refusal;
use crate::kernel::event::Event;
use crate::kernel::message::{Block, CallId, CallStatus};
use crate::kernel::ports::{Interrupt, ToolOutcome};

/// Why a call was stopped or never started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The user wrote something for the live run.
    Steering,
    /// The user aborted the run or cancelled the call.
    User,
    /// The answer that asked for it broke off.
    Broken,
    /// The run ends with an error.
    Failure,
    /// A call that must be the only one of its answer takes its place.
    Exclusive,
}

impl Halt {
    /// The end of a call that did not start.
    pub(crate) fn refusal(self) -> Refusal {
        let (status, text) = match self {
            Self::Steering => (CallStatus::Skipped, "Skipped due to queued user message."),
            Self::User => (CallStatus::Cancelled, "Cancelled by the user before it started."),
            Self::Broken => (
                CallStatus::Cancelled,
                "Cancelled before it started: the answer that asked for it broke off.",
            ),
            Self::Failure => {
                (CallStatus::Cancelled, "Cancelled before it started: the run failed.")
            }
            Self::Exclusive => (
                CallStatus::Skipped,
                "Skipped: another call of the same answer is exclusive and runs alone. Ask again \
                 if this is still needed.",
            ),
        };
        Refusal { status, text: text.to_owned() }
    }

    /// What is said of a started call that obeyed without words of its own.
    pub(crate) fn stopped(self) -> &'static str {
        match self {
            Self::Steering => "Cancelled due to queued user message.",
            Self::User => "Cancelled by the user.",
            Self::Broken => "Cancelled: the answer that asked for it broke off.",
            Self::Failure => "Cancelled: the run failed.",
            Self::Exclusive => "Cancelled: another call had to run alone.",
        }
    }
}

impl Executor {
    /// Steering arrived: started calls end by their own rule, the call whose prompt is open keeps
    /// it, all others are skipped, those that complete later too.
    pub(crate) fn steer(&mut self) {
        self.closed = Some(Halt::Steering);
        self.close_unstarted(Halt::Steering, true);
        for at in 0..self.entries.len() {
            let interrupt = self.entries[at].traits.as_ref().map(|traits| traits.interrupt);
            if interrupt == Ok(Interrupt::Cancel) {
                self.cancel(at, Halt::Steering);
            }
        }
        self.advance();
    }

    /// Makes room for a call that must be the only one: what has not started is skipped.
    pub(super) fn clear_for_exclusive(&mut self) {
        self.close_unstarted(Halt::Exclusive, false);
        self.exclusive = Some(self.entries.len());
        self.advance();
    }

    /// Lets nothing start any more. An intent that is being written is written to its end, so that
    /// it is known whether it stands.
    pub(crate) async fn freeze(&mut self) {
        self.frozen = true;
        let recording = |e: &Self| {
            e.entries
                .get(e.head)
                .is_some_and(|entry| matches!(entry.phase, Phase::Recording { .. }))
        };
        while recording(self) {
            let signal = self.wait().await;
            self.on(signal);
        }
    }

    /// Ends every call that has not started; an open prompt is withdrawn. Call [`Self::freeze`]
    /// first.
    pub(crate) fn close_rest(&mut self, halt: Halt) {
        self.frozen = true;
        self.closed = Some(halt);
        self.close_unstarted(halt, false);
        self.advance();
    }

    /// Ends everything after a failure of the run itself. The step under way may be the one that
    /// panicked, so it is dropped and never looked at again.
    pub(crate) fn abandon(&mut self) {
        self.stage = None;
        if let Some(entry) = self.entries.get_mut(self.head)
            && matches!(entry.phase, Phase::Recording { .. })
        {
            entry.phase = Phase::Ready { approved: false };
        }
        self.close_rest(Halt::Failure);
        self.cancel_running(Halt::Failure);
    }

    /// Tells every running call to stop.
    pub(crate) fn cancel_running(&mut self, halt: Halt) {
        for at in 0..self.entries.len() {
            self.cancel(at, halt);
        }
    }

    /// Stops one call; the others go on.
    pub(crate) fn cancel_call(&mut self, id: &CallId) {
        let Some(at) = self.entries.iter().position(|entry| &entry.call.id == id) else { return };
        match self.entries[at].phase {
            Phase::Running => self.cancel(at, Halt::User),
            Phase::Done => {}
            // Looked at when the intent is written.
            Phase::Recording { .. } => self.entries[at].cancel.cancel(),
            _ => self.close(at, Halt::User),
        }
        self.advance();
    }

    /// Asks one running call to go on in the background.
    pub(crate) fn background(&mut self, id: &CallId) {
        let entry = self.entries.iter().find(|entry| &entry.call.id == id);
        if let Some(entry) = entry.filter(|entry| matches!(entry.phase, Phase::Running)) {
            entry.background.cancel();
        }
    }

    /// The call was told to stop and did not: its task is dropped, its late result too.
    pub(super) fn detach(&mut self, at: usize) {
        if !matches!(self.entries[at].phase, Phase::Running) {
            return;
        }
        if let Some(task) = &self.entries[at].task {
            task.abort();
        }
        self.running -= 1;
        let halt = self.entries[at].halt.unwrap_or(Halt::User);
        let grace = self.cx.config.grace.as_secs_f32();
        let mut text = format!("{} It did not stop within {grace} s.", halt.stopped());
        if self.entries[at].side_effect {
            text.push_str(" It may still be running; inspect the state before trying again.");
        }
        let outcome = ToolOutcome::new(CallStatus::Cancelled, vec![Block::text(text)]);
        self.finish(at, outcome, false);
    }

    /// Ends calls that have not started. `keep_approved` spares the one the user decides about.
    fn close_unstarted(&mut self, halt: Halt, keep_approved: bool) {
        for at in self.head..self.entries.len() {
            let spared = match self.entries[at].phase {
                Phase::Running | Phase::Done | Phase::Recording { .. } => true,
                Phase::Asking(_) | Phase::Remembering | Phase::Ready { approved: true } => {
                    keep_approved
                }
                _ => false,
            };
            if !spared {
                self.close(at, halt);
            }
        }
    }

    /// Ends one call that has not started.
    fn close(&mut self, at: usize, halt: Halt) {
        if at == self.head {
            self.stage = None;
        }
        if matches!(self.entries[at].phase, Phase::Asking(_)) {
            let id = self.entries[at].call.id.clone();
            self.outbox.push_back(Event::ApprovalClosed { id, answer: None });
        }
        self.refuse(at, halt.refusal());
    }

    pub(super) fn cancel(&mut self, at: usize, halt: Halt) {
        let entry = &mut self.entries[at];
        if !matches!(entry.phase, Phase::Running) || entry.halt.is_some() {
            return;
        }
        entry.halt = Some(halt);
        entry.cancel.cancel();
        let grace = self.cx.ports.clock.sleep(self.cx.config.grace);
        self.graces.push(Box::pin(async move {
            grace.await;
            at
        }));
    }

    /// Waits until nothing runs any more. Bounded when every running call was told to stop.
    pub(crate) async fn drain(&mut self) {
        while self.running > 0 {
            let signal: Signal = self.wait().await;
            self.on(signal);
        }
    }
}
