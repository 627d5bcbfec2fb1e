//! A scripted reply: head, then steps of bytes, waits and ends.

use std::time::Duration;

use serde_json::Value;

/// One step of a body.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Sent as one write (and one chunk).
    Bytes(Vec<u8>),
    /// Wait.
    Delay(Duration),
    /// Nothing more, the socket stays open until the client leaves.
    Stall,
    /// The connection is reset.
    Reset,
}

/// A scripted reply.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// HTTP status.
    pub(crate) status: u16,
    /// Headers besides the framing.
    pub(crate) headers: Vec<(String, String)>,
    /// The body.
    pub(crate) steps: Vec<Step>,
    /// Wait before the head.
    pub(crate) before: Duration,
    /// Chunked when true; else the body ends with the connection.
    pub(crate) chunked: bool,
}

impl Reply {
    /// A stream of events made of these pieces of raw text.
    pub(crate) fn sse<T: AsRef<[u8]>>(pieces: impl IntoIterator<Item = T>) -> Self {
        let steps = pieces.into_iter().map(|piece| Step::Bytes(piece.as_ref().to_vec())).collect();
        let kind = "text/event-stream; charset=utf-8".to_owned();
        let headers = vec![("content-type".to_owned(), kind)];
        Self { status: 200, headers, steps, before: Duration::ZERO, chunked: true }
    }

    /// One `data:` event per document, then whatever the caller adds.
    pub(crate) fn data(documents: impl IntoIterator<Item = Value>) -> Self {
        Self::sse(documents.into_iter().map(|document| format!("data: {document}\n\n")))
    }

    /// A JSON body.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::body(status, "application/json", body.to_string())
    }

    /// Any other body.
    pub(crate) fn body(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            steps: vec![Step::Bytes(body.into())],
            before: Duration::ZERO,
            chunked: true,
        }
    }

    /// Adds a header; an earlier one of that name is replaced.
    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(old, _)| !old.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a step.
    #[must_use]
    pub(crate) fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds bytes.
    #[must_use]
    pub(crate) fn bytes(self, bytes: impl AsRef<[u8]>) -> Self {
        self.then(Step::Bytes(bytes.as_ref().to_vec()))
    }

    /// Adds one `data:` event.
    #[must_use]
    pub(crate) fn event(self, document: &Value) -> Self {
        self.bytes(format!("data: {document}\n\n"))
    }

    /// Adds the end mark of chat completions.
    #[must_use]
    pub(crate) fn done(self) -> Self {
        self.bytes("data: [DONE]\n\n")
    }

    /// Waits before the head.
    #[must_use]
    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.before = delay;
        self
    }

    /// Waits between all pieces.
    #[must_use]
    pub(crate) fn paced(mut self, gap: Duration) -> Self {
        let steps = std::mem::take(&mut self.steps);
        self.steps = steps.into_iter().flat_map(|step| [step, Step::Delay(gap)]).collect();
        self
    }

    /// The same bytes, one per write and chunk.
    #[must_use]
    pub(crate) fn dribble(mut self) -> Self {
        let steps = std::mem::take(&mut self.steps);
        for step in steps {
            match step {
                Step::Bytes(bytes) => {
                    self.steps.extend(bytes.into_iter().map(|byte| Step::Bytes(vec![byte])));
                }
                other => self.steps.push(other),
            }
        }
        self
    }

    /// Keeps only the first `count` steps and then resets the connection.
    #[must_use]
    pub(crate) fn cut(mut self, count: usize) -> Self {
        self.steps.truncate(count);
        self.then(Step::Reset)
    }

    /// Keeps the socket open and silent after the last step.
    #[must_use]
    pub(crate) fn stalled(self) -> Self {
        self.then(Step::Stall)
    }
}
