//! The line of calls: who is at its head, which step it takes next, and when it may start.

use serde_json::{Map, Value};

use super::{Entry, Executor, Halt, Phase, StageBox};
use crate::kernel::agent::ToolStart;
use crate::kernel::call::{self, Refusal, StageDone, Work};
use crate::kernel::error::GateError;
use crate::kernel::event::{Event, Preview};
use crate::kernel::message::ToolCall;
use crate::kernel::ports::Verdict;

impl Executor {
    /// Moves the line forward as far as it goes.
    pub(super) fn advance(&mut self) {
        while let Some(entry) = self.entries.get(self.head) {
            let moved = match &entry.phase {
                Phase::Queued => self.admit(),
                Phase::Held(_) if !self.streaming && !self.is_frozen() => self.ask_held(),
                Phase::Ready { approved } => self.take_slot(*approved),
                Phase::Running | Phase::Done => {
                    self.head += 1;
                    true
                }
                Phase::Checking
                | Phase::Held(_)
                | Phase::Asking(_)
                | Phase::Remembering
                | Phase::Recording { .. } => false,
            };
            if !moved {
                return;
            }
        }
    }

    /// Lets the call at the head enter its pipeline.
    fn admit(&mut self) -> bool {
        let entry = &self.entries[self.head];
        if self.is_frozen() || !self.may_enter(entry) || self.alone_is_running() {
            return false;
        }
        let limit = self.cx.config.breaker_limit;
        if !self.cx.shared.breaker.admits(&entry.call.name, limit) {
            self.refuse(self.head, Refusal::disabled(&entry.call.name, limit));
            return true;
        }
        // A tool that does not exist can't be disabled either.
        self.entries[self.head].admitted = !self.is_unknown(self.head);
        let entry = &self.entries[self.head];
        if let Err(refusal) = &entry.traits {
            let refusal = refusal.clone();
            self.refuse(self.head, refusal);
            return true;
        }
        let stage = call::preview(&self.cx.ports, entry.call.clone());
        self.entries[self.head].phase = Phase::Checking;
        self.stage = Some(StageBox(stage));
        false
    }

    fn is_unknown(&self, at: usize) -> bool {
        let entry = &self.entries[at];
        entry.traits.as_ref().is_err_and(|refusal| *refusal == Refusal::unknown(&entry.call.name))
    }

    /// What the setting allows while the model is still talking.
    fn may_enter(&self, entry: &Entry) -> bool {
        if !self.streaming {
            return true;
        }
        if entry.traits.as_ref().is_ok_and(|traits| traits.exclusive) {
            // Siblings may still come, and they must be skipped.
            return false;
        }
        match self.cx.config.start {
            ToolStart::Stream => true,
            ToolStart::ReadOnly => {
                entry.traits.as_ref().is_ok_and(|t| !t.capability.has_side_effects())
            }
            ToolStart::AfterMessage => false,
        }
    }

    /// Whether a call that must run alone has not ended.
    fn alone_is_running(&self) -> bool {
        self.entries[..self.head].iter().any(|entry| {
            matches!(entry.phase, Phase::Running)
                && entry.traits.as_ref().is_ok_and(|traits| !traits.concurrent)
        })
    }

    /// Starts the call at the head, or its intent, when there is a slot for it.
    fn take_slot(&mut self, approved: bool) -> bool {
        let entry = &self.entries[self.head];
        let Ok(traits) = entry.traits else { return false };
        let limit = if traits.concurrent { self.cx.config.max_tool_concurrency.max(1) } else { 1 };
        if self.is_frozen() || self.running >= limit || self.alone_is_running() {
            return false;
        }
        if !traits.capability.has_side_effects() {
            self.start();
            return true;
        }
        let call = entry.rewritten.clone().unwrap_or_else(|| entry.call.clone());
        let (run, turn) = (self.cx.run.clone(), self.cx.turn);
        let stage = call::record_intent(&self.cx.ports, run, turn, self.head, call);
        self.entries[self.head].phase = Phase::Recording { approved };
        self.stage = Some(StageBox(stage));
        false
    }

    /// Starts the call at the head.
    fn start(&mut self) {
        let at = self.head;
        let entry = &mut self.entries[at];
        let call = entry.rewritten.take().unwrap_or_else(|| entry.call.clone());
        let cache = self.cx.shared.cache.clone();
        if entry.side_effect {
            // Whatever is known may be wrong as soon as the call has begun.
            cache.invalidate();
        }
        let work = Work {
            call,
            cancel: entry.cancel.clone(),
            background: entry.background.clone(),
            events: self.cx.emitter.offer(),
            cache: Some(cache).filter(|_| !entry.side_effect),
        };
        let work = call::work(self.cx.ports.clone(), work);
        let ends = self.ends.clone();
        let task = self.cx.tasks.spawn(async move {
            let end = work.await;
            // Nobody listens any more when the call was left behind.
            let _late = ends.send((at, end));
        });
        entry.task = Some(task.abort_handle());
        entry.started = self.cx.ports.clock.now();
        entry.phase = Phase::Running;
        self.running += 1;
        if self.entries[at].cancel.is_cancelled() {
            self.cancel(at, Halt::User);
        }
    }

    pub(super) fn stage_done(&mut self, done: StageDone) {
        match done {
            StageDone::Previewed(Ok(preview)) => self.previewed(preview),
            StageDone::Previewed(Err(refusal)) => self.refuse(self.head, refusal),
            StageDone::Judged(verdict) => self.judged(*verdict),
            StageDone::Remembered(saved) => {
                if let Err(error) = saved {
                    let text = format!("the rule could not be saved, the call runs once: {error}");
                    self.outbox.push_back(Event::Status { text });
                }
                self.entries[self.head].phase = Phase::Ready { approved: true };
            }
            StageDone::Recorded(Ok(())) => self.recorded(),
            StageDone::Recorded(Err(error)) => {
                self.fatal = Some(error);
                self.frozen = true;
                self.entries[self.head].phase = Phase::Ready { approved: false };
            }
        }
    }

    /// The intent is on disk: the call starts, unless something came up while it was written.
    fn recorded(&mut self) {
        let is_frozen = self.is_frozen();
        let entry = &mut self.entries[self.head];
        entry.side_effect = true;
        let approved = matches!(entry.phase, Phase::Recording { approved: true });
        if is_frozen {
            entry.phase = Phase::Ready { approved };
        } else if entry.cancel.is_cancelled() {
            self.refuse(self.head, Halt::User.refusal());
        } else if let Some(halt) = self.closed.filter(|_| !approved) {
            self.refuse(self.head, halt.refusal());
        } else {
            self.start();
        }
    }

    fn previewed(&mut self, preview: Option<Preview>) {
        self.announce(self.head, preview.clone());
        let entry = &self.entries[self.head];
        let Ok(traits) = entry.traits else { return };
        self.stage =
            Some(StageBox(call::judge(&self.cx.ports, entry.call.clone(), traits, preview)));
    }

    fn judged(&mut self, verdict: Result<Verdict, GateError>) {
        if let Some(refusal) = call::denial(&verdict) {
            return self.refuse(self.head, refusal);
        }
        match verdict {
            Ok(Verdict::Ask(approval)) => self.must_ask(Box::new(approval)),
            Ok(Verdict::AllowWith(args)) => self.rewrite(args),
            Ok(Verdict::Allow | Verdict::Deny { .. }) | Err(_) => {
                self.entries[self.head].phase = Phase::Ready { approved: false };
            }
        }
    }

    /// The gate's arguments must pass the schema as the model's own did.
    fn rewrite(&mut self, args: Map<String, Value>) {
        let call = ToolCall { args, ..self.entries[self.head].call.clone() };
        match call::check(&self.cx.ports, &call) {
            Ok(_) => {
                self.entries[self.head].rewritten = Some(call);
                self.entries[self.head].phase = Phase::Ready { approved: false };
            }
            Err(refusal) => self.refuse(self.head, refusal),
        }
    }
}
