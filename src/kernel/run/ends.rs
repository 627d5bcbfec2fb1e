//! Where a run may end, must end, or may not end yet: the cap on turns, budgets, the stop guard,
//! and messages that came in at the last moment.

use std::time::Duration;

use super::Run;
use crate::kernel::budget::Spent;
use crate::kernel::event::{Event, WrapReason};
use crate::kernel::message::{Block, Message, Origin};
use crate::kernel::ports::{StopTrigger, StopVerdict, Stopping};
use crate::kernel::state::Waits;
use crate::kernel::stop::Exit;

/// Messages of the guard in one chat before it is no longer asked.
const MAX_INJECTIONS: u32 = 5;

impl Run {
    /// What may still keep the run alive when it has nothing more to do by itself.
    pub(super) fn waits(&self) -> Waits {
        match self.summary.wrap {
            _ if self.abort.is_cancelled() || self.turn >= self.max_turns() => Waits::Nothing,
            Some(WrapReason::Stuck) => Waits::Steering,
            _ => Waits::Anything,
        }
    }

    /// The cap on turns as it is now.
    pub(in crate::kernel) fn max_turns(&self) -> u32 {
        self.shared.lock().limits.max_turns
    }

    pub(super) fn check_cap(&self) -> Result<(), Exit> {
        let max = self.max_turns();
        if self.turn >= max { Err(Exit::MaxTurns(max)) } else { Ok(()) }
    }

    /// Warns about a budget that is nearly used up, and ends the run when one is.
    pub(super) async fn check_budget(&mut self) -> Result<(), Exit> {
        let elapsed = (self.ports.clock.now().0 - self.began.0 - self.user_wait_ms).max(0);
        let wall = Duration::from_millis(elapsed.unsigned_abs());
        let spent = Spent { usage: self.summary.usage, cost: self.summary.cost, wall };
        let budget = self.shared.lock().limits.budget;
        let reading = self.meter.read(&budget, &spent);
        for text in reading.warnings {
            self.emitter.send(Event::Status { text }).await;
        }
        reading.over.map_or(Ok(()), |reached| Err(Exit::Budget(reached)))
    }

    /// Asks the guard whether the run may stop; `true` when it is to go on.
    pub(super) async fn ask_guard(&mut self, trigger: StopTrigger) -> Result<bool, Exit> {
        let Some(guard) = self.ports.guard.clone() else { return Ok(false) };
        if self.abort.is_cancelled() {
            return Ok(false);
        }
        if self.scope.injections >= MAX_INJECTIONS {
            let text = format!("the stop guard objected {MAX_INJECTIONS} times; the run stops now");
            self.emitter.send(Event::Status { text }).await;
            return Ok(false);
        }
        let answer = self.answer.message.clone();
        let answer = match answer.as_deref() {
            Some(Message::Assistant(answer)) => Some(answer),
            _ => None,
        };
        let verdict = tokio::select! {
            biased;
            () = self.abort.cancelled() => return Err(Exit::Aborted),
            verdict = guard.judge(Stopping { turn: self.turn, answer, trigger }) => verdict,
        };
        match verdict {
            StopVerdict::Inject(text) if !text.trim().is_empty() => {
                self.scope.injections += 1;
                self.commit_user(Origin::Notice, vec![Block::text(text)]).await?;
                Ok(true)
            }
            StopVerdict::Allow | StopVerdict::Inject(_) => Ok(false),
            StopVerdict::Escalate(error) => Err(Exit::failed(error)),
        }
    }
}
