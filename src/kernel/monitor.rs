//! Notices when a chat no longer moves: the same calls with the same outcome, again and again.
//! First the model is asked to reflect, then reminded, and the third time the chat is wrapped up.
//!
//! A turn is compared by its calls, whatever their order. Tools that look at a changing world add
//! their result, so that waiting for something is no standstill. Only rounds that follow directly
//! on each other are compared: two calls that take turns are bounded by the cap on turns alone.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::message::{CallStatus, ToolCall, ToolMessage};

/// Equal turns in a row that mean standstill; with errors in both, two are enough.
const EQUAL: usize = 3;
const EQUAL_FAILED: usize = 2;

/// Reflections in one chat before it is wrapped up.
const REFLECTIONS: u32 = 2;

/// Most characters of a signature that are quoted.
const QUOTED: usize = 200;

/// One call of a turn and how it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) result: &'a ToolMessage,
    /// Its result belongs to what is compared.
    pub(crate) polls: bool,
}

/// What the next turn should be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Nothing.
    GoOn,
    /// To think about what it keeps doing.
    Reflect {
        /// Counted from 1 in the chat.
        number: u32,
        /// The repeated calls, shortened.
        signature: String,
    },
    /// The same again: it was told and did it once more.
    Remind {
        /// The reflection this belongs to.
        number: u32,
        /// The repeated calls, shortened.
        signature: String,
    },
    /// To stop and report.
    WrapUp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    signature: String,
    failed: bool,
}

/// Watches the turns of one chat.
#[derive(Debug, Default)]
pub(crate) struct Monitor {
    streak: Vec<Seen>,
    reflections: u32,
    /// The signature the last reflection was about; cleared by the turn after it.
    reflected: Option<String>,
    next: Next,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    #[default]
    GoOn,
    Reflect,
    Remind,
    WrapUp,
}

impl Monitor {
    /// Takes in a finished turn.
    pub(crate) fn observe(&mut self, calls: &[Outcome<'_>]) {
        self.next = Next::GoOn;
        if calls.is_empty() {
            return self.forget();
        }
        let seen = Seen { signature: signature(calls), failed: has_failed(calls) };
        if self.streak.last().is_some_and(|last| last.signature != seen.signature) {
            self.streak.clear();
        }
        let repeats_reflected = self.reflected.take().is_some_and(|old| old == seen.signature);
        self.streak.push(seen);
        if repeats_reflected {
            self.next = Next::Remind;
        } else if self.is_stuck() {
            self.next = if self.reflections < REFLECTIONS { Next::Reflect } else { Next::WrapUp };
        }
    }

    /// The user said something: what came before is not held against the next turns.
    pub(crate) fn forget(&mut self) {
        self.streak.clear();
        self.reflected = None;
        self.next = Next::GoOn;
    }

    /// Whether the last turn stood still.
    pub(crate) fn is_flagged(&self) -> bool {
        self.next != Next::GoOn
    }

    /// Whether the next turn must be the report.
    pub(crate) fn is_over(&self) -> bool {
        self.next == Next::WrapUp
    }

    /// What the next turn is told. Counts, so it is asked once for each turn.
    pub(crate) fn advise(&mut self) -> Advice {
        let next = std::mem::take(&mut self.next);
        let newest = self.streak.last().map(|seen| seen.signature.clone()).unwrap_or_default();
        let signature: String = newest.chars().take(QUOTED).collect();
        match next {
            Next::GoOn => Advice::GoOn,
            Next::WrapUp => Advice::WrapUp,
            Next::Remind => Advice::Remind { number: self.reflections, signature },
            Next::Reflect => {
                self.reflections += 1;
                self.reflected = Some(newest);
                Advice::Reflect { number: self.reflections, signature }
            }
        }
    }

    fn is_stuck(&self) -> bool {
        let failed = self.streak.iter().rev().take_while(|seen| seen.failed).count();
        self.streak.len() >= EQUAL || failed >= EQUAL_FAILED
    }
}

/// Skips and cancelled calls are nobody's mistake.
fn has_failed(calls: &[Outcome<'_>]) -> bool {
    calls.iter().any(|outcome| match outcome.result.status {
        CallStatus::Error | CallStatus::Denied | CallStatus::TimedOut | CallStatus::Panicked => {
            true
        }
        CallStatus::Ok | CallStatus::Skipped | CallStatus::Cancelled => false,
    })
}

/// `name|arguments` of every call, sorted. A turn with an error is compared by its calls alone.
fn signature(calls: &[Outcome<'_>]) -> String {
    let failed = has_failed(calls);
    let mut parts: Vec<String> = calls
        .iter()
        .map(|Outcome { call, result, polls }| {
            let args = arguments(call);
            if *polls && !failed && result.status == CallStatus::Ok {
                let mut hasher = DefaultHasher::new();
                result.text().hash(&mut hasher);
                return format!("{}|{args}|{:x}", call.name, hasher.finish());
            }
            format!("{}|{args}", call.name)
        })
        .collect();
    parts.sort_unstable();
    parts.join(" ")
}

/// The arguments with keys in order; what could not be read counts as it came.
fn arguments(call: &ToolCall) -> String {
    if let Some(invalid) = &call.invalid {
        return invalid.raw.clone();
    }
    let mut args = Value::Object(call.args.clone());
    args.sort_all_objects();
    args.to_string()
}
