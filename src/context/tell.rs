//! What a message of the user brings along: facts that have changed, notes and skills that its words
//! call for. It is asked for once, when the message is new, and stands in front of its words from then
//! on, so that what was sent stays what it was. Never stored, never summed up, never the user's words.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::trim::is_request;
use crate::kernel::message::{Block, Message, MessageId, text_of};

/// The tag around it.
pub const TAG: &str = "turn_context";

type Tell = dyn Fn(&str, bool) -> String + Send + Sync;

/// Says what the user's words bring along.
#[derive(Clone)]
pub struct Teller(Arc<Tell>);

impl Teller {
    /// Asks `tell` with the user's words, and whether what it has told before may be out of sight.
    /// An empty answer brings nothing. It must not wait for anything but small files.
    pub fn new(tell: impl Fn(&str, bool) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }
}

impl Default for Teller {
    fn default() -> Self {
        Self::new(|_, _| String::new())
    }
}

impl fmt::Debug for Teller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Teller")
    }
}

/// What was told, by message.
#[derive(Clone, Debug, Default)]
pub struct Told {
    by_message: HashMap<MessageId, String>,
    /// The view became smaller since something was told.
    again: bool,
}

impl Told {
    /// Asks about the newest words of the user, when nobody has yet.
    pub fn follow(&mut self, teller: &Teller, history: &[Arc<Message>]) {
        let newest = history.iter().rfind(|message| is_request(message));
        let Some(Message::User(user)) = newest.map(AsRef::as_ref) else { return };
        if self.by_message.contains_key(&user.id) {
            return;
        }
        let text = (teller.0)(&text_of(&user.blocks), self.again);
        self.again = false;
        self.by_message.insert(user.id.clone(), text);
    }

    /// What was told may be out of sight from here on.
    pub fn forget_sight(&mut self) {
        self.again = true;
    }

    /// The message with what it brings along.
    pub fn put(&self, message: Arc<Message>) -> Arc<Message> {
        let text = self.by_message.get(message.id()).filter(|text| !text.trim().is_empty());
        let (Some(text), Message::User(user)) = (text, &*message) else { return message };
        let mut user = user.clone();
        user.blocks.insert(0, Block::text(format!("<{TAG}>\n{}\n</{TAG}>", text.trim())));
        Arc::new(Message::User(user))
    }
}

/// Whether a block is what a message brought along.
pub fn is_told(block: &Block) -> bool {
    let inside = |text: &str| {
        let rest = text.strip_prefix('<').and_then(|text| text.strip_prefix(TAG));
        rest.is_some_and(|rest| rest.starts_with('>'))
    };
    matches!(block, Block::Text { text } if inside(text))
}
