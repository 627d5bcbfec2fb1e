//! Streaming one answer: deltas out, completed calls to the executor, requests of the user in
//! between.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{Answer, Ending};
use crate::kernel::error::{ModelError, ModelErrorKind};
use crate::kernel::event::{Delta, Event};
use crate::kernel::executor::Signal;
use crate::kernel::message::Stop;
use crate::kernel::ports::{ModelStream, Request, StreamEvent};
use crate::kernel::run::Run;
use crate::kernel::state::Control;
use crate::kernel::stop::Exit;
use crate::kernel::stream::Step;

impl Run {
    /// Streams one answer and lets its calls start.
    pub(super) async fn stream(&mut self, request: Request) -> Ending {
        self.count_calls();
        self.exec = self.fresh_executor();
        self.answer = Answer { id: self.next_message_id(), ..Answer::default() };
        self.shared.lock().partial.clear();
        let model = Arc::clone(&self.speaker);
        let opening = if self.whole { model.complete(request) } else { model.stream(request) };
        let mut source = match self.open(opening).await {
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
                if let Delta::Text { text } = &delta {
                    self.shared.lock().partial.push_str(text);
                }
                self.emitter.send(Event::MessageDelta { delta }).await;
                None
            }
            // Nothing starts from a report.
            Step::Call(_) if self.wrapping => None,
            Step::Call(call) => {
                self.exec.add(*call);
                self.flush().await;
                None
            }
            Step::Done(stop) => Some(stop),
        }
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
    pub(super) fn control(&mut self, control: Control) {
        match control {
            Control::Answer { id, answer } => self.exec.answer(&id, answer),
            Control::CancelCall { id } => self.exec.cancel_call(&id),
            Control::Background { id } => self.exec.background(&id),
            Control::Steered => {
                if self.shared.lock().queues.has_fresh_steering() {
                    self.exec.steer();
                }
            }
            // Nothing is being waited for.
            Control::RetryNow => {}
        }
    }

    /// Sends what the executor has to tell.
    pub(in crate::kernel) async fn flush(&mut self) {
        while let Some(event) = self.exec.next_event() {
            self.time_user(&event);
            self.emitter.send(event).await;
        }
    }

    /// Keeps account of the time in which the run waits for the user.
    fn time_user(&mut self, event: &Event) {
        if matches!(event, Event::ApprovalAsked { .. }) {
            self.asked_at = Some(self.ports.clock.now());
        } else if matches!(event, Event::ApprovalClosed { .. })
            && let Some(since) = self.asked_at.take()
        {
            self.user_wait_ms += self.ports.clock.now().0 - since.0;
        }
    }
}
