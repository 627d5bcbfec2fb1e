//! Keeps a model from beating on a tool that only fails: after some turns with failures and no
//! success the tool is refused until a person has written something, then tried once.
//!
//! A turn counts once for a tool, however many of its calls failed. Refusals of any kind, skips and
//! cancellations are not failures. A command that ran is a success of the tool that ran it,
//! whatever its exit code: a red test run is what such a tool is for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::message::{CallStatus, Detail};

/// The memory of a session; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Breaker(Arc<Mutex<HashMap<String, Tool>>>);

#[derive(Clone, Copy, Debug, Default)]
struct Tool {
    /// Turns with failures since the last success.
    failed_turns: u32,
    /// Whether the present turn has failures, and whether it has a success.
    failed: bool,
    succeeded: bool,
    trial: Trial,
}

/// The one call that is let through after a message of the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trial {
    #[default]
    None,
    Offered,
    UnderWay,
}

impl Breaker {
    /// Whether a call of the tool may go on; `limit` is the number of failed turns. Takes the
    /// trial, when there is one.
    pub(crate) fn admits(&self, name: &str, limit: u32) -> bool {
        let mut tools = self.lock();
        let Some(tool) = tools.get_mut(name).filter(|tool| tool.failed_turns >= limit) else {
            return true;
        };
        if tool.trial != Trial::Offered {
            return false;
        }
        tool.trial = Trial::UnderWay;
        true
    }

    /// A call that was let through has ended.
    pub(crate) fn ended(&self, name: &str, status: CallStatus, detail: Option<&Detail>) {
        let mut tools = self.lock();
        let ran = matches!(detail, Some(Detail::Shell { .. }));
        match status {
            CallStatus::Ok | CallStatus::Error | CallStatus::TimedOut
                if ran || status == CallStatus::Ok =>
            {
                let Some(tool) = tools.get_mut(name) else { return };
                *tool = Tool { succeeded: true, ..Tool::default() };
            }
            CallStatus::Ok | CallStatus::Error | CallStatus::TimedOut | CallStatus::Panicked => {
                let tool = tools.entry(name.to_owned()).or_default();
                tool.failed = true;
                tool.trial = Trial::None;
            }
            CallStatus::Denied | CallStatus::Skipped | CallStatus::Cancelled => {
                // Nothing was learned: the trial is still to come.
                if let Some(tool) = tools.get_mut(name).filter(|t| t.trial == Trial::UnderWay) {
                    tool.trial = Trial::Offered;
                }
            }
        }
    }

    /// The turn is over: what failed and did not succeed in it counts.
    pub(crate) fn turn_over(&self) {
        for tool in self.lock().values_mut() {
            if tool.failed && !tool.succeeded {
                tool.failed_turns += 1;
            }
            tool.failed = false;
            tool.succeeded = false;
        }
    }

    /// Another conversation begins.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// A person wrote something: every refused tool may be tried once.
    pub(crate) fn user_wrote(&self) {
        for tool in self.lock().values_mut() {
            tool.trial = Trial::Offered;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Tool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(breaker: &Breaker) {
        breaker.ended("t", CallStatus::Error, None);
    }

    /// Scenario 98.
    #[test]
    fn a_turn_counts_once_however_many_calls_fail() {
        let breaker = Breaker::default();
        (0..5).for_each(|_| fail(&breaker));
        breaker.turn_over();
        assert!(breaker.admits("t", 2));
        fail(&breaker);
        breaker.turn_over();
        assert!(!breaker.admits("t", 2));
    }

    /// Scenario 99.
    #[test]
    fn one_success_in_a_turn_clears_the_count_whatever_came_first() {
        for success_first in [true, false] {
            let breaker = Breaker::default();
            fail(&breaker);
            breaker.turn_over();
            if success_first {
                breaker.ended("t", CallStatus::Ok, None);
                fail(&breaker);
            } else {
                fail(&breaker);
                breaker.ended("t", CallStatus::Ok, None);
            }
            breaker.turn_over();
            fail(&breaker);
            breaker.turn_over();
            assert!(breaker.admits("t", 2));
        }
    }

    #[test]
    fn a_command_that_ran_is_no_failure_of_the_tool() {
        let breaker = Breaker::default();
        let ran = Detail::Shell { exit: Some(1), elapsed_ms: 1, bytes: 0 };
        for _ in 0..3 {
            breaker.ended("t", CallStatus::Error, Some(&ran));
            breaker.turn_over();
        }
        assert!(breaker.admits("t", 1));
    }
}
