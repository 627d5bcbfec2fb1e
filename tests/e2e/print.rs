//! `-p`: the whole program without a screen, on the scripted model and against a server on
//! loopback that refuses or never answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::command::{Print, objects, text};
use crate::pty::entries;

fn of_type<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|object| object["type"] == kind).collect()
}

#[test]
fn text_is_the_final_answer_and_stderr_tells_of_the_retry() {
    let (output, home) = Print::new(&["--demo", "--permission-mode", "trust", "go"]).run();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(out.contains("All checks pass") && out.contains("```sh"), "{out}");
    assert!(!out.contains("Hello"), "only the last answer: {out}");
    assert!(err.contains("retry: "), "{err}");
    assert!(entries(&home.path("tmp")).is_empty(), "the sample workspace is gone");
    assert!(entries(&home.path("work")).is_empty(), "the directory stays as it was");
}

#[test]
fn what_would_ask_is_denied_and_the_code_says_so() {
    let (output, _home) = Print::new(&["--demo", "go"]).run();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("denied: edit"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("stays as it is"), "{}", text(&output.stdout));
}

#[test]
fn json_is_one_object() {
    let args = ["--demo", "--permission-mode", "trust", "--output-format", "json", "go"];
    let (output, _home) = Print::new(&args).run();
    let found = objects(&output);
    assert_eq!((found.len(), output.status.code()), (1, Some(0)));
    let result = &found[0];
    assert_eq!((&result["type"], &result["reason"]), (&"result".into(), &"stop".into()));
    assert!(result["text"].as_str().unwrap().contains("All checks pass"));
    assert_eq!(result["tool_calls"], 6);
    assert_eq!(result["model"], "demo/scripted");
    assert!(result.get("cost_usd").is_none(), "the demo has no price");
}

#[test]
fn stream_json_is_the_run_line_by_line() {
    let args = ["--demo", "--permission-mode", "trust", "--output-format", "stream-json", "go"];
    let (output, _home) = Print::new(&args).run();
    let found = objects(&output);
    let kinds: Vec<&str> = found.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "run_end").count(), 1);
    assert_eq!(kinds.last(), Some(&"run_end"));
    assert!(kinds.contains(&"run_start") && kinds.contains(&"retry"), "{kinds:?}");
    assert_eq!(of_type(&found, "tool_start").len(), of_type(&found, "tool_end").len());
    assert_eq!(of_type(&found, "turn_start").len(), of_type(&found, "turn_end").len());
    let started_early = kinds.iter().position(|kind| *kind == "tool_start").unwrap();
    let first_answer = found.iter().position(|line| line["role"] == "assistant").unwrap();
    assert!(started_early < first_answer, "tools start while the answer is still being written");
    let failed = of_type(&found, "tool_end")
        .into_iter()
        .any(|end| end["name"] == "bash" && end["text"].as_str().unwrap().contains("FAIL"));
    assert!(failed, "the checks really ran and failed");
}

#[test]
fn stdin_joins_the_prompt() {
    let args = ["--demo", "--output-format", "stream-json", "review this"];
    let output = Print::new(&args).run_with_stdin("a diff\n");
    let found = objects(&output);
    let user = found.iter().find(|line| line["role"] == "user").unwrap();
    assert_eq!(user["text"], "review this\n\na diff\n");
    let alone = Print::new(&["--demo", "--output-format", "json"]).run_with_stdin("only stdin");
    assert_eq!(objects(&alone).len(), 1);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let args = ["--demo", "--permission-mode", "trust", "--output-format", "stream-json", "go"];
    let mut print = Print::new(&args);
    let mut child = print.command.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("panic"), "{}", text(&output.stderr));
}

#[test]
fn the_turn_cap_has_its_code() {
    let args = ["--demo", "--permission-mode", "trust", "--max-turns", "2", "go"];
    let (output, _home) = Print::new(&args).run();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("a limit on model calls is reached"));
}

#[test]
fn without_a_model_the_ways_on_are_named() {
    let (output, _home) = Print::new(&["hi"]).run();
    assert_eq!(output.status.code(), Some(5));
    let err = text(&output.stderr);
    assert!(err.contains("ANTHROPIC_API_KEY") && err.contains("--demo"), "{err}");
}

#[test]
fn a_refused_key_is_a_provider_error() {
    let address = serve(
        "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\n\
        content-length: 66\r\nconnection: close\r\n\r\n\
        {\"error\":{\"type\":\"authentication_error\",\"message\":\"no such key!!\"}}",
    );
    let (output, _home) =
        Print::new(&["-m", "anthropic/claude-sonnet-4-5", "hi"]).provider(address).run();
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("error: "), "{}", text(&output.stderr));
}

#[test]
fn signals_stop_a_waiting_run_with_their_code() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (address, asked) = silent_server();
        let mut print = Print::new(&["-m", "anthropic/claude-sonnet-4-5", "hi"]).provider(address);
        let child = print.command.spawn().unwrap();
        asked.recv_timeout(Duration::from_secs(20)).expect("the request arrives");
        let started = Instant::now();
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        assert!(started.elapsed() < Duration::from_secs(5), "it took {:?}", started.elapsed());
    }
}

fn send(child: &Child, signal: Signal) {
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, signal).unwrap();
}

/// Answers every request with these bytes.
fn serve(answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 64 * 1024];
            // One read holds at least the head; the answer depends on nothing in it.
            let _count = stream.read(&mut request).unwrap();
            let _gone = stream.write_all(answer.as_bytes());
            // A reset would throw the answer away while the body is still on its way.
            thread::sleep(Duration::from_millis(100));
        }
    });
    address
}

/// Takes connections and says when a request came, but never answers.
fn silent_server() -> (SocketAddr, std::sync::mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _count = stream.read(&mut [0; 1024]).unwrap();
            open.push(stream);
            let _gone = sender.send(());
        }
    });
    (address, receiver)
}

#[test]
fn a_permission_rule_that_cannot_be_read_is_told() {
    let print = Print::new(&["--demo", "--permission-mode", "trust", "go"]);
    let config = print.home.path("config").join("config.toml");
    std::fs::write(config, "[permissions]\nallow = [\"Bash(make\"]\ndeny = [\"Nonsense(x)\"]\n")
        .unwrap();
    let (output, _home) = print.run();
    let err = text(&output.stderr);
    assert!(err.contains("`Bash(make` lacks its closing parenthesis"), "{err}");
    assert!(err.contains("`Nonsense(x)` has an unknown kind"), "{err}");
}
