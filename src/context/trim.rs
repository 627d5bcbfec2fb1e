//! The second step: long texts lose their middle. Pure; never touches the newest request, the
//! newest messages, calls, or anything that carries a signature.

use std::sync::Arc;

use super::estimate;
use crate::kernel::message::{Block, Message, MessageId};

/// Texts above this many characters are long.
pub const LONG: usize = 4000;
/// Characters kept of the beginning.
const HEAD: usize = 1200;
/// Characters kept of the end.
const TAIL: usize = 800;
/// So many of the newest messages stay whole.
pub const NEWEST: usize = 4;

/// The messages with long texts that may be cut.
pub fn shortenable(view: &[Arc<Message>], newest: usize) -> Vec<MessageId> {
    let request = view.iter().rposition(|message| is_request(message));
    let old = &view[..view.len().saturating_sub(newest)];
    let may = |(at, message): (usize, &Arc<Message>)| {
        (Some(at) != request && blocks(message).iter().any(is_long)).then(|| message.id().clone())
    };
    old.iter().enumerate().filter_map(may).collect()
}

/// Whether a person wrote it.
pub fn is_request(message: &Message) -> bool {
    matches!(message, Message::User(user) if user.origin.is_user_written())
}

fn blocks(message: &Message) -> &[Block] {
    match message {
        Message::User(m) => &m.blocks,
        Message::Assistant(m) => &m.blocks,
        Message::Tool(m) => &m.blocks,
        Message::Note(_) => &[],
    }
}

fn is_long(block: &Block) -> bool {
    matches!(block, Block::Text { text } if text.len() > LONG && text.chars().nth(LONG).is_some())
}

/// The message with its long texts cut.
pub fn shorten(message: &Message) -> Message {
    let mut short = message.clone();
    let blocks = match &mut short {
        Message::User(m) => &mut m.blocks,
        Message::Assistant(m) => &mut m.blocks,
        Message::Tool(m) => &mut m.blocks,
        Message::Note(_) => return short,
    };
    for block in blocks.iter_mut().filter(|block| is_long(block)) {
        if let Block::Text { text } = block {
            *text = middle_out(text, HEAD, TAIL);
        }
    }
    short
}

/// A text without its middle, and a line that says how much is missing.
pub fn middle_out(text: &str, head: usize, tail: usize) -> String {
    let chars = text.chars().count();
    if chars <= head + tail {
        return text.to_owned();
    }
    let start = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let end = text.char_indices().nth(chars - tail).map_or(text.len(), |(at, _)| at);
    let missing = chars - head - tail;
    format!("{}\n[… {missing} characters left out …]\n{}", &text[..start], &text[end..])
}

/// The message with each text cut so that all of it has about `tokens`; `None` when it has no more.
pub fn cap(message: &Message, tokens: u64) -> Option<Message> {
    let Message::Tool(result) = message else { return None };
    let size = estimate::blocks(&result.blocks);
    if size <= tokens {
        return None;
    }
    let mut capped = result.clone();
    for block in &mut capped.blocks {
        if let Block::Text { text } = block {
            let own = estimate::text(text);
            let chars = text.chars().count() as u64;
            // In proportion: what a character costs depends on the script.
            let room = (chars * tokens / size.max(1)).min(chars);
            if own > 0 && room < chars {
                let half = room as usize / 2;
                *text = middle_out(text, half, half);
            }
        }
    }
    Some(Message::Tool(capped))
}
