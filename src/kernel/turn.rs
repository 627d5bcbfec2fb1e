//! One turn: project, repair, stream with retry, commit the answer, run its tools, commit their
//! results in call order. Tools may start while the answer is still streaming.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::error::{ModelError, ModelErrorKind};
use super::event::{Event, Purpose, QueueKind};
use super::executor::{Halt, Signal};
use super::message::{Block, Message, MessageId, Origin, Stop, Usage};
use super::ports::{Durability, ModelStream, Record, Request, StreamEvent};
use super::repair;
use super::retry::{self, Decision};
use super::run::Run;
use super::state::Control;
use super::stop::Exit;
use super::stream::{Assembler, Keep, Step};

/// Resume prompts in a row before a run that only hits the output limit is let go.
const MAX_RESUMES: u32 = 3;

const RESUME_TEXT: &str = "Your last answer was cut off at the output limit. Go on exactly where \
                           it stopped and do not repeat what is already there.";
const RESUME_CALL: &str = "Your last answer hit the output limit inside a tool call, so that call \
                           did not run. Do the same work in smaller pieces: several calls, each \
                           with less text.";
const NUDGE: &str = "Your last answer was empty. Answer now, or say what keeps you from it.";

/// What follows a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another request: there are results or a message to answer.
    Again,
    /// The model has answered.
    Stop,
}

/// The answer under way.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    id: MessageId,
    assembler: Assembler,
    /// `MessageStart` was sent and neither `MessageEnd` nor `MessageDiscarded` yet.
    open: bool,
    /// It is in the history, so results of its calls may follow.
    committed: bool,
}

/// How a stream ended.
enum Ending {
    Done(Stop),
    Broken(ModelError),
    Aborted,
    Fatal(Exit),
}

impl Run {
    /// Runs a turn. After an error the turn is still open; winding up closes it.
    pub(super) async fn turn(&mut self) -> Result<Next, Exit> {
        self.turn += 1;
        self.turn_open = true;
        self.emitter.send(Event::TurnStart { turn: self.turn }).await;
        let next = self.attempts().await?;
        self.count_calls();
        self.turn_open = false;
        self.emitter.send(Event::TurnEnd { turn: self.turn }).await;
        Ok(next)
    }

    /// Model calls until one brings the turn forward.
    async fn attempts(&mut self) -> Result<Next, Exit> {
        loop {
            let request = self.request().await?;
            match self.stream(request).await {
                Ending::Done(stop) => return self.complete(stop).await,
                Ending::Fatal(exit) => return Err(exit),
                Ending::Aborted => {
                    self.break_off(Halt::User, Stop::Aborted).await?;
                    return Err(Exit::Aborted);
                }
                Ending::Broken(error) => {
                    let kept = self.break_off(Halt::Broken, Stop::Error).await?;
                    self.wait_to_retry(&error, kept).await?;
                    if kept {
                        return Ok(Next::Again);
                    }
                    self.deliver(QueueKind::Steer).await?;
                }
            }
        }
    }

    /// The view of the history that is sent, with every call paired.
    async fn request(&mut self) -> Result<Request, Exit> {
        let history = Arc::clone(&self.shared.lock().history);
        let projection = tokio::select! {
            biased;
            () = self.abort.cancelled() => return Err(Exit::Aborted),
            projection = self.ports.context.project(&history, &self.model) => projection?,
        };
        Ok(Request {
            system: projection.system,
            messages: repair::repair(projection.messages),
            tools: self.ports.tools.specs(),
            cache_key: self.config.cache_key.clone(),
        })
    }

    /// Streams one answer and lets its calls start.
    async fn stream(&mut self, request: Request) -> Ending {
        self.count_calls();
        self.exec = self.fresh_executor();
        self.answer = Answer { id: self.next_message_id(), ..Answer::default() };
        let model = Arc::clone(&self.ports.model);
        let mut source = match self.open(model.stream(request)).await {
            Ok(source) => source,
            Err(ending) => return ending,
        };
        let cancelled = CancellationToken::cancelled_owned(self.abort.clone());
        tokio::pin!(cancelled);
        loop {
            tokio::select! {
                biased;
                () = &mut cancelled => return Ending::Aborted,
                Some(control) = self.controls.recv() => {
                    self.control(control);
                    self.flush().await;
                }
                signal = self.exec.wait() => {
                    if let Err(exit) = self.signal(signal).await {
                        return Ending::Fatal(exit);
                    }
                }
                item = source.next() => match item {
                    Some(Ok(event)) => if let Some(stop) = self.step(event).await {
                        return Ending::Done(stop);
                    },
                    Some(Err(error)) => return Ending::Broken(error),
                    None => return Ending::Broken(ModelError::new(
                        ModelErrorKind::PartialStream,
                        "the answer broke off before its end",
                    )),
                }
            }
        }
    }

    /// Waits for the service to accept the request.
    async fn open(
        &mut self,
        opening: BoxFuture<'_, Result<ModelStream, ModelError>>,
    ) -> Result<ModelStream, Ending> {
        tokio::select! {
            biased;
            () = self.abort.cancelled() => Err(Ending::Aborted),
            opened = opening => opened.map_err(Ending::Broken),
        }
    }

    /// Takes one event of the stream.
    async fn step(&mut self, event: StreamEvent) -> Option<Stop> {
        if !self.answer.open {
            self.answer.open = true;
            self.emitter.send(Event::MessageStart { id: self.answer.id.clone() }).await;
        }
        let ids = &self.ports.ids;
        match self.answer.assembler.apply(event, || ids.next("call")) {
            Step::Quiet => None,
            Step::Delta(delta) => {
                self.emitter.send(Event::MessageDelta { delta }).await;
                None
            }
            Step::Call(call) => {
                self.exec.add(*call);
                self.flush().await;
                None
            }
            Step::Done(stop) => Some(stop),
        }
    }

    /// The answer is complete.
    async fn complete(&mut self, stop: Stop) -> Result<Next, Exit> {
        if matches!(stop, Stop::Error | Stop::Aborted) {
            self.break_off(Halt::Failure, stop).await?;
            return Err(if stop == Stop::Aborted {
                Exit::Aborted
            } else {
                Exit::provider("LLM call failed: the service marked its answer as failed")
            });
        }
        self.retries = 0;
        let cut_call = self.answer.assembler.has_unfinished_call();
        let usage = self.answer.assembler.usage();
        let has_calls = !self.exec.call_ids().is_empty();
        let committed = self.commit_answer(stop, Keep::Whole).await?;
        if has_calls {
            self.resumes = 0;
            self.run_tools().await?;
            return Ok(Next::Again);
        }
        match stop {
            Stop::Length => self.resume(cut_call).await,
            Stop::Pause if committed => Ok(Next::Again),
            _ if committed => {
                self.resumes = 0;
                Ok(Next::Stop)
            }
            _ => self.empty_answer(stop, usage).await,
        }
    }

    /// After an answer that hit the output limit: asks for the rest.
    async fn resume(&mut self, cut_call: bool) -> Result<Next, Exit> {
        if self.resumes >= MAX_RESUMES {
            self.resumes = 0;
            let text =
                format!("the answer hit the output limit {} times in a row", MAX_RESUMES + 1);
            self.emitter.send(Event::Status { text }).await;
            return Ok(Next::Stop);
        }
        self.resumes += 1;
        let text = if cut_call { RESUME_CALL } else { RESUME_TEXT };
        self.commit_user(Origin::Resume, vec![Block::text(text)]).await?;
        Ok(Next::Again)
    }

    /// After an answer without text and calls: one more chance in each chat.
    async fn empty_answer(&mut self, stop: Stop, usage: Usage) -> Result<Next, Exit> {
        let text = format!("the model gave an empty answer ({stop:?}, {} tokens)", usage.output);
        self.emitter.send(Event::Status { text }).await;
        let declined = matches!(stop, Stop::Refusal | Stop::ContentFilter);
        if declined || std::mem::replace(&mut self.nudged, true) {
            return Ok(Next::Stop);
        }
        self.commit_user(Origin::Notice, vec![Block::text(NUDGE)]).await?;
        Ok(Next::Again)
    }

    /// Ends an answer that will not be completed. When a call that changes something has started,
    /// the answer and all its results are kept (true); otherwise nothing of it stays, apart from
    /// the readable text of an aborted one.
    async fn break_off(&mut self, halt: Halt, stop: Stop) -> Result<bool, Exit> {
        self.exec.freeze().await;
        let started = self.exec.side_effect_started();
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
        let record = Record::Discarded { run: self.id.clone(), turn: self.turn, call_ids };
        Ok(self.ports.journal.append(&record, Durability::Flush).await?)
    }

    /// After a failure of the run: keeps what has happened, as far as the journal still takes it.
    pub(super) async fn salvage(&mut self) -> Result<(), Exit> {
        if self.answer.open && self.exec.side_effect_started() {
            self.commit_answer(Stop::Error, Keep::Partial).await?;
        } else if self.answer.open {
            self.void_calls().await?;
        }
        self.commit_results().await
    }

    /// Commits the answer under way, unless it says nothing.
    async fn commit_answer(&mut self, stop: Stop, keep: Keep) -> Result<bool, Exit> {
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
        self.commit(Message::Assistant(message)).await?;
        self.answer.open = false;
        self.answer.committed = true;
        Ok(true)
    }

    /// Runs the calls of the committed answer and commits each result as soon as all before it
    /// are committed.
    async fn run_tools(&mut self) -> Result<(), Exit> {
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

    /// Commits the results that are due.
    async fn commit_results(&mut self) -> Result<(), Exit> {
        while self.answer.committed
            && let Some(mut result) = self.exec.next_result()
        {
            result.at = result.at.max(self.now());
            if let Err(exit) = self.commit(Message::Tool(result)).await {
                // A later result must not take the place of this one.
                self.answer.committed = false;
                return Err(exit);
            }
        }
        Ok(())
    }

    async fn signal(&mut self, signal: Signal) -> Result<(), Exit> {
        self.exec.on(signal);
        self.flush().await;
        match self.exec.take_fatal() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Carries out a request of the user that concerns calls.
    fn control(&mut self, control: Control) {
        match control {
            Control::Answer { id, answer } => self.exec.answer(&id, answer),
            Control::CancelCall { id } => self.exec.cancel_call(&id),
            Control::Steered => {
                if self.shared.lock().queues.has_fresh_steering() {
                    self.exec.steer();
                }
            }
            // Nothing is being waited for.
            Control::RetryNow => {}
        }
    }

    /// Decides about another attempt and waits for it.
    async fn wait_to_retry(&mut self, error: &ModelError, kept: bool) -> Result<(), Exit> {
        self.check_abort()?;
        let max = self.config.max_retries;
        let after = match retry::decide(error, self.retries, max, self.ports.ids.unit()) {
            Decision::GiveUp { message } => return Err(Exit::provider(message)),
            Decision::Retry { .. } if kept && !self.config.continue_partial => {
                return Err(Exit::provider(retry::failure(error)));
            }
            Decision::Retry { after } => after,
        };
        self.retries += 1;
        // What was asked for before the wait began does not end it.
        while self.controls.try_recv().is_ok() {}
        let delay_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        let (attempt, error) = (self.retries, error.message.clone());
        self.emitter.send(Event::Retry { attempt, max, delay_ms, error }).await;
        self.pause(after).await
    }

    async fn pause(&mut self, after: Duration) -> Result<(), Exit> {
        let mut over = self.ports.clock.sleep(after);
        loop {
            tokio::select! {
                biased;
                () = self.abort.cancelled() => return Err(Exit::Aborted),
                Some(control) = self.controls.recv() => {
                    if matches!(control, Control::RetryNow) {
                        return Ok(());
                    }
                }
                () = &mut over => return Ok(()),
            }
        }
    }

    /// Sends what the executor has to tell.
    pub(super) async fn flush(&mut self) {
        while let Some(event) = self.exec.next_event() {
            self.emitter.send(event).await;
        }
    }

    /// Announces that the answer under way was dropped, if it was ever announced.
    pub(super) async fn close_message(&mut self) {
        if std::mem::take(&mut self.answer.open) {
            self.emitter.send(Event::MessageDiscarded { turn: self.turn }).await;
        }
    }

    /// Adds the executor's counts to the summary.
    pub(super) fn count_calls(&mut self) {
        let tally = self.exec.take_tally();
        self.summary.tool_calls += tally.calls;
        self.summary.tool_errors += tally.errors;
        self.summary.denied_unasked += tally.unasked;
    }

    async fn book(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.summary.usage += usage;
            self.emitter.send(Event::Usage { purpose: Purpose::Main, usage }).await;
        }
    }
}
