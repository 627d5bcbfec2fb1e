//! The front end without a screen against a hand-driven application: the test holds the other
//! ends of the channels and plays loop and application.

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use codebot::app::service::{
    Failure, Front, Handle, Level, LocalServer, ProviderOffer, Ready, Request, Setup, Update,
};
use codebot::headless::prompt::{MAX_STDIN, PromptError, gather, gather_patiently};
use codebot::headless::report::reporter;
use codebot::headless::session::drive;
use codebot::headless::signals::{Signals, Stop};
use codebot::headless::{Format, clean};
use codebot::kernel::command::{Answer, Command, Mode};
use codebot::kernel::event::{
    Approval, Delta, EndReason, Event, RunError, RunSummary, Tier, WrapReason,
};
use codebot::kernel::message::{
    Block, CallStatus, MessageId, ModelRef, RunId, Timestamp, ToolCall, ToolMessage, Usage,
};
use codebot::kernel::ports::{ModelInfo, Price};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Bytes that a test can look at afterwards; `refuses` makes every write fail.
#[derive(Clone, Default)]
struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    refuses: Option<io::ErrorKind>,
}

impl Pipe {
    fn text(&self) -> String {
        String::from_utf8(self.bytes.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Pipe {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if let Some(kind) = self.refuses {
            return Err(kind.into());
        }
        self.bytes.lock().unwrap().extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The application's side.
struct App {
    requests: mpsc::UnboundedReceiver<Request>,
    events: mpsc::Sender<Event>,
    updates: mpsc::UnboundedSender<Update>,
    signals: mpsc::UnboundedSender<Stop>,
    out: Pipe,
    err: Pipe,
    code: JoinHandle<u8>,
}

impl App {
    fn start(format: Format) -> Self {
        Self::with(format, Pipe::default(), false)
    }

    fn with(format: Format, out: Pipe, for_eyes: bool) -> Self {
        let (handle, requests) = Handle::channel();
        let (events, event_end) = mpsc::channel(128);
        let (updates, update_end) = mpsc::unbounded_channel();
        let (signals, signal_end) = mpsc::unbounded_channel();
        let front = Front { handle, events: event_end, updates: update_end };
        let err = Pipe::default();
        let report = reporter(format, for_eyes, Box::new(out.clone()), Box::new(err.clone()));
        let signal_end = Signals::from_channel(signal_end);
        let code = tokio::spawn(async move { drive(front, "hello", report, signal_end).await });
        Self { requests, events, updates, signals, out, err, code }
    }

    fn ready(&self) {
        let model = ModelInfo {
            model: ModelRef { provider: "p".to_owned(), model: "m".to_owned() },
            context_window: 1000,
            max_output: 100,
            price: Some(Price { input: 1.0, output: 2.0, cache_read: 0.0, cache_write: 0.0 }),
            vision: false,
        };
        let ready = Ready {
            model,
            mode: Mode::Balanced,
            workspace: "~/x".to_owned(),
            session: "s1".to_owned(),
            history: vec![],
            effort: None,
            planning: false,
            demo: false,
            sandbox: String::new(),
        };
        self.updates.send(Update::Ready(Box::new(ready))).unwrap();
    }

    /// Opens the session and takes the prompt.
    async fn open(&mut self) {
        self.ready();
        let prompt = self.requests.recv().await.unwrap();
        let Request::Loop(Command::Prompt { blocks }) = prompt else { panic!("{prompt:?}") };
        assert_eq!(blocks, [Block::text("hello")]);
    }

    async fn send(&self, event: Event) {
        self.events.send(event).await.unwrap();
    }

    async fn end(&self, summary: RunSummary) {
        self.send(Event::RunEnd { summary }).await;
    }

    /// Waits for the shutdown request, closes, and gives the exit code.
    async fn close(mut self) -> (u8, String, String) {
        while !matches!(self.requests.recv().await, Some(Request::Shutdown) | None) {}
        let _gone = self.updates.send(Update::Closed);
        let code = self.code.await.unwrap();
        (code, self.out.text(), self.err.text())
    }
}

fn summary(reason: EndReason) -> RunSummary {
    RunSummary {
        run: RunId::from("r1"),
        reason,
        turns: 2,
        tool_calls: 1,
        tool_errors: 0,
        denied_unasked: 0,
        usage: Usage { input: 1_000_000, output: 500_000, cache_read: 0, cache_write: 0 },
        elapsed_ms: 5,
        text: "the answer".to_owned(),
        wrap: None,
        cost: None,
        limit: None,
        error: None,
    }
}

fn failed(provider: bool) -> RunSummary {
    let error = Some(RunError { message: "the key is wrong".to_owned(), provider });
    RunSummary { error, ..summary(EndReason::Error) }
}

fn call() -> ToolCall {
    let mut args = Map::new();
    args.insert("command".to_owned(), Value::from("ls"));
    ToolCall { id: "c1".into(), name: "bash".to_owned(), args, invalid: None, opaque: None }
}

fn ended(status: CallStatus, text: &str) -> Event {
    let result = ToolMessage {
        id: MessageId::from("t1"),
        at: Timestamp(0),
        call_id: "c1".into(),
        tool: "bash".to_owned(),
        status,
        blocks: vec![Block::text(text)],
        detail: None,
        cached: false,
    };
    Event::ToolEnd { id: "c1".into(), name: "bash".to_owned(), status, result }
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn text_prints_only_the_final_answer() {
    let mut app = App::start(Format::Text);
    app.open().await;
    app.send(Event::RunStart { run: "r1".into() }).await;
    let delta = Delta::Text { text: "not shown".to_owned() };
    app.send(Event::MessageDelta { delta }).await;
    app.send(ended(CallStatus::Ok, "tool output")).await;
    app.end(summary(EndReason::Stop)).await;
    assert_eq!(app.close().await, (0, "the answer\n".to_owned(), String::new()));
}

#[tokio::test]
async fn retries_refusals_and_warnings_are_single_clean_lines_on_stderr() {
    let mut app = App::start(Format::Text);
    app.open().await;
    let warning = "unknown key\n\u{1b}]0;title\u{7}".to_owned();
    app.updates.send(Update::Notice { level: Level::Warning, text: warning }).unwrap();
    let info = Update::Notice { level: Level::Info, text: "good to know".to_owned() };
    app.updates.send(info).unwrap();
    app.updates.send(Update::Branch(None)).unwrap();
    tokio::task::yield_now().await;
    let error = "no room\u{1b}[31m".to_owned();
    app.send(Event::Retry { attempt: 1, max: 10, delay_ms: 2500, error }).await;
    app.send(ended(CallStatus::Denied, "User denied.\nReason: nobody")).await;
    app.end(RunSummary { denied_unasked: 1, ..summary(EndReason::Stop) }).await;
    let (code, out, err) = app.close().await;
    assert_eq!((code, out.as_str()), (3, "the answer\n"));
    assert!(err.contains("retry: no room[31m; attempt 1 of 10 in 2.5 s\n"), "{err}");
    assert!(err.contains("denied: bash: User denied. Reason: nobody\n"), "{err}");
    assert!(err.contains("warning: unknown key ]0;title\n"), "{err}");
    assert!(!err.contains('\u{1b}') && !err.contains("good to know"), "{err}");
}

#[tokio::test]
async fn exit_codes_tell_what_ended_the_run() {
    let capped = RunSummary { denied_unasked: 1, ..summary(EndReason::MaxTurns) };
    let cases = [
        (summary(EndReason::Stop), 0),
        (failed(false), 1),
        (RunSummary { denied_unasked: 2, ..summary(EndReason::Stop) }, 3),
        (capped, 4),
        (summary(EndReason::Budget), 4),
        (RunSummary { wrap: Some(WrapReason::Stuck), ..summary(EndReason::Stop) }, 4),
        (failed(true), 5),
        (summary(EndReason::Aborted), 130),
    ];
    for (summary, expected) in cases {
        let mut app = App::start(Format::Text);
        app.open().await;
        app.end(summary).await;
        assert_eq!(app.close().await.0, expected);
    }
}

#[tokio::test]
async fn json_prints_one_object_with_the_sum_of_the_run() {
    let mut app = App::start(Format::Json);
    app.open().await;
    app.send(Event::TurnStart { turn: 1 }).await;
    app.end(summary(EndReason::Stop)).await;
    let (code, out, _) = app.close().await;
    let found = objects(&out);
    assert_eq!((code, found.len()), (0, 1));
    let result = &found[0];
    assert_eq!(result["type"], "result");
    assert_eq!(result["text"], "the answer");
    assert_eq!(result["reason"], "stop");
    assert_eq!(result["turns"], 2);
    assert_eq!(result["tool_calls"], 1);
    assert_eq!(result["usage"]["output"], 500_000);
    assert_eq!(result["cost_usd"], 2.0);
    assert_eq!(result["session"], "s1");
    assert!(result.get("error").is_none());
}

#[tokio::test]
async fn json_carries_the_error_of_a_failed_run() {
    let mut app = App::start(Format::Json);
    app.open().await;
    app.end(failed(true)).await;
    let (code, out, _) = app.close().await;
    let result = &objects(&out)[0];
    assert_eq!((code, result["error"]["message"].as_str()), (5, Some("the key is wrong")));
}

#[tokio::test]
async fn stream_json_writes_one_object_a_line_and_the_end_last() {
    let mut app = App::start(Format::StreamJson);
    app.open().await;
    app.send(Event::RunStart { run: "r1".into() }).await;
    app.send(Event::TurnStart { turn: 1 }).await;
    app.send(Event::MessageDelta { delta: Delta::Text { text: "a\nb".to_owned() } }).await;
    app.send(Event::ToolStart { call: call(), preview: None }).await;
    app.send(ended(CallStatus::Denied, "User denied.\nReason: x")).await;
    let error = "busy".to_owned();
    app.send(Event::Retry { attempt: 1, max: 3, delay_ms: 2000, error }).await;
    app.send(Event::Queue { items: vec![] }).await;
    app.send(Event::TurnEnd { turn: 1 }).await;
    app.end(RunSummary { denied_unasked: 1, ..summary(EndReason::Stop) }).await;
    let (code, out, err) = app.close().await;
    let found = objects(&out);
    let kinds: Vec<&str> = found.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let expected = [
        "run_start",
        "turn_start",
        "message_delta",
        "tool_start",
        "approval_denied",
        "tool_end",
        "retry",
        "turn_end",
        "run_end",
    ];
    assert_eq!(kinds, expected);
    assert_eq!((code, err.as_str()), (3, ""));
    assert_eq!(found[2]["text"], "a\nb");
    assert_eq!(found[3]["args"]["command"], "ls");
    assert_eq!(found[5]["status"], "denied");
    assert_eq!((&found[6]["attempt"], &found[6]["delay_ms"]), (&1.into(), &2000.into()));
    assert_eq!(found[8]["usage"]["input"], 1_000_000);
}

#[tokio::test]
async fn stream_json_tells_how_a_chat_is_steered() {
    let mut app = App::start(Format::StreamJson);
    app.open().await;
    let (tier, model) = (Tier::Medium, "a/b".to_owned());
    let rule = "short request".to_owned();
    app.send(Event::RouteSelected { tier, rule, budget: 4, model }).await;
    app.send(Event::RouteEscalated { from: tier, to: Tier::Full, budget: 10 }).await;
    let signature = "read|{}".to_owned();
    app.send(Event::Reflection { number: 1, again: false, signature }).await;
    app.send(Event::WrapUp { reason: WrapReason::MaxIters }).await;
    app.end(RunSummary { wrap: Some(WrapReason::MaxIters), ..summary(EndReason::Stop) }).await;
    let (code, out, _) = app.close().await;
    let found = objects(&out);
    assert_eq!(code, 4);
    assert_eq!(
        (&found[0]["type"], &found[0]["tier"]),
        (&"route_selected".into(), &"medium".into())
    );
    assert_eq!((&found[1]["to"], &found[1]["budget"]), (&"full".into(), &10.into()));
    assert_eq!((&found[2]["type"], &found[2]["number"]), (&"reflection".into(), &1.into()));
    assert_eq!((&found[3]["type"], &found[3]["reason"]), (&"wrap_up".into(), &"max_iters".into()));
    assert_eq!((&found[4]["type"], &found[4]["wrap"]), (&"run_end".into(), &"max_iters".into()));
}

#[tokio::test]
async fn an_approval_that_comes_all_the_same_is_denied_at_once() {
    let mut app = App::start(Format::Text);
    app.open().await;
    let approval = Approval {
        call: call(),
        preview: None,
        reason: "asks".to_owned(),
        parts: vec![],
        rule: None,
        danger: false,
    };
    app.send(Event::ApprovalAsked { approval }).await;
    let answer = app.requests.recv().await.unwrap();
    let Request::Loop(Command::Answer { id, answer: Answer::Deny { .. } }) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(id.as_str(), "c1");
    app.end(summary(EndReason::Stop)).await;
    assert_eq!(app.close().await.0, 3);
}

#[tokio::test]
async fn without_a_model_it_names_the_ways_on() {
    let app = App::start(Format::Text);
    let setup = Setup {
        reason: "no key found".to_owned(),
        servers: vec![LocalServer {
            label: "Ollama".to_owned(),
            base_url: "http://localhost:11434".to_owned(),
            models: vec!["ollama/qwen3".to_owned()],
        }],
        providers: vec![ProviderOffer {
            name: "anthropic".to_owned(),
            label: "Anthropic".to_owned(),
            key_env: "ANTHROPIC_API_KEY".to_owned(),
            default_model: "anthropic/x".to_owned(),
        }],
        ..Setup::default()
    };
    app.updates.send(Update::Setup(setup)).unwrap();
    let (code, out, err) = app.close().await;
    assert_eq!((code, out.as_str()), (5, ""));
    for part in ["no model configured", "-m ollama/qwen3", "ANTHROPIC_API_KEY", "--demo"] {
        assert!(err.contains(part), "{part} is missing in {err}");
    }
}

#[tokio::test]
async fn a_failed_start_keeps_its_exit_code_in_every_format() {
    for format in Format::ALL {
        let app = App::start(format);
        let message = "config.toml:3:1: unknown table".to_owned();
        app.updates.send(Update::Failed(Failure { message, exit_code: 2 })).unwrap();
        let (code, out, err) = app.close().await;
        assert_eq!(code, 2);
        assert!(err.contains("config.toml:3:1"), "{err}");
        if format != Format::Text {
            let last = objects(&out).pop().unwrap();
            assert_eq!((&last["reason"], &last["turns"]), (&"error".into(), &0.into()));
        }
    }
}

#[tokio::test]
async fn a_refused_prompt_is_an_error_and_not_a_wait() {
    let mut app = App::start(Format::Text);
    app.open().await;
    app.send(Event::Rejected { reason: "a run is active".to_owned() }).await;
    let (code, _, err) = app.close().await;
    assert_eq!((code, err.as_str()), (1, "error: a run is active\n"));
}

#[tokio::test]
async fn an_application_that_goes_away_is_an_error() {
    let mut app = App::start(Format::Text);
    app.open().await;
    app.updates.send(Update::Closed).unwrap();
    let code = app.close().await.0;
    assert_eq!(code, 1);
}

#[tokio::test]
async fn the_first_signal_aborts_and_the_run_may_end_in_order() {
    for code in [130, 143] {
        let mut app = App::start(Format::Text);
        app.open().await;
        app.signals.send(Stop { exit_code: code }).unwrap();
        let abort = app.requests.recv().await.unwrap();
        assert!(matches!(abort, Request::Loop(Command::Abort)), "{abort:?}");
        app.end(summary(EndReason::Aborted)).await;
        let (found, out, _) = app.close().await;
        assert_eq!((found, out.as_str()), (code, "the answer\n"));
    }
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let mut app = App::start(Format::Text);
    app.open().await;
    app.signals.send(Stop { exit_code: 130 }).unwrap();
    app.requests.recv().await.unwrap();
    app.signals.send(Stop { exit_code: 130 }).unwrap();
    assert_eq!(app.code.await.unwrap(), 130);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ignores_the_abort_is_left_after_a_while() {
    let mut app = App::start(Format::Text);
    app.open().await;
    app.signals.send(Stop { exit_code: 130 }).unwrap();
    app.requests.recv().await.unwrap();
    assert_eq!(app.close().await.0, 130);
}

#[tokio::test]
async fn a_signal_before_the_session_is_open_ends_it() {
    let app = App::start(Format::Text);
    app.signals.send(Stop { exit_code: 143 }).unwrap();
    assert_eq!(app.close().await.0, 143);
}

#[tokio::test]
async fn a_reader_that_closed_the_pipe_is_no_error() {
    for format in Format::ALL {
        let closed = Pipe { refuses: Some(io::ErrorKind::BrokenPipe), ..Pipe::default() };
        let mut app = App::with(format, closed, false);
        app.open().await;
        app.send(Event::RunStart { run: "r1".into() }).await;
        app.events.send(Event::RunEnd { summary: summary(EndReason::Stop) }).await.unwrap();
        let (code, _, err) = app.close().await;
        assert_eq!((code, err.as_str()), (0, ""));
    }
}

#[tokio::test]
async fn a_full_disk_behind_stdout_is_an_error_with_its_reason() {
    for format in Format::ALL {
        let full = Pipe { refuses: Some(io::ErrorKind::StorageFull), ..Pipe::default() };
        let mut app = App::with(format, full, false);
        app.open().await;
        app.end(summary(EndReason::Stop)).await;
        let (code, _, err) = app.close().await;
        assert_eq!(code, 1);
        assert!(err.contains("cannot write to stdout"), "{err}");
    }
}

#[tokio::test]
async fn controls_reach_a_pipe_but_not_a_terminal() {
    let answer = "a\u{1b}[2Jb\u{202e}c\r\nd\te\u{9b}";
    for (for_eyes, expected) in
        [(true, "a[2Jbc\nd\te\n".to_owned()), (false, format!("{answer}\n"))]
    {
        let mut app = App::with(Format::Text, Pipe::default(), for_eyes);
        app.open().await;
        app.end(RunSummary { text: answer.to_owned(), ..summary(EndReason::Stop) }).await;
        assert_eq!(app.close().await.1, expected);
    }
}

#[tokio::test]
async fn json_lines_carry_hidden_characters_as_escapes_of_the_same_value() {
    let answer = "a\u{9b}2J\u{202e}b\u{e0041}\u{1b}\u{7f}潮👩\u{200d}🚀";
    let mut app = App::start(Format::Json);
    app.open().await;
    app.end(RunSummary { text: answer.to_owned(), ..summary(EndReason::Stop) }).await;
    let out = app.close().await.1;
    assert!(!out.contains(['\u{9b}', '\u{202e}', '\u{e0041}', '\u{1b}', '\u{7f}']), "{out:?}");
    assert_eq!(objects(&out)[0]["text"], answer);
}

#[test]
fn joiners_survive_the_cleaning() {
    assert_eq!(clean::text("👩\u{200d}🚀"), "👩\u{200d}🚀");
    assert_eq!(clean::line(" a\n\tb\u{7}  c "), "a b c");
}

#[test]
fn stdin_joins_the_prompt_after_a_blank_line() {
    let stdin = |text: &str| Some(Cursor::new(text.as_bytes().to_vec()));
    assert_eq!(gather(Some("review"), stdin("diff\n")).unwrap(), "review\n\ndiff\n");
    assert_eq!(gather(None, stdin("what is this?")).unwrap(), "what is this?");
    assert_eq!(gather(Some("hi"), stdin("  \n")).unwrap(), "hi");
    assert_eq!(gather(Some("hi"), None::<Cursor<Vec<u8>>>).unwrap(), "hi");
}

#[test]
fn a_prompt_that_says_nothing_too_much_or_no_text_is_refused() {
    let blank = gather(Some(" "), Some(Cursor::new(b"\n".to_vec())));
    assert!(matches!(blank, Err(PromptError::Blank)));
    let endless = gather(Some("hi"), Some(io::repeat(b'x')));
    assert!(matches!(endless, Err(PromptError::TooLarge)));
    assert_eq!(
        gather(None, Some(Cursor::new(vec![b'x'; MAX_STDIN as usize]))).unwrap().len() as u64,
        MAX_STDIN
    );
    let binary = gather(Some("hi"), Some(Cursor::new(vec![0xff, 0xfe])));
    assert!(matches!(binary, Err(PromptError::NotText)));
}

#[test]
fn a_pipe_that_stays_open_is_waited_for_and_told_about() {
    let (reader, mut writer) = io::pipe().unwrap();
    let (sender, told) = std::sync::mpsc::channel();
    let slow = std::thread::spawn(move || {
        gather_patiently(Some("review"), Some(reader), move || sender.send(()).unwrap())
    });
    told.recv_timeout(std::time::Duration::from_secs(20)).unwrap();
    writer.write_all(b"late").unwrap();
    drop(writer);
    assert_eq!(slow.join().unwrap().unwrap(), "review\n\nlate");

    let quick = gather_patiently(Some("hi"), Some(Cursor::new(vec![])), || panic!("no wait"));
    assert_eq!(quick.unwrap(), "hi");
}
