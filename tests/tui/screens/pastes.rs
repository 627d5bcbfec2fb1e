//! Pastes: cleaned, collapsed, sent in full, never commands.

use std::time::{Duration, Instant};

use codebot::kernel::command::Command;
use codebot::kernel::message::{Block, text_of};
use codebot::ui::input::{Input, Translator};
use codebot::ui::store::Msg;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use super::stage::Stage;

fn key(code: KeyCode) -> Event {
    Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn sent(stage: &mut Stage) -> Vec<String> {
    stage
        .commands()
        .into_iter()
        .map(|command| match command {
            Command::Prompt { blocks } => text_of(&blocks),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn feed(stage: &mut Stage, batch: Vec<Event>) {
    let inputs = Translator::default().translate(batch, stage.now);
    send(stage, inputs);
}

fn send(stage: &mut Stage, inputs: Vec<Input>) {
    for input in inputs {
        stage.send(Msg::Input(input));
    }
}

/// Case E15.
#[test]
fn enter_in_the_same_read_as_a_paste_sends_it_once() {
    let text = "x".repeat(2048);
    let mut stage = Stage::open();
    feed(&mut stage, vec![Event::Paste(text.clone()), key(KeyCode::Enter)]);
    assert_eq!(sent(&mut stage), std::slice::from_ref(&text));
    assert_eq!(stage.draft(), "");

    feed(&mut stage, vec![Event::Paste(text)]);
    stage.run_ends(codebot::kernel::event::EndReason::Stop);
    feed(&mut stage, vec![key(KeyCode::Enter)]);
    assert_eq!(sent(&mut stage).len(), 1);
}

/// Processor time of this thread, where the system tells it: what else the machine does must not
/// count.
fn work() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Case E16.
#[test]
fn five_megabytes_are_collapsed_quickly_and_sent_in_full() {
    for text in [
        format!("{}\n", "fifty bytes of text in a line of a pasted file ok").repeat(100_000),
        "y".repeat(1_000_000),
    ] {
        let mut stage = Stage::open();
        let begin = (Instant::now(), work());
        feed(&mut stage, vec![Event::Paste(text.clone())]);
        let screen = stage.text();
        let spent = match (begin.1, work()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => begin.0.elapsed(),
        };
        // The limit is for a release build; this one is not optimised.
        assert!(spent < Duration::from_millis(1500), "{spent:?}");
        assert!(screen.contains("[pasted #1 · "), "{screen}");
        stage.key("enter");
        assert!(sent(&mut stage) == [text], "the text is sent in full");
    }
}

/// Case E16.
#[test]
fn an_end_marker_inside_a_paste_does_not_make_commands_of_the_rest() {
    let mut stage = Stage::open();
    let mut batch = vec![Event::Paste("harmless ".into())];
    batch.extend("rm -rf x".chars().map(|c| key(KeyCode::Char(c))));
    batch.push(key(KeyCode::Enter));
    batch.extend("more".chars().map(|c| key(KeyCode::Char(c))));
    feed(&mut stage, batch);
    assert!(stage.commands().is_empty());
    assert_eq!(stage.draft(), "harmless rm -rf x\nmore");
}

/// Case E12.
#[test]
fn escape_codes_and_controls_are_taken_out_and_line_ends_unified() {
    let pasted = "a\x1b]0;own\x07b\x1b[?1049lc\x1b]52;c;ZXZpbA==\x07d\u{9b}2Je\r\nf\rg\u{8}\0h\ti";
    assert_eq!(
        Translator::default().translate(vec![Event::Paste(pasted.into())], 0),
        [Input::Paste("abcde\nf\ngh\ti".into())]
    );
}

#[test]
fn a_pill_is_one_character_to_the_caret() {
    let mut stage = Stage::open();
    stage.types("see ").paste(&"line\n".repeat(20)).types(" ok");
    assert_eq!(stage.draft(), "see [pasted #1 · 100 chars] ok");
    stage.key("backspace").key("backspace").key("backspace").key("backspace");
    assert_eq!(stage.draft(), "see ");
    stage.key("ctrl+_");
    assert_eq!(stage.draft(), "see [pasted #1 · 100 chars]");
    stage.key("enter");
    assert_eq!(sent(&mut stage), [format!("see {}", "line\n".repeat(20))]);
}

#[test]
fn long_pastes_say_their_length() {
    let mut stage = Stage::open();
    stage.paste(&"x".repeat(2340));
    assert_eq!(stage.draft(), "[pasted #1 · 2 340 chars]");
    stage.paste(&"y".repeat(1001));
    assert!(stage.draft().ends_with("[pasted #2 · 1 001 chars]"));
    stage.key("enter");
    let expected = format!("{}{}", "x".repeat(2340), "y".repeat(1001));
    assert_eq!(stage.commands(), [Command::Prompt { blocks: vec![Block::text(expected)] }]);
}

/// Case E16: the rest of the paste arrives in reads of its own.
#[test]
fn a_paste_that_goes_on_in_later_reads_stays_text_until_there_is_a_pause() {
    let mut stage = Stage::open();
    let mut terminal = Translator::default();
    let typed = |text: &str| -> Vec<Event> {
        let code = |c| if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
        text.chars().map(|c| key(code(c))).collect()
    };
    for (at, batch) in [
        (0, vec![Event::Paste("one ".into())]),
        (3, typed("two\n")),
        (6, typed("\nthree\n")),
        (12, typed("\n")),
    ] {
        let inputs = terminal.translate(batch, at);
        send(&mut stage, inputs);
    }
    assert!(stage.commands().is_empty());
    assert_eq!(stage.draft(), "one two\n\nthree\n\n");
    let inputs = terminal.translate(typed("\n"), 200);
    send(&mut stage, inputs);
    assert_eq!(sent(&mut stage).len(), 1);
}
