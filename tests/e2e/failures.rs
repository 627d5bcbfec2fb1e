//! What a failing model service leads to with `-p`: one clear line and exit code 5, or a retry that
//! nobody has to think about. Both wire formats.

use std::net::TcpListener;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::command::{Print, objects, text};
use crate::mock_llm::Reply;
use crate::service::{KEY, Service, Wire};

fn ask(service: &Service, args: &[&str]) -> Output {
    let mut all = vec!["-m", service.wire.model()];
    all.extend(args);
    all.push("hello");
    Print::new(&all).envs(service.environment()).run().0
}

/// The only line of stderr that names an error.
#[track_caller]
fn error_line(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "");
    let err = text(&output.stderr);
    let lines: Vec<&str> = err.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(lines.len(), 1, "{err}");
    assert!(!err.contains('<') && !err.contains('{'), "markup or JSON is shown: {err}");
    lines[0].to_owned()
}

#[track_caller]
fn assert_answered(output: &Output, service: &Service) {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "Here I am.\n");
    service.assert_valid();
}

#[test]
fn a_wrong_key_names_the_variable_to_change_and_is_not_tried_again() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        service.mock.rules(|rules| rules.key = Some("another".to_owned()));
        let line = error_line(&ask(&service, &[]));
        assert!(line.contains("401") && line.contains(wire.key_env()), "{line}");
        assert!(!line.contains(KEY), "{line}");
        assert_eq!(service.mock.bodies().len(), 1);
    }
}

#[test]
fn an_unknown_model_is_named_with_the_option_to_change() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        service.mock.push(wire.unknown_model());
        let line = error_line(&ask(&service, &[]));
        assert!(line.contains("404") && line.contains("mock-1"), "{line}");
        assert!(line.contains("--model"), "{line}");
        assert_eq!(service.mock.bodies().len(), 1);
    }
}

#[test]
fn a_server_that_is_not_there_is_named_by_its_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let config = "[retry]\nmax_retries = 1\n";
    for wire in Wire::ALL {
        let print = Print::new(&["-m", wire.model(), "hello"]);
        std::fs::write(print.home.path("config").join("config.toml"), config).unwrap();
        let print = print.env(wire.key_env(), KEY).env("NO_PROXY", "*");
        let print = print.env("ANTHROPIC_BASE_URL", &base).env("OPENAI_BASE_URL", &base);
        let print = print.env("GOOGLE_GEMINI_BASE_URL", &base);
        let output = print.run().0;
        let line = error_line(&output);
        assert!(line.contains(base.trim_start_matches("http://")), "{line}");
        let err = text(&output.stderr);
        assert_eq!(err.lines().filter(|line| line.starts_with("retry: ")).count(), 1, "{err}");
    }
}

/// A proxy or a wrong address answers with a page.
#[test]
fn a_page_instead_of_an_answer_points_to_the_address() {
    let page = "<!doctype html><html><head><title>Welcome</title></head><body><h1>It works</h1>\
                </body></html>";
    for wire in Wire::ALL {
        for status in [200, 404] {
            let service = Service::start(wire);
            service.mock.otherwise(Reply::body(status, "text/html", page));
            let print = Print::new(&["-m", wire.model(), "hello"]).envs(service.environment());
            let config = "[retry]\nmax_retries = 1\n";
            std::fs::write(print.home.path("config").join("config.toml"), config).unwrap();
            let line = error_line(&print.run().0);
            assert!(line.contains("base_url"), "{status}: {line}");
        }
    }
}

#[test]
fn a_short_wait_that_the_service_asks_for_is_kept() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        service.mock.push(wire.limited("0.05"));
        service.says("Here I am.");
        let started = Instant::now();
        let output = ask(&service, &[]);
        assert_answered(&output, &service);
        let err = text(&output.stderr);
        assert!(err.contains("retry: ") && err.contains("429"), "{err}");
        // The backoff alone would be a second; starting takes its time on a busy machine.
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
}

#[test]
fn an_overloaded_service_is_asked_again() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        service.mock.push(wire.overloaded());
        service.says("Here I am.");
        let output = ask(&service, &[]);
        assert_answered(&output, &service);
        let err = text(&output.stderr);
        assert!(err.contains("retry: ") && err.contains("overloaded"), "{err}");
    }
}

#[test]
fn a_stream_that_breaks_off_is_asked_again_and_nothing_is_doubled() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        service.mock.push(wire.text("Here I was, but not for long.").cut(4));
        service.says("Here I am.");
        let output = ask(&service, &["--output-format", "stream-json"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let found = objects(&output);
        let retries = found.iter().filter(|line| line["type"] == "retry").count();
        assert_eq!(retries, 1);
        let answers: Vec<_> = found.iter().filter(|line| line["role"] == "assistant").collect();
        assert_eq!(answers.len(), 1);
        assert_eq!(found.last().unwrap()["text"], "Here I am.");
        assert_eq!(found.last().unwrap()["turns"], 1);
        service.assert_valid();
        assert_eq!(service.said(1), ["hello"], "the broken answer is not sent back");
    }
}

/// The command ran once and its result is sent, though the answer around it broke off. Only the
/// messages format tells before the end of an answer that a call is complete.
#[test]
fn a_command_that_ran_before_the_break_is_not_run_again() {
    let service = Service::start(Wire::Messages);
    let command = json!({"command": "echo ran >> ran.log; cat ran.log"});
    let mut reply = Wire::Messages.calls(0, "First this.", &[("bash", command)]);
    // The next block tells that the call is complete; then the connection dies.
    reply.steps.truncate(reply.steps.len() - 2);
    let next = json!({"type": "content_block_start", "index": 2,
                      "content_block": {"type": "text", "text": ""}});
    let more = json!({"type": "content_block_delta", "index": 2,
                      "delta": {"type": "text_delta", "text": "And then"}});
    let reply = reply
        .bytes(crate::mock_llm::anthropic::event(&next))
        .bytes(crate::mock_llm::anthropic::event(&more))
        .then(crate::mock_llm::Step::Delay(Duration::from_millis(1500)))
        .then(crate::mock_llm::Step::Reset);
    service.mock.push(reply);
    service.says("Here I am.");
    let args = ["-m", "anthropic/mock-1", "--permission-mode", "trust", "go"];
    let (output, home) = Print::new(&args).envs(service.environment()).run();
    assert_answered(&output, &service);
    let log = std::fs::read_to_string(home.path("work").join("ran.log")).unwrap();
    assert_eq!(log, "ran\n");
    assert_eq!(service.results(1).len(), 1);
    assert!(service.results(1)[0].contains("ran"), "{:?}", service.results(1));
}

#[test]
fn a_wait_of_days_ends_with_the_time_instead_of_waiting() {
    for wire in Wire::ALL {
        let service = Service::start(wire);
        service.mock.push(wire.limited("250000"));
        let started = Instant::now();
        let line = error_line(&ask(&service, &[]));
        assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
        assert!(line.contains("69 h") || line.contains("2 d") || line.contains("hours"), "{line}");
        assert_eq!(service.mock.bodies().len(), 1);
    }
}

#[test]
fn programs_get_the_failure_in_the_same_fields() {
    for wire in Wire::ALL {
        for format in ["json", "stream-json"] {
            let service = Service::start(wire);
            service.mock.rules(|rules| rules.key = Some("another".to_owned()));
            let output = ask(&service, &["--output-format", format]);
            assert_eq!(output.status.code(), Some(5));
            let end = objects(&output).pop().unwrap();
            assert_eq!((&end["reason"], &end["text"]), (&json!("error"), &json!("")));
            assert_eq!(end["error"]["provider"], true, "{end}");
            let message = end["error"]["message"].as_str().unwrap();
            assert!(message.contains(wire.key_env()), "{message}");
        }
    }
}
