//! A model that plays scripts, one a request, and keeps the requests it got.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codebot::kernel::error::{ModelError, ModelErrorKind};
use codebot::kernel::message::{CallId, InvalidArgs, ModelRef, Stop, ToolCall, Usage};
use codebot::kernel::ports::{Model, ModelInfo, ModelStream, Price, Request, StreamEvent};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::fake_ports::Trace;

/// One thing the model does.
#[expect(clippy::large_enum_variant, reason = "scripts are short")]
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends this.
    Say(StreamEvent),
    /// Waits so many milliseconds.
    Wait(u64),
    /// Fails: before the first event when opening, in the stream later.
    Fail(ModelError),
    /// Ends without a terminal event.
    Cut,
    /// Panics.
    Panic,
}

/// What the model does for one request.
pub(crate) type Script = Vec<Act>;

pub(crate) fn text(index: usize, words: &str) -> Act {
    Act::Say(StreamEvent::TextDelta { index, text: words.to_owned() })
}

pub(crate) fn call(index: usize, id: &str, name: &str, args: Value) -> Act {
    let args = match args {
        Value::Object(args) => args,
        other => Map::from_iter([("text".to_owned(), other)]),
    };
    let call = ToolCall { id: id.into(), name: name.to_owned(), args, invalid: None, opaque: None };
    Act::Say(StreamEvent::CallComplete { index, call })
}

pub(crate) fn broken_call(index: usize, id: &str, name: &str, raw: &str) -> Act {
    let invalid = Some(InvalidArgs { raw: raw.to_owned(), error: "expected value".to_owned() });
    let (id, name) = (CallId::from(id), name.to_owned());
    let call = ToolCall { id, name, args: Map::new(), invalid, opaque: None };
    Act::Say(StreamEvent::CallComplete { index, call })
}

pub(crate) fn done(stop: Stop) -> Act {
    Act::Say(StreamEvent::Done(stop))
}

pub(crate) fn usage(input: u64, output: u64) -> Act {
    Act::Say(StreamEvent::Usage(Usage { input, output, ..Usage::default() }))
}

pub(crate) fn fail(kind: ModelErrorKind) -> Act {
    Act::Fail(ModelError::new(kind, "the service said no"))
}

/// A whole answer of one text.
pub(crate) fn says(words: &str) -> Script {
    vec![text(0, words), done(Stop::EndTurn)]
}

/// A whole answer of calls `(id, tool, argument text)`.
pub(crate) fn calls(list: &[(&str, &str, &str)]) -> Script {
    let mut script: Script = list
        .iter()
        .enumerate()
        .map(|(index, (id, tool, words))| call(index, id, tool, Value::from(*words)))
        .collect();
    script.push(done(Stop::ToolUse));
    script
}

#[derive(Debug)]
pub(crate) struct FakeModel {
    scripts: Mutex<VecDeque<Script>>,
    /// Played when the scripts have run out.
    last: Option<Script>,
    requests: Mutex<Vec<Request>>,
    /// What it costs.
    pub(crate) price: Mutex<Option<Price>>,
    /// Its name.
    pub(crate) name: Mutex<&'static str>,
    /// Plain requests among all.
    pub(crate) whole: AtomicU64,
    trace: Trace,
}

impl FakeModel {
    pub(crate) fn new(scripts: Vec<Script>, last: Option<Script>, trace: Trace) -> Arc<Self> {
        let scripts = Mutex::new(scripts.into());
        Arc::new(Self {
            scripts,
            last,
            requests: Mutex::default(),
            price: Mutex::default(),
            name: Mutex::new("one"),
            whole: AtomicU64::new(0),
            trace,
        })
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Model for FakeModel {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            model: ModelRef { provider: "fake".into(), model: (*self.name.lock().unwrap()).into() },
            context_window: 100_000,
            max_output: 8_000,
            price: *self.price.lock().unwrap(),
            vision: true,
        }
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.trace.add("request");
        self.requests.lock().unwrap().push(request);
        let script = self.scripts.lock().unwrap().pop_front().or_else(|| self.last.clone());
        Box::pin(async move {
            let script = script.expect("the script of the model has run out");
            // Failing first means that the stream can't be opened.
            let mut acts: VecDeque<Act> = script.into();
            while let Some(Act::Wait(ms)) = acts.front() {
                tokio::time::sleep(Duration::from_millis(*ms)).await;
                acts.pop_front();
            }
            if let Some(Act::Fail(error)) = acts.front() {
                return Err(error.clone());
            }
            Ok(play(acts))
        })
    }

    fn complete(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.whole.fetch_add(1, Ordering::Relaxed);
        self.stream(request)
    }
}

fn play(acts: VecDeque<Act>) -> ModelStream {
    futures_util::stream::unfold(acts, |mut acts| async move {
        loop {
            match acts.pop_front()? {
                Act::Say(event) => return Some((Ok(event), acts)),
                Act::Wait(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                Act::Fail(error) => return Some((Err(error), acts)),
                Act::Cut => return None,
                Act::Panic => panic!("the model panicked"),
            }
        }
    })
    .boxed()
}
