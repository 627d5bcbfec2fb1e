//! What becomes of an answer and its calls: committed with its results, kept in part, or dropped
//! without a trace.

use std::sync::Arc;

use crate::kernel::event::{Event, Purpose};
use crate::kernel::executor::Halt;
use crate::kernel::message::{Message, Stop, Usage};
use crate::kernel::ports::{Durability, Record};
use crate::kernel::repair;
use crate::kernel::run::Run;
use crate::kernel::stop::Exit;
use crate::kernel::stream::Keep;

impl Run {
    /// Ends an answer that will not be completed. When a call that changes something has started,
    /// the answer and all its results are kept (true); otherwise nothing of it stays, apart from
    /// the readable text of an aborted one.
    pub(super) async fn break_off(&mut self, halt: Halt, stop: Stop) -> Result<bool, Exit> {
        self.exec.freeze().await;
        let may_repeat = self.config.idempotent && halt == Halt::Broken;
        let started = self.exec.side_effect_started() && !may_repeat;
        self.exec.close_rest(halt);
        if !started || halt != Halt::Broken {
            self.exec.cancel_running(halt);
        }
        if started {
            self.commit_answer(stop, Keep::Partial).await?;
            self.run_tools().await?;
            return Ok(true);
        }
        self.exec.drain().await;
        self.flush().await;
        self.void_calls().await?;
        if stop == Stop::Aborted {
            self.commit_answer(stop, Keep::Readable).await?;
        } else {
            let usage = self.answer.assembler.usage();
            self.book(usage).await;
            self.close_message().await;
        }
        Ok(false)
    }

    /// Notes in the journal that the calls of this answer, and their intents, count for nothing.
    async fn void_calls(&mut self) -> Result<(), Exit> {
        let call_ids = self.exec.call_ids();
        if call_ids.is_empty() {
            return Ok(());
        }
        self.shared.cache.forget(&call_ids);
        let record = Record::Discarded { run: self.id.clone(), turn: self.turn, call_ids };
        Ok(self.ports.journal.append(&record, Durability::Flush).await?)
    }

    /// After a failure of the run: keeps what has happened, as far as the journal still takes it.
    pub(in crate::kernel) async fn salvage(&mut self) -> Result<(), Exit> {
        let is_open = self.answer.open && !self.answer.committed;
        if is_open && self.exec.side_effect_started() {
            self.commit_answer(Stop::Error, Keep::Partial).await?;
        } else if is_open {
            self.void_calls().await?;
        }
        self.commit_results().await
    }

    /// Commits the answer under way, unless it says nothing.
    pub(super) async fn commit_answer(&mut self, stop: Stop, keep: Keep) -> Result<bool, Exit> {
        let assembler = std::mem::take(&mut self.answer.assembler);
        let id = self.answer.id.clone();
        let (at, model) = (self.now(), self.model.model.clone());
        let message = assembler.into_message(id, at, model, stop, keep);
        self.book(message.usage).await;
        if !repair::says_something(&message) {
            self.close_message().await;
            return Ok(false);
        }
        self.summary.turns += 1;
        let text = message.text();
        if !text.trim().is_empty() {
            self.summary.text = text;
        }
        self.exec.arrange(message.calls().map(|call| &call.id));
        // What waits to be saved counts too: its results must follow it there.
        self.answer.committed = true;
        self.commit(Message::Assistant(message)).await?;
        self.answer.open = false;
        self.shared.lock().partial.clear();
        let history = Arc::clone(&self.shared.lock().history);
        self.answer.message = history.last().cloned();
        for text in self.ports.context.remarks(&history) {
            self.emitter.send(Event::Status { text }).await;
        }
        Ok(true)
    }

    /// Runs the calls of the committed answer and commits each result as soon as all before it
    /// are committed.
    pub(super) async fn run_tools(&mut self) -> Result<(), Exit> {
        let mut stopping = false;
        self.exec.answer_committed();
        loop {
            self.flush().await;
            self.commit_results().await?;
            if let Some(error) = self.exec.take_fatal() {
                return Err(error.into());
            }
            if self.exec.is_done() {
                return if stopping { Err(Exit::Aborted) } else { Ok(()) };
            }
            tokio::select! {
                biased;
                () = self.abort.cancelled(), if !stopping => {
                    stopping = true;
                    self.exec.freeze().await;
                    self.exec.close_rest(Halt::User);
                    self.exec.cancel_running(Halt::User);
                }
                Some(control) = self.controls.recv() => self.control(control),
                signal = self.exec.wait() => self.exec.on(signal),
            }
        }
    }

    /// Commits the results that are due. Behind one that can't be written the others wait too.
    async fn commit_results(&mut self) -> Result<(), Exit> {
        let mut outcome = Ok(());
        while self.answer.committed
            && let Some(mut result) = self.exec.next_result()
        {
            result.at = result.at.max(self.now());
            self.answer.results.push(result.clone());
            let committed = self.commit(Message::Tool(result)).await;
            outcome = outcome.and(committed);
        }
        outcome
    }

    /// Announces that the answer under way was dropped, if it was ever announced.
    pub(in crate::kernel) async fn close_message(&mut self) {
        self.shared.lock().partial.clear();
        if std::mem::take(&mut self.answer.open) {
            self.emitter.send(Event::MessageDiscarded { turn: self.turn }).await;
        }
    }

    /// Adds the executor's counts to the summary.
    pub(in crate::kernel) fn count_calls(&mut self) {
        self.shared.breaker.turn_over();
        let tally = self.exec.take_tally();
        self.summary.tool_calls += tally.calls;
        self.summary.tool_errors += tally.errors;
        self.summary.denied_unasked += tally.unasked;
        self.summary.usage += tally.spent;
        self.add_cost(tally.cost);
        self.user_wait_ms += tally.asked_ms;
    }

    pub(in crate::kernel) fn add_cost(&mut self, cost: Option<f64>) {
        if let Some(cost) = cost {
            *self.summary.cost.get_or_insert(0.0) += cost;
        }
    }

    pub(super) async fn book(&mut self, usage: Usage) {
        if usage != Usage::default() {
            let cost = self.model.price.map(|price| price.cost(usage));
            self.summary.usage += usage;
            self.add_cost(cost);
            self.emitter.send(Event::Usage { purpose: Purpose::Main, usage, cost }).await;
        }
    }
}
