//! Watches whether services still find the beginning of requests in their cache, and names the
//! likely cause when they suddenly do not. Only watches: nothing depends on it.

use std::sync::Arc;

use super::project::fingerprint;
use crate::kernel::message::{Message, ModelRef, Timestamp};
use crate::kernel::ports::{SystemBlock, ToolSpec};

/// Tokens that must be missing for a word about it.
const LEAST_TOKENS: u64 = 2000;
/// And their share of what was found before, in per cent.
const LEAST_PERCENT: u64 = 5;

/// What the last two requests looked like.
#[derive(Clone, Debug, Default)]
pub struct CacheWatch {
    now: Sent,
    before: Option<Answered>,
    compacted: bool,
}

#[derive(Clone, Debug, Default)]
struct Sent {
    system: Vec<String>,
    tools: u64,
    messages: usize,
}

/// A request whose answer has told what the cache gave.
#[derive(Clone, Debug)]
struct Answered {
    sent: Sent,
    model: ModelRef,
    at: Timestamp,
    found: u64,
}

impl CacheWatch {
    /// A request is made.
    pub fn sent(&mut self, system: &[SystemBlock], tools: &[ToolSpec], messages: usize) {
        let system = system.iter().map(|block| block.text.clone()).collect();
        self.now = Sent { system, tools: fingerprint(tools), messages };
    }

    /// The view was changed on purpose.
    pub fn compacted(&mut self) {
        self.compacted = true;
    }

    /// The answer is there; a line when much less came from the cache than before.
    pub fn answered(&mut self, history: &[Arc<Message>], lifetime_ms: i64) -> Vec<String> {
        let new = history.get(self.now.messages..).unwrap_or_default();
        let answer = new.iter().find_map(|message| match &**message {
            Message::Assistant(answer) if answer.usage.total_input() > 0 => Some(answer),
            _ => None,
        });
        let Some(answer) = answer else { return Vec::new() };
        let found = answer.usage.cache_read;
        let (model, at) = (answer.model.clone(), answer.at);
        let now = Answered { sent: self.now.clone(), model, at, found };
        let compacted = std::mem::take(&mut self.compacted);
        let Some(before) = self.before.replace(now.clone()) else { return Vec::new() };
        let lost = before.found.saturating_sub(found);
        if lost < LEAST_TOKENS || lost * 100 < before.found * LEAST_PERCENT {
            return Vec::new();
        }
        let cause = cause(&before, &now, compacted, lifetime_ms);
        vec![format!("{lost} tokens fewer came from the cache than before: {cause}")]
    }
}

fn cause(before: &Answered, now: &Answered, compacted: bool, lifetime_ms: i64) -> &'static str {
    if before.model != now.model {
        "the model was changed"
    } else if before.sent.tools != now.sent.tools {
        "the tools were changed"
    } else if before.sent.system != now.sent.system {
        "the system prompt was changed"
    } else if compacted {
        "the conversation was compacted"
    } else if now.at.0 - before.at.0 > lifetime_ms {
        "the service has forgotten it meanwhile"
    } else {
        "the service gives no reason"
    }
}
