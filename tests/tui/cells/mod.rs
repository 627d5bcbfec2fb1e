//! The transcript: cells from events, their looks, scrolling, cost.

mod chaos;
mod cost;
mod events;
mod looks;
mod scrolling;

use codebot::kernel::event::{Delta, Event};
use codebot::kernel::message::{
    AssistantMessage, Block, CallStatus, Detail, Message, MessageId, ModelRef, Origin, Stop,
    Timestamp, ToolCall, ToolMessage, Usage, UserMessage,
};
use codebot::ui::store::scroll::Scroll;
use codebot::ui::store::transcript::Transcript;
use codebot::ui::theme::{Depth, Theme};
use codebot::ui::view::transcript::{TranscriptLayout, draw};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn call(id: &str, name: &str, args: &serde_json::Value) -> ToolCall {
    let args = args.as_object().cloned().unwrap_or_default();
    ToolCall { id: id.into(), name: name.to_owned(), args, invalid: None, opaque: None }
}

fn result(id: &str, tool: &str, status: CallStatus, text: &str) -> ToolMessage {
    ToolMessage {
        id: MessageId(format!("r-{id}")),
        at: Timestamp(0),
        call_id: id.into(),
        tool: tool.to_owned(),
        status,
        blocks: vec![Block::text(text)],
        detail: None,
        cached: false,
    }
}

fn ended(id: &str, name: &str, status: CallStatus, text: &str, detail: Option<Detail>) -> Event {
    let result = ToolMessage { detail, ..result(id, name, status, text) };
    Event::ToolEnd { id: id.into(), name: name.to_owned(), status, result }
}

fn user(text: &str, origin: Origin) -> Message {
    Message::User(UserMessage {
        id: "u".into(),
        at: Timestamp(0),
        origin,
        blocks: vec![Block::text(text)],
        before: None,
    })
}

fn assistant(blocks: Vec<Block>) -> Message {
    Message::Assistant(AssistantMessage {
        id: "a".into(),
        at: Timestamp(0),
        model: ModelRef::default(),
        blocks,
        stop: Stop::EndTurn,
        usage: Usage::default(),
    })
}

fn said(text: &str, origin: Origin) -> Event {
    Event::MessageEnd { message: user(text, origin) }
}

fn text(text: &str) -> Event {
    Event::MessageDelta { delta: Delta::Text { text: text.to_owned() } }
}

fn thinking(text: &str) -> Event {
    Event::MessageDelta { delta: Delta::Thinking { text: text.to_owned() } }
}

fn begin() -> Event {
    Event::MessageStart { id: "a".into() }
}

fn transcript(events: &[Event]) -> Transcript {
    let mut transcript = Transcript::default();
    for event in events {
        transcript.apply(event, 1000);
    }
    transcript
}

/// The screen as text, blanks at line ends left out.
fn screen(transcript: &Transcript, width: u16, height: u16, now_ms: u64) -> String {
    let mut layout = TranscriptLayout::new();
    let theme = Theme::named("dark", Depth::True);
    layout.prepare(transcript, &Scroll::default(), width, height, &theme, now_ms);
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(&layout, area, &mut buffer);
    lines(&buffer)
}

fn lines(buffer: &Buffer) -> String {
    use unicode_width::UnicodeWidthStr;
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut row = String::new();
        let mut hidden = 0;
        for x in 0..buffer.area.width {
            if hidden > 0 {
                hidden -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            hidden = symbol.width().saturating_sub(1);
            row.push_str(symbol);
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    format!("{}\n", out.trim_end_matches('\n'))
}

/// Width and height that hold a cell whole.
fn at_widths(transcript: &Transcript, now_ms: u64) -> String {
    [40, 80, 200]
        .map(|width| format!("── {width}\n{}", screen(transcript, width, 60, now_ms)))
        .concat()
}
