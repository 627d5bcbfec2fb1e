//! The crew: takes tasks from the `subagent` tool, finds the kind of agent, has it fitted out and
//! runs it. Depth is counted here: an agent's agents' agents hire nobody.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;

use crate::kernel::agent::AgentConfig;
use crate::kernel::ports::Ports;
use crate::tools::Tools;
use crate::tools::delegate::{Delegates, Errand, Report, ReportEnd, Watcher};

use super::child::{self, Name};
use super::desk::Desk;
use super::kinds::{AgentKind, DEFAULT, Kinds};

/// How deep agents may be nested.
pub const MAX_DEPTH: u32 = 3;
/// Agents of one session that may run at the same time, all levels together.
const MOST: usize = 16;

/// Gives an agent what it works with.
pub trait Outfit: Send + Sync + Debug {
    /// Everything for one child.
    ///
    /// # Errors
    /// One line, when it can't be fitted out.
    fn fit(&self, order: &Fitting<'_>) -> Result<Fitted, String>;
}

/// What to fit out.
#[derive(Clone, Debug)]
pub struct Fitting<'a> {
    /// The kind of agent.
    pub kind: &'a AgentKind,
    /// Its name in questions to the user.
    pub label: String,
    /// Whether it may ask the user.
    pub may_ask: bool,
    /// Its own agents, when it may have any.
    pub team: Option<Arc<dyn Delegates>>,
}

/// An agent ready to start.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Its outside.
    pub ports: Ports,
    /// How its loop behaves.
    pub config: AgentConfig,
    /// What the report should add, one line each.
    pub notes: Vec<String>,
    /// Its tools, kept until it has ended: what they started ends with them.
    pub keep: Option<Arc<Tools>>,
}

/// The agents of one level.
#[derive(Clone, Debug)]
pub struct Crew {
    shared: Arc<Common>,
    depth: u32,
    /// Whether they belong to an agent that nobody watches.
    background: bool,
}

#[derive(Debug)]
struct Common {
    kinds: Kinds,
    outfit: Arc<dyn Outfit>,
    desk: Desk,
    next: AtomicU64,
    places: tokio::sync::Semaphore,
}

impl Crew {
    /// The crew of the session's own agent.
    pub fn new(kinds: Kinds, outfit: Arc<dyn Outfit>, desk: Desk) -> Self {
        let places = tokio::sync::Semaphore::new(MOST);
        let shared = Common { kinds, outfit, desk, next: AtomicU64::new(1), places };
        Self { shared: Arc::new(shared), depth: 0, background: false }
    }

    /// The crew of a child of this level.
    fn below(&self, background: bool) -> Self {
        let background = self.background || background;
        Self { shared: Arc::clone(&self.shared), depth: self.depth + 1, background }
    }

    async fn send(self, errand: Errand, watch: Watcher) -> Report {
        let failed = |text: String| Report { text, end: ReportEnd::Failed };
        if self.depth >= MAX_DEPTH {
            return failed(format!(
                "Error: TooDeep: agents are nested {MAX_DEPTH} deep already; do this task yourself"
            ));
        }
        let (kind, mut notes) = self.kind(errand.agent.as_deref());
        let model = errand.model.clone().or_else(|| kind.model.clone());
        let kind = &AgentKind { model, ..kind.clone() };
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let name = Name { id: format!("agent-{number}"), kind: kind.name.clone() };
        let _place = tokio::select! {
            biased;
            () = watch.cancel.cancelled() => {
                let text = "[the agent was stopped before it began]".to_owned();
                return Report { text, end: ReportEnd::Cancelled };
            }
            place = self.shared.places.acquire() => place.ok(),
        };
        let team: Arc<dyn Delegates> = Arc::new(self.below(errand.background));
        let fitting = Fitting {
            kind,
            label: format!("{} ({})", kind.name, name.id),
            may_ask: !errand.background && !self.background && !kind.read_only,
            team: (!kind.read_only).then_some(team),
        };
        let mut fitted = match self.shared.outfit.fit(&fitting) {
            Ok(fitted) => fitted,
            Err(reason) => return failed(format!("Error: Agent: {reason}")),
        };
        notes.append(&mut fitted.notes);
        fitted.notes = notes;
        child::run(name, errand.task, fitted, self.shared.desk.clone(), watch).await
    }

    /// The kind of that name, or the default one with a word about it.
    fn kind(&self, wanted: Option<&str>) -> (&AgentKind, Vec<String>) {
        let kinds = &self.shared.kinds;
        let name = wanted.map(str::trim).filter(|name| !name.is_empty()).unwrap_or(DEFAULT);
        if let Some(kind) = kinds.find(&name.to_lowercase()) {
            return (kind, Vec::new());
        }
        let known: Vec<&str> = kinds.all().iter().map(|kind| kind.name.as_str()).collect();
        let known = known.join(", ");
        let note = format!("there is no agent {name}, {DEFAULT} did it; there are: {known}");
        (kinds.default_kind(), vec![note])
    }
}

impl Delegates for Crew {
    fn kinds(&self) -> Vec<(String, String)> {
        let line = |kind: &AgentKind| (kind.name.clone(), kind.description.clone());
        self.shared.kinds.all().iter().map(line).collect()
    }

    fn run(&self, errand: Errand, watch: Watcher) -> BoxFuture<'static, Report> {
        Box::pin(self.clone().send(errand, watch))
    }
}
