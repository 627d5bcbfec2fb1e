//! The traits the loop needs. Everything outside the kernel (services, files, processes, the
//! clock) comes in through these, so that the whole loop runs under paused time in tests.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::command::HunkChoice;
use super::compaction::Compaction;
use super::error::{ContextError, ToolError};
use super::event::{Preview, Progress};
use super::message::{Block, CallId, CallStatus, Detail, Message, MessageId, ToolCall};

mod beside;
mod chance;
mod compact;
mod gate;
mod guard;
mod journal;
mod middleware;
mod model;

pub use beside::{Aside, Finished, NoNotices, Notices, Told};
pub use chance::{Clock, Ids};
pub use compact::{Compacted, Need, Plan, Projection, Reason, View};
pub use gate::{Gate, GateRequest, Verdict};
pub use guard::{StopGuard, StopTrigger, StopVerdict, Stopping};
pub use journal::{Durability, Journal, Record};
pub use middleware::{Middleware, Onward, Wrapped};
pub use model::{
    Effort, InForce, Model, ModelInfo, ModelStream, Price, Request, StreamEvent, SystemBlock,
    ToolChoice, ToolSpec, in_force, usual_reserve,
};

// ---- tools -------------------------------------------------------------------------------------

/// The tools of a session.
pub trait Toolbox: Send + Sync + Debug {
    /// What the model is told, in stable order.
    fn specs(&self) -> Arc<[ToolSpec]>;

    /// What the tool of that name is; `None` when there is none. Names are exact.
    fn traits(&self, name: &str) -> Option<ToolTraits>;

    /// Checks arguments against the schema; all problems in one text, missing first.
    fn validate(&self, call: &ToolCall) -> Result<(), String>;

    /// What the call would touch. Pure; called after `validate`.
    fn access(&self, call: &ToolCall) -> Vec<Access>;

    /// The tool's own semantic check and a preview, without any side effect.
    fn preview<'a>(
        &'a self,
        call: &'a ToolCall,
    ) -> BoxFuture<'a, Result<Option<Preview>, ToolError>>;

    /// Names the question that the call asks, when its result may answer the same question again;
    /// `None` (the default) when every call must run. Pure; only for calls without side effects.
    fn cache_key(&self, call: &ToolCall) -> Option<String> {
        let _ = call;
        None
    }

    /// The present state of what the call looks at: a result may outlive its turn as long as this
    /// is the same. `None` (the default) keeps results within their turn.
    fn fingerprint<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Option<String>> {
        let _ = call;
        Box::pin(std::future::ready(None))
    }

    /// The user wants only some of what the call's preview shows; the run of that call keeps to it.
    /// A tool without such previews (the default) does the whole.
    fn choose(&self, id: &CallId, hunks: Vec<HunkChoice>) {
        let _ = (id, hunks);
    }

    /// Runs the call. Ends soon after `context.cancel` fires; a panic is the caller's to catch.
    fn run(&self, call: ToolCall, context: CallContext) -> BoxFuture<'_, ToolOutcome>;
}

/// One table row's worth of facts that gate, scheduler and screen read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolTraits {
    /// What it may do.
    pub capability: Capability,
    /// Whether calls may run beside each other.
    pub concurrent: bool,
    /// What steering does to a running call.
    pub interrupt: Interrupt,
    /// Whether it must be the only call of its answer: the others are skipped. Such a tool asks a
    /// person, so the time it takes is nobody's.
    pub exclusive: bool,
    /// Whether it looks at state that changes by itself, so that the same call with another result
    /// is progress.
    pub polls: bool,
}

impl ToolTraits {
    /// A plain tool; commands and other machines count as polled.
    pub const fn new(capability: Capability, concurrent: bool, interrupt: Interrupt) -> Self {
        let polls = matches!(capability, Capability::Shell | Capability::Network);
        Self { capability, concurrent, interrupt, exclusive: false, polls }
    }

    /// The same as the only call of its answer.
    #[must_use]
    pub const fn exclusive(mut self) -> Self {
        self.exclusive = true;
        self
    }

    /// The same, looking at state that changes by itself.
    #[must_use]
    pub const fn polling(mut self) -> Self {
        self.polls = true;
        self
    }
}

/// What a tool may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capability {
    /// Looks at files.
    Read,
    /// Changes files.
    Write,
    /// Runs commands.
    Shell,
    /// Talks to other machines.
    Network,
    /// Touches only codebot's own state.
    Internal,
    /// Hands work to another agent, whose own calls are judged one by one.
    Delegate,
}

impl Capability {
    /// Whether a call needs an intent record before it starts.
    pub fn has_side_effects(self) -> bool {
        matches!(self, Self::Write | Self::Shell | Self::Network | Self::Delegate)
    }
}

/// What steering does to a running call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interrupt {
    /// It completes and keeps its real result.
    Finish,
    /// It is cancelled.
    Cancel,
}

/// One thing a call would touch; the gate judges these and needs no argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Looks at this file or folder (absolute, not yet resolved).
    Read(PathBuf),
    /// Creates or changes this file (absolute, not yet resolved).
    Write(PathBuf),
    /// Hands this line to a shell.
    Shell {
        /// The line.
        command: String,
        /// Where it runs (absolute).
        workdir: PathBuf,
    },
    /// Runs its commands outside of the sandbox that is on; comes beside a [`Access::Shell`].
    Unconfined,
    /// Talks to this address.
    Network(String),
}

/// What a running call gets.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// Fires on abort, on `CancelCall` and on steering for `Interrupt::Cancel`.
    pub cancel: CancellationToken,
    /// Fires when the user wants the work to go on in the background; a tool that can't do that
    /// ignores it.
    pub background: CancellationToken,
    /// Where reports go; never blocks, may drop.
    pub progress: ProgressSink,
    /// Where the tool tells what does not belong into its result.
    pub aside: Aside,
}

impl CallContext {
    /// A context that nobody moves to the background and whose asides nobody hears.
    pub fn new(cancel: CancellationToken, progress: ProgressSink) -> Self {
        let background = CancellationToken::new();
        Self { cancel, background, progress, aside: Aside::default() }
    }
}

/// A lossy outlet for progress reports.
#[derive(Clone)]
pub struct ProgressSink(Arc<dyn Fn(Progress) + Send + Sync>);

impl ProgressSink {
    /// Sends reports to `sink`, which must not block.
    pub fn new(sink: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Drops every report.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Reports.
    pub fn send(&self, progress: Progress) {
        (self.0)(progress);
    }
}

impl Debug for ProgressSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProgressSink")
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// `Ok`, `Error`, `TimedOut` or `Cancelled`.
    pub status: CallStatus,
    /// What the model sees; empty means no output.
    pub blocks: Vec<Block>,
    /// What only the screen shows.
    pub detail: Option<Detail>,
    /// Whether the run may stop here; counts only with `Ok`.
    pub terminal: bool,
}

impl ToolOutcome {
    /// An outcome without facts for the screen.
    pub fn new(status: CallStatus, blocks: Vec<Block>) -> Self {
        Self { status, blocks, detail: None, terminal: false }
    }

    /// A success with this text.
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(CallStatus::Ok, vec![Block::text(text)])
    }

    /// A failure; the model sees `Error: <kind>: <message>`.
    pub fn failed(error: &ToolError) -> Self {
        Self::new(CallStatus::Error, vec![Block::text(format!("Error: {error}"))])
    }

    /// The same with facts for the screen.
    #[must_use]
    pub fn with_detail(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    /// The same as the last thing the run has to do.
    #[must_use]
    pub fn and_stop(mut self) -> Self {
        self.terminal = true;
        self
    }
}

// ---- context ----------------------------------------------------------------------------

/// Chooses what the model sees of a history.
pub trait Context: Send + Sync + Debug {
    /// The view to send. Never changes `history`.
    fn project<'a>(
        &'a self,
        history: &'a [Arc<Message>],
        view: View<'a>,
    ) -> BoxFuture<'a, Result<Projection, ContextError>>;

    /// The service refused the last view as larger than its window: makes the next one smaller by
    /// all means. `false` when nothing could be saved.
    fn recover<'a>(
        &'a self,
        history: &'a [Arc<Message>],
        view: View<'a>,
    ) -> BoxFuture<'a, Result<bool, ContextError>> {
        let _ = (history, view);
        Box::pin(std::future::ready(Ok(false)))
    }

    /// The step that would make the view smaller and is due now; pure and quick.
    fn plan(&self, history: &[Arc<Message>], view: View<'_>, need: Need<'_>) -> Option<Plan> {
        let _ = (history, view, need);
        None
    }

    /// Works a step out; nothing is in force before [`Context::adopt`]. May ask a model; dropping
    /// the future leaves everything as it was.
    fn compact<'a>(
        &'a self,
        history: &'a [Arc<Message>],
        view: View<'a>,
        need: Need<'a>,
        plan: Plan,
    ) -> BoxFuture<'a, Compacted> {
        let _ = (history, view, need, plan);
        Box::pin(std::future::ready(Compacted::default()))
    }

    /// The step is in the journal: from now on the view follows it.
    fn adopt(&self, compaction: &Compaction) {
        let _ = compaction;
    }

    /// The newest summary and every step after it, for taking back; empty when there is none.
    fn undoable(&self) -> Vec<MessageId> {
        Vec::new()
    }

    /// The journal has taken these steps back.
    fn retract(&self, ids: &[MessageId]) {
        let _ = ids;
    }

    /// The service refused the view as too large, in these words; they may tell its window.
    fn refused(&self, view: View<'_>, words: &str) {
        let _ = (view, words);
    }

    /// Lines for people about the answer that was just committed.
    fn remarks(&self, history: &[Arc<Message>]) -> Vec<String> {
        let _ = history;
        Vec::new()
    }
}

/// Everything a run needs from outside.
#[derive(Clone, Debug)]
pub struct Ports {
    /// The model.
    pub model: Arc<dyn Model>,
    /// A smaller one for fast chats, when there is one.
    pub quick: Option<Arc<dyn Model>>,
    /// The tools.
    pub tools: Arc<dyn Toolbox>,
    /// The gate.
    pub gate: Arc<dyn Gate>,
    /// The context.
    pub context: Arc<dyn Context>,
    /// The journal.
    pub journal: Arc<dyn Journal>,
    /// Work beside the run.
    pub notices: Arc<dyn Notices>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Ids.
    pub ids: Arc<dyn Ids>,
    /// Judges normal stops, when there is somebody who does.
    pub guard: Option<Arc<dyn StopGuard>>,
}
