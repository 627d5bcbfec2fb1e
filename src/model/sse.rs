//! Server-sent events: a byte guard in front of `eventsource-stream`. The guard hands the parser
//! whole UTF-8 lines only, which removes every fault the parser has with raw bytes: a byte order
//! mark (whole or split), lone carriage returns, a last event without its blank line, invalid
//! bytes that hold everything back, and quadratic work on long events.
//!
//! Invariant: what comes out depends on the bytes alone, never on how they were cut into chunks.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use eventsource_stream::{Event, EventStream, EventStreamError};
use futures_util::{Stream, StreamExt};

use crate::kernel::error::ModelError;

/// Largest accepted event in bytes. The longest honest event seen (one whole tool call) is far
/// below; without a bound one endless line would fill the memory.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Why a stream of events broke.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SseError {
    /// A line is not UTF-8; such a stream is broken, never repaired.
    #[error("the stream carried invalid bytes")]
    InvalidUtf8,
    /// One event is larger than [`MAX_EVENT_BYTES`].
    #[error("the stream carried an event above 16 MB")]
    TooLarge,
    /// The parser gave up.
    #[error("the stream is not made of events")]
    Malformed,
    /// The bytes stopped coming.
    #[error("{0}")]
    Transport(ModelError),
}

/// Cuts bytes into whole lines that end in one line feed.
#[derive(Debug, Default)]
struct LineGuard {
    /// Bytes of a byte order mark seen at the very start; `None` once the start is behind us.
    mark: Option<usize>,
    started: bool,
    after_cr: bool,
    line: Vec<u8>,
    event_bytes: usize,
    lines: VecDeque<Vec<u8>>,
    failed: Option<SseError>,
}

impl LineGuard {
    fn push(&mut self, bytes: &[u8]) {
        let mut rest = self.skip_mark(bytes);
        while self.failed.is_none() && !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest.first() == Some(&b'\n') {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.extend(rest);
                return;
            };
            let (head, tail) = rest.split_at(end);
            self.extend(head);
            self.end_line();
            self.after_cr = tail.first() == Some(&b'\r');
            rest = tail.get(1..).unwrap_or_default();
        }
    }

    /// Drops one byte order mark at the very start, even when it comes byte by byte.
    fn skip_mark<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.started {
            return bytes;
        }
        let mut seen = self.mark.unwrap_or(0);
        let mut rest = bytes;
        while let Some((first, tail)) = rest.split_first() {
            if BOM.get(seen) != Some(first) {
                break;
            }
            seen += 1;
            rest = tail;
        }
        self.mark = Some(seen);
        if seen == BOM.len() {
            self.started = true;
        } else if !rest.is_empty() {
            self.started = true;
            self.line.extend_from_slice(BOM.get(..seen).unwrap_or_default());
        }
        rest
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.event_bytes + self.line.len() + bytes.len() > MAX_EVENT_BYTES {
            self.failed = Some(SseError::TooLarge);
            return;
        }
        self.line.extend_from_slice(bytes);
    }

    fn end_line(&mut self) {
        if self.failed.is_some() {
            return;
        }
        let mut line = std::mem::take(&mut self.line);
        if std::str::from_utf8(&line).is_err() {
            self.failed = Some(SseError::InvalidUtf8);
            return;
        }
        self.event_bytes = if line.is_empty() { 0 } else { self.event_bytes + line.len() };
        line.push(b'\n');
        self.lines.push_back(line);
    }

    /// The end of the bytes closes the open line and the open event.
    fn finish(&mut self) {
        if !self.started {
            let seen = self.mark.unwrap_or(0);
            self.started = true;
            self.line.extend_from_slice(BOM.get(..seen).unwrap_or_default());
        }
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_line();
    }
}

/// Lines of a byte stream, as the event parser wants them.
#[derive(Debug)]
struct Lines<S> {
    bytes: S,
    guard: LineGuard,
    ended: bool,
}

impl<S, B> Stream for Lines<S>
where
    S: Stream<Item = Result<B, ModelError>> + Unpin,
    B: AsRef<[u8]>,
{
    type Item = Result<Vec<u8>, SseError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(line) = self.guard.lines.pop_front() {
                return Poll::Ready(Some(Ok(line)));
            }
            if let Some(error) = self.guard.failed.take() {
                self.ended = true;
                return Poll::Ready(Some(Err(error)));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            match std::task::ready!(self.bytes.poll_next_unpin(cx)) {
                Some(Ok(bytes)) => self.guard.push(bytes.as_ref()),
                Some(Err(error)) => self.guard.failed = Some(SseError::Transport(error)),
                None => {
                    self.ended = true;
                    self.guard.finish();
                }
            }
        }
    }
}

/// The events of a byte stream. Ends after the first error.
pub fn events<S, B>(bytes: S) -> impl Stream<Item = Result<Event, SseError>> + Unpin
where
    S: Stream<Item = Result<B, ModelError>> + Unpin,
    B: AsRef<[u8]>,
{
    // The parser looks for a mark of its own in the first line and panics on it; a blank line first
    // keeps a second mark from it.
    let guard = LineGuard { lines: VecDeque::from([b"\n".to_vec()]), ..LineGuard::default() };
    let lines = Lines { bytes, guard, ended: false };
    EventStream::new(lines).map(|event| {
        event.map_err(|error| match error {
            EventStreamError::Transport(error) => error,
            EventStreamError::Utf8(_) => SseError::InvalidUtf8,
            EventStreamError::Parser(_) => SseError::Malformed,
        })
    })
}
