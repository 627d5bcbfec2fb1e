//! What the program does to the terminal, and how it leaves it: on quitting, on signals, after
//! resizing; and that pastes and early keys are not taken for commands.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::pty::{Program, Pty, flat, keys};
use crate::words::{COMPOSER, MODE, RUNNING};

fn start() -> Pty {
    let pty = Program::codebot(&["--demo"]).size(100, 30).start();
    pty.wait_for(COMPOSER);
    pty.wait_for(MODE);
    pty
}

/// The terminal is as a shell wants it.
#[track_caller]
fn assert_restored(pty: &Pty) {
    pty.look(|screen| {
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.bracketed_paste(), "pastes are still bracketed");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        assert!(!screen.application_cursor() && !screen.application_keypad());
    });
    assert!(pty.modes_restored(), "echo and line mode are not as before");
    assert!(pty.leftovers().is_empty(), "left behind: {:?}", pty.leftovers());
}

#[test]
fn quitting_restores_everything() {
    let mut pty = start();
    assert!(pty.look(vt100::Screen::alternate_screen));
    pty.send(keys::CTRL_D);
    assert_eq!(pty.wait_exit().exit_code(), 0);
    assert_restored(&pty);
}

#[test]
fn ctrl_c_twice_quits() {
    let mut pty = start();
    pty.send(keys::CTRL_C);
    std::thread::sleep(Duration::from_millis(200));
    pty.send(keys::CTRL_C);
    pty.wait_exit();
    assert_restored(&pty);
}

#[test]
fn signals_restore_everything_idle_and_in_a_run() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        for busy in [false, true] {
            let mut pty = start();
            if busy {
                pty.enter("show me");
                pty.wait_for(RUNNING);
            }
            pty.signal(signal);
            pty.wait_exit();
            assert_restored(&pty);
        }
    }
}

#[test]
fn the_conversation_stays_readable_after_quitting() {
    let mut pty = start();
    pty.enter("show me");
    pty.wait_for("only prepared lines");
    pty.send(keys::ESC);
    pty.wait_gone(RUNNING);
    pty.send(keys::CTRL_D);
    assert_eq!(pty.wait_exit().exit_code(), 0);
    assert!(pty.shows("only prepared lines"), "{}", pty.picture());
}

#[test]
fn every_size_is_survived_and_the_old_one_brings_the_old_picture_back() {
    let mut pty = start();
    pty.send("draft");
    pty.wait_for("draft");
    for (columns, rows) in [(40, 10), (200, 50), (20, 5), (9, 3), (1, 1), (100, 30)] {
        pty.resize(columns, rows);
        std::thread::sleep(Duration::from_millis(150));
    }
    pty.wait_until("composer and footer again", |screen| {
        let text = flat(screen);
        text.contains("draft") && text.contains(MODE)
    });
    pty.send(keys::CTRL_C);
    pty.wait_gone("draft");
    pty.send(keys::CTRL_D);
    assert_eq!(pty.wait_exit().exit_code(), 0);
}

#[test]
fn the_first_key_after_a_resize_shows_at_once() {
    let pty = start();
    for (columns, word) in [(80, "one"), (60, "two"), (120, "three")] {
        pty.resize(columns, 24);
        pty.wait_for(MODE);
        std::thread::sleep(Duration::from_millis(300));
        pty.send(word);
        pty.wait_at_most(Duration::from_secs(3), word, |screen| flat(screen).contains(word));
    }
}

#[test]
fn a_paste_is_text_even_with_line_ends_in_it() {
    let pty = start();
    pty.paste("first line\nsecond line\n/quit\n");
    pty.wait_for("second line");
    std::thread::sleep(Duration::from_millis(300));
    assert!(!pty.shows(RUNNING), "nothing was sent:\n{}", pty.picture());
    pty.wait_for("/quit");
}

#[test]
fn shift_tab_changes_the_mode_in_the_footer() {
    let pty = start();
    pty.send(keys::SHIFT_TAB);
    pty.wait_for("accept-edits");
}

#[test]
fn keys_typed_before_the_first_frame_are_not_lost() {
    let pty = Program::codebot(&["--demo"]).start();
    pty.send("early words");
    pty.wait_for("early words");
}

#[test]
fn no_query_is_waited_for_and_an_answer_is_not_taken_for_typing() {
    let started = Instant::now();
    let pty = Program::codebot(&["--demo"])
        .answering(b"\x1b[c", b"\x1b[?62;22c")
        .answering(b"\x1b[?u", b"\x1b[?0u")
        .start();
    pty.wait_for(MODE);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    std::thread::sleep(Duration::from_millis(300));
    assert!(!pty.shows("62;22") && !pty.shows("?0u"), "{}", pty.picture());
}

#[test]
fn an_idle_screen_writes_nothing() {
    let pty = start();
    std::thread::sleep(Duration::from_secs(1));
    let before = pty.raw().len();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(pty.raw().len(), before, "{}", pty.picture());
}

#[test]
fn tab_while_busy_queues_for_after_the_run() {
    let pty = start();
    pty.enter("show me");
    pty.wait_for(RUNNING);
    pty.send("then the table");
    pty.wait_for("then the table");
    pty.send(keys::TAB);
    pty.wait_until("the queued words outside the composer", |screen| {
        flat(screen).contains("after") && flat(screen).contains("then the table")
    });
}
