//! The harness itself, with a shell as the program: what it shows, sends and measures is right.

use rustix::process::Signal;

use crate::pty::{Program, keys};

#[test]
fn what_is_typed_and_printed_is_on_screen() {
    let mut pty = Program::new("sh", &["-c", "read line; echo \"got: $line\""]).start();
    pty.enter("some words");
    pty.wait_for("got: some words");
    assert!(pty.wait_exit().success());
    assert!(pty.raw().windows(4).any(|part| part == b"got:"));
}

#[test]
fn a_resize_reaches_program_and_emulator() {
    let script = "trap 'stty size; exit 7' WINCH; echo ready; while :; do sleep 0.05; done";
    let mut pty = Program::new("sh", &["-c", script]).size(80, 24).start();
    pty.wait_for("ready");
    pty.resize(61, 19);
    pty.wait_for("19 61");
    assert_eq!(pty.look(vt100::Screen::size).1.get(), 61);
    assert_eq!(pty.wait_exit().exit_code(), 7);
}

#[test]
fn signals_pastes_and_modes_are_seen() {
    let script = "stty -echo raw; trap 'exit 9' TERM; printf ready; while :; do sleep 0.05; done";
    let mut pty = Program::new("sh", &["-c", script]).start();
    pty.wait_for("ready");
    assert!(!pty.modes_restored());
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_exit().exit_code(), 9);

    let cat = Program::new("sh", &["-c", "stty raw; exec head -c 17 | cat -v"]).start();
    std::thread::sleep(std::time::Duration::from_millis(200));
    cat.paste("hello");
    cat.wait_for("^[[200~hello^[[201~");
}

#[test]
fn a_query_is_answered_only_where_a_test_says_how() {
    let script = "stty raw -echo; printf '\\033[c'; head -c 3 | cat -v";
    let mut pty = Program::new("sh", &["-c", script]).answering(b"\x1b[c", b"abc").start();
    pty.wait_for("abc");
    assert!(pty.wait_exit().success());
}

#[test]
fn the_outside_is_hidden_from_the_program() {
    let mut pty = Program::new("sh", &["-c", "echo \"[$HOME] [$USER] [$EXTRA]\"; pwd"])
        .env("EXTRA", "x")
        .size(300, 10)
        .start();
    pty.wait_for("[] [x]");
    let home = pty.home().path("home");
    assert!(pty.shows(&home.display().to_string()), "{}", pty.picture());
    assert!(pty.wait_exit().success());
    assert!(pty.leftovers().is_empty());
    pty.send(keys::ENTER);
}
