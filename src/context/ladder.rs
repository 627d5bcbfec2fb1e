//! The ladder: which step is due, and what it changes. A step that saves too little is not taken,
//! because every change of the beginning costs the cached prefix.

use std::collections::HashSet;
use std::sync::Arc;

use super::project::{SessionContext, Weighed};
use super::shown::Shown;
use super::summary::Part;
use super::{appendix, baseline, cut, estimate, micro, trim};
use crate::kernel::compaction::{Compaction, Step, Summary};
use crate::kernel::message::{Message, MessageId, Usage};
use crate::kernel::ports::{Compacted, Need, Plan, Reason, View};

/// A summary of a history this small would not be smaller.
const LEAST_PART: u64 = 200;
/// What stands in place of a summary that no model has written.
const DIGEST: &str = "The earlier messages were left out to save room, and no summary of them could \
                      be made. Look at files again before you rely on them.";

/// Lets summaries rest after failures in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breaker {
    failures: u32,
}

impl Breaker {
    /// Whether an attempt may be made. A refusal lets the next one through.
    pub fn admits(&mut self, limit: u32) -> Result<(), u32> {
        if self.failures < limit {
            return Ok(());
        }
        let failures = self.failures;
        self.failures = limit.saturating_sub(1);
        Err(failures)
    }

    /// An attempt failed.
    pub fn failed(&mut self) {
        self.failures += 1;
    }

    /// An attempt succeeded.
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Failures in a row.
    pub fn failures(self) -> u32 {
        self.failures
    }
}

/// The step that is due.
pub(super) fn plan(
    context: &SessionContext,
    weighed: &Weighed,
    history: &[Arc<Message>],
    need: Need<'_>,
) -> Option<Plan> {
    let due = |step: &Step| match need.reason {
        Reason::Routine => is_due(context, weighed, history, need, *step),
        Reason::Forced => *step == Step::Full && part(weighed, need).is_some(),
        Reason::Overflow => match step {
            Step::Micro | Step::Trim => false,
            Step::Full => part(weighed, need).is_some(),
            Step::Mechanical => !need.changed && mechanical(context, weighed, history).is_some(),
        },
    };
    let steps = [Step::Micro, Step::Trim, Step::Full, Step::Mechanical];
    let step = steps.into_iter().filter(|step| !need.tried.contains(step)).find(due)?;
    Some(Plan { step, before: weighed.used })
}

fn is_due(
    context: &SessionContext,
    weighed: &Weighed,
    history: &[Arc<Message>],
    need: Need<'_>,
    step: Step,
) -> bool {
    let (used, budget) = (weighed.used, weighed.budget);
    let above = used >= budget.threshold();
    let saves = |change: Option<Compaction>| {
        change.is_some_and(|change| change.before - change.after >= budget.least_saving())
    };
    match step {
        Step::Micro => {
            let over = weighed.shown.results > context.limits.results;
            let idle = was_idle(history, context.limits.cache_lifetime_ms);
            if !over && !idle && used < budget.micro() {
                return false;
            }
            // What was not worth it becomes so only by more of the same; to look at a long history
            // before every request is not cheap.
            let total = weighed.shown.total;
            let enough =
                |before: u64| total >= before + budget.least_saving() / 2 || total < before;
            if !context.lock().not_worth.is_none_or(enough) {
                return false;
            }
            let worth = saves(clear(context, weighed, history));
            context.lock().not_worth = (!worth).then_some(total);
            worth
        }
        Step::Trim => above && saves(shorten(weighed, history, trim::NEWEST)),
        Step::Full => {
            let once = context.lock().tried_after != Some(newest_answer(history));
            above && once && part(weighed, need).is_some()
        }
        Step::Mechanical => {
            used >= budget.hard() && mechanical(context, weighed, history).is_some()
        }
    }
}

/// Whether the newest words came so long after the answer before them that no cache is left.
fn was_idle(history: &[Arc<Message>], lifetime_ms: i64) -> bool {
    let Some(newest) = history.last().filter(|message| trim::is_request(message)) else {
        return false;
    };
    let before = history.iter().rev().find(|m| matches!(***m, Message::Assistant(_)));
    before.is_some_and(|answer| newest.at().0 - answer.at().0 > lifetime_ms)
}

/// The newest answer; a blank id when there is none.
fn newest_answer(history: &[Arc<Message>]) -> MessageId {
    let newest = history.iter().rev().find(|m| matches!(***m, Message::Assistant(_)));
    newest.map(|message| message.id().clone()).unwrap_or_default()
}

/// Works out a step.
pub(super) async fn compact(
    context: &SessionContext,
    history: &[Arc<Message>],
    view: View<'_>,
    need: Need<'_>,
    plan: Plan,
) -> Compacted {
    let weighed = context.weigh(history, view);
    let change = match plan.step {
        Step::Micro => clear(context, &weighed, history),
        Step::Trim => shorten(&weighed, history, trim::NEWEST),
        Step::Mechanical => mechanical(context, &weighed, history),
        Step::Full => return full(context, &weighed, history, view, need).await,
    };
    Compacted { compaction: change, usage: Usage::default(), problem: None }
}

/// Results that become stubs.
fn clear(
    context: &SessionContext,
    weighed: &Weighed,
    history: &[Arc<Message>],
) -> Option<Compaction> {
    let view = &weighed.shown.messages;
    let mut cleared = micro::clearable(view, micro::Keep::default());
    cleared.extend(micro::over_cap(view, &cleared, context.limits.results));
    let change = Compaction { step: Step::Micro, cleared, ..Compaction::default() };
    settle(context.limits.result, weighed, history, change)
}

fn shorten(weighed: &Weighed, history: &[Arc<Message>], newest: usize) -> Option<Compaction> {
    let shortened = trim::shortenable(&weighed.shown.messages, newest);
    let change = Compaction { step: Step::Trim, shortened, ..Compaction::default() };
    settle(u64::MAX, weighed, history, change)
}

/// The change with what it saves; `None` when it saves nothing.
fn settle(
    cap: u64,
    weighed: &Weighed,
    history: &[Arc<Message>],
    mut change: Compaction,
) -> Option<Compaction> {
    change.through = history.last()?.id().clone();
    let after = tokens_after(cap, weighed, history, &change);
    let saved = weighed.shown.total.checked_sub(after).filter(|saved| *saved > 0)?;
    change.before = weighed.used;
    change.after = weighed.used.saturating_sub(weighed.real(saved));
    Some(change)
}

/// Estimated tokens of the messages once the change is in force.
fn tokens_after(cap: u64, weighed: &Weighed, history: &[Arc<Message>], change: &Compaction) -> u64 {
    let shown = &weighed.shown;
    let (first, head) = match &change.summary {
        None => (shown.head, shown.tokens[..shown.head].iter().sum()),
        Some(summary) => {
            let kept = summary.keep_from.as_ref();
            let at = kept.and_then(|id| shown.messages.iter().position(|m| m.id() == id));
            // The few words that answer a summary.
            let text = estimate::text(&baseline::shown_text(summary)) + 12;
            (at.unwrap_or(shown.messages.len()), text)
        }
    };
    // Thousands of both are usual in a long history.
    let cleared: HashSet<&MessageId> = change.cleared.iter().collect();
    let shortened: HashSet<&MessageId> = change.shortened.iter().collect();
    let label = "x".repeat(140);
    let one = |(at, message): (usize, &Arc<Message>)| {
        let original = &history[shown.place(at)];
        match &**message {
            Message::Tool(result) if cleared.contains(&result.id) => {
                estimate::message(&micro::stub(result, &label))
            }
            _ if shortened.contains(message.id()) => {
                estimate::message(&trim::shorten(original)).min(cap)
            }
            _ => shown.tokens[at],
        }
    };
    head + shown.messages.iter().enumerate().skip(first).map(one).sum::<u64>()
}

/// Where a summary would end, when there is enough before that.
fn part(weighed: &Weighed, need: Need<'_>) -> Option<usize> {
    let Shown { messages, tokens, head, .. } = &*weighed.shown;
    let usual = weighed.budget.tail();
    let tail = match need.reason {
        Reason::Routine => usual,
        // Little may be there: most of it is to be summed up.
        Reason::Forced | Reason::Overflow => usual.min(weighed.shown.total / 4),
    };
    let at = cut::place(messages, tokens, *head, (tail as f64 / weighed.ratio) as u64)?;
    let gone: u64 = tokens[*head..at].iter().sum();
    (need.reason == Reason::Forced || gone >= LEAST_PART).then_some(at)
}

/// A summary by a model.
async fn full(
    context: &SessionContext,
    weighed: &Weighed,
    history: &[Arc<Message>],
    view: View<'_>,
    need: Need<'_>,
) -> Compacted {
    let Some(at) = part(weighed, need) else { return Compacted::default() };
    {
        let mut state = context.lock();
        state.tried_after = Some(newest_answer(history));
        if need.reason == Reason::Routine
            && let Err(failures) = state.breaker.admits(context.limits.breaker)
        {
            let line = format!("left out after {failures} failures in a row");
            return Compacted::failed(line, Usage::default());
        }
    }
    let part = Part {
        system: &weighed.system,
        tools: view.tools,
        messages: &weighed.shown.messages[..at],
        focus: need.focus,
    };
    let summed = context.summariser.sum_up(part).await;
    let change = summed.text.and_then(|text| {
        let place = weighed.shown.place(at);
        let appendix = appendix::write(history, place, &open_tasks(context, history));
        let keep_from = history.get(place).map(|message| message.id().clone());
        let summary = Some(Summary { text, appendix, keep_from });
        let change = Compaction { step: Step::Full, summary, ..Compaction::default() };
        settle(u64::MAX, weighed, history, change)
            .ok_or_else(|| "a summary would not be smaller".to_owned())
    });
    let mut state = context.lock();
    match change {
        Ok(change) => {
            state.breaker.succeeded();
            Compacted { compaction: Some(change), usage: summed.usage, problem: None }
        }
        Err(problem) => {
            state.breaker.failed();
            Compacted::failed(problem, summed.usage)
        }
    }
}

/// What is open: what the session is told of, else the model's own list.
fn open_tasks(context: &SessionContext, history: &[Arc<Message>]) -> String {
    let told = context.tasks.tell();
    if told.trim().is_empty() { appendix::open_tasks(history) } else { told }
}

/// Everything but the newest messages left out, without a model. When even those are too much, their
/// long texts are cut.
fn mechanical(
    context: &SessionContext,
    weighed: &Weighed,
    history: &[Arc<Message>],
) -> Option<Compaction> {
    let Shown { messages, tokens, head, .. } = &*weighed.shown;
    let room = (weighed.budget.threshold() / 2).saturating_sub(weighed.real(weighed.fixed));
    let tail = ((room as f64 / weighed.ratio) as u64).min(weighed.shown.total / 2);
    let at = cut::place(messages, tokens, *head, tail);
    let mut change = Compaction { step: Step::Mechanical, ..Compaction::default() };
    let first = at.unwrap_or(*head);
    if let Some(at) = at {
        let place = weighed.shown.place(at);
        let appendix = appendix::write(history, place, &open_tasks(context, history));
        let keep_from = history.get(place).map(|message| message.id().clone());
        let text = earlier(&weighed.shown).unwrap_or_else(|| DIGEST.to_owned());
        change.summary = Some(Summary { text, appendix, keep_from });
    }
    if tokens[first..].iter().sum::<u64>() > tail {
        change.shortened = trim::shortenable(&messages[first..], 0);
    }
    settle(u64::MAX, weighed, history, change)
}

/// The words of a summary that stands at the beginning already, without what is written anew.
fn earlier(shown: &Shown) -> Option<String> {
    let summary = shown.base.summary_text()?;
    Some(if summary.contains(DIGEST) { summary } else { format!("{summary}\n\n{DIGEST}") })
}
