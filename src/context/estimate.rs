//! Guesses tokens without a vocabulary: cheap, good to a tenth or two, meant to be corrected by the
//! usage that services report.

use std::borrow::Borrow;

use crate::kernel::message::{Block, Message, ToolCall};
use crate::kernel::ports::{SystemBlock, ToolSpec};

/// Weights in hundredths of a token per character.
const CJK: u64 = 150;
const ASCII_WORD: u64 = 25;
const SPACE: u64 = 25;
const OTHER: u64 = 50;

/// Tokens of one picture.
pub const IMAGE_TOKENS: u64 = 1200;

/// Tokens of a text, rounded up.
pub fn text(text: &str) -> u64 {
    let hundredths = if text.is_ascii() {
        let signs = text.bytes().map(|byte| u64::from(!is_plain(byte))).sum::<u64>();
        text.len() as u64 * ASCII_WORD + signs * (OTHER - ASCII_WORD)
    } else {
        text.chars().map(weight).sum()
    };
    hundredths.div_ceil(100)
}

/// Whether an ASCII byte has the weight of a letter, as white space has too. Without a branch: the
/// sum over a long history is made many bytes at a time.
fn is_plain(byte: u8) -> bool {
    const { assert!(ASCII_WORD == SPACE) };
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    let space = (byte == b' ') | (byte.wrapping_sub(b'\t') < 5);
    letter | digit | space
}

fn weight(c: char) -> u64 {
    match c {
        c if c.is_ascii_alphanumeric() => ASCII_WORD,
        c if c.is_whitespace() => SPACE,
        c if is_cjk(c) => CJK,
        _ => OTHER,
    }
}

/// Han, kana, bopomofo, hangul and their full-width companions.
fn is_cjk(c: char) -> bool {
    matches!(
        u32::from(c),
        0x1100..=0x11FF
            | 0x2E80..=0x2FDF
            | 0x3001..=0x33FF
            | 0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xA960..=0xA97F
            | 0xAC00..=0xD7FF
            | 0xF900..=0xFAFF
            | 0xFF01..=0xFFEF
            | 0x2_0000..=0x3_FFFF
    )
}

/// Tokens of a message; lines for people only cost nothing.
pub fn message(message: &Message) -> u64 {
    match message {
        Message::User(m) => blocks(&m.blocks),
        Message::Assistant(m) => blocks(&m.blocks),
        Message::Tool(m) => blocks(&m.blocks),
        Message::Note(_) => 0,
    }
}

/// Tokens of a history.
pub fn history<M: Borrow<Message>>(messages: &[M]) -> u64 {
    messages.iter().map(|one| message(one.borrow())).sum()
}

/// Tokens of the system prompt.
pub fn system(blocks: &[SystemBlock]) -> u64 {
    blocks.iter().map(|block| text(&block.text)).sum()
}

/// Tokens of the tool list.
pub fn tools(specs: &[ToolSpec]) -> u64 {
    let one = |spec: &ToolSpec| {
        text(&spec.name) + text(&spec.description) + text(&spec.schema.to_string())
    };
    specs.iter().map(one).sum()
}

/// Tokens of some blocks.
pub fn blocks(blocks: &[Block]) -> u64 {
    blocks.iter().map(block).sum()
}

fn block(block: &Block) -> u64 {
    match block {
        Block::Text { text: words } | Block::Thinking { text: words, .. } => text(words),
        Block::Call(call) => text(&call.name) + text(&arguments(call)),
        Block::Image { .. } => IMAGE_TOKENS,
        Block::Opaque(opaque) => text(&opaque.data.to_string()),
    }
}

fn arguments(call: &ToolCall) -> String {
    serde_json::to_string(&call.args).unwrap_or_default()
}
