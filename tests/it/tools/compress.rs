//! Long output made short by a small model: when, how short, and what happens when that fails.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use codebot::kernel::error::{ModelError, ModelErrorKind};
use codebot::kernel::message::{CallStatus, ModelRef, Stop, Usage, text_of};
use codebot::kernel::ports::{
    CallContext, Model, ModelInfo, ModelStream, ProgressSink, Request, StreamEvent, ToolOutcome,
    Toolbox,
};
use codebot::tools::compress::Compressor;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Desk, call, text};

/// What the small model does.
#[derive(Clone, Debug)]
enum Does {
    Say(String),
    Fail,
    Stall,
    BreakOff,
}

#[derive(Debug)]
struct Small {
    does: Does,
    asked: Mutex<Vec<Request>>,
}

impl Small {
    fn new(does: Does) -> Arc<Self> {
        Arc::new(Self { does, asked: Mutex::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn question(&self) -> String {
        let codebot::kernel::message::Message::User(user) =
            &*self.asked.lock().unwrap()[0].messages[0]
        else {
            panic!()
        };
        text_of(&user.blocks)
    }
}

impl Model for Small {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            model: ModelRef { provider: "fake".into(), model: "small".into() },
            context_window: 100_000,
            max_output: 1000,
            price: None,
            vision: false,
        }
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.asked.lock().unwrap().push(request);
        let does = self.does.clone();
        Box::pin(async move {
            let usage =
                |output| StreamEvent::Usage(Usage { input: 900, output, ..Usage::default() });
            let events = match does {
                Does::Say(text) => vec![
                    StreamEvent::Start,
                    usage(1),
                    StreamEvent::TextDelta { index: 0, text },
                    usage(40),
                    StreamEvent::Done(Stop::EndTurn),
                ],
                Does::BreakOff => vec![StreamEvent::TextDelta { index: 0, text: "half".into() }],
                Does::Fail => {
                    return Err(ModelError::new(
                        ModelErrorKind::Auth,
                        "no key for the small model",
                    ));
                }
                Does::Stall => return Ok(futures_util::stream::pending().boxed()),
            };
            Ok(futures_util::stream::iter(events.into_iter().map(Ok)).boxed())
        })
    }
}

fn desk(small: &Arc<Small>, patience: Duration) -> Desk {
    let model: Arc<dyn Model> = small.clone();
    Desk::with(|config| config.compressor = Some(Compressor::new(model).patient(patience)))
}

const PATIENCE: Duration = Duration::from_mins(1);

/// A command that writes so many characters.
fn chars(count: usize) -> Value {
    json!({"command": format!("head -c {count} /dev/zero | tr '\\0' a")})
}

async fn run(desk: &Desk, name: &str, args: Value) -> (ToolOutcome, CallContext) {
    let context = CallContext::new(CancellationToken::new(), ProgressSink::none());
    (desk.tools.run(call(name, args), context.clone()).await, context)
}

/// The text that a result says was saved.
fn saved(result: &str) -> String {
    let path = result.split("saved as ").nth(1).unwrap().split(", read").next().unwrap();
    std::fs::read_to_string(path).unwrap()
}

/// Scenarios K11, K15.
#[tokio::test]
async fn output_above_the_limit_is_summarised_and_kept_whole_in_a_file() {
    let small = Small::new(Does::Say("all fine. ".repeat(200)));
    let desk = desk(&small, PATIENCE);
    let (outcome, context) = run(&desk, "bash", chars(4000)).await;
    assert_eq!((text(&outcome).len(), small.asked()), (4000, 0), "untouched");
    assert_eq!(context.aside.take().spent, Usage::default());
    let (outcome, context) = run(&desk, "bash", chars(4001)).await;
    assert_eq!(outcome.status, CallStatus::Ok);
    let told = text(&outcome);
    let (summary, note) = told.split_once("\n[").unwrap();
    assert!(summary.starts_with("all fine. ") && summary.chars().count() <= 1200, "{summary}");
    assert!(note.starts_with("a summary of 4001 characters; "), "{note}");
    assert_eq!(saved(&told), "a".repeat(4001));
    let spent = context.aside.take().spent;
    assert_eq!((spent.input, spent.output), (900, 40), "the last count is the total");
}

/// Scenario K09: the same long result twice is made short once and reads the same both times; any
/// tool whose results are summarised goes this way.
#[tokio::test]
async fn the_same_long_result_twice_gets_the_same_words() {
    let small = Small::new(Does::Say("all fine".into()));
    let desk = desk(&small, PATIENCE);
    let first = text(&run(&desk, "bash", chars(5000)).await.0);
    let second = text(&run(&desk, "bash", chars(5000)).await.0);
    let words = |text: &str| text.split("; full text").next().unwrap().to_owned();
    assert_eq!(words(&first), words(&second));
    assert_eq!(small.asked(), 1);
    let other = text(&run(&desk, "bash", chars(5001)).await.0);
    assert!(other.contains("5001 characters"), "{other}");
    assert_eq!(small.asked(), 2);
}

/// The model is shown the whole output where that was already in a file, and the command.
#[tokio::test]
async fn a_very_long_output_is_read_from_its_file() {
    let small = Small::new(Does::Say("counted".into()));
    let desk = desk(&small, PATIENCE);
    let (outcome, _) = run(&desk, "bash", json!({"command": "seq 1 9000"})).await;
    let told = text(&outcome);
    assert!(told.starts_with("counted\n[a summary of 43893 characters; "), "{told}");
    assert!(saved(&told).ends_with("\n8999\n9000\n"));
    let question = small.question();
    assert!(question.starts_with("The output of `seq 1 9000`:\n\n1\n2\n3\n"));
    assert!(question.contains("\n5000\n") && question.ends_with("\n9000\n"));
    let files = std::fs::read_dir(desk.dir.path().join("spill")).unwrap().count();
    assert_eq!(files, 1, "saved once");
}

/// What the tool itself says about the end is never left to the small model.
#[tokio::test]
async fn a_process_that_runs_on_is_named_below_the_summary() {
    let small = Small::new(Does::Say("short".into()));
    let desk = desk(&small, PATIENCE);
    let args = json!({"command": "sleep 67.71 >/dev/null 2>&1 & seq 1 9000"});
    let told = text(&run(&desk, "bash", args).await.0);
    assert!(told.starts_with("short\n[a summary of "), "{told}");
    assert!(told.ends_with("it is stopped when codebot ends]"), "{told}");
}

/// Scenario K12.
#[tokio::test]
async fn without_a_summary_the_beginning_is_kept_and_people_are_told() {
    for (does, reason) in [
        (Does::Fail, "no key for the small model"),
        (Does::Stall, "no answer within"),
        (Does::BreakOff, "broke off"),
        (Does::Say("  \n".into()), "said nothing"),
    ] {
        let small = Small::new(does);
        let desk = desk(&small, Duration::from_millis(50));
        let (outcome, context) = run(&desk, "bash", chars(9000)).await;
        assert_eq!(outcome.status, CallStatus::Ok);
        let told = text(&outcome);
        let (head, note) = told.split_once("\n[").unwrap();
        assert_eq!(head, "a".repeat(4000));
        assert!(note.starts_with("… cut: 9000 characters in all; full text saved as"), "{note}");
        assert_eq!(saved(&told).len(), 9000);
        let remarks = context.aside.take().remarks;
        assert!(remarks.len() == 1 && remarks[0].contains(reason), "{remarks:?}");
    }
}

/// Scenarios K13, K14: failures and files are never given to the small model.
#[tokio::test]
async fn failures_and_files_are_not_summarised() {
    let small = Small::new(Does::Say("short".into()));
    let desk = desk(&small, PATIENCE);
    let failing = json!({"command": "head -c 9000 /dev/zero | tr '\\0' a; exit 1"});
    let (outcome, _) = run(&desk, "bash", failing).await;
    assert_eq!(outcome.status, CallStatus::Error);
    assert!(text(&outcome).ends_with("a\nexit code 1") && text(&outcome).len() > 9000);
    desk.put("source.rs", "fn main() {}\n".repeat(700));
    let (outcome, _) = run(&desk, "read", json!({"file_path": "source.rs"})).await;
    assert!(text(&outcome).len() > 9000);
    let (outcome, _) = run(&desk, "grep", json!({"pattern": "main"})).await;
    assert!(text(&outcome).contains("source.rs"));
    assert_eq!(small.asked(), 0);
}

/// Without a small model nothing changes.
#[tokio::test]
async fn without_a_small_model_output_is_only_capped() {
    let desk = Desk::new();
    let (outcome, _) = run(&desk, "bash", chars(9000)).await;
    assert_eq!(text(&outcome).len(), 9000);
}

/// Scenario K16.
#[tokio::test]
async fn cancelling_does_not_wait_for_the_small_model() {
    let small = Small::new(Does::Stall);
    let desk = desk(&small, PATIENCE);
    let context = CallContext::new(CancellationToken::new(), ProgressSink::none());
    let cancel = context.cancel.clone();
    let run = desk.tools.run(call("bash", chars(9000)), context.clone());
    let stop = async {
        while small.asked() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (outcome, ()) =
        tokio::time::timeout(PATIENCE / 2, async { tokio::join!(run, stop) }).await.unwrap();
    assert_eq!(outcome.status, CallStatus::Ok, "the command itself had ended well");
    assert!(text(&outcome).contains("… cut: 9000 characters in all"));
    assert!(context.aside.take().remarks.is_empty());
}
