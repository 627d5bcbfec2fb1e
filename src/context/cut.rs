//! Where a summary ends and the messages begin that stay as they are. Pure: a cut never stands
//! between a call and its result.

use std::sync::Arc;

use crate::kernel::message::Message;

/// The first message that stays, so that what stays has about `tail` tokens: at least the newest
/// message, and with a result also the call it answers. `None` when nothing would be left out.
/// `tokens` are those of each message; the first `head` messages are a summary already.
pub fn place(view: &[Arc<Message>], tokens: &[u64], head: usize, tail: u64) -> Option<usize> {
    let mut at = view.len().checked_sub(1)?;
    let mut kept = tokens.get(at).copied().unwrap_or_default();
    while at > 0 {
        kept += tokens.get(at - 1).copied().unwrap_or_default();
        if kept > tail {
            break;
        }
        at -= 1;
    }
    let at = whole_round(view, at);
    (at > head).then_some(at)
}

/// Walks back to the answer whose calls the results at `at` belong to.
fn whole_round(view: &[Arc<Message>], mut at: usize) -> usize {
    while at > 0 && matches!(*view[at], Message::Tool(_) | Message::Note(_)) {
        at -= 1;
    }
    at
}
