//! Making the view of a long history smaller: the words for it, and the part of a run that asks the
//! context for steps, writes each one to the journal before it counts, and tells of its beginning
//! and end. What a step does is the context's business; the history itself is never changed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::emit::Emitter;
use super::event::{Event, Purpose};
use super::message::{MessageId, Timestamp, Usage};
use super::ports::{Durability, Need, Plan, Reason, Record, View, in_force};
use super::run::Run;
use super::stop::Exit;

/// A step of the ladder, the cheapest first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Old results become one-line stubs.
    Micro,
    /// Long texts are cut in their middle.
    Trim,
    #[default]
    /// A model sums up all but the newest messages.
    Full,
    /// All but the newest messages are left out, without a model.
    Mechanical,
}

impl Step {
    /// What it does, for people.
    pub fn doing(self) -> &'static str {
        match self {
            Self::Micro => "Clearing old results",
            Self::Trim => "Cutting long texts",
            Self::Full => "Summing up the conversation",
            Self::Mechanical => "Leaving out old messages",
        }
    }

    /// What it is, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Micro => "clearing old results",
            Self::Trim => "cutting long texts",
            Self::Full => "summing up the conversation",
            Self::Mechanical => "leaving out old messages",
        }
    }

    /// What it did, for people.
    pub fn done(self) -> &'static str {
        match self {
            Self::Micro => "old results cleared",
            Self::Trim => "long texts cut",
            Self::Full => "conversation summed up",
            Self::Mechanical => "old messages left out",
        }
    }
}

/// A change of the view: durable, and in force until it is undone. Messages are named by id, so that
/// it holds or falls with the messages it is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compaction {
    /// Its id; the summary is shown as a message of this id.
    pub id: MessageId,
    /// When it was made.
    pub at: Timestamp,
    /// Which step made it.
    pub step: Step,
    /// The newest message it has seen.
    pub through: MessageId,
    /// Tokens of the view before.
    pub before: u64,
    /// Tokens of the view after.
    pub after: u64,
    /// What stands for the beginning of the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Results that are shown as stubs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<MessageId>,
    /// Messages whose long texts are shown cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<MessageId>,
}

/// What stands for the beginning of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The words.
    pub text: String,
    /// Facts that no model has touched: requests word for word, files, open tasks.
    pub appendix: String,
    /// The first message that is still shown; `None` when none is.
    pub keep_from: Option<MessageId>,
}

/// How far a step is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// It begins.
    Start {
        /// Tokens of the view.
        before: u64,
    },
    /// It is in force.
    Done {
        /// Tokens of the view before.
        before: u64,
        /// Tokens of the view after.
        after: u64,
    },
    /// Nothing was changed.
    Failed {
        /// Why, one line.
        reason: String,
    },
    /// It is no longer in force.
    Undone,
}

impl Run {
    /// Makes the view smaller as far as there is need; says whether anything changed.
    pub(super) async fn compact(&mut self, reason: Reason, focus: &str) -> Result<bool, Exit> {
        let mut tried: Vec<Step> = Vec::new();
        let mut changed = false;
        loop {
            let history = Arc::clone(&self.shared.lock().history);
            let tools = self.tools();
            let view = View { model: &self.model, tier: self.scope.tier, tools: &tools };
            let need = Need { reason, focus, tried: &tried, changed };
            let context = Arc::clone(&self.ports.context);
            let Some(plan) = context.plan(&history, view, need) else { return Ok(changed) };
            tell(&self.emitter, plan.step, Phase::Start { before: plan.before }).await;
            let compacted = tokio::select! {
                biased;
                () = self.abort.cancelled() => None,
                compacted = context.compact(&history, view, need, plan) => Some(compacted),
            };
            // The list of messages may grow again without being copied.
            drop(history);
            let Some(compacted) = compacted else {
                tell(&self.emitter, plan.step, Phase::Failed { reason: "stopped".to_owned() })
                    .await;
                return Err(Exit::Aborted);
            };
            self.book_compaction(compacted.usage).await;
            if let Some(compaction) = compacted.compaction {
                self.adopt(plan, compaction).await?;
                changed = true;
            } else {
                let reason = compacted.problem.unwrap_or_else(|| "nothing to save".to_owned());
                tell(&self.emitter, plan.step, Phase::Failed { reason }).await;
            }
            tried.push(plan.step);
        }
    }

    /// Puts a step into force: journal, then context, then event.
    async fn adopt(&mut self, plan: Plan, mut compaction: Compaction) -> Result<(), Exit> {
        compaction.id = MessageId(self.ports.ids.next("compaction"));
        compaction.at = self.now();
        let (before, after) = (compaction.before, compaction.after);
        let record = Record::Compaction { compaction };
        if let Err(error) = self.ports.journal.append(&record, Durability::Flush).await {
            tell(&self.emitter, plan.step, Phase::Failed { reason: error.to_string() }).await;
            return Err(error.into());
        }
        if let Record::Compaction { compaction } = &record {
            self.ports.context.adopt(compaction);
        }
        // The model no longer sees what an equal call gave before.
        self.shared.cache.invalidate();
        tell(&self.emitter, plan.step, Phase::Done { before, after }).await;
        Ok(())
    }

    /// Compacts because the user wants it.
    pub(super) async fn compact_forced(&mut self, focus: &str) -> Result<(), Exit> {
        if self.compact(Reason::Forced, focus).await? {
            return Ok(());
        }
        let text = "the conversation was not compacted: nothing was changed".to_owned();
        self.emitter.send(Event::Status { text }).await;
        Ok(())
    }

    /// Takes back the newest summary and every step after it.
    pub(super) async fn undo_compaction(&mut self) -> Result<(), Exit> {
        let ids = self.ports.context.undoable();
        if ids.is_empty() {
            let text = "there is no compaction to undo".to_owned();
            self.emitter.send(Event::Status { text }).await;
            return Ok(());
        }
        let record = Record::CompactionUndone { ids: ids.clone() };
        self.ports.journal.append(&record, Durability::Flush).await?;
        self.ports.context.retract(&ids);
        self.shared.cache.invalidate();
        tell(&self.emitter, Step::Full, Phase::Undone).await;
        Ok(())
    }

    async fn book_compaction(&mut self, usage: Usage) {
        if usage != Usage::default() {
            // The small model sums up where there is one.
            let quick = self.ports.quick.as_ref().and_then(in_force);
            let quick = quick.map(|model| model.info().price);
            let price = quick.unwrap_or(self.model.price);
            let cost = price.map(|price| price.cost(usage));
            self.summary.usage += usage;
            self.add_cost(cost);
            self.emitter.send(Event::Usage { purpose: Purpose::Compact, usage, cost }).await;
        }
    }
}

async fn tell(emitter: &Emitter, step: Step, phase: Phase) {
    emitter.send(Event::Compaction { step, phase }).await;
}
