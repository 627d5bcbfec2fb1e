//! One turn: project, repair, stream with retry, commit the answer, run its tools, commit their
//! results in call order. Tools may start while the answer is still streaming.

use std::sync::Arc;
use std::time::Duration;

use super::error::ModelError;
use super::event::{Event, QueueKind, Tier};
use super::executor::Halt;
use super::message::{Block, MessageId, Origin, Stop, Usage};
use super::notices;
use super::ports::{Request, ToolChoice, View};
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
        self.shared.cache.new_turn();
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
                    self.notices().await?;
                    self.deliver(QueueKind::Steer).await?;
                }
            }
        }
    }

    /// The view of the history that is sent, with every call paired.
    async fn request(&mut self) -> Result<Request, Exit> {
        let history = Arc::clone(&self.shared.lock().history);
        let view = View { model: &self.model, tier: Tier::Full };
        let mut projection = tokio::select! {
            biased;
            () = self.abort.cancelled() => return Err(Exit::Aborted),
            projection = self.ports.context.project(&history, view) => projection?,
        };
        // What came while the view was made belongs to this request too; nothing is made anew.
        let mut late = self.notices().await?;
        if self.shared.lock().queues.has_fresh_steering() {
            late |= self.deliver(QueueKind::Steer).await?;
        }
        if late {
            projection.messages.extend_from_slice(&self.shared.lock().history[history.len()..]);
        }
        Ok(Request {
            system: projection.system,
            messages: repair::repair(notices::place(projection.messages)),
            tools: self.ports.tools.specs(),
            cache_key: self.config.cache_key.clone(),
            reminder: None,
            tool_choice: ToolChoice::Auto,
        })
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
        let text = format!("the model gave an empty answer ({} output tokens)", usage.output);
        self.emitter.send(Event::Status { text }).await;
        let declined = matches!(stop, Stop::Refusal | Stop::ContentFilter);
        if declined || std::mem::replace(&mut self.nudged, true) {
            return Ok(Next::Stop);
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
