//! Gate, journal, context, clock and ids for tests, and a trace in which they note what happened.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codebot::kernel::command::Mode;
use codebot::kernel::error::{ContextError, GateError, JournalError};
use codebot::kernel::event::Approval;
use codebot::kernel::message::{Message, Timestamp, ToolCall};
use codebot::kernel::ports::{
    Clock, Context, Durability, Finished, Gate, GateRequest, Ids, Journal, Notices, Projection,
    Record, SystemBlock, Verdict, View,
};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::time::Instant;

/// What happened, over all ports, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    pub(crate) fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// How a gate judges the calls of one tool.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    Allow,
    Deny(&'static str),
    Ask,
    /// Asks and offers no rule to remember.
    AskOnce,
    Rewrite(Map<String, Value>),
    Fail,
    Panic,
}

/// Allows what no rule names.
#[derive(Debug, Default)]
pub(crate) struct FakeGate {
    rules: Mutex<BTreeMap<String, Rule>>,
    mode: Mutex<Mode>,
    pub(crate) asked: AtomicU64,
    pub(crate) remembered: Mutex<Vec<Approval>>,
    pub(crate) recorded: Mutex<Vec<(String, bool, String)>>,
    trace: Trace,
}

impl FakeGate {
    pub(crate) fn new(trace: Trace) -> Arc<Self> {
        Arc::new(Self { trace, ..Self::default() })
    }

    pub(crate) fn rule(&self, tool: &str, rule: Rule) {
        self.rules.lock().unwrap().insert(tool.to_owned(), rule);
    }
}

impl Gate for FakeGate {
    fn judge<'a>(&'a self, request: GateRequest<'a>) -> BoxFuture<'a, Result<Verdict, GateError>> {
        self.trace.add(format!("gate {}", request.call.id));
        self.asked.fetch_add(1, Ordering::Relaxed);
        let rule = self.rules.lock().unwrap().get(&request.call.name).cloned();
        let approval = |rule: Option<&str>| Approval {
            call: request.call.clone(),
            preview: request.preview.cloned(),
            reason: "because".to_owned(),
            parts: Vec::new(),
            rule: rule.map(str::to_owned),
            danger: false,
        };
        let verdict = match rule.unwrap_or(Rule::Allow) {
            Rule::Allow => Ok(Verdict::Allow),
            Rule::Deny(reason) => Ok(Verdict::Deny { reason: reason.to_owned() }),
            Rule::Ask => Ok(Verdict::Ask(approval(Some("write *")))),
            Rule::AskOnce => Ok(Verdict::Ask(approval(None))),
            Rule::Rewrite(args) => Ok(Verdict::AllowWith(args)),
            Rule::Fail => Err(GateError("the rules can't be read".to_owned())),
            Rule::Panic => panic!("the gate panicked"),
        };
        Box::pin(async move { verdict })
    }

    fn remember<'a>(&'a self, approval: &'a Approval) -> BoxFuture<'a, Result<(), GateError>> {
        self.remembered.lock().unwrap().push(approval.clone());
        Box::pin(async { Ok(()) })
    }

    fn record(&self, call: &ToolCall, allowed: bool, by: &str) {
        self.recorded.lock().unwrap().push((call.id.to_string(), allowed, by.to_owned()));
    }

    fn set_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    fn mode(&self) -> Mode {
        *self.mode.lock().unwrap()
    }
}

/// What a journal refuses.
type Refuse = Box<dyn Fn(&Record) -> bool + Send + Sync>;

/// Keeps records in memory; a test may make appends fail or panic.
#[derive(Default)]
pub(crate) struct FakeJournal {
    records: Mutex<Vec<(Record, Durability)>>,
    refuse: Mutex<Option<Refuse>>,
    pub(crate) panics: std::sync::atomic::AtomicBool,
    /// Milliseconds an append takes.
    pub(crate) delay: AtomicU64,
    trace: Trace,
}

impl std::fmt::Debug for FakeJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FakeJournal")
    }
}

impl FakeJournal {
    pub(crate) fn new(trace: Trace) -> Arc<Self> {
        Arc::new(Self { trace, ..Self::default() })
    }

    pub(crate) fn refuse(&self, refuse: impl Fn(&Record) -> bool + Send + Sync + 'static) {
        *self.refuse.lock().unwrap() = Some(Box::new(refuse));
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        self.records.lock().unwrap().iter().map(|(record, _)| record.clone()).collect()
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        let message = |record| match record {
            Record::Message { message } => Some(message),
            Record::Intent { .. }
            | Record::Discarded { .. }
            | Record::TakenBack { .. }
            | Record::Compaction { .. }
            | Record::Switched { .. }
            | Record::Checkpoint { .. }
            | Record::Rewind { .. }
            | Record::Planning { .. }
            | Record::CompactionUndone { .. } => None,
        };
        self.records().into_iter().filter_map(message).collect()
    }
}

impl Journal for FakeJournal {
    fn append<'a>(
        &'a self,
        record: &'a Record,
        durability: Durability,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            let delay = self.delay.load(Ordering::Relaxed);
            if delay > 0 {
                tokio::time::sleep(Duration::from_millis(delay)).await;
            }
            assert!(!self.panics.load(Ordering::Relaxed), "the journal panicked");
            if self.refuse.lock().unwrap().as_ref().is_some_and(|refuse| refuse(record)) {
                let (path, message) = ("s.jsonl".to_owned(), "no space left".to_owned());
                return Err(JournalError { path, message });
            }
            self.trace.add(match record {
                Record::Message { message: Message::User(_) } => "commit user".to_owned(),
                Record::Message { message: Message::Assistant(_) } => "commit assistant".to_owned(),
                Record::Message { message: Message::Tool(m) } => format!("commit {}", m.call_id),
                Record::Message { message: Message::Note(_) } => "commit note".to_owned(),
                Record::Intent { call, .. } => format!("intent {}", call.id),
                Record::Discarded { .. } => "discarded".to_owned(),
                Record::TakenBack { .. } => "taken back".to_owned(),
                Record::Compaction { compaction } => format!("compaction {:?}", compaction.step),
                Record::Switched { model, .. } => format!("switched {model}"),
                Record::Planning { on, .. } => format!("planning {on}"),
                Record::CompactionUndone { .. } => "undone".to_owned(),
                Record::Checkpoint { .. } => "checkpoint".to_owned(),
                Record::Rewind { .. } => "rewind".to_owned(),
            });
            self.records.lock().unwrap().push((record.clone(), durability));
            Ok(())
        })
    }
}

/// Background work that has ended.
#[derive(Debug, Default)]
pub(crate) struct FakeNotices {
    waiting: Mutex<Vec<Finished>>,
    pub(crate) acknowledged: Mutex<Vec<String>>,
}

impl FakeNotices {
    pub(crate) fn add(&self, id: &str, status: &str, text: &str) {
        let (id, status, text) = (id.to_owned(), status.to_owned(), text.to_owned());
        self.waiting.lock().unwrap().push(Finished { id, status, text });
    }
}

impl Notices for FakeNotices {
    fn peek(&self) -> Vec<Finished> {
        self.waiting.lock().unwrap().clone()
    }

    fn acknowledge(&self, ids: &[String]) {
        self.waiting.lock().unwrap().retain(|finished| !ids.contains(&finished.id));
        self.acknowledged.lock().unwrap().extend_from_slice(ids);
    }
}

/// Sends the whole history.
#[derive(Debug)]
pub(crate) struct WholeContext {
    trace: Trace,
    /// How often it can still make the view smaller.
    pub(crate) recoveries: AtomicU64,
    /// Milliseconds that takes.
    pub(crate) delay: AtomicU64,
}

impl WholeContext {
    pub(crate) fn new(trace: Trace) -> Self {
        Self { trace, recoveries: AtomicU64::new(0), delay: AtomicU64::new(0) }
    }
}

impl Context for WholeContext {
    fn project<'a>(
        &'a self,
        history: &'a [Arc<Message>],
        _view: View<'a>,
    ) -> BoxFuture<'a, Result<Projection, ContextError>> {
        self.trace.add("project");
        let system = vec![SystemBlock { text: "be brief".to_owned(), cache: true }];
        Box::pin(async move { Ok(Projection { system, messages: history.to_vec() }) })
    }

    fn recover<'a>(
        &'a self,
        _history: &'a [Arc<Message>],
        _view: View<'a>,
    ) -> BoxFuture<'a, Result<bool, ContextError>> {
        self.trace.add("recover");
        let take = |left: u64| left.checked_sub(1);
        let taken = self.recoveries.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let delay = Duration::from_millis(self.delay.load(Ordering::Relaxed));
        Box::pin(async move {
            tokio::time::sleep(delay).await;
            Ok(taken.is_ok())
        })
    }
}

/// Tokio's clock, which tests pause.
#[derive(Debug)]
pub(crate) struct PausedClock(pub(crate) Instant);

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000_000 + i64::try_from(self.0.elapsed().as_millis()).unwrap())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Counts.
#[derive(Debug, Default)]
pub(crate) struct CountedIds(AtomicU64);

impl CountedIds {
    /// Ids that no message of this history has, even if another lab wrote it.
    pub(crate) fn after(history: &[impl Sized]) -> Self {
        // A lab uses fewer than a thousand ids for a message.
        Self(AtomicU64::new(1000 * u64::try_from(history.len()).unwrap()))
    }
}

impl Ids for CountedIds {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}-{}", self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn unit(&self) -> f64 {
        0.0
    }
}
