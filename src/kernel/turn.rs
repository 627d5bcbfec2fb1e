//! One turn: project, repair, stream with retry, commit the answer, run its tools, commit their
//! results in call order. Tools may start while the answer is still streaming.

use std::sync::Arc;
use std::time::Duration;

use super::error::{ModelError, ModelErrorKind};
use super::event::{Event, QueueKind};
use super::executor::Halt;
use super::found;
use super::message::{
    AssistantMessage, Block, Message, MessageId, Origin, Stop, ToolCall, ToolMessage, Usage,
};
use super::notices;
use super::ports::{Reason, Request, StopTrigger, ToolChoice, ToolSpec, View};
use super::repair;
use super::retry::{self, Decision};
use super::run::Run;
use super::state::Control;
use super::stop::Exit;
use super::stream::{Assembler, Keep};

mod answering;
mod settling;

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
    /// The work is done, as far as the model or a tool can say.
    Stop(StopTrigger),
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
    /// The answer as committed.
    pub(super) message: Option<Arc<Message>>,
    /// The results committed so far, in call order.
    results: Vec<ToolMessage>,
}

impl Answer {
    /// The calls of the committed answer and how they ended.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (&ToolCall, &ToolMessage)> {
        let answer = match self.message.as_deref() {
            Some(Message::Assistant(answer)) => Some(answer),
            _ => None,
        };
        let calls = answer.into_iter().flat_map(AssistantMessage::calls);
        calls.filter_map(|call| {
            let result = self.results.iter().find(|result| result.call_id == call.id)?;
            Some((call, result))
        })
    }
}

/// What the attempts of a turn came to.
enum Got {
    /// A complete answer, not committed yet.
    Answer(Stop),
    /// A part of one that had to be kept, committed with its results.
    Part,
}

/// Whether the service itself calls its answer a failure.
fn failed(stop: Stop) -> bool {
    matches!(stop, Stop::Error | Stop::Aborted)
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
        self.begin_turn().await;
        if let Some(event) = self.reflection.take() {
            self.emitter.send(event).await;
        }
        let next = match self.attempts().await? {
            Got::Answer(stop) => self.complete(stop).await?,
            Got::Part => Next::Again,
        };
        self.observe();
        self.end_turn().await;
        Ok(next)
    }

    pub(super) async fn begin_turn(&mut self) {
        self.turn += 1;
        self.turn_open = true;
        self.shared.cache.new_turn();
        self.count_turn();
        self.emitter.send(Event::TurnStart { turn: self.turn }).await;
    }

    pub(super) async fn end_turn(&mut self) {
        self.reminder = None;
        self.count_calls();
        self.turn_open = false;
        self.emitter.send(Event::TurnEnd { turn: self.turn }).await;
    }

    /// One model call of a report; `false` when it said nothing.
    pub(super) async fn report_once(&mut self) -> Result<bool, Exit> {
        match self.attempts().await? {
            Got::Answer(stop) if failed(stop) => Err(self.marked_failed(stop).await?),
            Got::Answer(stop) => {
                self.retries = 0;
                self.commit_answer(stop, Keep::Readable).await
            }
            Got::Part => Ok(false),
        }
    }

    /// Model calls until one brings the turn forward.
    async fn attempts(&mut self) -> Result<Got, Exit> {
        let mut recovered = false;
        loop {
            let request = self.request().await?;
            match self.stream(request).await {
                Ending::Done(stop) => return Ok(Got::Answer(stop)),
                Ending::Fatal(exit) => return Err(exit),
                Ending::Broken(error) if self.must_fail_over() => self.fail_over(error).await?,
                Ending::Broken(error) if self.must_ask_whole(&error) => {
                    self.whole = true;
                    self.emitter.send(Event::StreamFallback).await;
                }
                Ending::Broken(error) if error.kind == ModelErrorKind::Overflow && !recovered => {
                    recovered = true;
                    if self.break_off(Halt::Broken, Stop::Error).await? {
                        return Ok(Got::Part);
                    }
                    self.recover(&error).await?;
                    self.before_repeat().await?;
                }
                Ending::Aborted => {
                    self.break_off(Halt::User, Stop::Aborted).await?;
                    return Err(Exit::Aborted);
                }
                Ending::Broken(error) => {
                    let kept = self.break_off(Halt::Broken, Stop::Error).await?;
                    self.wait_to_retry(&error, kept).await?;
                    if kept {
                        return Ok(Got::Part);
                    }
                    self.before_repeat().await?;
                }
            }
        }
    }

    /// What came meanwhile belongs to the repeated request too; what comes during a report is for the
    /// chat after it.
    async fn before_repeat(&mut self) -> Result<(), Exit> {
        if self.wrapping {
            return Ok(());
        }
        self.notices().await?;
        self.deliver(QueueKind::Steer).await?;
        Ok(())
    }

    /// The small model failed before it said anything.
    fn must_fail_over(&self) -> bool {
        self.is_quick() && self.answer.assembler.is_blank()
    }

    /// Hands the chat over to the main model; nothing of the attempt stays.
    async fn fail_over(&mut self, error: ModelError) -> Result<(), Exit> {
        self.break_off(Halt::Broken, Stop::Error).await?;
        self.check_abort()?;
        let from = self.model.model.to_string();
        self.failed_over = true;
        self.choose_speaker();
        let to = self.model.model.to_string();
        self.emitter.send(Event::ModelFailover { from, to, error: error.message }).await;
        Ok(())
    }

    /// Only before anything of a stream came, and once: then the service is known not to stream.
    fn must_ask_whole(&self, error: &ModelError) -> bool {
        error.kind == ModelErrorKind::StreamUnsupported && !self.answer.open && !self.whole
    }

    /// The request was too large: the context is made smaller, if that is possible.
    async fn recover(&mut self, error: &ModelError) -> Result<(), Exit> {
        let line = error.message.clone();
        self.emitter.send(Event::Retry { attempt: 1, max: 1, delay_ms: 0, error: line }).await;
        let tools = self.tools();
        let view = View { model: &self.model, tier: self.scope.tier, tools: &tools };
        self.ports.context.refused(view, &error.message);
        if self.compact(Reason::Overflow, "").await? {
            return Ok(());
        }
        let history = Arc::clone(&self.shared.lock().history);
        let view = View { model: &self.model, tier: self.scope.tier, tools: &tools };
        let smaller = tokio::select! {
            biased;
            () = self.abort.cancelled() => return Err(Exit::Aborted),
            smaller = self.ports.context.recover(&history, view) => smaller?,
        };
        if smaller { Ok(()) } else { Err(Exit::provider(retry::failure(error))) }
    }

    /// The view of the history that is sent, with every call paired.
    async fn request(&mut self) -> Result<Request, Exit> {
        self.choose_speaker();
        self.compact(Reason::Routine, "").await?;
        let history = Arc::clone(&self.shared.lock().history);
        let tools = self.tools();
        let view = View { model: &self.model, tier: self.scope.tier, tools: &tools };
        let mut projection = tokio::select! {
            biased;
            () = self.abort.cancelled() => return Err(Exit::Aborted),
            projection = self.ports.context.project(&history, view) => projection?,
        };
        if self.late_arrivals().await? {
            projection.messages.extend_from_slice(&self.shared.lock().history[history.len()..]);
        }
        Ok(Request {
            system: projection.system,
            messages: repair::repair(notices::place(projection.messages)),
            tools,
            cache_key: self.config.cache_key.clone(),
            reminder: self.reminders(),
            tool_choice: if self.wrapping { ToolChoice::None } else { ToolChoice::Auto },
            effort: self.config.effort,
        })
    }

    /// What stands at the end of the request: the word about repetition and the gate's.
    fn reminders(&self) -> Option<String> {
        let parts = [self.reminder.clone(), self.ports.gate.reminder()];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// Commits what came while the view was made: it belongs to this request too, and the view is
    /// not made anew. A report is not disturbed.
    async fn late_arrivals(&mut self) -> Result<bool, Exit> {
        if self.wrapping {
            return Ok(false);
        }
        let told = self.notices().await?;
        let steered = self.shared.lock().queues.has_fresh_steering()
            && self.deliver(QueueKind::Steer).await?;
        Ok(told || steered)
    }

    /// The tools that this chat knows of.
    pub(super) fn tools(&self) -> Arc<[ToolSpec]> {
        let all = self.ports.tools.specs();
        if all.iter().all(|spec| !spec.deferred && self.scope.knows(&spec.name)) {
            return all;
        }
        let known = |spec: &&ToolSpec| !spec.deferred && self.scope.knows(&spec.name);
        let found = found::in_order(&self.shared.lock().history);
        // Behind the others, so that the list grows at its end only.
        let later = found
            .iter()
            .filter_map(|name| all.iter().find(|spec| spec.deferred && spec.name == *name));
        all.iter().filter(known).chain(later).cloned().collect()
    }

    /// The end of a run whose last answer the service itself marked as failed or aborted.
    async fn marked_failed(&mut self, stop: Stop) -> Result<Exit, Exit> {
        self.break_off(Halt::Failure, stop).await?;
        Ok(if stop == Stop::Aborted {
            Exit::Aborted
        } else {
            Exit::provider("LLM call failed: the service marked its answer as failed")
        })
    }

    /// The answer is complete.
    async fn complete(&mut self, stop: Stop) -> Result<Next, Exit> {
        if failed(stop) {
            return Err(self.marked_failed(stop).await?);
        }
        self.retries = 0;
        let cut_call = self.answer.assembler.has_unfinished_call();
        let usage = self.answer.assembler.usage();
        let has_calls = !self.exec.call_ids().is_empty();
        let committed = self.commit_answer(stop, Keep::Whole).await?;
        if has_calls {
            self.resumes = 0;
            self.run_tools().await?;
            return Ok(if self.exec.wants_stop() {
                Next::Stop(StopTrigger::AfterTool)
            } else {
                Next::Again
            });
        }
        match stop {
            Stop::Length => self.resume(cut_call).await,
            Stop::Pause if committed => Ok(Next::Again),
            _ if committed => {
                self.resumes = 0;
                Ok(Next::Stop(StopTrigger::EndTurn))
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
            return Ok(Next::Stop(StopTrigger::EndTurn));
        }
        self.resumes += 1;
        let text = if cut_call { RESUME_CALL } else { RESUME_TEXT };
        self.commit_user(Origin::Resume, vec![Block::text(text)]).await?;
        Ok(Next::Again)
    }

    /// After an answer without text and calls: one more chance in each chat.
    async fn empty_answer(&mut self, stop: Stop, usage: Usage) -> Result<Next, Exit> {
        let text = format!("the model gave an empty answer ({} output tokens)", usage.output);
        self.emitter.send(Event::Status { text }).await;
        let declined = matches!(stop, Stop::Refusal | Stop::ContentFilter);
        if declined || std::mem::replace(&mut self.scope.nudged, true) {
            return Ok(Next::Stop(StopTrigger::EndTurn));
        }
        self.commit_user(Origin::Notice, vec![Block::text(NUDGE)]).await?;
        Ok(Next::Again)
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
}
