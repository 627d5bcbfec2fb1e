//! One run, from its start to its `RunEnd`: chats of turns, deliveries from the queues between
//! them, and the only door through which messages enter the context.
//!
//! ```text
//! begin → [ chat: ( abort? → steering → caps? → course: turn | report )*
//!           → steering | follow-ups | guard | none ]* → wind up → RunEnd
//! ```

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agent::AgentConfig;
use super::budget::Meter;
use super::emit::Emitter;
use super::event::{EndReason, Event, QueueItem, QueueKind, RunSummary, WrapReason};
use super::executor::{Executor, ExecutorContext};
use super::isolate::isolated;
use super::message::{
    Block, Message, MessageId, Note, Origin, QueueId, RunId, Timestamp, Usage, UserMessage,
};
use super::ports::{Durability, Model, ModelInfo, Ports, Record, StopTrigger};
use super::repair;
use super::scope::{Course, Scope};
use super::state::{Control, Shared};
use super::stop::Exit;
use super::turn::{Answer, Next};
use super::unsaved::still_unsaved;

mod ends;

/// What a run begins with.
#[derive(Debug)]
pub(crate) enum Start {
    /// A message typed while idle.
    Prompt(Vec<Block>),
    /// Nothing new.
    Continue,
    /// A message put in by another part of the program.
    Inject(String),
    /// Nothing but summing up, with what to care about.
    Compact(String),
    /// Nothing but taking back the last summing up.
    Undo,
}

/// A run and everything it keeps between its turns.
#[expect(clippy::struct_excessive_bools, reason = "facts of a run that do not exclude each other")]
pub(crate) struct Run {
    pub(super) ports: Ports,
    pub(super) config: Arc<AgentConfig>,
    pub(super) shared: Arc<Shared>,
    pub(super) emitter: Emitter,
    pub(super) abort: CancellationToken,
    pub(super) controls: mpsc::UnboundedReceiver<Control>,
    /// Who answers, and what is known of it.
    pub(super) speaker: Arc<dyn Model>,
    pub(super) model: ModelInfo,
    /// The speaker is the model for fast chats.
    pub(super) quick: bool,
    pub(super) id: RunId,
    /// Turns begun.
    pub(super) turn: u32,
    pub(super) turn_open: bool,
    /// Repeated model calls since the last complete answer.
    pub(super) retries: u32,
    /// Resume prompts in a row.
    pub(super) resumes: u32,
    pub(super) scope: Scope,
    /// What this turn's requests carry at their end.
    pub(super) reminder: Option<String>,
    /// The event that belongs to that reminder.
    pub(super) reflection: Option<Event>,
    /// This turn is a report: calls are not even looked at.
    pub(super) wrapping: bool,
    /// The service does not stream.
    pub(super) whole: bool,
    /// The model for fast chats failed; the main one answers them too.
    pub(super) failed_over: bool,
    pub(super) meter: Meter,
    /// Time spent waiting for the user, and since when they are waited for now.
    pub(super) user_wait_ms: i64,
    pub(super) asked_at: Option<Timestamp>,
    /// What led to the stop that the guard may be asked about.
    pub(super) trigger: Option<StopTrigger>,
    pub(super) answer: Answer,
    pub(super) exec: Executor,
    pub(super) summary: RunSummary,
    tasks: TaskTracker,
    began: Timestamp,
    /// The history ends with something that the model has not answered.
    unanswered: bool,
}

impl Run {
    pub(crate) fn new(
        ports: Ports,
        config: Arc<AgentConfig>,
        shared: Arc<Shared>,
        tasks: TaskTracker,
        events: mpsc::Sender<Event>,
        abort: CancellationToken,
        controls: mpsc::UnboundedReceiver<Control>,
    ) -> Self {
        let id = RunId(ports.ids.next("run"));
        let emitter = Emitter::new(events, abort.clone(), Arc::clone(&ports.clock));
        let cx = ExecutorContext {
            ports: ports.clone(),
            config: Arc::clone(&config),
            emitter: emitter.clone(),
            abort: abort.clone(),
            tasks: tasks.clone(),
            shared: Arc::clone(&shared),
            run: id.clone(),
            turn: 0,
        };
        Self {
            model: ports.model.info(),
            speaker: Arc::clone(&ports.model),
            quick: false,
            began: ports.clock.now(),
            summary: empty_summary(id.clone()),
            exec: Executor::new(cx),
            answer: Answer::default(),
            turn: 0,
            turn_open: false,
            retries: 0,
            resumes: 0,
            scope: Scope::default(),
            reminder: None,
            reflection: None,
            wrapping: false,
            whole: false,
            failed_over: false,
            meter: Meter::default(),
            user_wait_ms: 0,
            asked_at: None,
            trigger: None,
            unanswered: false,
            ports,
            config,
            shared,
            emitter,
            abort,
            controls,
            id,
            tasks,
        }
    }

    /// Runs to the end. Nothing that happens inside keeps `RunEnd` from being sent.
    pub(crate) async fn supervise(mut self, start: Start) {
        let mut permit = self.emitter.reserve_last().await;
        self.emitter.send(Event::RunStart { run: self.id.clone() }).await;
        let mut result = caught(self.begin(start)).await;
        loop {
            if result.is_ok() {
                result = caught(self.serve()).await;
            }
            let exit = result.err();
            if let Err(second) = caught(self.wind_up(exit.as_ref())).await {
                tracing::error!(?second, "a run could not be wound up");
            }
            if permit.is_none() {
                permit = self.emitter.reserve_late().await;
            }
            match self.shared.end(permit, self.summarise(exit.as_ref()), self.waits()) {
                Ok(()) => return,
                // A message was queued in the very last moment: the run goes on with it.
                Err(kept) => permit = kept,
            }
            result = Ok(());
        }
    }

    async fn begin(&mut self, start: Start) -> Result<(), Exit> {
        let saved = self.write_unsaved().await;
        let (origin, blocks) = match start {
            Start::Continue => {
                saved?;
                self.notices().await?;
                {
                    let state = self.shared.lock();
                    self.unanswered = repair::awaits_answer(&state.history);
                    if !self.unanswered && state.queues.is_empty() {
                        return Err(Exit::nothing_to_continue());
                    }
                }
                self.open_scope(None).await;
                return Ok(());
            }
            Start::Compact(focus) => {
                saved?;
                return self.compact_forced(&focus).await;
            }
            Start::Undo => {
                saved?;
                return self.undo_compaction().await;
            }
            Start::Prompt(blocks) => (Origin::Prompt, blocks),
            Start::Inject(text) => (Origin::Steer, vec![Block::text(text)]),
        };
        let text = super::message::text_of(&blocks);
        let told = match saved {
            Ok(()) => self.notices().await,
            Err(exit) => Err(exit),
        };
        let committed = match told {
            Ok(_) => self.commit_user(origin, blocks).await,
            Err(exit) => Err(exit),
        };
        if let Err(exit) = committed {
            self.hand_back(text).await;
            return Err(exit);
        }
        self.open_scope(Some(text.as_str()).filter(|_| origin == Origin::Prompt)).await;
        Ok(())
    }

    /// Serves chats until nothing waits any more.
    async fn serve(&mut self) -> Result<(), Exit> {
        loop {
            while self.unanswered || self.feed().await? {
                self.chat().await?;
            }
            let Some(focus) = self.shared.lock().compact.take() else { return Ok(()) };
            self.compact_forced(&focus).await?;
        }
    }

    /// Turns until the model has answered, a tool has ended the work, or the report is made.
    async fn chat(&mut self) -> Result<(), Exit> {
        loop {
            self.check_abort()?;
            self.notices().await?;
            self.deliver(QueueKind::Steer).await?;
            self.check_cap()?;
            self.check_budget().await?;
            match self.set_course().await {
                Course::Report(reason) => {
                    self.wrap_up(reason).await?;
                    break;
                }
                Course::Work => {
                    if let Next::Stop(trigger) = self.turn().await? {
                        self.trigger = Some(trigger);
                        break;
                    }
                }
            }
        }
        self.unanswered = false;
        Ok(())
    }

    /// At a stop: steering first, follow-ups only when there is none, the guard when there are
    /// none either. What an abort or the cap leaves no turn for stays in its queue, and so do
    /// follow-ups after a chat that was stuck: the user should look first.
    async fn feed(&mut self) -> Result<bool, Exit> {
        let trigger = self.trigger.take();
        let wrap = self.summary.wrap;
        if wrap == Some(WrapReason::MaxTurns) {
            return Ok(false);
        }
        let (steering, any) = {
            let queues = &self.shared.lock().queues;
            (queues.has_steering(), !queues.is_empty())
        };
        if !any || (wrap == Some(WrapReason::Stuck) && !steering) {
            return match trigger {
                Some(trigger) => self.ask_guard(trigger).await,
                None => Ok(false),
            };
        }
        self.check_abort()?;
        self.check_cap()?;
        if self.deliver(QueueKind::Steer).await? {
            if wrap.is_some() {
                self.open_scope(None).await;
            }
            return Ok(true);
        }
        if !self.deliver(QueueKind::FollowUp).await? {
            return Ok(false);
        }
        let words = self.newest_words();
        self.open_scope(Some(&words)).await;
        Ok(true)
    }

    /// The text of the newest message, which has just been delivered.
    fn newest_words(&self) -> String {
        match self.shared.lock().history.last().map(AsRef::as_ref) {
            Some(Message::User(message)) => super::message::text_of(&message.blocks),
            _ => String::new(),
        }
    }

    pub(super) fn check_abort(&self) -> Result<(), Exit> {
        if self.abort.is_cancelled() { Err(Exit::Aborted) } else { Ok(()) }
    }

    /// Commits what waits in a queue. Items leave it one by one, each after its commit.
    pub(super) async fn deliver(&mut self, kind: QueueKind) -> Result<bool, Exit> {
        let (mode, origin) = match kind {
            QueueKind::Steer => (self.config.steer_mode, Origin::Steer),
            QueueKind::FollowUp => (self.config.follow_mode, Origin::FollowUp),
        };
        let items = self.shared.lock().queues.begin_delivery(kind, mode);
        let any = !items.is_empty();
        for item in items {
            let committed = self.commit_user(origin, vec![Block::Text { text: item.text }]).await;
            if let Err(exit) = committed {
                self.shared.lock().queues.release();
                return Err(exit);
            }
            self.shared.lock().queues.delivered(&item.id);
            self.emitter.send_queue(&self.shared).await;
        }
        if any && kind == QueueKind::Steer {
            // What the user says now is a new beginning for who stood still.
            self.scope.monitor.forget();
        }
        Ok(any)
    }

    /// Commits a message of the user's side; the model owes it an answer.
    pub(super) async fn commit_user(
        &mut self,
        origin: Origin,
        blocks: Vec<Block>,
    ) -> Result<(), Exit> {
        if origin.is_user_written() {
            self.shared.breaker.user_wrote();
            self.shared.cache.invalidate();
        }
        let (id, at) = (self.next_message_id(), self.now());
        self.commit(Message::User(UserMessage { id, at, origin, blocks, before: None })).await?;
        self.unanswered = true;
        Ok(())
    }

    /// Something was committed that the model has to answer.
    pub(super) fn owe_answer(&mut self) {
        self.unanswered = true;
    }

    /// The one way into the context: journal, memory, event.
    pub(super) async fn commit(&mut self, message: Message) -> Result<(), Exit> {
        let durability = match &message {
            Message::User(_) | Message::Tool(_) => Durability::Flush,
            Message::Assistant(_) | Message::Note(_) => Durability::Buffered,
        };
        if self.has_unsaved() {
            self.keep_unsaved(message);
            return Err(still_unsaved());
        }
        let record = Record::Message { message };
        let written = self.ports.journal.append(&record, durability).await;
        let Record::Message { message } = record else { return Ok(written?) };
        if let Err(error) = written {
            self.keep_unsaved(message);
            return Err(error.into());
        }
        Arc::make_mut(&mut self.shared.lock().history).push(Arc::new(message.clone()));
        self.emitter.send(Event::MessageEnd { message }).await;
        Ok(())
    }

    /// Now, but never before the newest message.
    pub(super) fn now(&self) -> Timestamp {
        let newest = self.shared.lock().history.last().map(|last| last.at()).unwrap_or_default();
        self.ports.clock.now().max(newest)
    }

    pub(super) fn next_message_id(&self) -> MessageId {
        MessageId(self.ports.ids.next("msg"))
    }

    /// A fresh executor for the answer about to be streamed.
    pub(super) fn fresh_executor(&self) -> Executor {
        Executor::new(ExecutorContext {
            ports: self.ports.clone(),
            config: Arc::clone(&self.config),
            emitter: self.emitter.clone(),
            abort: self.abort.clone(),
            tasks: self.tasks.clone(),
            shared: Arc::clone(&self.shared),
            run: self.id.clone(),
            turn: self.turn,
        })
    }

    /// A prompt that could not be written goes back to whoever wrote it.
    async fn hand_back(&mut self, text: String) {
        if text.trim().is_empty() {
            return;
        }
        let id = QueueId(self.ports.ids.next("queue"));
        let item = QueueItem { id, kind: QueueKind::FollowUp, text };
        self.emitter.send(Event::QueueReturned { items: vec![item] }).await;
    }

    /// Closes what an early end left open, innermost first.
    async fn wind_up(&mut self, exit: Option<&Exit>) -> Result<(), Exit> {
        if exit.is_some() {
            self.exec.abandon();
            self.exec.drain().await;
            self.flush().await;
            if let Err(lost) = self.salvage().await {
                tracing::warn!(?lost, "what the turn had done could not be recorded");
            }
            self.close_message().await;
        }
        self.count_calls();
        if std::mem::take(&mut self.turn_open) {
            self.emitter.send(Event::TurnEnd { turn: self.turn }).await;
        }
        if let Some(message) = exit.and_then(Exit::message) {
            self.emitter.send(Event::Error { message }).await;
        }
        let silent = self.shared.lock().active.as_ref().is_some_and(|active| active.silent);
        if exit == Some(&Exit::Aborted) && !silent {
            let (id, at) = (self.next_message_id(), self.now());
            let text = "interrupted".to_owned();
            self.commit(Message::Note(Note { id, at, text })).await?;
        }
        Ok(())
    }

    fn summarise(&self, exit: Option<&Exit>) -> RunSummary {
        let mut summary = self.summary.clone();
        let elapsed = self.ports.clock.now().0 - self.began.0;
        summary.elapsed_ms = u64::try_from(elapsed).unwrap_or_default();
        summary.reason = match exit {
            Some(exit) => exit.reason(),
            None if summary.wrap == Some(WrapReason::MaxTurns) => EndReason::MaxTurns,
            None => EndReason::Stop,
        };
        summary.limit = exit.and_then(Exit::reached);
        match exit {
            None if summary.reason == EndReason::MaxTurns => {
                let max = self.shared.lock().limits.max_turns;
                summary.limit = Exit::MaxTurns(max).reached();
            }
            Some(Exit::Failed(error)) => summary.error = Some(error.clone()),
            Some(exit @ Exit::MaxTurns(_)) => summary.text = exit.message().unwrap_or_default(),
            Some(Exit::Aborted | Exit::Budget(_)) | None => {}
        }
        summary
    }
}

/// Runs a part of the run; a panic of a port or of the loop itself is an error of the run.
async fn caught(part: impl Future<Output = Result<(), Exit>>) -> Result<(), Exit> {
    isolated(part)
        .await
        .unwrap_or_else(|words| Err(Exit::failed(format!("internal error: {words}"))))
}

fn empty_summary(run: RunId) -> RunSummary {
    RunSummary {
        run,
        reason: EndReason::Stop,
        turns: 0,
        tool_calls: 0,
        tool_errors: 0,
        denied_unasked: 0,
        usage: Usage::default(),
        cost: None,
        elapsed_ms: 0,
        text: String::new(),
        wrap: None,
        limit: None,
        error: None,
    }
}
