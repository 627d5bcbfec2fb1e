//! Going back in the real program, over HTTP: Esc Esc, the preview, the files, forth again, and what
//! a later start makes of it.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::pty::{Home, Program, Pty, keys};
use crate::service::{Service, Wire};
use crate::words::{COMPOSER, RUNNING};

fn open(service: &Service, home: &Home, args: &[&str]) -> Pty {
    let args = [&["--permission-mode", "trust"], args].concat();
    let mut program = Program::within(home, env!("CARGO_BIN_EXE_codebot"), &args).size(100, 36);
    for (name, value) in service.environment() {
        program = program.env(name, &value);
    }
    let pty = program.env("CODEBOT_MODEL", service.wire.model()).start();
    pty.wait_for(COMPOSER);
    pty.wait_for("mock-1");
    pty
}

fn ask(pty: &Pty, words: &str, answer: &str) {
    pty.enter(words);
    pty.wait_for(answer);
    pty.wait_gone(RUNNING);
}

/// Two keys, not one with Alt: a terminal sends the same bytes for both.
fn escape_twice(pty: &Pty) {
    pty.send(keys::ESC);
    thread::sleep(Duration::from_millis(200));
    pty.send(keys::ESC);
}

/// A panel takes no key that was meant for what stood there before.
fn after_the_guard() {
    thread::sleep(Duration::from_millis(700));
}

#[test]
fn esc_esc_goes_back_with_files_and_redo_goes_forth_again() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        let file = |name: &str| fs::read_to_string(home.path("work").join(name)).ok();
        service
            .calls("I write.", &[("write", json!({"file_path": "a.txt", "content": "one\n"}))])
            .says("The first is done.")
            .calls("I run.", &[("bash", json!({"command": "echo two > a.txt; echo b > b.txt"}))])
            .says("The second is done.");
        let pty = open(&service, &home, &[]);
        ask(&pty, "write the first", "The first is done.");
        ask(&pty, "run the second", "The second is done.");
        assert_eq!(
            (file("a.txt").unwrap(), file("b.txt").unwrap()),
            ("two\n".into(), "b\n".into())
        );

        escape_twice(&pty);
        pty.wait_for("Rewind to before");
        pty.wait_for("2 files since");
        after_the_guard();
        pty.send(keys::ENTER);
        pty.wait_for("files: 2 files change back");
        pty.wait_for("goes, it was not there");
        pty.send("1");
        pty.wait_for("1 turn taken back, 2 files put back");
        assert_eq!((file("a.txt").unwrap().as_str(), file("b.txt")), ("one\n", None));
        assert!(!pty.shows("The second is done."), "{}", pty.picture());
        pty.wait_for("❯ run the second");

        pty.send(keys::CTRL_C);
        pty.wait_gone("❯ run the second");
        pty.enter("/rewind redo");
        pty.wait_for("the rewind was undone, 2 files put back");
        pty.wait_for("The second is done.");
        assert_eq!(
            (file("a.txt").unwrap(), file("b.txt").unwrap()),
            ("two\n".into(), "b\n".into())
        );

        // Somebody else's work is named and left alone.
        fs::write(home.path("work").join("a.txt"), "by hand\n").unwrap();
        pty.enter("/rewind");
        pty.wait_for("2 files since");
        after_the_guard();
        pty.send(keys::ENTER);
        pty.wait_for("changed since, not by codebot");
        pty.send("1");
        pty.wait_for("1 turn taken back, 1 file put back");
        pty.wait_for("left as they are");
        assert_eq!((file("a.txt").unwrap().as_str(), file("b.txt")), ("by hand\n", None));
        drop(pty);

        service.says("Only the first is here.");
        let pty = open(&service, &home, &["-c"]);
        pty.wait_for("The first is done.");
        assert!(!pty.shows("The second is done."), "{}", pty.picture());
        ask(&pty, "what is here?", "Only the first is here.");
        assert_eq!(service.said(4), ["write the first", "what is here?"]);
        service.assert_valid();
    }
}

/// scenario 217
#[test]
fn nothing_is_rewound_while_a_run_is_active() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    service.calls(
        "I wait.",
        &[("bash", json!({"command": "while ! test -e go; do sleep 0.05; done"}))],
    );
    service.says("It came.");
    let pty = open(&service, &home, &[]);
    pty.enter("wait for it");
    pty.wait_for("I wait.");
    pty.enter("/rewind");
    pty.wait_for("has to wait for the end of the run");
    fs::write(home.path("work").join("go"), "").unwrap();
    pty.wait_for("It came.");
}
