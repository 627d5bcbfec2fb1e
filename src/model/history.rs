//! The history as services accept it: user and assistant turns in alternation, every call with
//! one result directly after it in call order, no blank text, no empty message, ids that are legal
//! and distinct. Works round by round, so ids that a server uses again and again stay apart; the
//! same history always gives the same turns.

use std::borrow::Borrow;
use std::sync::LazyLock;

use crate::kernel::message::{
    AssistantMessage, Block, CallId, CallStatus, Message, ToolCall, ToolMessage,
};

use super::wire_ids::{IdStyle, WireIds};

/// Stands before a history that begins with an answer; services want a user's message first.
static OPENING: LazyLock<Block> =
    LazyLock::new(|| Block::text("(the earlier conversation is left out)"));

/// One turn.
#[derive(Debug)]
pub enum Turn<'a> {
    /// Results of the calls before it, then what was written.
    User {
        /// Answers in call order.
        results: Vec<WireResult<'a>>,
        /// Text and images, none blank.
        blocks: Vec<&'a Block>,
    },
    /// The model's answer; never empty.
    Assistant(Vec<Piece<'a>>),
}

/// A piece of an answer.
#[derive(Debug)]
pub enum Piece<'a> {
    /// Anything but a call.
    Block(&'a Block),
    /// A call under its wire id.
    Call {
        /// Legal and distinct in this request.
        id: String,
        /// The call.
        call: &'a ToolCall,
    },
}

/// The answer to a call under the call's wire id.
#[derive(Debug)]
pub struct WireResult<'a> {
    /// The id of the call it answers.
    pub id: String,
    /// The result; `None` when there is none in the history.
    pub message: Option<&'a ToolMessage>,
}

impl WireResult<'_> {
    /// Whether the service should take it for a failure.
    pub fn is_error(&self) -> bool {
        self.message.is_none_or(|message| message.status != CallStatus::Ok)
    }
}

/// Text for a call whose result is missing.
pub const INTERRUPTED: &str = "interrupted, outcome unknown";

pub use crate::kernel::repair::NO_OUTPUT;

/// Whether a block is blank text, which no service takes.
pub fn is_blank(block: &Block) -> bool {
    matches!(block, Block::Text { text } if text.trim().is_empty())
}

struct OpenCall<'a> {
    id: &'a CallId,
    wire: String,
    result: Option<&'a ToolMessage>,
}

struct Builder<'a> {
    turns: Vec<Turn<'a>>,
    open: Vec<OpenCall<'a>>,
    blocks: Vec<&'a Block>,
    ids: WireIds,
}

/// The turns of a history. `keeps` says which blocks of an answer the dialect can send back (a
/// signature only to its maker); calls and text that is not blank are always kept.
pub fn turns<M: Borrow<Message>>(
    messages: &[M],
    style: IdStyle,
    keeps: impl Fn(&AssistantMessage, &Block) -> bool,
) -> Vec<Turn<'_>> {
    let ids = WireIds::new(style);
    let mut builder = Builder { turns: Vec::new(), open: Vec::new(), blocks: Vec::new(), ids };
    for message in messages {
        match message.borrow() {
            Message::User(user) => {
                builder.blocks.extend(user.blocks.iter().filter(|block| !is_blank(block)));
            }
            Message::Tool(tool) => builder.answer(tool),
            Message::Assistant(answer) => builder.assistant(answer, &keeps),
            Message::Note(_) => {}
        }
    }
    builder.close_user_side();
    if matches!(builder.turns.first(), Some(Turn::Assistant(_))) {
        builder.turns.insert(0, Turn::User { results: Vec::new(), blocks: vec![&OPENING] });
    }
    builder.turns
}

impl<'a> Builder<'a> {
    /// The first result of an open call counts; duplicates and orphans are dropped.
    fn answer(&mut self, tool: &'a ToolMessage) {
        let open = self.open.iter_mut().find(|c| *c.id == tool.call_id && c.result.is_none());
        if let Some(open) = open {
            open.result = Some(tool);
        }
    }

    fn assistant(
        &mut self,
        answer: &'a AssistantMessage,
        keeps: &impl Fn(&AssistantMessage, &Block) -> bool,
    ) {
        let sendable = |block: &&Block| match block {
            Block::Call(_) => true,
            Block::Text { .. } => !is_blank(block),
            Block::Thinking { .. } | Block::Image { .. } | Block::Opaque(_) => keeps(answer, block),
        };
        let blocks: Vec<&Block> = answer.blocks.iter().filter(sendable).collect();
        // Reasoning alone is no answer either: strict services refuse such a message.
        if !blocks.iter().any(|block| matches!(block, Block::Call(_) | Block::Text { .. })) {
            return;
        }
        self.close_user_side();
        let mut pieces = Vec::with_capacity(blocks.len());
        for block in blocks {
            let Block::Call(call) = block else {
                pieces.push(Piece::Block(block));
                continue;
            };
            let id = self.ids.assign(call.id.as_str());
            self.open.push(OpenCall { id: &call.id, wire: id.clone(), result: None });
            pieces.push(Piece::Call { id, call });
        }
        match self.turns.last_mut() {
            Some(Turn::Assistant(before)) => before.extend(pieces),
            _ => self.turns.push(Turn::Assistant(pieces)),
        }
    }

    fn close_user_side(&mut self) {
        let open = std::mem::take(&mut self.open);
        let mut blocks = std::mem::take(&mut self.blocks);
        let mut results: Vec<WireResult<'a>> = open
            .into_iter()
            .map(|call| WireResult { id: call.wire, message: call.result })
            .collect();
        if results.is_empty() && blocks.is_empty() {
            return;
        }
        match self.turns.last_mut() {
            Some(Turn::User { results: earlier, blocks: written }) => {
                earlier.append(&mut results);
                written.append(&mut blocks);
            }
            _ => self.turns.push(Turn::User { results, blocks }),
        }
    }
}
