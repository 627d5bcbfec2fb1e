//! The same script gives the same visible result with `-p`, whichever wire format the service
//! speaks and whichever format is printed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Output};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::command::{Print, objects, text};
use crate::pty::Home;
use crate::service::{Service, Wire};

const ANSWER: &str = "The colour is **blue** now.\n\n- checked\n- done";

/// Reads, changes and checks a file, then reports; the check is asked for and denied in
/// accept-edits mode.
fn script(service: &Service) {
    let piece = json!({"old": "red", "new": "blue"});
    let calls = [
        ("read", json!({"file_path": "notes.txt"})),
        ("edit", json!({"file_path": "notes.txt", "edits": [piece]})),
    ];
    service.calls("I look at it and change it.", &calls);
    service.calls("Then the check.", &[("bash", json!({"command": "make check"}))]);
    service.says(ANSWER);
}

fn run(service: &Service, mode: &str, format: &str) -> (Output, Home) {
    let args = ["-m", service.wire.model(), "--permission-mode", mode];
    let print = Print::new(&[&args[..], &["--output-format", format, "make it blue"]].concat());
    let work = print.home.path("work");
    fs::write(work.join("notes.txt"), "colour: red\n").unwrap();
    fs::write(work.join("Makefile"), "check:\n\t@grep -q blue notes.txt && echo fine\n").unwrap();
    script(service);
    let (output, home) = print.envs(service.environment()).run();
    let seen = format!("{format}: {}{}", text(&output.stdout), text(&output.stderr));
    let notes = fs::read_to_string(work.join("notes.txt")).unwrap();
    assert_eq!(notes, "colour: blue\n", "{seen}");
    service.assert_valid();
    (output, home)
}

/// What differs from run to run or is the wire's own.
fn without_chance(mut object: Value) -> Value {
    for key in ["elapsed_ms", "session", "model", "run", "id", "call_id", "usage", "cost_usd"] {
        if let Some(object) = object.as_object_mut() {
            object.remove(key);
        }
    }
    object
}

#[test]
fn every_format_tells_the_same_on_every_wire() {
    let mut seen: Vec<(String, Value, Vec<Value>)> = Vec::new();
    for wire in Wire::ALL {
        let service = Service::start(wire);
        let (plain, _home) = run(&service, "trust", "text");
        assert_eq!(plain.status.code(), Some(0), "{}", text(&plain.stderr));
        assert_eq!(text(&plain.stdout), format!("{ANSWER}\n"));
        assert_eq!(text(&plain.stderr), "", "nothing to remark on");

        let service = Service::start(wire);
        let (one, _home) = run(&service, "trust", "json");
        let objects_of_one = objects(&one);
        assert_eq!((one.status.code(), objects_of_one.len()), (Some(0), 1));
        let result = objects_of_one.into_iter().next().unwrap();
        assert_eq!(result["text"], ANSWER);
        assert_eq!((&result["turns"], &result["tool_calls"]), (&json!(3), &json!(3)));
        assert_eq!(result["usage"]["input"], 75, "three answers of 25: {result}");
        assert_eq!(result["usage"]["output"], 36, "three answers of 12: {result}");

        let service = Service::start(wire);
        let (lines, _home) = run(&service, "trust", "stream-json");
        let lines = objects(&lines);
        let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
        assert_eq!(kinds[..3], ["mode", "run_start", "message_end"]);
        let end = lines.last().unwrap().clone();
        assert_eq!(end["type"], "run_end");
        let mut end_as_result = without_chance(end);
        end_as_result["type"] = json!("result");
        assert_eq!(end_as_result, without_chance(result.clone()));
        // Deltas are cut as they come in, and calls may start while the answer is still written.
        let settled = lines.into_iter().filter(|line| {
            ["message_end", "tool_end", "turn_start", "turn_end"]
                .contains(&line["type"].as_str().unwrap())
        });
        let mut settled: Vec<Value> = settled.map(without_chance).collect();
        settled.retain(|line| line["type"] != "tool_end");
        seen.push((text(&plain.stdout), without_chance(result), settled));
    }
    for other in &seen[1..] {
        assert_eq!(&seen[0], other);
    }
}

#[test]
fn what_would_ask_is_denied_on_every_wire_and_the_model_goes_on() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        let (output, _home) = run(&service, "accept-edits", "json");
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        let result = &objects(&output)[0];
        assert_eq!(result["denied_unasked"], 1);
        assert_eq!(result["text"], ANSWER);
        assert!(text(&output.stderr).contains("denied: bash"), "{}", text(&output.stderr));
        let denied = service.results(2).pop().unwrap();
        assert!(denied.starts_with("User denied."), "{denied}");
    }
}

#[test]
fn the_turn_cap_ends_it_with_code_4_on_every_wire() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        service.calls("One.", &[("ls", json!({}))]).calls("Two.", &[("ls", json!({}))]);
        let args = ["-m", wire.model(), "--max-turns", "2", "--output-format", "json", "go"];
        let (output, _home) = Print::new(&args).envs(service.environment()).run();
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
        assert_eq!(objects(&output)[0]["reason"], "max_turns");
        service.assert_valid();
        assert_eq!(service.mock.bodies().len(), 2);
    }
}

#[test]
fn what_is_piped_in_stands_after_the_prompt() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        service.says("Seen.");
        let print = Print::new(&["-m", wire.model(), "review"]).envs(service.environment());
        let output = print.run_with_stdin("- old\n+ new\n");
        assert_eq!(text(&output.stdout), "Seen.\n");
        assert_eq!(service.said(0), ["review\n\n- old\n+ new\n"]);
    }
}

/// A run in the middle of an answer that does not go on; the lines so far are read.
fn in_an_answer(service: &Service) -> (Child, BufReader<ChildStdout>, Home) {
    service.mock.push(service.wire.stalled("It begins and then there is nothing more to come "));
    let args = ["-m", service.wire.model(), "--output-format", "stream-json", "go"];
    let mut print = Print::new(&args).envs(service.environment());
    let mut child = print.command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("message_delta") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended early");
    }
    (child, lines, print.home)
}

#[test]
fn an_interrupt_in_an_answer_ends_the_lines_properly() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        let (child, lines, _home) = in_an_answer(&service);
        let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(id, Signal::INT).unwrap();
        let rest: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        let end = rest.last().unwrap();
        assert_eq!(end["type"], "run_end");
        assert_eq!(end["reason"], "aborted", "{end}");
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    }
}

#[test]
fn a_reader_that_leaves_in_an_answer_ends_it_quietly() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        // Words enough that one of them meets the closed pipe.
        let words = "many words ".repeat(5000);
        service.mock.push(wire.text(&words).paced(std::time::Duration::from_millis(1)));
        let args = ["-m", wire.model(), "--output-format", "stream-json", "go"];
        let mut print = Print::new(&args).envs(service.environment());
        let mut child = print.command.spawn().unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        drop(lines);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "");
    }
}

/// The level of thinking of the config file, in the words of each wire.
#[test]
fn the_effort_of_the_config_file_reaches_every_wire() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        service.says("Thought.");
        let print = Print::new(&["-m", wire.model(), "think"]).envs(service.environment());
        let config = format!(
            "effort = \"max\"\n[models.\"{}\"]\nthinking = [\"off\", \"low\", \"high\"]\n",
            wire.model()
        );
        fs::write(print.home.path("config").join("config.toml"), config).unwrap();
        let (output, _home) = print.run();
        assert_eq!(text(&output.stdout), "Thought.\n", "{}", text(&output.stderr));
        let body = service.mock.bodies().remove(0);
        let word = match wire {
            Wire::Messages => &body["output_config"]["effort"],
            Wire::Chat => &body["reasoning_effort"],
            Wire::Responses => &body["reasoning"]["effort"],
            Wire::Gemini => &body["generationConfig"]["thinkingConfig"]["thinkingLevel"],
        };
        assert_eq!(word, "high", "{body}");
        service.assert_valid();
    }
}

/// Case B18, and B17 on the way back: one session goes from service to service; each reads what the
/// others wrote, and only the maker of a signature or of sealed thoughts gets them back.
#[test]
fn a_session_moves_between_services() {
    let services = Wire::ALL.map(Service::start);
    let [messages, chat, gemini, responses] = &services;
    let mut home = None;
    for service in [gemini, responses, messages, chat, gemini, responses] {
        service.calls("I look.", &[("ls", json!({})), ("ls", json!({"path": "."}))]);
        service.says("Seen.");
        let args = ["-c", "-m", service.wire.model(), "look"];
        let print = match &home {
            Some(home) => Print::within(home, &args),
            None => Print::new(&args[1..]),
        };
        let (output, left) = print.envs(service.environment()).run();
        assert_eq!(text(&output.stdout), "Seen.\n", "{}", text(&output.stderr));
        home = Some(left);
        service.assert_valid();
    }
    for (service, results) in [(messages, 6), (chat, 8)] {
        assert_eq!(service.results(1).len(), results, "two calls a round");
        let sent = service.mock.bodies()[1].to_string();
        assert!(!sent.contains("sig-") && !sent.contains("seal-"), "{sent}");
    }
    let sent = |service: &Service, request: usize| service.mock.bodies()[request].to_string();
    let (first, back) = (sent(responses, 1), sent(gemini, 3));
    assert!(first.contains("seal-0") && !first.contains("sig-"), "{first}");
    assert!(back.contains("sig-0") && back.contains("sig-end") && back.contains("sig-2"), "{back}");
    assert!(!back.contains("seal-"), "{back}");
    assert_eq!(gemini.results(3).len(), 10);
    let back = sent(responses, 3);
    assert!(["seal-0", "seal-end", "seal-2"].iter().all(|seal| back.contains(seal)), "{back}");
    assert!(!back.contains("sig-"), "{back}");
    assert_eq!(responses.results(3).len(), 12);
}

/// Case B27: bytes of a command that are no text stand as marks in the history, with a note, in this
/// request and in those of the continued session.
#[test]
fn bytes_that_are_no_text_never_reach_a_service() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        let printed = [r"printf '\xb3\xc9\xb9\xa6'", r"printf '\xed\xa0\x80'"];
        let calls = printed.map(|command| ("bash", json!({"command": command})));
        service.calls("I print it.", &calls).says("Seen.");
        let args = ["-m", wire.model(), "--permission-mode", "trust", "print it"];
        let (output, home) = Print::new(&args).envs(service.environment()).run();
        assert_eq!(text(&output.stdout), "Seen.\n", "{}", text(&output.stderr));
        service.says("Still here.");
        let again = Print::within(&home, &["-c", "-m", wire.model(), "go on"]);
        let (output, _home) = again.envs(service.environment()).run();
        assert_eq!(text(&output.stdout), "Still here.\n", "{}", text(&output.stderr));
        service.assert_valid();
        let mut asked = service.mock.requests();
        asked.retain(|request| request.method == "POST");
        for request in [1, 2] {
            let raw = std::str::from_utf8(&asked[request].raw).unwrap();
            let body: Value = serde_json::from_str(raw).unwrap();
            assert!(!body.to_string().contains("\\ud"), "{body}");
            for result in service.results(request) {
                assert!(result.contains('\u{fffd}'), "{result}");
                assert!(result.contains("not UTF-8"), "{result}");
            }
            assert_eq!(service.results(request).len(), 2);
        }
    }
}
