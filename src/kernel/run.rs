//! One run, from its start to its `RunEnd`: chats of turns, deliveries from the queues between
//! them, and the only door through which messages enter the context.
//!
//! ```text
//! begin → [ chat: ( abort? → steering → cap? → turn )* → steering | follow-ups | none ]* → wind up → RunEnd
//! ```

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agent::AgentConfig;
use super::emit::Emitter;
use super::event::{EndReason, Event, QueueItem, QueueKind, RunSummary};
use super::executor::{Executor, ExecutorContext};
use super::isolate::isolated;
use super::message::{
    Block, Message, MessageId, Note, Origin, QueueId, RunId, Timestamp, Usage, UserMessage,
};
use super::ports::{Durability, ModelInfo, Ports, Record};
use super::repair;
use super::state::{Control, Shared};
use super::stop::Exit;
use super::turn::{Answer, Next};

/// What a run begins with.
#[derive(Debug)]
pub(crate) enum Start {
    /// A message typed while idle.
    Prompt(Vec<Block>),
    /// Nothing new.
    Continue,
}

/// A run and everything it keeps between its turns.
pub(crate) struct Run {
    pub(super) ports: Ports,
    pub(super) config: Arc<AgentConfig>,
    pub(super) shared: Arc<Shared>,
    pub(super) emitter: Emitter,
    pub(super) abort: CancellationToken,
    pub(super) controls: mpsc::UnboundedReceiver<Control>,
    pub(super) model: ModelInfo,
    pub(super) id: RunId,
    /// Turns begun.
    pub(super) turn: u32,
    pub(super) turn_open: bool,
    /// Repeated model calls since the last complete answer.
    pub(super) retries: u32,
    /// Resume prompts in a row.
    pub(super) resumes: u32,
    /// An empty answer was already complained about in this chat.
    pub(super) nudged: bool,
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
            began: ports.clock.now(),
            summary: empty_summary(id.clone()),
            exec: Executor::new(cx),
            answer: Answer::default(),
            turn: 0,
            turn_open: false,
            retries: 0,
            resumes: 0,
            nudged: false,
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
            let if_drained = !self.abort.is_cancelled() && self.turn < self.config.max_turns;
            match self.shared.end(permit, self.summarise(exit.as_ref()), if_drained) {
                Ok(()) => return,
                // A message was queued in the very last moment: the run goes on with it.
                Err(kept) => permit = kept,
            }
            result = Ok(());
        }
    }

    async fn begin(&mut self, start: Start) -> Result<(), Exit> {
        match start {
            Start::Prompt(blocks) => {
                self.notices().await?;
                let text = super::message::text_of(&blocks);
                if let Err(exit) = self.commit_user(Origin::Prompt, blocks).await {
                    self.hand_back(text).await;
                    return Err(exit);
                }
            }
            Start::Continue => {
                self.notices().await?;
                let state = self.shared.lock();
                self.unanswered = repair::awaits_answer(&state.history);
                if !self.unanswered && state.queues.is_empty() {
                    return Err(Exit::nothing_to_continue());
                }
            }
        }
        Ok(())
    }

    /// Serves chats until nothing waits any more.
    async fn serve(&mut self) -> Result<(), Exit> {
        while self.unanswered || self.feed().await? {
            self.chat().await?;
        }
        Ok(())
    }

    /// Turns until the model has answered.
    async fn chat(&mut self) -> Result<(), Exit> {
        loop {
            self.check_abort()?;
            self.notices().await?;
            self.deliver(QueueKind::Steer).await?;
            self.check_cap()?;
            match self.turn().await? {
                Next::Again => {}
                Next::Stop => {
                    self.unanswered = false;
                    return Ok(());
                }
            }
        }
    }

    /// At a stop: steering first, follow-ups only when there is none. What an abort or the cap
    /// leaves no turn for stays in its queue.
    async fn feed(&mut self) -> Result<bool, Exit> {
        if self.shared.lock().queues.is_empty() {
            return Ok(false);
        }
        self.check_abort()?;
        self.check_cap()?;
        if self.deliver(QueueKind::Steer).await? {
            return Ok(true);
        }
        self.nudged = false;
        self.deliver(QueueKind::FollowUp).await
    }

    pub(super) fn check_abort(&self) -> Result<(), Exit> {
        if self.abort.is_cancelled() { Err(Exit::Aborted) } else { Ok(()) }
    }

    fn check_cap(&self) -> Result<(), Exit> {
        let max = self.config.max_turns;
        if self.turn >= max { Err(Exit::MaxTurns(max)) } else { Ok(()) }
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
        let record = Record::Message { message };
        self.ports.journal.append(&record, durability).await?;
        if let Record::Message { message } = record {
            Arc::make_mut(&mut self.shared.lock().history).push(Arc::new(message.clone()));
            self.emitter.send(Event::MessageEnd { message }).await;
        }
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
        if exit == Some(&Exit::Aborted) {
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
        summary.reason = exit.map_or(EndReason::Stop, Exit::reason);
        match exit {
            Some(Exit::Failed(error)) => summary.error = Some(error.clone()),
            Some(exit @ Exit::MaxTurns(_)) => summary.text = exit.message().unwrap_or_default(),
            Some(Exit::Aborted) | None => {}
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
        elapsed_ms: 0,
        text: String::new(),
        error: None,
    }
}
