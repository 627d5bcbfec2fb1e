//! The meter of the context for front ends: what the next request of a session would weigh.

use super::build::Session;
use super::service::ContextReport;
use crate::context::{estimate, meter};
use crate::kernel::event::Tier;
use crate::kernel::ports::{Toolbox as _, View};

/// Reads the meter.
pub(super) fn report(session: &Session) -> ContextReport {
    let history = session.agent.snapshot().history;
    let specs = session.tools.specs();
    let view = View { model: &session.ready.model, tier: Tier::Full, tools: &specs };
    let weighed = session.context.weigh(&history, view);
    let read = meter::read(&weighed, &specs, estimate::history(&history));
    let step = |change: &crate::kernel::compaction::Compaction| {
        (change.step.done().to_owned(), change.before.saturating_sub(change.after))
    };
    ContextReport {
        window: read.window,
        used: read.used,
        free: read.free,
        reserve: read.reserve,
        sources: vec![
            ("system", read.system),
            ("instructions", read.instructions),
            ("tools", read.tools),
            ("messages", read.messages),
            ("tool results", read.results),
        ],
        steps: session.context.changes().iter().map(step).collect(),
    }
}
