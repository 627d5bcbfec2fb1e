//! Sessions across processes: going on, going on after a kill, two at once, a disk that is full.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::command::{Print, objects, text};
use crate::pty::{Home, Program, Pty, entries, keys};
use crate::service::{Service, Wire};
use crate::words::{COMPOSER, RUNNING};

fn program(service: &Service, home: &Home, shell: &str, args: &[&str]) -> Program {
    let mut program = Program::within(home, shell, args).size(110, 36);
    for (name, value) in service.environment() {
        program = program.env(name, &value);
    }
    program.env("CODEBOT_MODEL", service.wire.model())
}

fn open(service: &Service, home: &Home, args: &[&str]) -> Pty {
    let pty = program(service, home, env!("CARGO_BIN_EXE_codebot"), args).start();
    pty.wait_for(COMPOSER);
    pty.wait_for("mock-1");
    pty
}

fn print(service: &Service, home: &Home, args: &[&str]) -> Print {
    let args = [&["-m", service.wire.model()][..], args].concat();
    Print::within(home, &args).envs(service.environment())
}

/// The session files of a home.
fn journals(home: &Home) -> Vec<PathBuf> {
    let folder = home.path("state").join("sessions");
    let projects = if folder.exists() { entries(&folder) } else { Vec::new() };
    projects.iter().flat_map(|project| entries(project)).collect()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits until the file holds something.
fn wait_for_file(path: &Path) -> String {
    for _ in 0..2000 {
        match fs::read_to_string(path) {
            Ok(text) if !text.is_empty() => return text,
            _ => thread::sleep(Duration::from_millis(10)),
        }
    }
    panic!("{} stays empty", path.display());
}

#[test]
fn going_on_shows_and_sends_what_was_said() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        service.calls("I look around.", &[("ls", json!({}))]).says("Nothing is here.");
        let first = print(&service, &home, &["look around"]).run().0;
        assert_eq!(text(&first.stdout), "Nothing is here.\n", "{}", text(&first.stderr));
        service.says("As I said, nothing.");
        let pty = open(&service, &home, &["-c"]);
        for part in ["look around", "I look around.", "Nothing is here."] {
            pty.wait_for(part);
        }
        pty.enter("are you sure?");
        pty.wait_for("As I said, nothing.");
        pty.wait_gone(RUNNING);
        drop(pty);
        service.says("Still nothing.");
        let again = print(&service, &home, &["-c", "--output-format", "json", "and now?"]).run().0;
        assert_eq!(objects(&again)[0]["text"], "Still nothing.");
        service.assert_valid();
        assert_eq!(service.said(3), ["look around", "are you sure?", "and now?"]);
        assert_eq!(service.results(3).len(), 1);
        assert_eq!(journals(&home).len(), 1, "one session, one file");
    }
}

#[test]
fn going_on_without_an_earlier_session_says_so_and_starts_one() {
    let (service, home) = (Service::start(Wire::Chat), Home::new());
    service.says("Hello.");
    let output = print(&service, &home, &["-c", "hi"]).run().0;
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), "Hello.\n"));
    assert!(text(&output.stderr).contains("no earlier session"), "{}", text(&output.stderr));
}

/// Case F15: the command had its effect, nobody recorded its result.
#[test]
fn a_kill_during_a_command_leaves_an_unknown_outcome_and_no_second_run() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        let work = home.path("work");
        let command = "echo ran >> ran.log; while ! test -e go; do sleep 0.05; done";
        service.calls("I run it.", &[("bash", json!({"command": command}))]);
        let mut pty = open(&service, &home, &["--permission-mode", "trust"]);
        pty.enter("run it");
        wait_for_file(&work.join("ran.log"));
        pty.signal(Signal::KILL);
        pty.wait_exit();
        // Nobody could end the command: let it go by itself.
        fs::write(work.join("go"), "").unwrap();
        service.says("I can't tell whether it ended.");
        let pty = open(&service, &home, &["-c"]);
        pty.wait_for("I run it.");
        pty.wait_for("outcome unknown");
        pty.enter("what happened?");
        pty.wait_for("I can't tell whether it ended.");
        pty.wait_gone(RUNNING);
        service.assert_valid();
        let results = service.results(1);
        assert!(results.len() == 1 && results[0].contains("outcome unknown"), "{results:?}");
        assert_eq!(fs::read_to_string(work.join("ran.log")).unwrap(), "ran\n");
    }
}

/// Case F07.
#[test]
fn a_session_in_use_is_not_opened_twice() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    service.says("Hello.");
    let pty = open(&service, &home, &[]);
    pty.enter("hi");
    pty.wait_for("Hello.");
    pty.wait_gone(RUNNING);
    let output = print(&service, &home, &["-c", "me too"]).run().0;
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let err = text(&output.stderr);
    assert!(err.contains("in use by another codebot"), "{err}");
    let args = &["-c"];
    let mut second = program(&service, &home, env!("CARGO_BIN_EXE_codebot"), args).start();
    assert_eq!(second.wait_exit().exit_code(), 1);
    assert!(second.shows("in use by another codebot"), "{}", second.picture());
    // The first one is untouched, and a new session is always possible beside it.
    service.says("You too.").says("Welcome back.");
    let other = print(&service, &home, &["a new one"]).run().0;
    assert_eq!(text(&other.stdout), "You too.\n");
    pty.enter("still there?");
    pty.wait_for("Welcome back.");
    service.assert_valid();
    assert_eq!(service.said(2), ["hi", "still there?"]);
}

/// A shell line that starts the program with room for files of so many KiB.
fn limited(kib: u32, args: &str) -> String {
    format!("ulimit -f {kib}; exec '{}' {args}", env!("CARGO_BIN_EXE_codebot"))
}

/// A call whose result is longer than eight KiB.
fn long_output() -> (&'static str, Value) {
    ("bash", json!({"command": "seq 1 3000"}))
}

/// Case F05, without a screen: the error is said, nothing further starts, and what was recorded
/// before can still be opened.
#[test]
fn a_full_disk_ends_a_print_run_with_an_error_that_says_so() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        let touch = ("bash", json!({"command": "echo late > late"}));
        service.calls("A long one.", &[long_output()]).calls("Next.", &[touch]);
        let mut command = std::process::Command::new("bash");
        let args = "-p --permission-mode trust --output-format json 'fill it'";
        command.args(["-c", &limited(8, args)]).env_clear().envs(home.environment());
        command.envs(service.environment()).env("CODEBOT_MODEL", wire.model());
        command.current_dir(home.path("work")).stdin(std::process::Stdio::null());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{:?} {}", output.status, text(&output.stderr));
        let result = objects(&output).pop().unwrap();
        assert_eq!(result["reason"], "error");
        let message = result["error"]["message"].as_str().unwrap();
        assert!(message.contains("file size limit") && message.contains("sessions"), "{message}");
        assert_eq!(result["error"]["provider"], false);
        assert!(!home.path("work").join("late").exists(), "nothing further started");
        let left = lines(&journals(&home)[0]);
        assert!(left.len() >= 3, "header, prompt, answer: {left:?}");
    }
}

/// Case F05, on screen: a line that stays, the program lives, and leaving works.
#[test]
fn a_full_disk_is_said_on_screen_and_the_screen_lives_on() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    service.calls("A long one.", &[long_output()]);
    let shell = limited(8, "--permission-mode trust");
    let mut pty = program(&service, &home, "bash", &["-c", &shell]).start();
    pty.wait_for(COMPOSER);
    pty.wait_for("mock-1");
    pty.enter("fill it");
    pty.wait_for("file size limit");
    pty.wait_gone(RUNNING);
    pty.send("draft");
    pty.wait_for("draft");
    pty.send(keys::CTRL_C);
    pty.wait_gone("draft");
    pty.send(keys::CTRL_D);
    pty.wait_exit();
    assert!(pty.modes_restored());
    assert!(!pty.shows("panicked"), "{}", pty.picture());
}

/// From the first byte on: not even the header can be written.
#[test]
fn a_disk_without_any_room_refuses_the_prompt_and_leaves_no_file() {
    let (service, home) = (Service::start(Wire::Chat), Home::new());
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &limited(0, "-p hi")]).env_clear().envs(home.environment());
    command.envs(service.environment()).env("CODEBOT_MODEL", service.wire.model());
    command.current_dir(home.path("work")).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{:?} {}", output.status, text(&output.stderr));
    assert!(text(&output.stderr).contains("file size limit"), "{}", text(&output.stderr));
    assert_eq!(service.mock.bodies().len(), 0, "nothing is asked that can't be recorded");
    assert_eq!(journals(&home), Vec::<PathBuf>::new());
}
