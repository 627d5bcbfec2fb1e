//! The context of a session: the system prompt, byte for byte the same every time, and the view of
//! the history under the changes that are in force. What it learns from answers (how far estimates
//! are off, how large a window really is) only steers when the view becomes smaller.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;

use super::baseline::Baseline;
use super::budget::{self, Budget};
use super::cache_watch::CacheWatch;
use super::estimate;
use super::ladder::{self, Breaker};
use super::shown::Shown;
use super::summary::Summariser;
use super::tell::{Teller, Told};
use crate::kernel::compaction::Compaction;
use crate::kernel::error::ContextError;
use crate::kernel::event::Tier;
use crate::kernel::message::{Block, Message, MessageId, ModelRef};
use crate::kernel::ports::{
    Compacted, Context, Need, Plan, Projection, SystemBlock, ToolSpec, View,
};

/// How far one answer moves what is known about estimates.
const LEARNING: f64 = 0.3;
/// Bounds of that knowledge: an estimate is never more wrong than this.
const RATIO: (f64, f64) = (0.5, 3.0);
/// Requests smaller than this teach nothing.
const LEAST_LESSON: u64 = 500;

/// Limits that the configuration may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tokens kept free for the answer; 0 for the usual share.
    pub reserve: u64,
    /// Most tokens of one result.
    pub result: u64,
    /// Most tokens of all results together.
    pub results: u64,
    /// Milliseconds after which a service forgets a cached prefix.
    pub cache_lifetime_ms: i64,
    /// Failed summaries in a row before one is left out.
    pub breaker: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            reserve: 0,
            result: 20_000,
            results: 100_000,
            cache_lifetime_ms: 5 * 60 * 1000,
            breaker: 3,
        }
    }
}

/// Tells the open tasks, one line each; empty when there are none.
#[derive(Clone)]
pub struct OpenTasks(Arc<dyn Fn() -> String + Send + Sync>);

impl OpenTasks {
    /// Asks `tell` whenever a summary is made.
    pub fn new(tell: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// The lines.
    pub fn tell(&self) -> String {
        (self.0)()
    }
}

impl Default for OpenTasks {
    fn default() -> Self {
        Self::new(String::new)
    }
}

impl fmt::Debug for OpenTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenTasks")
    }
}

/// The context of one session.
#[derive(Debug)]
pub struct SessionContext {
    /// The uncached blocks stand in front of the user's words instead.
    turn_context: bool,
    pub(super) limits: Limits,
    pub(super) summariser: Summariser,
    pub(super) tasks: OpenTasks,
    teller: Teller,
    state: Mutex<State>,
}

/// What changes while the session lasts.
#[derive(Debug, Default)]
pub(super) struct State {
    system: Arc<[SystemBlock]>,
    /// What a quick look is sent with; the whole prompt when absent.
    fast: Option<Arc<[SystemBlock]>>,
    changes: Vec<Compaction>,
    shown: Option<Arc<Shown>>,
    told: Told,
    /// What services charge for an estimated token, by model.
    ratios: HashMap<ModelRef, f64>,
    /// Windows that services have told.
    windows: HashMap<ModelRef, u64>,
    /// The request that was made last: its model, its estimate, and the messages of its history.
    sent: Option<(ModelRef, u64, usize)>,
    pub(super) breaker: Breaker,
    /// The newest answer when a summary was tried last.
    pub(super) tried_after: Option<MessageId>,
    watch: CacheWatch,
    /// Tokens of the view when clearing results was last found not to be worth it.
    pub(super) not_worth: Option<u64>,
}

/// A view and what it weighs.
#[derive(Clone, Debug)]
pub struct Weighed {
    /// The view.
    pub shown: Arc<Shown>,
    /// The system prompt.
    pub system: Arc<[SystemBlock]>,
    /// What fits.
    pub budget: Budget,
    /// Tokens in use, from the newest usage where there is one.
    pub used: u64,
    /// Tokens of system prompt and tools, as estimated.
    pub fixed: u64,
    /// What a service charges for an estimated token.
    pub ratio: f64,
}

impl Weighed {
    /// Estimated tokens as the service would count them.
    pub fn real(&self, estimated: u64) -> u64 {
        (estimated as f64 * self.ratio).round() as u64
    }
}

impl SessionContext {
    /// A context with these system blocks; blank ones are left out, since services refuse them.
    pub fn new(system: Vec<SystemBlock>) -> Self {
        Self {
            turn_context: false,
            limits: Limits::default(),
            summariser: Summariser::default(),
            tasks: OpenTasks::default(),
            teller: Teller::default(),
            state: Mutex::new(State { system: said(system), ..State::default() }),
        }
    }

    /// Exchanges the system prompt, for another model. The next request has the new one.
    pub fn set_system(&self, system: Vec<SystemBlock>, fast: Vec<SystemBlock>) {
        let mut state = self.lock();
        state.system = said(system);
        state.fast = state.fast.is_some().then(|| said(fast));
    }

    /// The same with a shorter system prompt for quick looks.
    #[must_use]
    pub fn with_fast(self, system: Vec<SystemBlock>) -> Self {
        self.lock().fast = Some(said(system));
        self
    }

    /// The same with the uncached blocks in front of the user's words, or not.
    #[must_use]
    pub fn with_turn_context(mut self, wanted: bool) -> Self {
        self.turn_context = wanted;
        self
    }

    /// The same with somebody who sums up.
    #[must_use]
    pub fn with_summariser(mut self, summariser: Summariser) -> Self {
        self.summariser = summariser;
        self
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same with a list of open tasks.
    #[must_use]
    pub fn with_tasks(mut self, tasks: OpenTasks) -> Self {
        self.tasks = tasks;
        self
    }

    /// The same with somebody who says what the user's words bring along.
    #[must_use]
    pub fn with_teller(mut self, teller: Teller) -> Self {
        self.teller = teller;
        self
    }

    /// The same with the changes that a session began with.
    #[must_use]
    pub fn with_changes(self, changes: Vec<Compaction>) -> Self {
        self.lock().changes = changes;
        self
    }

    /// The changes in force.
    pub fn changes(&self) -> Vec<Compaction> {
        self.lock().changes.clone()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while holding it that leaves a field half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view of `history` and what it weighs for the model that will read it.
    pub fn weigh(&self, history: &[Arc<Message>], view: View<'_>) -> Weighed {
        let mut state = self.lock();
        let system = state.system(view.tier);
        let fixed = estimate::system(&system) + estimate::tools(view.tools);
        state.told.follow(&self.teller, history);
        let shown = state.follow(history, self.limits.result);
        state.learn(history);
        let model = &view.model.model;
        let ratio = state.ratios.get(model).copied().unwrap_or(1.0);
        let window = state.windows.get(model).copied();
        let budget = Budget::of(view.model, window, self.limits.reserve);
        drop(state);
        let used = used(&shown, model, budget.window, fixed, ratio);
        Weighed { shown, system, budget, used, fixed, ratio }
    }
}

/// Tokens in use: the newest usage that tells of this view, and an estimate of what came after. A
/// service that counts far more than its window holds is not believed.
fn used(shown: &Shown, model: &ModelRef, window: u64, fixed: u64, ratio: f64) -> u64 {
    let mut after = 0;
    for at in (shown.seen()..shown.messages.len()).rev() {
        if let Message::Assistant(answer) = &*shown.messages[at]
            && answer.model == *model
            && (1..=2 * window).contains(&answer.usage.total_input())
        {
            let told = answer.usage.total_input() + answer.usage.output;
            return told + (after as f64 * ratio).round() as u64;
        }
        after += shown.tokens[at];
    }
    ((shown.total + fixed) as f64 * ratio).round() as u64
}

fn said(system: Vec<SystemBlock>) -> Arc<[SystemBlock]> {
    system.into_iter().filter(|block| !block.text.trim().is_empty()).collect()
}

impl State {
    fn system(&self, tier: Tier) -> Arc<[SystemBlock]> {
        let fast = self.fast.as_ref().filter(|_| tier == Tier::Fast);
        Arc::clone(fast.unwrap_or(&self.system))
    }

    /// The view, brought up to date.
    fn follow(&mut self, history: &[Arc<Message>], cap: u64) -> Arc<Shown> {
        let shown = if let Some(mut shown) = self.shown.take().filter(|shown| shown.fits(history)) {
            if shown.is_behind(history) {
                Arc::make_mut(&mut shown).extend(history, cap, &self.told);
            }
            shown
        } else {
            let base = Baseline::of(&self.changes, history);
            Arc::new(Shown::of(base, history, cap, &self.told))
        };
        self.shown = Some(Arc::clone(&shown));
        shown
    }

    /// Compares the usage of the newest answer with what its request was thought to weigh.
    fn learn(&mut self, history: &[Arc<Message>]) {
        let Some((model, estimate, at)) = self.sent.clone() else { return };
        let answer =
            history.get(at..).unwrap_or_default().iter().find_map(|message| match &**message {
                Message::Assistant(answer) if answer.model == model => Some(answer),
                _ => None,
            });
        let Some(answer) = answer else { return };
        self.sent = None;
        let told = answer.usage.total_input();
        if told == 0 || estimate < LEAST_LESSON {
            return;
        }
        let seen = (told as f64 / estimate as f64).clamp(RATIO.0, RATIO.1);
        let known = self.ratios.entry(model).or_insert(seen);
        *known += (seen - *known) * LEARNING;
    }

    fn forget_view(&mut self) {
        self.shown = None;
        self.not_worth = None;
        self.sent = None;
    }
}

impl Context for SessionContext {
    fn project<'a>(
        &'a self,
        history: &'a [Arc<Message>],
        view: View<'a>,
    ) -> BoxFuture<'a, Result<Projection, ContextError>> {
        let weighed = self.weigh(history, view);
        let mut state = self.lock();
        let estimate = weighed.shown.total + weighed.fixed;
        state.sent = Some((view.model.model.clone(), estimate, history.len()));
        state.watch.sent(&weighed.system, view.tools, history.len());
        drop(state);
        let (mut system, mut messages) = (weighed.system.to_vec(), weighed.shown.messages.clone());
        if self.turn_context {
            move_to_words(&mut system, &mut messages);
        }
        Box::pin(std::future::ready(Ok(Projection { system, messages })))
    }

    fn plan(&self, history: &[Arc<Message>], view: View<'_>, need: Need<'_>) -> Option<Plan> {
        ladder::plan(self, &self.weigh(history, view), history, need)
    }

    fn compact<'a>(
        &'a self,
        history: &'a [Arc<Message>],
        view: View<'a>,
        need: Need<'a>,
        plan: Plan,
    ) -> BoxFuture<'a, Compacted> {
        Box::pin(ladder::compact(self, history, view, need, plan))
    }

    fn adopt(&self, compaction: &Compaction) {
        let mut state = self.lock();
        state.changes.push(compaction.clone());
        if compaction.summary.is_some() {
            state.told.forget_sight();
        }
        state.forget_view();
        state.watch.compacted();
    }

    fn undoable(&self) -> Vec<MessageId> {
        let state = self.lock();
        let newest = state.changes.iter().rposition(|change| change.summary.is_some());
        let ids = |from: usize| state.changes[from..].iter().map(|change| change.id.clone());
        newest.map(|from| ids(from).collect()).unwrap_or_default()
    }

    fn retract(&self, ids: &[MessageId]) {
        let mut state = self.lock();
        state.changes.retain(|change| !ids.contains(&change.id));
        state.forget_view();
        state.watch.compacted();
    }

    fn refused(&self, view: View<'_>, words: &str) {
        if let Some(window) = budget::window_in(words) {
            self.lock().windows.insert(view.model.model.clone(), window);
        }
    }

    fn remarks(&self, history: &[Arc<Message>]) -> Vec<String> {
        self.lock().watch.answered(history, self.limits.cache_lifetime_ms)
    }
}

/// Moves the uncached blocks in front of the first words on the user's side. They do not change
/// while a session lasts, so they are told once, and the beginning of requests stays the same.
fn move_to_words(system: &mut Vec<SystemBlock>, messages: &mut [Arc<Message>]) {
    let first = messages.iter_mut().find(|message| matches!(***message, Message::User(_)));
    let Some(Message::User(user)) = first.map(Arc::make_mut) else { return };
    let moved: Vec<_> = system.extract_if(.., |block| !block.cache).collect();
    let blocks = moved.into_iter().map(|block| Block::text(block.text));
    user.blocks.splice(0..0, blocks);
}

/// A fingerprint of a tool list.
pub(super) fn fingerprint(tools: &[ToolSpec]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    for tool in tools {
        (&tool.name, &tool.description, tool.schema.to_string()).hash(&mut hasher);
    }
    hasher.finish()
}
