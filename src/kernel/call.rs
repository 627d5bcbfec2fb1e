//! The steps of one call's pipeline, each as a piece of work of its own: look-up and schema, then
//! preview, gate and intent. The order in which calls take them is the executor's business.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::approvals;
use super::dedupe::Cache;
use super::error::{GateError, JournalError, ToolError};
use super::event::{Approval, Event, Preview};
use super::executor::End;
use super::isolate::{isolated, isolated_now};
use super::message::{Block, CallId, CallStatus, RunId, ToolCall};
use super::ports::{
    Aside, CallContext, Durability, GateRequest, Ports, ProgressSink, Record, ToolOutcome,
    ToolTraits, Verdict,
};

/// How many characters of unreadable arguments a result quotes.
const QUOTED_CHARS: usize = 200;

/// A call that does not run, and what the model is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: CallStatus,
    pub(crate) text: String,
}

impl Refusal {
    fn error(error: &ToolError) -> Self {
        Self { status: CallStatus::Error, text: format!("Error: {error}") }
    }

    fn panicked(words: &str) -> Self {
        Self { status: CallStatus::Panicked, text: format!("Error: Panic: {words}") }
    }

    /// There is no tool of that name.
    pub(crate) fn unknown(name: &str) -> Self {
        Self { status: CallStatus::Error, text: format!("Unknown tool: {name}") }
    }

    /// The tool failed too often in a row.
    pub(crate) fn disabled(name: &str, turns: u32) -> Self {
        let message = format!(
            "{name} is disabled after {turns} consecutive errors until the user writes; \
             find another way, or say what is in the way"
        );
        Self::error(&ToolError::new("Disabled", message))
    }

    pub(crate) fn denied(text: String) -> Self {
        Self { status: CallStatus::Denied, text }
    }
}

/// A step that takes time. One is under way at most, for the call at the head.
pub(crate) type Stage = BoxFuture<'static, StageDone>;

/// What a step came to.
#[derive(Debug)]
pub(crate) enum StageDone {
    Previewed(Result<Option<Preview>, Refusal>),
    Judged(Box<Result<Verdict, GateError>>),
    Remembered(Result<(), GateError>),
    Recorded(Result<(), JournalError>),
}

/// Look-up, JSON and schema: what can be said of a call the moment it is complete.
pub(crate) fn check(ports: &Ports, call: &ToolCall) -> Result<ToolTraits, Refusal> {
    let tools = &ports.tools;
    let Some(traits) = tools.traits(&call.name) else {
        return Err(Refusal::unknown(&call.name));
    };
    if let Some(invalid) = &call.invalid {
        let message = format!(
            "the arguments are not a JSON object ({}); received: {}",
            invalid.error,
            quoted(&invalid.raw)
        );
        return Err(Refusal::error(&ToolError::new("InvalidArguments", message)));
    }
    match isolated_now(|| tools.validate(call)) {
        Ok(Ok(())) => Ok(traits),
        Ok(Err(problems)) => Err(Refusal::error(&ToolError::new("InvalidArguments", problems))),
        Err(words) => Err(Refusal::panicked(&words)),
    }
}

/// The tool's own semantic check and its preview.
pub(crate) fn preview(ports: &Ports, call: ToolCall) -> Stage {
    let tools = Arc::clone(&ports.tools);
    Box::pin(async move {
        StageDone::Previewed(match isolated(tools.preview(&call)).await {
            Ok(Ok(preview)) => Ok(preview),
            Ok(Err(error)) => Err(Refusal::error(&error)),
            Err(words) => Err(Refusal::panicked(&words)),
        })
    })
}

/// The gate's decision. A panic of the gate is not caught here: it ends the run.
pub(crate) fn judge(
    ports: &Ports,
    call: ToolCall,
    traits: ToolTraits,
    preview: Option<Preview>,
) -> Stage {
    let (tools, gate) = (Arc::clone(&ports.tools), Arc::clone(&ports.gate));
    Box::pin(async move {
        let access = match isolated_now(|| tools.access(&call)) {
            Ok(access) => access,
            Err(words) => {
                let error = GateError(format!("the tool could not say what it touches: {words}"));
                return StageDone::Judged(Box::new(Err(error)));
            }
        };
        let request =
            GateRequest { call: &call, traits, access: &access, preview: preview.as_ref() };
        StageDone::Judged(Box::new(gate.judge(request).await))
    })
}

/// Saves the rule that an approval showed.
pub(crate) fn remember(ports: &Ports, approval: Approval) -> Stage {
    let gate = Arc::clone(&ports.gate);
    Box::pin(async move { StageDone::Remembered(gate.remember(&approval).await) })
}

/// Puts on disk that the call is about to start.
pub(crate) fn record_intent(
    ports: &Ports,
    run: RunId,
    turn: u32,
    index: usize,
    call: ToolCall,
) -> Stage {
    let journal = Arc::clone(&ports.journal);
    Box::pin(async move {
        let record = Record::Intent { run, turn, index, call };
        StageDone::Recorded(journal.append(&record, Durability::Flush).await)
    })
}

/// What a gate's verdict means when nobody has to be asked.
pub(crate) fn denial(verdict: &Result<Verdict, GateError>) -> Option<Refusal> {
    match verdict {
        Ok(Verdict::Deny { reason }) => Some(Refusal::denied(approvals::denied_because(reason))),
        Err(error) => Some(Refusal::denied(approvals::denied_because(&error.to_string()))),
        Ok(Verdict::Allow | Verdict::AllowWith(_) | Verdict::Ask(_)) => None,
    }
}

/// What the work of a started call needs.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) call: ToolCall,
    pub(crate) cancel: CancellationToken,
    pub(crate) background: CancellationToken,
    /// Where progress is offered.
    pub(crate) events: mpsc::WeakSender<Event>,
    /// Where an earlier result may be found; none for calls that change something.
    pub(crate) cache: Option<Cache>,
}

/// Finds the answer to a call: an earlier one that is still good, or the tool's.
pub(crate) async fn work(ports: Ports, work: Work) -> End {
    let Work { call, cancel, background, events, cache } = work;
    let tools = Arc::clone(&ports.tools);
    let aside = Aside::default();
    // A tool that can't name the question is asked anew.
    let key = || isolated_now(|| tools.cache_key(&call)).ok().flatten();
    let known = cache.and_then(|cache| Some((cache, key()?)));
    let open = Arc::new(std::sync::Mutex::new(true));
    let progress = progress(&call.id, events, Arc::clone(&open));
    let context =
        CallContext { cancel: cancel.clone(), background, progress, aside: aside.clone() };
    let running = run(ports, call.clone(), context, open);
    let (outcome, cached) = match known {
        Some((cache, key)) => {
            cache.answer(tools.as_ref(), call, key, &cancel, Box::pin(running)).await
        }
        None => (running.await, false),
    };
    End { outcome, cached, told: aside.take() }
}

/// Reports of one call, as long as `open` holds true.
fn progress(
    id: &CallId,
    events: mpsc::WeakSender<Event>,
    open: Arc<std::sync::Mutex<bool>>,
) -> ProgressSink {
    let id = id.clone();
    ProgressSink::new(move |progress| {
        let open = open.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *open && let Some(events) = events.upgrade() {
            // Without room the report is dropped; the next one replaces it anyway.
            let _full = events.try_send(Event::ToolProgress { id: id.clone(), progress });
        }
    })
}

/// Runs the tool. A panic is its outcome; progress after its end is dropped.
async fn run(
    ports: Ports,
    call: ToolCall,
    context: CallContext,
    open: Arc<std::sync::Mutex<bool>>,
) -> ToolOutcome {
    let outcome = isolated(async move { ports.tools.run(call, context).await }).await;
    *open.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = false;
    outcome.unwrap_or_else(|words| {
        let refusal = Refusal::panicked(&words);
        ToolOutcome::new(refusal.status, vec![Block::text(refusal.text)])
    })
}

/// At most [`QUOTED_CHARS`] characters, with control characters made visible.
fn quoted(raw: &str) -> String {
    let mut out: String = raw.escape_debug().take(QUOTED_CHARS).collect();
    if raw.escape_debug().nth(QUOTED_CHARS).is_some() {
        out.push('…');
    }
    out
}
