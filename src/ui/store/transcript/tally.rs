//! The line that ends a run: how it ended, and how its calls did. A call that was skipped for the
//! user's own words is no failure, and a refusal is an answer, so each is counted under its name.

use crate::kernel::event::{EndReason, RunSummary};
use crate::kernel::message::CallStatus;

use super::duration_text;

/// Calls of a run that did not end well, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    failed: u32,
    denied: u32,
    skipped: u32,
    cancelled: u32,
}

impl Tally {
    /// Counts a call that ended.
    pub(super) fn add(&mut self, status: CallStatus) {
        match status {
            CallStatus::Ok => {}
            CallStatus::Error | CallStatus::TimedOut | CallStatus::Panicked => self.failed += 1,
            CallStatus::Denied => self.denied += 1,
            CallStatus::Skipped => self.skipped += 1,
            CallStatus::Cancelled => self.cancelled += 1,
        }
    }

    /// For example `1 failed, 2 skipped`; empty when all went well.
    fn words(self) -> String {
        let all = [
            (self.failed, "failed"),
            (self.denied, "denied"),
            (self.skipped, "skipped"),
            (self.cancelled, "cancelled"),
        ];
        let some = all.iter().filter(|(count, _)| *count > 0);
        some.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }

    /// For example `done · 3 turns · 4 tools (1 denied) · 12.3 s`.
    pub(super) fn summary_line(self, summary: &RunSummary) -> String {
        let word = match summary.reason {
            EndReason::Stop if summary.wrap.is_some() => "stopped with a report",
            EndReason::Stop => "done",
            EndReason::Budget => "budget used up",
            EndReason::Aborted => "stopped",
            EndReason::MaxTurns => "turn limit reached",
            EndReason::Error => "failed",
        };
        let mut parts = vec![word.to_owned(), counted(summary.turns, "turn")];
        let tools = counted(summary.tool_calls, "tool");
        match self.words() {
            _ if summary.tool_calls == 0 => {}
            words if words.is_empty() => parts.push(tools),
            words => parts.push(format!("{tools} ({words})")),
        }
        parts.push(duration_text(summary.elapsed_ms));
        parts.join(" · ")
    }
}

fn counted(count: u32, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
