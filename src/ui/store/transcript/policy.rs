//! The lines that tell how the loop steers a chat: its route, reflections and reports.

use crate::app::service::Level;
use crate::kernel::compaction::{Phase, Step};
use crate::kernel::event::{Event, Tier, WrapReason};

/// The line of an event, when it is worth one: the usual course of things is not.
pub(super) fn line(event: &Event) -> Option<(Level, String)> {
    match event {
        Event::RouteSelected { tier: Tier::Fast, budget, .. } => {
            Some((Level::Info, format!("quick route: at most {budget} model calls")))
        }
        Event::RouteEscalated { from, to, budget } => {
            let (from, to) = (from.name(), to.name());
            Some((
                Level::Info,
                format!("more work than it looked like: {from} → {to} ({budget} calls)"),
            ))
        }
        Event::RoutePinned { tier: Some(tier) } => {
            Some((Level::Info, format!("every request takes the {} route now", tier.name())))
        }
        Event::RoutePinned { tier: None } => {
            Some((Level::Info, "the words of a request choose its route again".to_owned()))
        }
        Event::ModelFailover { from, to, error } => {
            Some((Level::Warning, format!("{from} failed, {to} answers instead: {error}")))
        }
        Event::Reflection { again: false, signature, .. } => Some((
            Level::Warning,
            format!("no progress: the model is asked to think again ({signature})"),
        )),
        Event::Reflection { again: true, .. } => {
            Some((Level::Warning, "the same call once more: the model is reminded".to_owned()))
        }
        Event::WrapUp { reason } => Some((Level::Warning, why(*reason).to_owned())),
        _ => None,
    }
}

/// What the user can do after a report.
pub(super) fn way_on(reason: WrapReason) -> &'static str {
    match reason {
        WrapReason::MaxIters | WrapReason::MaxTurns => "write \"continue\" to go on from here",
        WrapReason::Stuck => {
            "write \"continue\" to go on, or say what to try instead; queued messages wait"
        }
    }
}

fn why(reason: WrapReason) -> &'static str {
    match reason {
        WrapReason::MaxIters => "the calls of this request are used up: the model reports",
        WrapReason::Stuck => "no progress after two reflections: the model reports",
        WrapReason::MaxTurns => "the limit on turns is reached: the model reports",
    }
}

/// The line of a step that made the view of the conversation smaller; its beginning has none.
pub(super) fn compaction(step: Step, phase: &Phase) -> Option<(Level, String)> {
    match phase {
        Phase::Start { .. } => None,
        Phase::Done { before, after } => {
            let way_back = if step >= Step::Full { "; /compact undo goes back" } else { "" };
            let (before, after) = (thousands(*before), thousands(*after));
            Some((Level::Info, format!("{}: {before} → {after} tokens{way_back}", step.done())))
        }
        Phase::Failed { reason } => {
            Some((Level::Warning, format!("{} did not work: {reason}", step.name())))
        }
        Phase::Undone => Some((Level::Info, "the last compaction was undone".to_owned())),
    }
}

/// A number of tokens as people read it.
fn thousands(tokens: u64) -> String {
    if tokens < 1000 { tokens.to_string() } else { format!("{:.1}k", tokens as f64 / 1000.0) }
}
