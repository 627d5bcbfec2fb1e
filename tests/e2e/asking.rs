//! Questions of the model and its list, in the real program over HTTP.

use serde_json::json;

use crate::pty::{Home, Program, Pty, keys};
use crate::service::{Service, Wire};
use crate::words::{COMPOSER, PANEL_GUARD_MS, RUNNING};

fn open(service: &Service, home: &Home, args: &[&str]) -> Pty {
    let mut program = Program::within(home, env!("CARGO_BIN_EXE_codebot"), args).size(100, 30);
    for (name, value) in service.environment() {
        program = program.env(name, &value);
    }
    let pty = program.env("CODEBOT_MODEL", service.wire.model()).start();
    pty.wait_for(COMPOSER);
    pty.wait_for("mock-1");
    pty
}

/// The answer goes back to the model; a stopped run takes its question along; esc says that nobody
/// wants to answer.
#[test]
fn a_question_is_answered_declined_and_taken_back() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        let question = json!({"questions": [{"question": "Which colour?", "header": "Colour",
            "options": [{"label": "red"}, {"label": "blue", "description": "as the sky"}]}]});
        let ask = |words: &str| {
            service.calls(words, &[("ask_user", question.clone())]);
        };
        ask("I have to know.");
        service.says("Blue it is.");
        ask("Once more.");
        service.says("Then I choose.");
        ask("And again.");
        let pty = open(&service, &home, &[]);
        let shown = |prompt: &str| {
            pty.enter(prompt);
            pty.wait_for("esc does not answer");
            std::thread::sleep(std::time::Duration::from_millis(PANEL_GUARD_MS));
        };
        shown("paint it");
        pty.send("2");
        pty.wait_for("Blue it is.");
        pty.wait_gone(RUNNING);
        assert_eq!(service.results(1), ["Which colour?\n→ blue"], "{wire:?}");
        shown("paint the other");
        pty.send(keys::ESC);
        pty.wait_for("Then I choose.");
        pty.wait_gone(RUNNING);
        assert!(service.results(3)[1].contains("did not want to answer"));
        shown("and this one");
        pty.send(keys::CTRL_C);
        pty.wait_gone("esc does not answer");
        pty.wait_gone(RUNNING);
        service.assert_valid();
    }
}

/// The list is in the run line and on its page, and still there after a restart.
#[test]
fn the_list_is_on_screen_and_outlives_the_program() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    let todos = json!({"todos": [{"content": "Look at it", "status": "completed"},
        {"content": "Paint it", "status": "in_progress"}]});
    service.calls("A plan.", &[("todo_write", todos)]).says("Half way.");
    let pty = open(&service, &home, &[]);
    pty.enter("paint it in two steps");
    pty.wait_for("Half way.");
    pty.wait_for("1 of 2 done");
    pty.wait_for("▸ Paint it");
    pty.wait_gone(RUNNING);
    pty.enter("/quit");
    drop(pty);
    let pty = open(&service, &home, &["-c"]);
    pty.enter("/todo");
    pty.wait_for("To do: 1 of 2 done");
    service.assert_valid();
}

/// Where nobody is, there is no such tool.
#[test]
fn without_a_screen_nobody_is_asked() {
    let service = Service::start(Wire::Chat);
    service.says("I decided.");
    let print = crate::command::Print::new(&["-m", service.wire.model(), "decide"]);
    let (output, _home) = print.envs(service.environment()).run();
    assert_eq!(crate::command::text(&output.stdout), "I decided.\n");
    let body = service.mock.bodies()[0].to_string();
    assert!(!body.contains("ask_user") && body.contains("todo_write"), "{body}");
}
