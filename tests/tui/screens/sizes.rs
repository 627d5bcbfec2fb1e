//! No size of the window breaks anything.

use codebot::app::service::{Level, Update};
use codebot::kernel::event::{Event, QueueKind};
use codebot::ui::input::Input;
use codebot::ui::store::Msg;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::stage::{Stage, asks, item};
use super::starting::offers;

/// One stage for every panel.
fn stages() -> Vec<(&'static str, Stage)> {
    let mut stages = vec![
        ("starting", Stage::starting(80, 24)),
        ("open", Stage::open()),
        ("busy", Stage::busy()),
    ];
    let mut add = |name, prepare: &dyn Fn(&mut Stage)| {
        let mut stage = Stage::busy();
        stage.send(Msg::Notice(Level::Info, "hello 你好 👨‍👩‍👧".into()));
        let items = vec![item("q1", QueueKind::Steer, "use tabs 日本")];
        stage.event(Event::Queue { items });
        prepare(&mut stage);
        stages.push((name, stage));
    };
    add("draft", &|s| {
        s.types("a draft 你好 ").paste("👨‍👩‍👧\nsecond\tline");
    });
    add("menu", &|s| {
        s.types("/");
    });
    add("help", &|s| {
        s.key("?");
    });
    add("queue", &|s| {
        s.key("up").key("e").types("你");
    });
    add("trust", &|s| {
        s.types("/mode trust").key("enter");
    });
    add("approval", &|s| {
        s.event(Event::ApprovalAsked { approval: asks("k1", "cargo test\n你好 && ls") });
    });
    add("refusal", &|s| {
        s.event(Event::ApprovalAsked { approval: asks("k1", &"x".repeat(500)) });
        s.wait(600).types("no 你好");
    });
    add("setup", &|s| s.news(Update::Setup(offers())));
    add("key", &|s| {
        s.news(Update::Setup(offers()));
        s.key("3").types("sk-abc");
    });
    add("closing", &|s| {
        s.key("ctrl+c").key("ctrl+c");
    });
    stages
}

fn draws(stage: &mut Stage, width: u16, height: u16) {
    stage.send(Msg::Input(Input::Resize(width, height)));
    let area = Rect { x: 0, y: 0, width, height };
    let mut buf = Buffer::empty(area);
    if let Some(cursor) = stage.draw_into(area, &mut buf) {
        assert!(area.contains(cursor), "cursor {cursor:?} outside {area:?}");
    }
}

/// Case E05.
#[test]
fn every_panel_draws_at_every_small_size() {
    for (name, mut stage) in stages() {
        for width in 0..=45 {
            for height in 0..=14 {
                draws(&mut stage, width, height);
            }
        }
        let (text, _) = stage.screen();
        assert!(!text.is_empty(), "{name}");
    }
}

/// Case E05.
#[test]
fn below_the_minimum_there_is_a_short_notice() {
    for (width, height) in [(19, 24), (80, 4), (10, 3)] {
        let mut stage = Stage::sized(width, height);
        let text = stage.text();
        assert!(text.starts_with("window"), "{width}×{height}: {text}");
        stage.send(Msg::Input(Input::Resize(80, 24)));
        assert!(stage.text().contains("balanced"));
    }
}

/// Case E05: a buffer smaller than the area, as while the window shrinks.
#[test]
fn an_area_larger_than_the_buffer_is_clipped() {
    for (_, stage) in stages() {
        let mut buf = Buffer::empty(Rect { x: 0, y: 0, width: 10, height: 3 });
        stage.draw_into(Rect { x: 0, y: 0, width: 80, height: 24 }, &mut buf);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_size_and_any_draft_draw(
        width in 0u16..220, height in 0u16..70, draft in "[ -~\\t\\n你é👨‍👩‍👧]{0,200}"
    ) {
        let mut stage = Stage::busy();
        stage.paste(&draft);
        draws(&mut stage, width, height);
        stage.event(Event::ApprovalAsked { approval: asks("k1", &draft) });
        draws(&mut stage, width, height);
    }
}
