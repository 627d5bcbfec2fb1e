//! What can be done when a run reached a limit; routes that are fixed by hand; the last turn taken
//! back.

use codebot::kernel::budget::{Cap, Reached};
use codebot::kernel::command::{Command, Setting};
use codebot::kernel::event::{EndReason, Event, QueueKind, RunSummary, Tier, WrapReason};
use codebot::kernel::message::{Block, Message, Origin, Timestamp, UserMessage};
use insta::assert_snapshot;

use super::stage::{Stage, item, summary};

const TITLE: &str = "The run reached its limit";

/// A run has ended at this cap, and some time has passed.
fn at_limit(stage: &mut Stage, cap: Cap, value: f64, wrap: Option<WrapReason>) {
    stage.run_starts();
    let reason = if cap == Cap::Turns { EndReason::MaxTurns } else { EndReason::Budget };
    let limit = Some(Reached { cap, value });
    stage.event(Event::RunEnd { summary: RunSummary { limit, wrap, ..summary(reason) } });
    stage.wait(1000);
    stage.commands();
}

fn limit(cap: Cap, value: f64) -> Command {
    Command::Configure(Setting::Limit { cap, value })
}

#[test]
fn the_panel_says_which_limit_and_what_can_be_done() {
    for columns in [40, 80, 200] {
        let mut stage = Stage::sized(columns, 16);
        at_limit(&mut stage, Cap::Tokens, 200_000.0, None);
        assert_snapshot!(format!("limit_{columns}"), stage.text());
    }
    let mut stage = Stage::sized(80, 16);
    at_limit(&mut stage, Cap::Cost, 2.0, None);
    stage.key("e").types("7.50");
    assert_snapshot!("limit_edit", stage.text());
}

#[test]
fn a_raised_limit_goes_on_at_once() {
    let mut stage = Stage::open();
    at_limit(&mut stage, Cap::Turns, 200.0, None);
    stage.key("enter");
    assert_eq!(stage.commands(), [limit(Cap::Turns, 400.0), Command::Continue]);
    assert!(!stage.text().contains(TITLE), "{}", stage.text());
}

#[test]
fn another_amount_can_be_written() {
    let mut stage = Stage::open();
    at_limit(&mut stage, Cap::Tokens, 200_000.0, None);
    stage.key("e").types("much").key("enter");
    assert_eq!(stage.commands(), [], "what is no amount waits to be mended");
    stage.key("ctrl+u").types("1.5m").key("enter");
    assert_eq!(stage.commands(), [limit(Cap::Tokens, 1_500_000.0), Command::Continue]);
}

/// After a report the model has spoken last: the user's word is needed.
#[test]
fn the_same_limit_once_more_goes_on_with_a_word_after_a_report() {
    let mut stage = Stage::open();
    at_limit(&mut stage, Cap::Seconds, 600.0, None);
    stage.key("2").key("enter");
    assert_eq!(stage.commands(), [Command::Continue]);
    let mut stage = Stage::open();
    at_limit(&mut stage, Cap::Turns, 200.0, Some(WrapReason::MaxTurns));
    stage.key("down").key("enter");
    let prompt = Command::Prompt { blocks: vec![Block::text("continue")] };
    assert_eq!(stage.commands(), [prompt]);
    // A message that waits is the word.
    let mut stage = Stage::open();
    stage.event(Event::Queue { items: vec![item("q1", QueueKind::FollowUp, "and then")] });
    at_limit(&mut stage, Cap::Turns, 200.0, Some(WrapReason::MaxTurns));
    stage.key("2").key("enter");
    assert_eq!(stage.commands(), [Command::Continue]);
}

#[test]
fn stopping_leaves_everything_as_it_is() {
    for keys in [["3", "enter"].as_slice(), &["esc"]] {
        let mut stage = Stage::open();
        at_limit(&mut stage, Cap::Turns, 200.0, None);
        for key in keys {
            stage.key(key);
        }
        assert_eq!(stage.commands(), []);
        assert!(!stage.text().contains(TITLE), "{}", stage.text());
    }
}

/// The panel opens by itself, so what was being typed is not an answer to it.
#[test]
fn what_is_typed_while_the_panel_opens_goes_to_the_draft() {
    let mut stage = Stage::busy();
    stage.types("go");
    let limit = Some(Reached { cap: Cap::Turns, value: 2.0 });
    let ended = RunSummary { limit, ..summary(EndReason::MaxTurns) };
    stage.event(Event::RunEnd { summary: ended });
    stage.wait(50).types(" 2 lines");
    assert!(stage.text().contains(TITLE), "{}", stage.text());
    stage.wait(1000).key("esc");
    assert_eq!(stage.draft(), "go 2 lines");
}

#[test]
fn another_run_closes_the_panel() {
    let mut stage = Stage::open();
    at_limit(&mut stage, Cap::Turns, 200.0, None);
    stage.run_starts();
    assert!(!stage.text().contains(TITLE), "{}", stage.text());
}

#[test]
fn a_route_can_be_fixed_and_is_shown_in_the_footer() {
    let mut stage = Stage::open();
    stage.types("/route fast").key("enter");
    let pin = |tier| Command::Configure(Setting::Route(tier));
    assert_eq!(stage.commands(), [pin(Some(Tier::Fast))]);
    assert!(!stage.text().contains("route fast"), "only when the loop says so");
    stage.event(Event::RoutePinned { tier: Some(Tier::Fast) });
    assert!(stage.text().contains("route fast"), "{}", stage.text());
    stage.types("/route auto").key("enter");
    assert_eq!(stage.commands(), [pin(None)]);
    stage.event(Event::RoutePinned { tier: None });
    assert!(!stage.text().contains("route fast"), "{}", stage.text());
    stage.types("/route slow").key("enter");
    assert_eq!(stage.commands(), []);
    assert!(stage.text().contains("there is no route slow"), "{}", stage.text());
}

#[test]
fn the_route_of_the_last_request_is_told_when_asked_for() {
    let mut stage = Stage::sized(110, 24);
    stage.event(Event::RouteSelected {
        tier: Tier::Medium,
        rule: "short request".into(),
        budget: 4,
        model: "m".into(),
    });
    stage.types("/route").key("esc").key("enter");
    let text = stage.text();
    assert!(text.contains("choose its route, the last took medium"), "{text}");
}

#[test]
fn the_last_turn_leaves_the_screen_and_its_words_come_back() {
    let mut stage = Stage::open();
    for (id, words) in [("u1", "first thing"), ("u2", "second thing")] {
        let (id, at, origin) = (id.into(), Timestamp(1), Origin::Prompt);
        let blocks = vec![Block::text(words)];
        let message = Message::User(UserMessage { id, at, origin, blocks, before: None });
        stage.event(Event::MessageEnd { message });
    }
    stage.types("/discard").key("enter");
    assert_eq!(stage.commands(), [Command::Discard]);
    stage.event(Event::TakenBack { ids: vec!["u2".into()], text: "second thing".to_owned() });
    assert_eq!(stage.draft(), "second thing");
    stage.key("ctrl+u");
    let text = stage.text();
    assert!(text.contains("first thing") && !text.contains("second thing"), "{text}");
    assert!(text.contains("files stay as they are"), "{text}");
}

/// While a run is active the turn is not over.
#[test]
fn a_turn_under_way_is_not_taken_back() {
    let mut stage = Stage::busy();
    stage.types("/discard").key("enter");
    assert_eq!(stage.commands(), []);
    assert!(stage.text().contains("/discard has to wait"), "{}", stage.text());
}
