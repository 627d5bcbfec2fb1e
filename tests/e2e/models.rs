//! Models of the real program, over HTTP: the set-up that tries a key, `codebot setup`, `/login` and
//! `/logout`, and changing the model in the middle of a session.

use std::fs;

use serde_json::{Value, json};

use crate::command::{Print, text};
use crate::mock_llm::Reply;
use crate::pty::{Home, Program, Pty, keys};
use crate::service::{KEY, Service, Wire};
use crate::words::{COMPOSER, MODE, RUNNING};

fn program(home: &Home, args: &[&str], services: &[&Service]) -> Program {
    let mut program = Program::within(home, env!("CARGO_BIN_EXE_codebot"), args).size(120, 36);
    for service in services {
        let base = service.mock.base_url();
        let (name, url) = match service.wire {
            Wire::Messages => ("ANTHROPIC_BASE_URL", base),
            Wire::Chat | Wire::Responses => ("OPENAI_BASE_URL", format!("{base}/v1")),
            Wire::Gemini => ("GOOGLE_GEMINI_BASE_URL", base),
        };
        program = program.env(name, &url);
    }
    program.env("NO_PROXY", "*")
}

fn config(home: &Home) -> String {
    fs::read_to_string(home.path("config").join("config.toml")).unwrap_or_default()
}

fn offers_models(service: &Service, names: &[&str]) {
    let data: Vec<Value> = names.iter().map(|name| json!({"id": name, "type": "model"})).collect();
    service.mock.route("GET /v1/models", Reply::json(200, &json!({"data": data})));
}

/// The digit of the row with these words in an open list of numbers.
fn digit(pty: &Pty, words: &str) -> String {
    pty.look(|screen| {
        let rows: Vec<String> = screen.rows(0, 120).collect();
        let row = rows.iter().find(|row| row.contains(words)).unwrap().clone();
        let row = row.trim_start().trim_start_matches('❯').trim_start().to_owned();
        row.split(' ').next().unwrap().to_owned()
    })
}

fn paste_key(pty: &Pty, provider: &str, key: &str) {
    pty.wait_for(provider);
    pty.send(digit(pty, provider));
    pty.wait_for("paste the key");
    pty.paste(key);
    pty.wait_for("•");
    pty.send(keys::ENTER);
}

/// A wrong key is refused before anything is saved, a right one is tried, saved and followed by the
/// question for a model; the choice holds at the next start too.
#[test]
fn the_set_up_tries_the_key_and_asks_for_a_model() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    service.mock.rules(|rules| rules.key = Some(KEY.to_owned()));
    offers_models(&service, &["claude-sonnet-4-5", "mock-2"]);
    service.says("I am here.").says("Still here.");
    let pty = program(&home, &["setup"], &[&service]).start();
    pty.wait_for("Set up a provider");
    paste_key(&pty, "Anthropic: paste", "sk-wrong-0123456789");
    pty.wait_for("Anthropic refused the key");
    assert_eq!(config(&home), "", "a refused key is not kept");
    paste_key(&pty, "Anthropic: paste", &format!("export ANTHROPIC_API_KEY='{KEY}'\n"));
    pty.wait_for("offers 2 models");
    pty.send(digit(&pty, "anthropic/mock-2"));
    pty.wait_for(MODE);
    pty.wait_for("mock-2");
    pty.enter("hello");
    pty.wait_for("I am here.");
    pty.wait_gone(RUNNING);
    let saved = config(&home);
    assert!(saved.contains("model = \"anthropic/mock-2\"") && saved.contains(KEY), "{saved}");
    drop(pty);
    let print = Print::within(&home, &["again"]).env("NO_PROXY", "*");
    let output = print.env("ANTHROPIC_BASE_URL", &service.mock.base_url()).run().0;
    assert_eq!(text(&output.stdout), "Still here.\n", "{}", text(&output.stderr));
    assert_eq!(service.mock.bodies()[1]["model"], "mock-2");
}

/// A key that can't be tried is kept, with a word about it; a name of a variable is kept as a name.
#[test]
fn a_key_that_cannot_be_tried_is_kept_and_so_is_the_name_of_a_variable() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    service.says("I am here.");
    let program = program(&home, &["setup"], &[&service]).env("MY_KEY", KEY);
    let pty = program.start();
    pty.wait_for("Set up a provider");
    paste_key(&pty, "Anthropic: paste", "MY_KEY");
    pty.wait_for(MODE);
    pty.wait_for("saved without a test");
    let saved = config(&home);
    assert!(saved.contains("api_key_env = \"MY_KEY\"") && !saved.contains(KEY), "{saved}");
    pty.enter("hello");
    pty.wait_for("I am here.");
    let asked = service.mock.requests();
    assert_eq!(asked.last().unwrap().headers["x-api-key"], KEY);
}

/// In the middle of a conversation another service answers, sees all that was said before, and is
/// the one that a resumed session goes on with.
#[test]
fn another_model_answers_from_the_next_request_on() {
    let (first, home) = (Service::start(Wire::Messages), Home::new());
    let second = Service::start(Wire::Chat);
    let read = [("read", json!({"file_path": "notes.txt"}))];
    fs::write(home.path("work").join("notes.txt"), "colour: red\n").unwrap();
    first.calls("I look.", &read).says("It is red.").says("Back again.");
    second.says("Still red, says the other one.").says("And after a restart.");
    offers_models(&first, &["mock-1"]);
    offers_models(&second, &["mock-9", "mock-8"]);
    let open = |args: &[&str]| {
        let program = program(&home, args, &[&first, &second]);
        let pty = program.env("ANTHROPIC_API_KEY", KEY).env("OPENAI_API_KEY", KEY).start();
        pty.wait_for(COMPOSER);
        pty
    };
    let pty = open(&["-m", "anthropic/mock-1"]);
    pty.enter("which colour?");
    pty.wait_for("It is red.");
    pty.wait_gone(RUNNING);
    pty.send("\x1bm");
    pty.wait_for("Model · effort auto");
    pty.send("openai/mock-9");
    pty.wait_for("openai/mock-9");
    pty.wait_for("1 of ");
    pty.send(keys::ENTER);
    pty.wait_for("openai/mock-9 answers from the next request on");
    pty.enter("and now?");
    pty.wait_for("Still red, says the other one.");
    pty.wait_gone(RUNNING);
    let asked = second.mock.bodies();
    assert_eq!(asked[0]["model"], "mock-9");
    assert!(asked[0].to_string().contains("which colour?"), "{}", asked[0]);
    assert_eq!(second.results(0).len(), 1);
    pty.enter("/model anthropic/mock-1");
    pty.wait_for("anthropic/mock-1 answers from the next request on");
    pty.enter("and here?");
    pty.wait_for("Back again.");
    pty.wait_gone(RUNNING);
    pty.enter("/model openai/mock-9");
    pty.wait_for("mock-9 answers from the next request on");
    pty.enter("/effort high");
    pty.wait_for("effort high");
    pty.enter("/cost");
    pty.wait_for("esc closes");
    pty.send("q");
    pty.wait_gone("esc closes");
    pty.enter("/quit");
    drop(pty);
    let pty = open(&["-c"]);
    pty.wait_for("mock-9");
    pty.wait_for("high");
    pty.enter("and after that?");
    pty.wait_for("And after a restart.");
    for service in [&first, &second] {
        service.assert_valid();
    }
}

/// `/login` adds a provider to a running session, `/logout` takes its key away again.
#[test]
fn a_provider_is_added_and_taken_away_beside_a_session() {
    let (first, home) = (Service::start(Wire::Messages), Home::new());
    let second = Service::start(Wire::Chat);
    second.mock.rules(|rules| rules.key = Some(KEY.to_owned()));
    offers_models(&second, &["mock-7"]);
    second.says("Added.");
    let program = program(&home, &["-m", "anthropic/mock-1"], &[&first, &second]);
    let pty = program.env("ANTHROPIC_API_KEY", "sk-first-0123456789").start();
    pty.wait_for(COMPOSER);
    pty.enter("/login nobody");
    pty.wait_for("there is no provider nobody");
    pty.enter("/login openai");
    paste_key(&pty, "OpenAI: paste", KEY);
    pty.wait_for("openai/mock-7");
    pty.send("1");
    pty.wait_for("openai/mock-7 answers from the next request on, in new sessions too");
    pty.enter("hello");
    pty.wait_for("Added.");
    pty.wait_gone(RUNNING);
    assert!(config(&home).contains(KEY));
    pty.enter("/logout");
    pty.wait_for("Keys of providers");
    pty.wait_for("in your config file");
    pty.wait_for("in the environment: ANTHROPIC_API_KEY");
    pty.send("openai");
    pty.wait_for("1 of ");
    pty.send("\x1b[3~");
    pty.wait_for("del again forgets it");
    pty.send("\x1b[3~");
    pty.wait_for("no longer in your config file");
    assert!(!config(&home).contains(KEY), "{}", config(&home));
    pty.send(keys::ESC);
    pty.wait_for("esc closes");
    pty.send(keys::ESC);
    pty.wait_gone("Keys of providers");
    pty.enter("/logout anthropic");
    pty.wait_for("comes from ANTHROPIC_API_KEY");
}
