//! What the footer knows of the session: model, mode, tokens, cost, branch; and the one-line hint
//! that goes away by itself.

use super::ledger::Ledger;
use crate::app::service::Ready;
use crate::kernel::command::Mode;
use crate::kernel::compaction::Phase;
use crate::kernel::event::{Event, Purpose, Tier};
use crate::kernel::message::{Message, Usage};
use crate::kernel::ports::{Effort, ModelInfo};

/// How long a hint stays, in milliseconds.
pub const HINT_MS: u64 = 3000;

/// The footer's facts.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// The model, once a session is open.
    pub model: Option<ModelInfo>,
    /// How hard it thinks; `None` for its own default.
    pub effort: Option<Effort>,
    /// The permission mode in force.
    pub mode: Mode,
    /// Whether only looking and the plan are allowed.
    pub planning: bool,
    /// The workspace as shown to people.
    pub workspace: String,
    /// What holds commands in, one line.
    pub sandbox: String,
    /// Session id for the resume hint.
    pub session: String,
    /// Git branch.
    pub branch: Option<String>,
    /// Whether the model is the scripted one.
    pub demo: bool,
    /// Tokens of the session.
    pub usage: Usage,
    /// US dollars of the session, when prices are known.
    pub cost: Option<f64>,
    /// What was spent on what.
    pub ledger: Ledger,
    /// Tokens in the context at the last answer.
    pub context: u64,
    /// The tier of the present chat, once one was opened.
    pub tier: Option<Tier>,
    /// The tier of every chat, when the user fixed it.
    pub pinned: Option<Tier>,
    hint: Option<(String, u64)>,
}

impl Status {
    /// A session is open.
    pub fn open(&mut self, ready: &Ready) {
        self.mode = ready.mode;
        self.planning = ready.planning;
        ready.workspace.clone_into(&mut self.workspace);
        ready.session.clone_into(&mut self.session);
        ready.sandbox.clone_into(&mut self.sandbox);
        self.demo = ready.demo;
        self.usage = Usage::default();
        self.cost = None;
        self.context = 0;
        self.tier = None;
        self.pinned = None;
        self.model = Some(ready.model.clone());
        self.effort = ready.effort;
        self.ledger = Ledger::default();
        self.ledger.load(&ready.history, ready.model.price);
        for message in &ready.history {
            if let Message::Assistant(answer) = message {
                let price = ready.model.price;
                self.add(answer.usage, price.map(|price| price.cost(answer.usage)));
                self.context = answer.usage.total_input() + answer.usage.output;
            }
        }
    }

    /// Follows the run.
    pub fn apply(&mut self, event: &Event) {
        self.ledger.apply(event, self.model.as_ref().and_then(|model| model.price));
        match event {
            Event::Usage { purpose, usage, cost } => {
                self.add(*usage, *cost);
                // Another model's tokens fill no window here.
                if *purpose == Purpose::Main {
                    self.context = usage.total_input() + usage.output;
                }
            }
            Event::Compaction { phase: Phase::Done { after, .. }, .. } => self.context = *after,
            Event::Mode { mode } => self.mode = *mode,
            Event::Plan { on } => self.planning = *on,
            Event::RouteSelected { tier, .. } | Event::RouteEscalated { to: tier, .. } => {
                self.tier = Some(*tier);
            }
            Event::RoutePinned { tier } => self.pinned = *tier,
            _ => {}
        }
    }

    fn add(&mut self, usage: Usage, cost: Option<f64>) {
        self.usage += usage;
        if let Some(cost) = cost {
            *self.cost.get_or_insert(0.0) += cost;
        }
    }

    /// How much of what may be used of the context window is used, in per cent: at 100 the
    /// conversation is summed up.
    pub fn context_percent(&self) -> Option<u64> {
        let usable = self.model.as_ref()?.usable();
        (usable > 0 && self.context > 0).then(|| (self.context * 100).div_ceil(usable).min(100))
    }

    /// Shows a hint for a while.
    pub fn hint(&mut self, text: impl Into<String>, now_ms: u64) {
        self.hint = Some((text.into(), now_ms + HINT_MS));
    }

    /// The hint, while it lasts.
    pub fn hint_at(&self, now_ms: u64) -> Option<&str> {
        self.hint.as_ref().filter(|(_, until)| now_ms < *until).map(|(text, _)| text.as_str())
    }

    /// When the hint goes away.
    pub fn hint_until(&self) -> Option<u64> {
        self.hint.as_ref().map(|(_, until)| *until)
    }

    /// Drops the hint when its time is over.
    pub fn expire(&mut self, now_ms: u64) {
        if self.hint.as_ref().is_some_and(|(_, until)| now_ms >= *until) {
            self.hint = None;
        }
    }
}
