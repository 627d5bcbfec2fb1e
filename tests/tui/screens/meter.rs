//! The context on screen: the page of `/context`, `/compact`, the line of a step, the footer.

use codebot::app::service::{ContextReport, Request, Update};
use codebot::kernel::command::Command;
use codebot::kernel::compaction::{Phase, Step};
use codebot::kernel::event::{Event, Purpose};
use codebot::kernel::message::Usage;
use codebot::ui::store::Effect;

use super::stage::Stage;

fn report() -> ContextReport {
    ContextReport {
        window: 200_000,
        used: 64_500,
        free: 85_500,
        reserve: 50_000,
        sources: vec![
            ("system", 1200),
            ("instructions", 2300),
            ("tools", 6000),
            ("messages", 15_000),
            ("tool results", 40_000),
        ],
        steps: vec![("old results cleared".to_owned(), 12_400)],
    }
}

#[test]
fn the_page_shows_where_the_tokens_go_at_every_width() {
    for columns in [40, 80, 200] {
        let mut stage = Stage::sized(columns, 30);
        stage.types("/context").key("enter");
        assert!(matches!(stage.taken().as_slice(), [Effect::Request(Request::Context)]));
        stage.news(Update::Context(report()));
        insta::assert_snapshot!(format!("context_{columns}"), stage.text());
        stage.key("esc");
        assert!(stage.store.overlay.is_none());
    }
}

/// On a low screen the rows scroll, and no number is out of reach.
#[test]
fn the_page_scrolls_on_a_low_screen() {
    let mut stage = Stage::sized(60, 12);
    stage.news(Update::Context(report()));
    assert!(!stage.text().contains("old results cleared"));
    stage.key("end");
    assert!(stage.text().contains("old results cleared"), "{}", stage.text());
    stage.key("home");
    assert!(stage.text().contains("instructions"));
}

/// A report of nothing or too much is drawn all the same.
#[test]
fn odd_numbers_are_drawn() {
    for (used, window) in [(0, 0), (900, 100), (u64::MAX / 1000, 1), (5, u64::MAX / 1000)] {
        let mut stage = Stage::sized(40, 20);
        let report = ContextReport { used, window, sources: vec![("system", used)], ..report() };
        stage.news(Update::Context(report));
        assert!(stage.text().contains("Context: "));
    }
}

#[test]
fn compact_goes_out_with_its_focus_and_undo_is_a_command_of_its_own() {
    let mut stage = Stage::open();
    stage.types("/compact the parser").key("enter");
    assert_eq!(stage.commands(), [Command::Compact { focus: "the parser".to_owned() }]);
    assert!(stage.store.activity.is_busy(), "esc can stop it from now on");
    stage.types("/compact undo").key("enter");
    assert!(stage.commands().is_empty());
    assert!(stage.text().contains("has to wait for the end of the run"));
    let mut stage = Stage::open();
    stage.types("/compact undo").key("enter");
    assert_eq!(stage.commands(), [Command::UndoCompaction]);
    let mut stage = Stage::busy();
    stage.types("/compact").key("enter");
    assert_eq!(stage.commands(), [Command::Compact { focus: String::new() }]);
    assert!(stage.text().contains("at the end of the run"), "{}", stage.text());
}

#[test]
fn a_step_is_seen_while_it_goes_on_and_leaves_a_line() {
    let mut stage = Stage::busy();
    let usage = Usage { input: 100_000, output: 5_000, ..Usage::default() };
    stage.event(Event::Usage { purpose: Purpose::Main, usage, cost: None });
    assert!(stage.text().contains("ctx 70%"), "{}", stage.text());
    stage.event(Event::Compaction { step: Step::Full, phase: Phase::Start { before: 105_000 } });
    assert!(stage.text().contains("Summing up the conversation…"), "{}", stage.text());
    let phase = Phase::Done { before: 105_000, after: 15_000 };
    stage.event(Event::Compaction { step: Step::Full, phase });
    let text = stage.text();
    assert!(
        text.contains("conversation summed up: 105.0k → 15.0k tokens; /compact undo"),
        "{text}"
    );
    assert!(text.contains("ctx 10%") && !text.contains("Summing up"), "{text}");
    let phase = Phase::Failed { reason: "the service is \u{1b}[31mdown".to_owned() };
    stage.event(Event::Compaction { step: Step::Full, phase });
    assert!(stage.text().contains("summing up the conversation did not work: the service is down"));
    stage.event(Event::Compaction { step: Step::Full, phase: Phase::Undone });
    assert!(stage.text().contains("the last compaction was undone"));
}
