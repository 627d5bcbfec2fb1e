//! What a frame costs, in counted work: it must not follow the length of the conversation.

use codebot::kernel::event::Event;
use codebot::kernel::message::{Block, CallStatus, Message, Origin};
use codebot::ui::store::scroll::Scroll;
use codebot::ui::store::transcript::{CellId, CellKind, Transcript};
use codebot::ui::theme::Theme;
use codebot::ui::view::transcript::{TranscriptLayout, Work};
use serde_json::json;

use super::{assistant, begin, call, ended, result, text, transcript, user};

fn frame(layout: &mut TranscriptLayout, shown: &Transcript, width: u16) -> Work {
    let before = layout.work();
    layout.prepare(shown, &Scroll::default(), width, 50, &Theme::default(), 0);
    let after = layout.work();
    Work { pieces: after.pieces - before.pieces, rows: after.rows - before.rows, ..after }
}

/// case E20
#[test]
fn a_transcript_of_100_000_lines_costs_what_is_visible() {
    let prose: String = (0..50_000).map(|n| format!("Sentence {n} of the text.\n\n")).collect();
    let shown = transcript(&[begin(), text(&prose)]);
    let mut layout = TranscriptLayout::new();
    assert!(frame(&mut layout, &shown, 120).rows < 200);
    assert_eq!(frame(&mut layout, &shown, 120).rows, 0);
    let resized = frame(&mut layout, &shown, 60);
    assert!(resized.rows < 200, "{resized:?}");
}

/// case E20
#[test]
fn a_token_costs_its_own_block_whatever_stands_above() {
    let mut shown = transcript(&[begin()]);
    let paragraph = "Some words that fill a paragraph of an answer. ".repeat(10);
    for number in 0..2000 {
        shown.apply(&text(&format!("{paragraph}\n\n```rust\nlet a = {number};\n```\n\n")), 0);
    }
    let mut layout = TranscriptLayout::new();
    frame(&mut layout, &shown, 100);
    for _ in 0..50 {
        shown.apply(&text("word "), 0);
        let work = frame(&mut layout, &shown, 100);
        assert!(work.pieces <= 2 && work.rows <= 10, "{work:?}");
    }
}

#[test]
fn ten_thousand_cells_cost_what_is_visible() {
    let mut history: Vec<Message> = Vec::new();
    for number in 0..3400 {
        let id = format!("c{number}");
        history.push(user(&format!("do {number}"), Origin::Prompt));
        let call = call(&id, "bash", json!({ "command": "ls" }));
        history.push(assistant(vec![Block::text("Yes."), Block::Call(call)]));
        history.push(Message::Tool(result(&id, "bash", CallStatus::Ok, "a\nb\nc")));
    }
    let mut shown = Transcript::default();
    shown.load(&history);
    assert_eq!(shown.cells().len(), 10_200);
    let mut layout = TranscriptLayout::new();
    let first = frame(&mut layout, &shown, 100);
    assert!(first.pieces < 60, "{first:?}");
    let resized = frame(&mut layout, &shown, 50);
    assert!(resized.pieces < 60, "{resized:?}");
}

#[test]
fn the_rows_kept_stay_bounded_however_much_is_read() {
    let prose: String = (0..40_000).map(|n| format!("Sentence {n} of the text.\n\n")).collect();
    let shown = transcript(&[begin(), text(&prose)]);
    let mut layout = TranscriptLayout::new();
    let mut scroll = Scroll::default();
    let theme = Theme::default();
    for _ in 0..800 {
        scroll.lines(-49);
        layout.prepare(&shown, &scroll, 80, 50, &theme, 0);
        scroll.settle(&layout.settled(), &shown);
    }
    assert!(layout.work().kept_bytes <= 5 * 1024 * 1024, "{:?}", layout.work());
}

#[test]
fn a_running_command_redraws_only_itself() {
    let mut shown = Transcript::default();
    for number in 0..20 {
        let id = format!("c{number}");
        let call = call(&id, "bash", json!({ "command": "ls" }));
        shown.apply(&Event::ToolStart { call, preview: None }, 0);
        if number < 19 {
            shown.apply(&ended(&id, "bash", CallStatus::Ok, "a", None), 0);
        }
    }
    let mut layout = TranscriptLayout::new();
    frame(&mut layout, &shown, 100);
    assert!(frame(&mut layout, &shown, 100).rows <= 6);
}

#[test]
fn colours_are_asked_for_only_when_a_block_is_closed() {
    let mut shown = transcript(&[begin(), text("Text.\n\n```rust\nfn main() {}\n")]);
    let mut layout = TranscriptLayout::new();
    frame(&mut layout, &shown, 80);
    assert!(!layout.has_asked_for_colours());
    shown.apply(&text("```\n"), 0);
    frame(&mut layout, &shown, 80);
    assert!(layout.has_asked_for_colours());
}

#[tokio::test]
async fn colours_arrive_without_moving_anything() {
    let shown = transcript(&[begin(), text("```rust\nfn main() {}\n```\nend")]);
    let mut layout = TranscriptLayout::new();
    frame(&mut layout, &shown, 80);
    let before = layout.visible_text();
    let ready = layout.colours_ready();
    let wait = std::time::Duration::from_secs(20);
    tokio::time::timeout(wait, ready.notified()).await.expect("colours in time");
    let again = frame(&mut layout, &shown, 80);
    assert_eq!(again.pieces, 1);
    assert_eq!(layout.visible_text(), before);
    assert_eq!(frame(&mut layout, &shown, 80).pieces, 0);
}

#[test]
fn deltas_never_copy_the_text_before_them() {
    let mut shown = transcript(&[begin()]);
    for _ in 0..100_000 {
        shown.apply(&text("abcd"), 0);
    }
    let CellKind::Assistant { text, .. } = &shown.get(CellId(0)).unwrap().kind else {
        panic!("no answer")
    };
    assert_eq!(text.len(), 400_000);
}
