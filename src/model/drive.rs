//! Turns an opened answer into the normal form of a stream: bytes → events → a dialect's decoder →
//! kernel events. What a dialect must know (its terminal event, its blocks) is in its decoder.

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

use eventsource_stream::Event;
use futures_util::FutureExt;
use futures_util::stream::{self, Stream, StreamExt};
use tokio::time::Instant;

use crate::kernel::error::{ModelError, ModelErrorKind as Kind};
use crate::kernel::ports::{ModelStream, StreamEvent};

use super::error::{Service, broken, cap};
use super::http::{Answer, Limits};
use super::sse::{self, SseError};

/// Decoded events, in order.
pub type Out = VecDeque<StreamEvent>;

/// Most events that are joined into one delta.
const GULP: usize = 256;

/// One dialect's reading of an answer.
pub trait Decoder: Send + 'static {
    /// Reads one event. An error ends the stream.
    fn event(&mut self, name: &str, data: &str, out: &mut Out) -> Result<(), ModelError>;

    /// The bytes ended. Emits what is still owed, or says that the answer is cut.
    fn end(&mut self, out: &mut Out) -> Result<(), ModelError>;

    /// Whether the answer is complete apart from what may follow (usage, an end mark).
    fn is_settled(&self) -> bool;

    /// Whether the terminal event was seen; nothing is read after it.
    fn is_done(&self) -> bool;
}

fn ends_in_text(out: &Out) -> bool {
    matches!(out.back(), Some(StreamEvent::TextDelta { .. } | StreamEvent::ThinkingDelta { .. }))
}

/// Makes one of the last two events when both add to the same text.
fn join_tail(out: &mut Out) {
    let Some(last) = out.pop_back() else { return };
    match (out.back_mut(), last) {
        (
            Some(StreamEvent::TextDelta { index, text }),
            StreamEvent::TextDelta { index: same, text: more },
        )
        | (
            Some(StreamEvent::ThinkingDelta { index, text }),
            StreamEvent::ThinkingDelta { index: same, text: more },
        ) if *index == same => text.push_str(&more),
        (_, last) => out.push_back(last),
    }
}

type Events = Pin<Box<dyn Stream<Item = Result<Event, SseError>> + Send>>;

struct Driver<D> {
    events: Events,
    decoder: D,
    service: Service,
    out: Out,
    error: Option<ModelError>,
    ended: bool,
    tail: Duration,
    deadline: Option<Instant>,
    /// The body, when the service answered with plain JSON.
    plain: Option<String>,
}

/// The stream of an opened answer.
pub fn drive<D: Decoder>(
    answer: Answer,
    decoder: D,
    service: Service,
    limits: Limits,
) -> ModelStream {
    match answer {
        Answer::Events(bytes) => drive_bytes(bytes, decoder, service, limits),
        Answer::Json(body) => {
            let event = Event { data: body.clone(), ..Event::default() };
            start(Box::pin(stream::iter([Ok(event)])), Some(body), decoder, service, limits)
        }
    }
}

/// The stream of an answer whose bytes come from anywhere.
pub fn drive_bytes<D: Decoder>(
    bytes: impl Stream<Item = Result<Vec<u8>, ModelError>> + Send + Unpin + 'static,
    decoder: D,
    service: Service,
    limits: Limits,
) -> ModelStream {
    start(Box::pin(sse::events(bytes)), None, decoder, service, limits)
}

fn start<D: Decoder>(
    events: Events,
    plain: Option<String>,
    decoder: D,
    service: Service,
    limits: Limits,
) -> ModelStream {
    let driver = Driver {
        events,
        decoder,
        service,
        out: Out::from([StreamEvent::Start]),
        error: None,
        ended: false,
        tail: limits.tail,
        deadline: None,
        plain,
    };
    stream::unfold(driver, |mut driver| async move {
        let item = driver.next().await?;
        Some((item, driver))
    })
    .boxed()
}

impl<D: Decoder> Driver<D> {
    async fn next(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        loop {
            if let Some(event) = self.out.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.error.take() {
                return Some(Err(error));
            }
            if self.ended {
                return None;
            }
            let event = self.receive().await;
            self.read(event);
            self.gulp();
        }
    }

    /// Decodes one event, or notes why there are no more.
    fn read(&mut self, event: Option<Result<Event, SseError>>) {
        let read = match event {
            Some(Ok(event)) => self.decoder.event(&event.event, &event.data, &mut self.out),
            // After a complete answer a late fault of the connection no longer matters.
            Some(Err(_)) if self.decoder.is_settled() => self.finish(),
            Some(Err(error)) => Err(self.broken(error)),
            None => self.finish(),
        };
        if let Err(error) = read {
            self.error = Some(error);
        }
        if self.error.is_some() || self.decoder.is_done() {
            self.close();
        }
    }

    /// Joins text that has already arrived into one delta: a fast service sends hundreds of tokens
    /// in one packet, and everything above pays by the delta. Never waits.
    fn gulp(&mut self) {
        for _ in 0..GULP {
            if !ends_in_text(&self.out) || self.ended || self.decoder.is_settled() {
                return;
            }
            let Some(event) = self.events.next().now_or_never() else { return };
            self.read(event);
            join_tail(&mut self.out);
        }
    }

    async fn receive(&mut self) -> Option<Result<Event, SseError>> {
        if !self.decoder.is_settled() {
            return self.events.next().await;
        }
        let tail = self.tail;
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + tail);
        tokio::time::timeout_at(deadline, self.events.next()).await.ok().flatten()
    }

    fn finish(&mut self) -> Result<(), ModelError> {
        self.ended = true;
        match (self.decoder.end(&mut self.out), &self.plain) {
            // JSON that is no answer of the dialect: whatever it says is the error.
            (Err(_), Some(body)) => Err(super::error::from_body(&self.service, body)),
            (end, _) => end,
        }
    }

    /// Nothing more is read: the connection goes now, not when the last event was taken.
    fn close(&mut self) {
        self.ended = true;
        self.events = Box::pin(stream::empty());
    }

    fn broken(&self, error: SseError) -> ModelError {
        match error {
            SseError::Transport(error) => error,
            SseError::InvalidUtf8 | SseError::TooLarge | SseError::Malformed => {
                broken(&self.service, &error.to_string())
            }
        }
    }
}

/// Data that is no JSON of the dialect: a page or a plain word is the service's error, half a
/// document is a broken stream.
pub fn undecodable(service: &Service, data: &str, error: &serde_json::Error) -> ModelError {
    tracing::debug!(provider = %service.provider, %error, data, "undecodable event");
    let start = data.trim_start();
    if !start.starts_with(['{', '[']) {
        let said = super::error::from_body(service, data);
        if said.kind != Kind::Server || start.starts_with(['<', '"']) {
            return said;
        }
    }
    let what = cap(&format!("an event could not be read ({error})"));
    broken(service, &what)
}
