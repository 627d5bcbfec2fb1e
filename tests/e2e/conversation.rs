//! Whole conversations on screen against a service that speaks real HTTP, in both wire formats:
//! what the screen shows, what stands on disk afterwards, and what the service was sent.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::panel::{answer, refuse};
use crate::pty::{Home, Program, Pty, flat, keys};
use crate::service::{Service, Wire};
use crate::words::{COMPOSER, MODE, PANEL, PANEL_GUARD_MS, PANEL_KEYS, RUNNING};

/// The screen of a session with this service.
fn open(service: &Service, home: &Home, args: &[&str]) -> Pty {
    let mut program = Program::within(home, env!("CARGO_BIN_EXE_codebot"), args).size(110, 36);
    for (name, value) in service.environment() {
        program = program.env(name, &value);
    }
    let pty = program.env("CODEBOT_MODEL", service.wire.model()).start();
    pty.wait_for(COMPOSER);
    pty.wait_for("mock-1");
    pty
}

/// A home whose workspace holds a file of notes.
fn with_notes() -> Home {
    let home = Home::new();
    fs::write(home.path("work").join("notes.txt"), "colour: red\nsize: 3\n").unwrap();
    home
}

fn content(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn edit() -> (&'static str, serde_json::Value) {
    let piece = json!({"old": "red", "new": "blue"});
    ("edit", json!({"file_path": "notes.txt", "edits": [piece]}))
}

fn bash(command: &str) -> (&'static str, serde_json::Value) {
    ("bash", json!({"command": command}))
}

/// Waits for a file to appear; the sign in the workspace lets the run go on.
fn held() -> (&'static str, serde_json::Value) {
    bash("echo held; while ! test -e go; do sleep 0.02; done; echo released")
}

fn let_go(home: &Home) {
    fs::write(home.path("work").join("go"), "").unwrap();
}

/// Leaves an idle screen.
fn quit(mut pty: Pty) {
    pty.wait_gone(RUNNING);
    pty.send(keys::CTRL_D);
    assert_eq!(pty.wait_exit().exit_code(), 0);
}

/// Waits for `end` and fails when a panel opens before.
#[track_caller]
fn unasked(pty: &Pty, end: &str) {
    pty.wait_until(&format!("“{end}” or a panel"), |screen| {
        let text = flat(screen);
        text.contains(end) || text.contains(PANEL)
    });
    assert!(!pty.shows(PANEL), "asked again:\n{}", pty.picture());
}

#[test]
fn a_change_is_read_made_checked_and_reported() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), with_notes());
        let notes = home.path("work").join("notes.txt");
        let look = ("read", json!({"file_path": "notes.txt"}));
        service
            .calls("I look at it first.", &[look, edit(), bash("grep colour notes.txt | tee seen")])
            .says("The colour is **blue** now.");
        let pty = open(&service, &home, &[]);
        pty.enter("make it blue");
        answer(&pty, "Change notes.txt?", "1");
        answer(&pty, "Run this command?", "1");
        pty.wait_for("The colour is blue now.");
        assert!(pty.shows("I look at it first."), "{}", pty.picture());
        assert_eq!(content(&notes), "colour: blue\nsize: 3\n");
        assert_eq!(content(&home.path("work").join("seen")), "colour: blue\n");
        quit(pty);
        service.assert_valid();
        assert_eq!(service.mock.bodies().len(), 2);
        let results = service.results(1);
        assert_eq!(results.len(), 3, "{results:?}");
        assert!(results[0].contains("colour: red"), "the read saw the old text: {results:?}");
        assert!(results[1].contains("notes.txt"), "{results:?}");
        assert!(results[2].contains("colour: blue"), "the command saw the new text: {results:?}");
    }
}

#[test]
fn words_during_a_run_come_with_the_next_request() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        service.calls("Working.", &[held()]).says("With tabs, then.");
        let pty = open(&service, &home, &["--permission-mode", "trust"]);
        pty.enter("go ahead");
        pty.wait_for("held");
        pty.enter("please use tabs");
        pty.wait_for("steer");
        let_go(&home);
        pty.wait_for("With tabs, then.");
        quit(pty);
        service.assert_valid();
        assert_eq!(service.said(1).last().unwrap(), "please use tabs");
        assert!(service.results(1)[0].contains("released"), "{:?}", service.results(1));
    }
}

#[test]
fn tab_makes_a_second_prompt_of_the_same_run() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        service.calls("Working.", &[held()]).says("First done.").says("Second done.");
        let pty = open(&service, &home, &["--permission-mode", "trust"]);
        pty.enter("go ahead");
        pty.wait_for("held");
        pty.send("then the tests");
        pty.wait_for("then the tests");
        pty.send(keys::TAB);
        pty.wait_for("after");
        let_go(&home);
        pty.wait_for("Second done.");
        assert!(pty.shows("First done."), "{}", pty.picture());
        quit(pty);
        service.assert_valid();
        assert_eq!(service.said(1), ["go ahead"], "not before the run would have ended");
        assert_eq!(service.said(2), ["go ahead", "then the tests"]);
    }
}

#[test]
fn escape_stops_the_answer_and_gives_the_queue_back() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        service.mock.push(wire.stalled("It begins with these words and then "));
        service.says("Fine again.");
        let pty = open(&service, &home, &[]);
        pty.enter("tell me");
        pty.wait_for("It begins with");
        pty.enter("and be quick");
        pty.wait_for("steer");
        pty.send(keys::ESC);
        pty.wait_gone(RUNNING);
        pty.wait_gone("steer");
        pty.wait_for("❯ and be quick");
        pty.send(keys::ENTER);
        pty.wait_for("Fine again.");
        quit(pty);
        service.assert_valid();
        assert_eq!(service.said(1).last().unwrap().lines().last(), Some("and be quick"));
        // The end of a whole answer may find its reader gone as well.
        assert!(service.mock.aborted() >= 1, "the stopped answer's connection was closed");
    }
}

#[test]
fn a_refusal_and_its_words_reach_the_model() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), with_notes());
        let look = ("read", json!({"file_path": "notes.txt"}));
        service.calls("A change.", &[look, edit()]).says("I leave it, then.");
        let pty = open(&service, &home, &[]);
        pty.enter("make it blue");
        refuse(&pty, "Change notes.txt?", "green suits me better");
        pty.wait_for("I leave it, then.");
        quit(pty);
        service.assert_valid();
        let refused = service.results(1)[1].clone();
        assert!(refused.starts_with("User denied."), "{refused}");
        assert!(refused.contains("green suits me better"), "{refused}");
        let notes = content(&home.path("work").join("notes.txt"));
        assert_eq!(notes, "colour: red\nsize: 3\n");
    }
}

/// The saved answer holds in the session and for whoever goes on with it.
#[test]
fn always_is_not_asked_again_also_not_after_going_on() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        let touch = || bash("mkdir made");
        service.calls("Once.", &[touch()]).says("Made it once.");
        let pty = open(&service, &home, &[]);
        pty.enter("make it");
        pty.wait_for("Always:");
        answer(&pty, "Run this command?", "2");
        pty.wait_for("Made it once.");
        service.calls("Twice.", &[touch()]).says("Made it twice.");
        pty.enter("again");
        unasked(&pty, "Made it twice.");
        quit(pty);
        service.calls("Thrice.", &[touch()]).says("Made it thrice.");
        let pty = open(&service, &home, &["-c"]);
        pty.wait_for("Made it twice.");
        pty.enter("and again");
        unasked(&pty, "Made it thrice.");
        quit(pty);
        service.assert_valid();
        let results = service.results(5);
        assert_eq!(results.len(), 3);
        assert!(results[2].contains("exist"), "it ran again: {results:?}");
        assert_eq!(service.said(5), ["make it", "again", "and again"], "the history was sent");
    }
}

#[test]
fn the_footer_shows_the_mode_and_a_failed_call_shows_what_to_change() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    service.mock.rules(|rules| rules.key = Some("another".to_owned()));
    let pty = open(&service, &home, &[]);
    pty.wait_for(MODE);
    pty.enter("hello");
    pty.wait_for("ANTHROPIC_API_KEY");
    quit(pty);
}

/// A run that reached its cap on turns goes on under a higher one, chosen in the panel.
#[test]
fn a_run_at_its_limit_goes_on_when_the_limit_is_raised() {
    let wire = Wire::Messages;
    let (service, home) = (Service::start(wire), with_notes());
    let look = || ("read", json!({"file_path": "notes.txt"}));
    let more = |offset: u64| ("read", json!({"file_path": "notes.txt", "offset": offset}));
    service.calls("One.", &[look()]).says("Read so far: colour.");
    service.calls("Two.", &[more(2)]).says("Everything is read now.");
    let pty = open(&service, &home, &["--max-turns", "2"]);
    pty.enter("read it all");
    pty.wait_for("The run reached its limit of 2 turns");
    pty.wait_for(PANEL_KEYS);
    thread::sleep(Duration::from_millis(PANEL_GUARD_MS));
    pty.send("1");
    pty.send(keys::ENTER);
    pty.wait_for("Everything is read now.");
    assert!(!pty.shows("reached its limit"), "{}", pty.picture());
    quit(pty);
    service.assert_valid();
    assert_eq!(service.mock.bodies().len(), 4);
    assert_eq!(service.said(2).last().unwrap(), "continue");
}
