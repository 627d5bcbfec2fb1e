//! The changes of the view that are in force, and the view they make of a history. Pure: the same
//! records and the same history give the same view, live or after a reload.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{micro, trim};
use crate::kernel::compaction::{Compaction, Summary};
use crate::kernel::message::{
    AssistantMessage, Block, CallId, Message, MessageId, ModelRef, Origin, Stop, Usage, UserMessage,
};

/// The tag around a summary; must not occur inside.
const TAG: &str = "conversation-summary";
/// What the model seems to have said to a summary that is followed by a person's words.
const ACK: &str = "Understood. I go on from this summary.";

/// What is in force for one history.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// Index of the first message that is shown.
    pub start: usize,
    /// Messages from here on came after the newest change: only their usage tells of this view.
    pub seen: usize,
    summary: Option<[Arc<Message>; 2]>,
    text: Option<String>,
    cleared: HashSet<MessageId>,
    shortened: HashSet<MessageId>,
}

impl Baseline {
    /// Follows the changes whose messages are still there; others say nothing about this history.
    pub fn of(changes: &[Compaction], history: &[Arc<Message>]) -> Self {
        let mut base = Self::default();
        if changes.is_empty() {
            return base;
        }
        let places: HashMap<&MessageId, usize> =
            history.iter().enumerate().map(|(at, message)| (message.id(), at)).collect();
        for change in changes {
            let Some(through) = places.get(&change.through) else { continue };
            base.cleared.extend(change.cleared.iter().cloned());
            base.shortened.extend(change.shortened.iter().cloned());
            base.seen = base.seen.max(through + 1);
            let Some(summary) = &change.summary else { continue };
            let start = match &summary.keep_from {
                Some(first) => places.get(first).copied(),
                None => Some(through + 1),
            };
            let Some(start) = start else { continue };
            base.start = start;
            base.summary = Some(messages(change, summary));
            base.text = Some(summary.text.clone());
        }
        base
    }

    /// The words of the summary that is in force.
    pub fn summary_text(&self) -> Option<String> {
        self.text.clone()
    }

    /// The messages that stand before the shown part of the history.
    pub fn head(&self, history: &[Arc<Message>]) -> Vec<Arc<Message>> {
        let Some([summary, ack]) = &self.summary else { return Vec::new() };
        let speaks = |message: &&Arc<Message>| !matches!(***message, Message::Note(_));
        let next = history[self.start..].iter().find(speaks);
        match next.map(AsRef::as_ref) {
            Some(Message::User(_)) => vec![Arc::clone(summary), Arc::clone(ack)],
            _ => vec![Arc::clone(summary)],
        }
    }

    /// Whether the long texts of a message are cut.
    pub fn is_shortened(&self, message: &Message) -> bool {
        self.shortened.contains(message.id())
    }

    /// One message as it is shown. `calls` names the calls of the answer before it.
    pub fn show(
        &self,
        message: &Arc<Message>,
        calls: &HashMap<CallId, String>,
        cap: u64,
    ) -> Arc<Message> {
        match &**message {
            Message::Tool(result) if self.cleared.contains(&result.id) => {
                let label = calls.get(&result.call_id).map_or(result.tool.as_str(), String::as_str);
                return Arc::new(micro::stub(result, label));
            }
            _ if self.shortened.contains(message.id()) => return Arc::new(trim::shorten(message)),
            _ => {}
        }
        trim::cap(message, cap).map_or_else(|| Arc::clone(message), Arc::new)
    }
}

/// The summary as the user's words and the answer to it.
fn messages(change: &Compaction, summary: &Summary) -> [Arc<Message>; 2] {
    let said = Message::User(UserMessage {
        id: change.id.clone(),
        at: change.at,
        origin: Origin::Notice,
        blocks: vec![Block::text(words(summary))],
        before: None,
    });
    let ack = Message::Assistant(AssistantMessage {
        id: MessageId(format!("{}-ack", change.id)),
        at: change.at,
        model: ModelRef::default(),
        blocks: vec![Block::text(ACK)],
        stop: Stop::EndTurn,
        usage: Usage::default(),
    });
    [Arc::new(said), Arc::new(ack)]
}

/// The text of a summary in its tag.
fn words(summary: &Summary) -> String {
    let harmless = |text: &str| {
        text.replace(&format!("<{TAG}"), "&lt;conversation-summary")
            .replace(&format!("</{TAG}"), "&lt;/conversation-summary")
    };
    let gap = if summary.appendix.is_empty() { "" } else { "\n\n" };
    format!(
        "<{TAG}>\nThe conversation before this point was left out. What follows stands for it.\n\n\
         {}{gap}{}\n</{TAG}>",
        harmless(summary.text.trim()),
        harmless(&summary.appendix),
    )
}

/// The text that a summary is shown as.
pub fn shown_text(summary: &Summary) -> String {
    words(summary)
}
