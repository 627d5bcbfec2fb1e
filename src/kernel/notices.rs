//! News of background work: asked for at every boundary, committed, and only then acknowledged, so
//! that a failed turn loses none and no news comes twice.
//!
//! The block is a message of the user's side. It goes directly before a question that is not
//! answered yet, else at the end; never between a call and its result, never into the system
//! prompt. The journal only grows, so a block that comes after its question names it in `before`,
//! and [`place`] puts it there for the model.

use std::sync::Arc;

use super::event::Event;
use super::message::{Block, Message, MessageId, Origin, UserMessage, text_of};
use super::ports::Finished;
use super::run::Run;
use super::stop::Exit;

const TAG: &str = "background-notifications";
const HEADING: &str = "Background work has ended since you last heard of it:";

impl Run {
    /// Tells the model of background work that has ended; true when there was any.
    pub(super) async fn notices(&mut self) -> Result<bool, Exit> {
        let finished = self.ports.notices.peek();
        // A report is about what was done; news waits for what comes after it.
        if finished.is_empty() || self.wrapping {
            return Ok(false);
        }
        let before = open_question(&self.shared.lock().history).cloned();
        let (id, at) = (self.next_message_id(), self.now());
        let blocks = vec![Block::text(text(&finished))];
        let origin = Origin::Notice;
        self.commit(Message::User(UserMessage { id, at, origin, blocks, before })).await?;
        self.owe_answer();
        let ids: Vec<String> = finished.iter().map(|finished| finished.id.clone()).collect();
        self.ports.notices.acknowledge(&ids);
        self.emitter.send(Event::Notice { finished }).await;
        Ok(true)
    }
}

/// Whether the message tells of background work.
pub(crate) fn is_news(message: &Message) -> bool {
    match message {
        Message::User(user) if user.origin == Origin::Notice => {
            text_of(&user.blocks).starts_with(&format!("<{TAG}>"))
        }
        _ => false,
    }
}

/// The user's newest words, when nothing but news has come after them.
fn open_question(history: &[Arc<Message>]) -> Option<&MessageId> {
    let mut backwards = history.iter().rev().map(AsRef::as_ref);
    let last = backwards.find(|message| !matches!(message, Message::Note(_)))?;
    match last {
        Message::User(user) if user.origin.is_user_written() => Some(&user.id),
        Message::User(user) => user.before.as_ref(),
        Message::Assistant(_) | Message::Tool(_) | Message::Note(_) => None,
    }
}

/// The view with every message that names another one directly before that one. One whose partner
/// is not in the view stays where it is.
pub(crate) fn place(view: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
    let named = |message: &Message| match message {
        Message::User(user) => user.before.clone(),
        _ => None,
    };
    if !view.iter().any(|message| named(message).is_some()) {
        return view;
    }
    let mut out: Vec<Arc<Message>> = Vec::with_capacity(view.len());
    for message in view {
        let at = named(&message).and_then(|id| out.iter().rposition(|other| *other.id() == id));
        match at {
            Some(at) => out.insert(at, message),
            None => out.push(message),
        }
    }
    out
}

/// The block for the model: one line for each piece of work.
fn text(finished: &[Finished]) -> String {
    let lines = finished.iter().map(|finished| {
        let Finished { id, status, text } = finished;
        format!("- Task {}: {} - {}\n", escaped(id), escaped(status), escaped(text))
    });
    format!("<{TAG}>\n{HEADING}\n{}</{TAG}>", lines.collect::<String>())
}

/// On one line, and unable to close the block.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str(" ⏎ "),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
