//! The demo on screen: the whole tour with its approvals, steering, stopping, refusing.

use std::thread;
use std::time::Duration;

use crate::panel::choose;
use crate::pty::{PATIENCE, Program, Pty, flat, keys};
use crate::words::{COMPOSER, MODE, PANEL, PANEL_GUARD_MS, RUNNING};

/// The tour is played at reading speed.
const TOUR: Duration = Duration::from_secs(90);
/// Part of the last line of the tour.
const LAST_LINE: &str = "goes away with this session";

fn start() -> Pty {
    let pty = Program::codebot(&["--demo"]).size(120, 45).start();
    pty.wait_for(COMPOSER);
    pty.wait_for(MODE);
    pty
}

/// Waits for a panel or for `end`; true when it was a panel.
fn panel_or(pty: &Pty, end: &str) -> bool {
    pty.wait_at_most(TOUR, &format!("a panel or “{end}”"), |screen| {
        let text = flat(screen);
        text.contains(PANEL) || text.contains(end)
    });
    let open = pty.shows(PANEL);
    if open {
        // The emulator may hold half a frame; the hints are the panel's last line.
        pty.wait_for("enter confirms");
    }
    open
}

#[test]
fn the_tour_plays_to_its_end_with_every_approval_given() {
    let pty = start();
    pty.enter("show me");
    let (mut approvals, mut saw_file) = (0, false);
    while panel_or(&pty, LAST_LINE) {
        saw_file |= pty.shows("tally.sh");
        choose(&pty, "1");
        approvals += 1;
        assert!(approvals < 5, "too many questions:\n{}", pty.picture());
    }
    assert!(approvals >= 1 && saw_file, "the edit asks and names its file");
    pty.wait_gone(RUNNING);
    pty.wait_for("All checks pass");
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    assert!(raw.contains("529") || raw.contains("overloaded"), "the retry was on screen");
}

#[test]
fn refusing_the_edit_leaves_the_file_and_ends_the_tour() {
    let pty = start();
    pty.enter("show me");
    while panel_or(&pty, "stays as it is") {
        // The edit is the panel that shows the new line; other questions are answered with yes.
        if pty.shows("wc -w") && pty.shows("No (or type") {
            thread::sleep(Duration::from_millis(PANEL_GUARD_MS));
            pty.send(keys::ESC);
            pty.wait_gone(PANEL);
        } else {
            choose(&pty, "1");
        }
    }
    pty.wait_for("stays as it is");
    pty.wait_gone(RUNNING);
}

#[test]
fn words_typed_during_the_run_are_answered_in_it() {
    let pty = start();
    pty.enter("show me");
    pty.wait_for(RUNNING);
    pty.send("please use tabs");
    pty.send(keys::ENTER);
    if panel_or(&pty, "You said") {
        choose(&pty, "1");
    }
    pty.wait_at_most(TOUR, "the answer to the steering", |screen| {
        flat(screen).contains("You said: “please use tabs”")
    });
}

#[test]
fn escape_stops_the_run_and_the_next_prompt_works() {
    let pty = start();
    pty.enter("show me");
    pty.wait_for("only prepared lines");
    pty.send(keys::ESC);
    pty.wait_at_most(PATIENCE, "the end of the run", |screen| !flat(screen).contains(RUNNING));
    pty.enter("help");
    pty.wait_for("I look for one of these words");
    pty.wait_gone(RUNNING);
}

#[test]
fn a_long_answer_can_be_scrolled_while_it_grows() {
    // On a small screen a part of the answer is enough to scroll in.
    let pty = Program::codebot(&["--demo"]).size(100, 20).start();
    pty.wait_for(MODE);
    pty.enter("show me");
    pty.wait_for("only prepared lines");
    pty.send(keys::ESC);
    pty.wait_gone(RUNNING);
    pty.enter("long");
    pty.wait_at_most(TOUR, "the middle of the answer", |screen| {
        flat(screen).contains("Line 24 of 160")
    });
    for _ in 0..5 {
        pty.send(keys::PAGE_UP);
    }
    pty.wait_for("the view stays where you put it");
    let place = pty.look(|screen| screen.rows(0, 40).take(10).collect::<Vec<_>>());
    thread::sleep(Duration::from_millis(800));
    let later = pty.look(|screen| screen.rows(0, 40).take(10).collect::<Vec<_>>());
    assert_eq!(place, later, "the view stays where it was put");
    pty.send(keys::ESC);
    pty.wait_gone(RUNNING);
}
