//! The active run as the run line shows it: since when, what it does, what it cost so far.

use crate::kernel::compaction::Phase;
use crate::kernel::event::{Delta, Event, Preview};
use crate::kernel::message::{CallId, Usage};

/// Time between two pictures of the spinner, in milliseconds: quick enough to look
/// alive, slow enough to cost next to nothing.
pub const SPINNER_MS: u64 = 200;

/// How far the run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// None.
    #[default]
    Idle,
    /// A prompt was sent, its run has not begun.
    Asked,
    /// Active.
    Active,
    /// Asked to stop.
    Stopping,
}

/// A wait before another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryWait {
    /// When it ends, in milliseconds of the store's clock.
    pub until_ms: u64,
    /// Which attempt comes then.
    pub attempt: u32,
    /// The most there will be.
    pub max: u32,
}

/// What the run line needs.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    run: Run,
    since_ms: u64,
    doing: String,
    usage: Usage,
    retry: Option<RetryWait>,
    /// Commands that have started and not ended.
    shells: Vec<CallId>,
}

impl Activity {
    /// How far the run is.
    pub fn run(&self) -> Run {
        self.run
    }

    /// Whether words would be steering rather than a prompt.
    pub fn is_busy(&self) -> bool {
        self.run != Run::Idle
    }

    /// Milliseconds since the prompt.
    pub fn elapsed_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.since_ms)
    }

    /// What it does, one or two words.
    pub fn doing(&self) -> &str {
        &self.doing
    }

    /// Tokens of this run.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The wait under way.
    pub fn retry(&self) -> Option<RetryWait> {
        self.retry
    }

    /// The command that was started last.
    pub fn shell(&self) -> Option<&CallId> {
        self.shells.last()
    }

    /// A prompt was sent.
    pub fn ask(&mut self, now_ms: u64) {
        *self = Self { run: Run::Asked, since_ms: now_ms, ..Self::default() };
        self.say("Starting");
    }

    /// The prompt was refused.
    pub fn refuse(&mut self) {
        if self.run == Run::Asked {
            self.run = Run::Idle;
        }
    }

    /// The user stopped it.
    pub fn stop(&mut self) {
        if self.is_busy() {
            self.run = Run::Stopping;
            self.retry = None;
            self.say("Stopping");
        }
    }

    /// Follows the run.
    pub fn apply(&mut self, event: &Event, now_ms: u64) {
        match event {
            Event::ToolStart { call, preview: Some(Preview::Command { .. }) } => {
                self.shells.push(call.id.clone());
            }
            Event::ToolEnd { id, .. } => self.shells.retain(|shell| shell != id),
            _ => {}
        }
        match event {
            Event::RunStart { .. } => {
                if self.run == Run::Idle {
                    self.ask(now_ms);
                }
                if self.run == Run::Asked {
                    self.run = Run::Active;
                    self.say("Running");
                }
            }
            Event::RunEnd { .. } => {
                self.run = Run::Idle;
                self.retry = None;
                self.shells.clear();
            }
            Event::Usage { usage, .. } => self.usage += *usage,
            Event::Retry { attempt, max, delay_ms, .. } => {
                self.retry =
                    Some(RetryWait { until_ms: now_ms + delay_ms, attempt: *attempt, max: *max });
            }
            _ => self.follow(event),
        }
    }

    fn follow(&mut self, event: &Event) {
        if self.run == Run::Stopping {
            return;
        }
        match event {
            Event::TurnStart { .. } => {
                self.retry = None;
                self.say("Waiting for the model");
            }
            Event::Compaction { step, phase: Phase::Start { .. } } => self.say(step.doing()),
            Event::Compaction { .. } => self.say("Waiting for the model"),
            Event::ToolEnd { .. } => self.say("Running"),
            Event::MessageStart { .. } => self.retry = None,
            Event::MessageDelta { delta } => match delta {
                Delta::Text { .. } => self.say("Writing"),
                Delta::Thinking { .. } => self.say("Thinking"),
                Delta::Call { name, .. } => self.say_of("Preparing", name),
            },
            Event::ToolStart { call, .. } => self.say_of("Running", &call.name),
            _ => {}
        }
    }

    fn say(&mut self, words: &str) {
        if self.doing != words {
            words.clone_into(&mut self.doing);
        }
    }

    fn say_of(&mut self, verb: &str, name: &str) {
        let name = crate::ui::text::sanitize::clean(name);
        self.doing = format!("{verb} {name}");
    }
}
