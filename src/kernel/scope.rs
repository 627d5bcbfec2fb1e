//! What one chat keeps from its prompt or follow-up to the next: route, calls used, monitor,
//! injections of the guard, and whether an empty answer was already complained about. And the
//! decision what the next turn is for.

use std::sync::Arc;

use super::event::{Event, Tier, WrapReason};
use super::found::FIND_TOOLS;
use super::message::{Message, Origin, UserMessage, text_of};
use super::monitor::{Advice, Monitor, Outcome};
use super::ports;
use super::route::{self, Past, Route, RouteConfig};
use super::run::Run;
use super::wrapup;

/// One chat.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(super) tier: Tier,
    /// Model calls of this tier in this chat.
    calls: u32,
    /// Tools of a fast chat; `None` means all.
    tools: Option<Vec<String>>,
    pub(super) monitor: Monitor,
    /// Messages of the guard.
    pub(super) injections: u32,
    /// An empty answer was already complained about.
    pub(super) nudged: bool,
}

/// What the next turn is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// The work.
    Work,
    /// The report that ends the chat.
    Report(WrapReason),
}

/// What the router remembers between chats.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RouteMemory {
    pub(crate) pin: Option<Tier>,
    pub(crate) previous: Option<Tier>,
}

impl Scope {
    fn new(route: &Route, config: &RouteConfig) -> Self {
        let listed = route.tier == Tier::Fast && !config.fast_tools.is_empty();
        let tools = listed.then(|| [config.fast_tools.clone(), route.tools.clone()].concat());
        Self { tier: route.tier, tools, ..Self::default() }
    }

    /// Whether the model is told about this tool.
    pub(super) fn knows(&self, tool: &str) -> bool {
        self.tools
            .as_ref()
            .is_none_or(|tools| tool == FIND_TOOLS || tools.iter().any(|known| known == tool))
    }
}

impl Run {
    /// Begins a chat with these words of the user; without words the work before it goes on.
    pub(super) async fn open_scope(&mut self, words: Option<&str>) {
        self.summary.wrap = None;
        let Some(config) = self.config.route.clone() else {
            self.scope = Scope::default();
            self.choose_speaker();
            return;
        };
        let route = {
            let mut state = self.shared.lock();
            let is_first = prompts(&state.history) <= 1;
            let past = Past { pin: state.route.pin, previous: state.route.previous, is_first };
            // A resumed session goes on with a request that was routed in another life.
            let earlier = words.is_none() && past.previous.is_none();
            let earlier = earlier.then(|| last_request(&state.history)).flatten();
            let route = route::choose(words.or(earlier.as_deref()), past, &config);
            state.route.previous = Some(route.tier);
            route
        };
        self.scope = Scope::new(&route, &config);
        self.choose_speaker();
        let (tier, rule) = (route.tier, route.rule);
        let (budget, model) = (config.budget(tier), self.model.model.to_string());
        self.emitter.send(Event::RouteSelected { tier, rule, budget, model }).await;
    }

    /// Decides what the next turn is for and schedules its reminder.
    pub(super) async fn set_course(&mut self) -> Course {
        let is_last = self.turn + 1 >= self.max_turns();
        if self.config.wrap_at_cap && is_last && self.turn > 0 {
            return Course::Report(WrapReason::MaxTurns);
        }
        if self.scope.monitor.is_over() {
            return Course::Report(WrapReason::Stuck);
        }
        if !self.has_calls_left().await {
            return Course::Report(WrapReason::MaxIters);
        }
        match self.scope.monitor.advise() {
            Advice::GoOn => {}
            Advice::WrapUp => return Course::Report(WrapReason::Stuck),
            Advice::Reflect { number, signature } => {
                self.reminder = Some(wrapup::reflection(&signature));
                self.reflection = Some(Event::Reflection { number, again: false, signature });
            }
            Advice::Remind { number, signature } => {
                self.reminder = Some(wrapup::reflection_again(&signature));
                self.reflection = Some(Event::Reflection { number, again: true, signature });
            }
        }
        Course::Work
    }

    /// Whether the tier has a call left for work; may raise the tier.
    async fn has_calls_left(&mut self) -> bool {
        let Some(config) = &self.config.route else { return true };
        let from = self.scope.tier;
        let budget = config.budget(from);
        if !config.escalate {
            // The last call is kept for the report, unless it is the only one.
            return self.scope.calls == 0 || self.scope.calls + 1 < budget;
        }
        if self.scope.calls < budget {
            return true;
        }
        if self.scope.monitor.is_flagged() {
            return false;
        }
        let to = route::above(from);
        let budget = config.budget(to);
        self.scope.tier = to;
        self.scope.calls = 0;
        self.scope.tools = None;
        self.shared.lock().route.previous = Some(to);
        if to != from {
            self.emitter.send(Event::RouteEscalated { from, to, budget }).await;
        }
        true
    }

    /// Decides who answers the next request: a smaller model in a fast chat, when there is one
    /// that works. Whoever it is makes the whole request, exchanged meanwhile or not.
    pub(super) fn choose_speaker(&mut self) {
        let may = self.scope.tier == Tier::Fast && !self.failed_over;
        let quick = self.ports.quick.as_ref().filter(|_| may).and_then(ports::in_force);
        self.quick = quick.is_some();
        let main = || ports::in_force(&self.ports.model);
        self.speaker = quick.or_else(main).unwrap_or_else(|| Arc::clone(&self.ports.model));
        self.model = self.speaker.info();
    }

    /// Whether the model for fast chats has the word.
    pub(super) fn is_quick(&self) -> bool {
        self.quick
    }

    /// A turn is about to make its model call.
    pub(super) fn count_turn(&mut self) {
        self.scope.calls += 1;
    }

    /// Shows the monitor what the turn did.
    pub(super) fn observe(&mut self) {
        let found = self.answer.outcomes().any(|(call, _)| call.name == FIND_TOOLS);
        if found {
            self.scope.tools = None;
        }
        if !self.config.monitor {
            return;
        }
        let tools = &self.ports.tools;
        let outcomes: Vec<Outcome<'_>> = self
            .answer
            .outcomes()
            .map(|(call, result)| {
                let polls = tools.traits(&call.name).is_some_and(|traits| traits.polls);
                Outcome { call, result, polls }
            })
            .collect();
        self.scope.monitor.observe(&outcomes);
    }
}

/// Messages that began a chat.
fn prompts(history: &[Arc<Message>]) -> usize {
    history.iter().filter(|message| request(message).is_some()).count()
}

/// The words of the newest of them.
fn last_request(history: &[Arc<Message>]) -> Option<String> {
    history.iter().rev().find_map(|message| request(message)).map(|m| text_of(&m.blocks))
}

/// The message, when it begins a chat.
fn request(message: &Message) -> Option<&UserMessage> {
    match message {
        Message::User(m) if matches!(m.origin, Origin::Prompt | Origin::FollowUp) => Some(m),
        _ => None,
    }
}
