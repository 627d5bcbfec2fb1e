//! Making room in the real program, over HTTP: `/compact` and the next request, its undo, and a
//! window that fills by itself.

use std::fs;

use serde_json::json;

use crate::mock_llm::anthropic;
use crate::pty::{Home, Program, Pty, keys};
use crate::service::{Service, Wire};
use crate::words::{COMPOSER, RUNNING};

const SUMMARY: &str = "<summary>\nGOAL: count the birds of the garden.\n</summary>";

fn open(service: &Service, home: &Home, settings: &str) -> Pty {
    let path = home.path("home").join("settings.toml");
    fs::write(&path, settings).unwrap();
    let args = ["--config", path.to_str().unwrap()];
    let mut program = Program::within(home, env!("CARGO_BIN_EXE_codebot"), &args).size(100, 30);
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

/// The summary takes the place of the beginning, the newest words stay, and `/compact undo` brings
/// everything back: seen in what the service is asked.
#[test]
fn a_conversation_is_summed_up_and_undone_over_every_wire() {
    for wire in Wire::ALL {
        let (service, home) = (Service::start(wire), Home::new());
        let long = "A sparrow came, and then another one. ".repeat(60);
        service.says(&long).says("Two of them.").says(SUMMARY).says("Five now.").says("All here.");
        let pty = open(&service, &home, "");
        ask(&pty, "what came first?", "another one.");
        ask(&pty, "how many were that?", "Two of them.");
        pty.enter("/compact the numbers");
        pty.wait_for("conversation summed up");
        pty.wait_gone(RUNNING);
        ask(&pty, "and after the rain?", "Five now.");
        let said = service.said(3).join("\n");
        assert!(said.contains("GOAL: count the birds"), "{wire:?}: {said}");
        assert!(said.contains("what came first?"), "the appendix has it word for word: {said}");
        assert!(!said.contains("A sparrow came"), "{wire:?}: {said}");
        assert!(service.said(2).join("\n").contains("care most about: the numbers"));
        pty.enter("/compact undo");
        pty.wait_for("undone");
        ask(&pty, "is all still there?", "All here.");
        let request = service.mock.bodies()[4].to_string();
        assert!(request.contains("A sparrow came") && !request.contains("GOAL: count"), "{wire:?}");
        service.assert_valid();
    }
}

/// In a small window the conversation is summed up before the request that would not fit, and the
/// run goes on as if nothing had happened.
#[test]
fn a_window_that_fills_is_made_room_in_during_a_run() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    let line = "the quick brown fox counts birds in the garden\n";
    for name in ["one.txt", "two.txt", "three.txt"] {
        fs::write(home.path("work").join(name), line.repeat(700)).unwrap();
    }
    // The counts are what a service would see: what does not fit is known by them.
    let reads = |id: &str, name: &str, input: u64| {
        let mut events = vec![anthropic::message_start(input)];
        events.extend(anthropic::tool_block(0, id, "read", &json!({"file_path": name})));
        events.extend(anthropic::message_end("tool_use", 40));
        service.mock.push(anthropic::events(events));
    };
    reads("toolu_1", "one.txt", 5000);
    reads("toolu_2", "two.txt", 14_000);
    let settings = "[models.\"anthropic/mock-1\"]\ncontext_window = 24000\nmax_output = 2000\n";
    service.says(SUMMARY).says("Counted.");
    let pty = open(&service, &home, settings);
    pty.enter("count the birds of all files");
    pty.wait_for("conversation summed up");
    pty.wait_for("Counted.");
    pty.wait_gone(RUNNING);
    let last = service.mock.bodies().len() - 1;
    let said = service.said(last).join("\n");
    assert!(said.contains("count the birds of all files"), "{said}");
    assert_eq!(service.mock.violations(), Vec::<String>::new());
    pty.enter("/context");
    pty.wait_for("conversation summed up");
    pty.send(keys::ESC);
    pty.wait_for(COMPOSER);
}
