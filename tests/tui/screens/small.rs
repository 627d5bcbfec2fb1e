//! What must be readable on low and narrow screens, and what must not be covered.

use codebot::app::service::{Level, Update};
use codebot::kernel::event::{Delta, Event, Purpose, QueueKind};
use codebot::kernel::message::Usage;
use codebot::ui::store::Msg;
use ratatui::layout::Rect;

use super::stage::{Stage, item};
use super::starting::offers;

fn says(stage: &mut Stage, text: &str) {
    stage.event(Event::MessageStart { id: "a".into() });
    stage.event(Event::MessageDelta { delta: Delta::Text { text: text.to_owned() } });
}

#[test]
fn the_question_before_trust_stands_in_full_on_a_low_screen() {
    let mut stage = Stage::sized(40, 12);
    stage.types("/mode trust").key("enter");
    let text = stage.text();
    for words in ["destroy much still", "ask.", "2 No", "enter confirms"] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
}

#[test]
fn a_warning_at_the_start_leaves_the_card_on_screen() {
    let mut stage = Stage::open();
    stage.send(Msg::Notice(Level::Warning, "unknown key `ui.thme` is ignored".into()));
    let text = stage.text();
    assert!(text.contains("codebot 0."), "{text}");
    assert!(text.contains("▲ unknown key"), "{text}");
    says(&mut stage, "hello");
    assert!(!stage.text().contains("codebot 0."), "{}", stage.text());
}

#[test]
fn the_way_back_to_the_end_covers_no_text() {
    let mut stage = Stage::busy();
    says(&mut stage, &"word ".repeat(2000));
    stage.key("pgup");
    settle(&mut stage);
    says(&mut stage, "more\n\nand more");
    settle(&mut stage);
    let text = stage.text();
    let row = text.lines().find(|row| row.contains(" new ")).expect("the way back");
    assert!(row.starts_with("────"), "{row}");
    assert!(row.ends_with(" new ──"), "{row}");
}

/// What the loop does after a frame.
fn settle(stage: &mut Stage) {
    use codebot::ui::view::layout::regions;
    use codebot::ui::view::transcript::TranscriptLayout;
    let store = &stage.store;
    let (width, height) = store.size;
    let place = regions(store, Rect { x: 0, y: 0, width, height }).transcript;
    let mut rows = TranscriptLayout::new();
    let (width, height) = (place.width, place.height);
    rows.prepare(&store.transcript, &store.scroll, width, height, &store.theme, store.now_ms);
    stage.send(Msg::Settled { settled: rows.settled(), rows: height });
}

#[test]
fn offers_below_the_panel_are_counted_and_numbers_stand_under_each_other() {
    let mut stage = Stage::starting(60, 12);
    let mut setup = offers();
    let provider = setup.providers[0].clone();
    setup.providers = vec![provider; 12];
    setup.reason = "no model is set up: ".repeat(6);
    stage.news(Update::Setup(setup.clone()));
    let text = stage.text();
    assert!(text.contains("❯  1 Try the demo"), "{text}");
    assert!(text.contains(" more · ↑↓ and enter choose"), "{text}");
    for _ in 0..40 {
        stage.key("down");
    }
    let text = stage.text();
    assert!(text.contains("❯ 1"), "{text}");
    assert!(!text.contains(" more · "), "{text}");
}

#[test]
fn a_page_says_how_to_read_on() {
    let mut stage = Stage::sized(80, 24);
    stage.key("?");
    let text = stage.text();
    assert!(text.contains("esc closes · ↓ ") && text.contains(" · space pages"), "{text}");
    let mut pages = String::new();
    for _ in 0..10 {
        pages.push_str(&stage.text());
        stage.key("space");
    }
    let text = stage.text();
    assert!(text.contains("/quit") && text.contains("↑ scrolls back"), "{text}");
    assert!(pages.contains("shift+drag"), "{pages}");
}

#[test]
fn messages_that_come_back_behind_a_draft_are_announced() {
    let mut stage = Stage::busy();
    stage.types("draft");
    let items = vec![item("q1", QueueKind::Steer, "one"), item("q2", QueueKind::FollowUp, "two")];
    stage.event(Event::QueueReturned { items });
    assert_eq!(stage.draft(), "draft");
    assert!(stage.text().contains("2 messages came back; ↑ recalls them"), "{}", stage.text());
}

#[test]
fn the_way_to_stop_is_the_last_word_to_go() {
    for columns in [28, 34, 40, 60, 80] {
        let mut stage = Stage::sized(columns, 12);
        stage.run_starts();
        let usage = Usage { input: 3100, output: 412, cache_read: 0, cache_write: 0 };
        stage.event(Event::Usage { purpose: Purpose::Main, usage, cost: None });
        stage.event(Event::MessageDelta { delta: Delta::Text { text: "x".into() } });
        assert!(stage.text().contains("esc stops"), "{}", stage.text());
    }
}

#[test]
fn a_wait_that_is_over_says_now() {
    let mut stage = Stage::busy();
    stage.event(Event::Retry { attempt: 1, max: 3, delay_ms: 1500, error: "busy".into() });
    assert!(stage.text().contains("Retry 1/3 in 2 s"), "{}", stage.text());
    stage.wait(1600).send(Msg::Tick);
    let text = stage.text();
    assert!(text.contains("Retry 1/3 now") && !text.contains("in 0 s"), "{text}");
}
