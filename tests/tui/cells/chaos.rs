//! Any order of events, movements and sizes: nothing panics, and what the cache shows is what a
//! fresh layout shows.

use codebot::app::service::Level;
use codebot::kernel::event::{EndReason, Event, Progress, RunSummary};
use codebot::kernel::message::{Block, CallStatus, Origin, Usage};
use codebot::ui::store::scroll::Scroll;
use codebot::ui::store::transcript::Transcript;
use codebot::ui::text::width::width;
use codebot::ui::theme::Theme;
use codebot::ui::view::transcript::{TranscriptLayout, draw};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

use super::{assistant, begin, call, ended, said, text, thinking};

#[derive(Clone, Debug)]
enum Step {
    Event(Box<Event>),
    Lines(isize),
    Turn(bool),
    Home,
    End,
    Fold(usize),
    FoldAll,
    Notice(String),
    Size(u16, u16),
}

fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-z ]{1,12}",
        2 => Just("\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        1 => Just("```rust\nlet x = 1;\n".to_owned()),
        1 => Just("\n```\n".to_owned()),
        1 => Just("\n- item\n".to_owned()),
        1 => Just("| a | b |\n|---|---|\n| 漢 | 👩\u{200d}👧 |\n".to_owned()),
        1 => Just("\x1b[31m\r\t".to_owned()),
        1 => Just("# head\n".to_owned()),
    ];
    proptest::collection::vec(piece, 1..8).prop_map(|parts| parts.concat())
}

fn status() -> impl Strategy<Value = CallStatus> {
    prop_oneof![
        Just(CallStatus::Ok),
        Just(CallStatus::Error),
        Just(CallStatus::Denied),
        Just(CallStatus::Cancelled)
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let id = prop_oneof![Just("1"), Just("2"), Just("3")];
    let name = prop_oneof![Just("bash"), Just("read"), Just("edit"), Just("grep"), Just("odd")];
    prop_oneof![
        2 => words().prop_map(|words| said(&words, Origin::Prompt)),
        2 => Just(begin()),
        8 => words().prop_map(|words| text(&words)),
        3 => words().prop_map(|words| thinking(&words)),
        1 => words().prop_map(|words| Event::MessageEnd {
            message: assistant(vec![Block::text(words)])
        }),
        1 => Just(Event::MessageDiscarded { turn: 1 }),
        3 => (id.clone(), name, words()).prop_map(|(id, name, words)| Event::ToolStart {
            call: call(id, name, &json!({ "path": words })),
            preview: None
        }),
        1 => (id.clone(), words()).prop_map(|(id, tail)| Event::ToolProgress {
            id: id.into(),
            progress: Progress::Output { tail, bytes: 5000 }
        }),
        3 => (id, status(), words()).prop_map(|(id, status, words)| {
            ended(id, "bash", status, &words, None)
        }),
        1 => Just(Event::Retry { attempt: 1, max: 3, delay_ms: 500, error: "busy".into() }),
        1 => Just(Event::RunEnd { summary: RunSummary {
            run: "r".into(),
            reason: EndReason::Stop,
            turns: 1,
            tool_calls: 1,
            tool_errors: 0,
            denied_unasked: 0,
            usage: Usage::default(),
            elapsed_ms: 10,
            text: String::new(),
            wrap: None,
            cost: None,
            limit: None,
            error: None,
        }}),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => event().prop_map(|event| Step::Event(Box::new(event))),
        4 => (-30_isize..30).prop_map(Step::Lines),
        1 => any::<bool>().prop_map(Step::Turn),
        1 => Just(Step::Home),
        1 => Just(Step::End),
        1 => (0_usize..20).prop_map(Step::Fold),
        1 => Just(Step::FoldAll),
        1 => words().prop_map(Step::Notice),
        2 => (0_u16..90, 0_u16..25).prop_map(|(width, height)| Step::Size(width, height)),
    ]
}

fn take(step: Step, shown: &mut Transcript, scroll: &mut Scroll, size: &mut (u16, u16)) {
    match step {
        Step::Event(event) => shown.apply(&event, 0),
        Step::Lines(rows) => scroll.lines(rows),
        Step::Turn(forward) => scroll.turn(forward, shown),
        Step::Home => scroll.home(shown),
        Step::End => scroll.end(),
        Step::Fold(place) => {
            if let Some(id) = shown.cells().get(place).map(|cell| cell.id) {
                shown.toggle_fold(id);
            }
        }
        Step::FoldAll => shown.fold_all(),
        Step::Notice(words) => shown.notice(Level::Info, &words),
        Step::Size(width, height) => *size = (width, height),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_cache_shows_what_a_fresh_layout_shows(
        steps in proptest::collection::vec(step(), 1..50),
    ) {
        let mut shown = Transcript::default();
        let mut scroll = Scroll::default();
        let mut layout = TranscriptLayout::new();
        let theme = Theme::default();
        let mut size = (60, 12);
        for step in steps {
            take(step, &mut shown, &mut scroll, &mut size);
            let (columns, height) = size;
            layout.prepare(&shown, &scroll, columns, height, &theme, 0);
            let mut fresh = TranscriptLayout::new();
            fresh.prepare(&shown, &scroll, columns, height, &theme, 0);
            prop_assert_eq!(layout.visible_text(), fresh.visible_text());
            prop_assert!(layout.visible_text().len() <= usize::from(height));
            if columns >= 12 {
                for row in layout.visible_text() {
                    prop_assert!(width(&row) <= usize::from(columns), "{:?} in {}", row, columns);
                }
            }
            let area = Rect::new(0, 0, columns, height);
            let mut buffer = Buffer::empty(area);
            draw(&layout, area, &mut buffer);
            scroll.settle(&layout.settled(), &shown);
            let seen = layout.visible_text();
            layout.prepare(&shown, &scroll, columns, height, &theme, 0);
            prop_assert_eq!(layout.visible_text(), seen, "settling moved the text");
        }
    }
}
