//! Commands that go on in the background of the real program: moved there by a key, told about at
//! their end, and gone however the program ends.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::panel::answer;
use crate::pty::{Home, Program, Pty, keys};
use crate::service::{Service, Wire};
use crate::words::{COMPOSER, RUNNING};

/// How long a process may outlive the program, with the load of a busy machine on top.
const GONE: Duration = Duration::from_secs(3);

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

/// Ends when the sign in the workspace is there.
const WAITS: &str = "until test -e go; do sleep 0.02; done; echo built";

fn lives(word: &str) -> bool {
    !Command::new("pgrep").args(["-f", "--", word]).output().unwrap().stdout.is_empty()
}

#[track_caller]
fn assert_gone(word: &str, limit: Duration) {
    let started = Instant::now();
    while lives(word) {
        assert!(started.elapsed() < limit, "{word} outlived the program");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program whose model has started `command` in the background. With `wake` its end starts a run.
fn with_job(command: &str, wake: bool) -> (Pty, Service, Home) {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    let call = ("bash", json!({"command": command, "background": true}));
    service.calls("I start it.", &[call]).says("It runs now.");
    let settings = home.path("home").join("settings.toml");
    std::fs::write(&settings, format!("[background]\nwake = {wake}\n")).unwrap();
    let pty = open(&service, &home, &["--config", settings.to_str().unwrap()]);
    pty.enter("start the server");
    answer(&pty, "Run this command?", "1");
    pty.wait_for("It runs now.");
    pty.wait_gone(RUNNING);
    pty.wait_for("⚙ 1 task");
    (pty, service, home)
}

/// A way to leave.
type Way = fn(&mut Pty);

/// Case C33 and scenario B14: in every way out nothing is left.
#[test]
fn every_way_out_ends_the_background_jobs() {
    let ways: [(&str, Way); 5] = [
        ("771.1", |pty| {
            pty.send(keys::CTRL_D);
            pty.wait_for("would be stopped; quit again");
            pty.send(keys::CTRL_D);
        }),
        ("771.2", |pty| {
            pty.enter("/quit");
            pty.wait_for("would be stopped; quit again");
            pty.enter("/quit");
        }),
        ("771.3", |pty| {
            for _ in 0..4 {
                pty.send(keys::CTRL_C);
                std::thread::sleep(Duration::from_millis(150));
            }
        }),
        ("771.4", |pty| pty.signal(Signal::TERM)),
        ("771.5", |pty| pty.signal(Signal::HUP)),
    ];
    for (seconds, way) in ways {
        let word = format!("sleep {seconds}");
        let (mut pty, _service, _home) = with_job(&format!("trap '' HUP; {word} & {word}"), false);
        assert!(lives(&word));
        way(&mut pty);
        pty.wait_exit();
        assert_gone(&word, GONE);
    }
}

/// Scenario B02 and case G25: the model is told with the next prompt, in a request that real
/// services take.
#[test]
fn the_end_of_a_job_is_shown_at_once_and_told_with_the_next_prompt() {
    let (pty, service, home) = with_job(WAITS, false);
    std::fs::write(home.path("work").join("go"), "").unwrap();
    pty.wait_for("task 1 done: until test -e go");
    pty.wait_gone("⚙ 1 task");
    service.says("I see.");
    pty.enter("well?");
    pty.wait_for("I see.");
    let body = service.mock.bodies().pop().unwrap().to_string();
    let news = body.find("<background-notifications>").expect("the news is in the request");
    assert!(news < body.find("well?").unwrap(), "before the question");
    assert!(body.contains("- Task 1: done - until test -e go") && body.contains("output: built"));
    service.assert_valid();
}

/// Scenario B13: with the setting, the end of a job starts a run by itself.
#[test]
fn the_end_of_a_job_can_wake_the_model() {
    let (pty, service, home) = with_job(WAITS, true);
    service.says("It is built, I go on.");
    std::fs::write(home.path("work").join("go"), "").unwrap();
    pty.wait_for("It is built, I go on.");
    pty.wait_gone(RUNNING);
    let body = service.mock.bodies().pop().unwrap().to_string();
    assert!(body.contains("- Task 1: done - until test -e go"), "{body}");
    service.assert_valid();
}

#[test]
fn ctrl_b_moves_the_running_command_out_of_the_way() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    let call = ("bash", json!({"command": "echo here; exec sleep 772.1"}));
    service.calls("I run it.", &[call]).says("It goes on by itself.");
    let mut pty = open(&service, &home, &[]);
    pty.enter("run it");
    answer(&pty, "Run this command?", "1");
    pty.wait_until("the command", |_| lives("sleep 772.1"));
    pty.send("\x02");
    pty.wait_for("It goes on by itself.");
    pty.wait_for("⚙ 1 task");
    let result = service.results(1).pop().unwrap();
    assert!(result.starts_with("Moved to the background by the user as task 1."), "{result}");
    service.assert_valid();
    pty.wait_gone(RUNNING);
    pty.send(keys::CTRL_D);
    pty.wait_for("quit again");
    pty.send(keys::CTRL_D);
    pty.wait_exit();
    assert_gone("sleep 772.1", GONE);
}

/// The list of tasks stops one, with a question first, and shows it as it is then.
#[test]
fn a_task_is_stopped_from_the_list() {
    let word = "sleep 772.1";
    let (pty, _service, _home) = with_job(&format!("trap '' HUP; {word}"), false);
    pty.enter("/tasks");
    pty.wait_for("Background tasks");
    pty.wait_for(word);
    pty.send("\x1b[3~");
    pty.wait_for("del again stops it");
    assert!(lives(word));
    pty.send("\x1b[3~");
    pty.wait_for("stopped");
    assert_gone(word, GONE);
    pty.send(keys::ESC);
    pty.wait_for(COMPOSER);
}
