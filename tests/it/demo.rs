//! The scripted model against a small hand-made loop whose tools are real: files are read and
//! changed, `sh` runs the checks of the sample workspace.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use codebot::app::demo::{SampleWorkspace, TEST_COMMAND};
use codebot::kernel::error::{ModelError, ModelErrorKind};
use codebot::kernel::message::{
    AssistantMessage, Block, CallStatus, Detail, Message, MessageId, Origin, Stop, Timestamp,
    ToolCall, ToolMessage, UserMessage,
};
use codebot::kernel::ports::{Model, Request, StreamEvent};
use codebot::model::scripted::{Pace, ScriptedModel};
use futures_util::StreamExt;

/// How the tests' loop treats a call.
type Judge = fn(&ToolCall) -> CallStatus;

/// A conversation with the script in a sample workspace.
struct Talk {
    model: ScriptedModel,
    workspace: SampleWorkspace,
    history: Vec<Message>,
    refused: u32,
    judge: Judge,
}

impl Talk {
    fn new() -> Self {
        Self {
            model: ScriptedModel::demo(Pace::Instant),
            workspace: SampleWorkspace::create().unwrap(),
            history: Vec::new(),
            refused: 0,
            judge: |_| CallStatus::Ok,
        }
    }

    fn judged(judge: Judge) -> Self {
        Self { judge, ..Self::new() }
    }

    fn say(&mut self, origin: Origin, text: &str) {
        let id = MessageId(format!("u{}", self.history.len()));
        let blocks = vec![Block::text(text)];
        self.history.push(Message::User(UserMessage {
            id,
            at: Timestamp(0),
            origin,
            blocks,
            before: None,
        }));
    }

    /// Plays turns until one asks for nothing; gives the last text.
    async fn run(&mut self) -> String {
        for _ in 0..20 {
            let answer = self.turn().await;
            if answer.calls().count() == 0 {
                return answer.text();
            }
        }
        panic!("the script never ends");
    }

    async fn ask(&mut self, text: &str) -> String {
        self.say(Origin::Prompt, text);
        self.run().await
    }

    async fn turn(&mut self) -> AssistantMessage {
        let events = loop {
            match events(&self.model, &self.history).await {
                Ok(events) => break events,
                Err(error) => {
                    assert_eq!(error.kind, ModelErrorKind::Overloaded);
                    self.refused += 1;
                }
            }
        };
        let answer = assemble(&events, self.history.len());
        self.history.push(Message::Assistant(answer.clone()));
        for call in answer.calls() {
            let result = self.result(call);
            self.history.push(Message::Tool(result));
        }
        answer
    }

    fn result(&self, call: &ToolCall) -> ToolMessage {
        let status = (self.judge)(call);
        let (status, text, detail) = match status {
            CallStatus::Ok => perform(call, self.workspace.path()),
            CallStatus::Denied => (status, "User denied.".to_owned(), None),
            _ => (status, "not run".to_owned(), None),
        };
        ToolMessage {
            id: MessageId(format!("t{}", call.id)),
            at: Timestamp(0),
            call_id: call.id.clone(),
            tool: call.name.clone(),
            status,
            blocks: vec![Block::text(text)],
            detail,
            cached: false,
        }
    }

    fn exits(&self) -> Vec<i32> {
        let exit = |message: &Message| match message {
            Message::Tool(ToolMessage { detail: Some(Detail::Shell { exit, .. }), .. }) => *exit,
            _ => None,
        };
        self.history.iter().filter_map(exit).collect()
    }
}

/// The three tools of the script, for real.
fn perform(call: &ToolCall, root: &Path) -> (CallStatus, String, Option<Detail>) {
    let arg = |name: &str| call.args[name].as_str().unwrap().to_owned();
    match call.name.as_str() {
        "bash" => {
            let output = Command::new("sh")
                .arg("-c")
                .arg(arg("command"))
                .current_dir(root)
                .output()
                .unwrap();
            let detail = Detail::Shell { exit: output.status.code(), elapsed_ms: 1, bytes: 1 };
            let text = String::from_utf8(output.stdout).unwrap();
            (CallStatus::Ok, text, Some(detail))
        }
        "read" => match std::fs::read_to_string(root.join(arg("file_path"))) {
            Ok(text) => (CallStatus::Ok, text, None),
            Err(error) => (CallStatus::Error, error.to_string(), None),
        },
        "edit" => edit(call, &root.join(arg("file_path"))),
        other => panic!("the script calls {other}, which codebot may not have"),
    }
}

fn edit(call: &ToolCall, file: &Path) -> (CallStatus, String, Option<Detail>) {
    let mut text = std::fs::read_to_string(file).unwrap();
    for change in call.args["edits"].as_array().unwrap() {
        let (old, new) = (change["old"].as_str().unwrap(), change["new"].as_str().unwrap());
        if text.matches(old).count() != 1 {
            return (CallStatus::Error, "not found once".to_owned(), None);
        }
        text = text.replace(old, new);
    }
    std::fs::write(file, text).unwrap();
    (CallStatus::Ok, "changed".to_owned(), None)
}

fn request(history: &[Message]) -> Request {
    Request {
        messages: history.iter().cloned().map(Into::into).collect(),
        cache_key: "session".to_owned(),
        ..Request::default()
    }
}

async fn events(
    model: &ScriptedModel,
    history: &[Message],
) -> Result<Vec<StreamEvent>, ModelError> {
    let stream = model.stream(request(history)).await?;
    Ok(stream.map(|event| event.unwrap()).collect().await)
}

/// Puts an answer together the way a loop does: by block index.
fn assemble(events: &[StreamEvent], at: usize) -> AssistantMessage {
    let mut blocks: Vec<(usize, Block)> = Vec::new();
    let mut stop = None;
    for event in events {
        match event {
            StreamEvent::TextDelta { index, text } => match blocks.last_mut() {
                Some((last, Block::Text { text: so_far })) if last == index => {
                    so_far.push_str(text);
                }
                _ => blocks.push((*index, Block::text(text.clone()))),
            },
            StreamEvent::CallComplete { index, call } => {
                blocks.push((*index, Block::Call(call.clone())));
            }
            StreamEvent::Done(reason) => stop = Some(*reason),
            _ => {}
        }
    }
    assert!(blocks.windows(2).all(|pair| pair[0].0 < pair[1].0), "blocks out of order");
    AssistantMessage {
        id: MessageId(format!("a{at}")),
        at: Timestamp(0),
        model: codebot::kernel::message::ModelRef::default(),
        blocks: blocks.into_iter().map(|(_, block)| block).collect(),
        stop: stop.expect("a stream ends with Done"),
        usage: codebot::kernel::message::Usage::default(),
    }
}

fn deny_edits(call: &ToolCall) -> CallStatus {
    if call.name == "edit" { CallStatus::Denied } else { CallStatus::Ok }
}

fn deny_what_asks(call: &ToolCall) -> CallStatus {
    if call.name == "read" { CallStatus::Ok } else { CallStatus::Denied }
}

#[tokio::test]
async fn the_tour_fails_repairs_retries_and_passes_with_real_commands() {
    let mut talk = Talk::new();
    let last = talk.ask("anything at all").await;
    assert_eq!(talk.exits(), [1, 0], "the checks fail before the repair and pass after it");
    assert_eq!(talk.refused, 1, "one staged overload");
    for part in ["All checks pass", "```sh", "1. ", "| src/tally.sh |"] {
        assert!(last.contains(part), "{part} is missing in {last}");
    }
}

#[tokio::test]
async fn the_first_answer_says_that_it_is_a_script_and_reads_three_files_at_once() {
    let mut talk = Talk::new();
    talk.say(Origin::Prompt, "hello");
    let answer = talk.turn().await;
    assert!(answer.text().contains("scripted"), "{}", answer.text());
    assert_eq!(answer.calls().filter(|call| call.name == "read").count(), 3);
    assert_eq!(talk.history.len(), 5, "every read has its result");
}

#[tokio::test]
async fn calls_are_complete_before_the_answer_ends() {
    let mut talk = Talk::new();
    talk.say(Origin::Prompt, "hello");
    let events = events(&talk.model, &talk.history).await.unwrap();
    let last_call = events.iter().rposition(|e| matches!(e, StreamEvent::CallComplete { .. }));
    let tail = &events[last_call.unwrap()..];
    let text = tail.iter().filter(|e| matches!(e, StreamEvent::TextDelta { .. })).count();
    assert!(text > 5, "text follows the calls");
    assert_eq!(events.first(), Some(&StreamEvent::Start));
    assert_eq!(events.last(), Some(&StreamEvent::Done(Stop::ToolUse)));
    assert!(events.iter().any(|e| matches!(e, StreamEvent::Usage(u) if u.output > 0)));
}

#[tokio::test]
async fn a_denied_edit_is_accepted_and_nothing_is_written() {
    let mut talk = Talk::judged(deny_edits);
    let before = std::fs::read(talk.workspace.path().join("src/tally.sh")).unwrap();
    let last = talk.ask("go").await;
    assert!(last.contains("stays as it is"), "{last}");
    assert_eq!(std::fs::read(talk.workspace.path().join("src/tally.sh")).unwrap(), before);
    assert_eq!(talk.exits(), [1]);
}

#[tokio::test]
async fn without_anybody_to_ask_the_tour_still_ends_sensibly() {
    let mut talk = Talk::judged(deny_what_asks);
    let last = talk.ask("go").await;
    assert!(last.contains("stays as it is"), "{last}");
    assert_eq!(talk.exits(), [0_i32; 0]);
}

#[tokio::test]
async fn steering_is_quoted_in_the_next_turn_and_the_tour_goes_on() {
    let mut talk = Talk::new();
    talk.say(Origin::Prompt, "go");
    talk.turn().await;
    talk.say(Origin::Steer, "please use\n tabs");
    let answer = talk.turn().await;
    assert!(answer.text().contains("You said: “please use tabs”"), "{}", answer.text());
    assert_eq!(answer.calls().next().unwrap().args["command"], TEST_COMMAND);
    let next = talk.turn().await;
    assert!(!next.text().contains("You said"), "it is quoted once: {}", next.text());
    assert!(talk.run().await.contains("All checks pass"));
}

#[tokio::test]
async fn calls_that_steering_skipped_are_asked_for_again() {
    let mut talk = Talk::judged(|_| CallStatus::Skipped);
    talk.say(Origin::Prompt, "go");
    let first = talk.turn().await;
    talk.say(Origin::Steer, "wait");
    talk.judge = |_| CallStatus::Ok;
    let again = talk.turn().await;
    let names =
        |answer: &AssistantMessage| answer.calls().map(|c| c.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&first), names(&again));
    let ids = |answer: &AssistantMessage| answer.calls().map(|c| c.id.clone()).collect::<Vec<_>>();
    assert_ne!(ids(&first), ids(&again), "a call of another turn has another id");
}

#[tokio::test]
async fn steering_after_the_last_turn_gets_an_answer_too() {
    let mut talk = Talk::new();
    talk.ask("go").await;
    talk.say(Origin::Steer, "one more thing");
    let answer = talk.run().await;
    assert!(answer.contains("You said: “one more thing”") && answer.contains("at its end"));
}

#[tokio::test]
async fn later_prompts_choose_by_word_and_the_rest_is_told_the_truth() {
    let mut talk = Talk::new();
    talk.ask("go").await;
    assert!(talk.ask("Show me a TABLE, please").await.contains("|-----"));
    assert!(talk.ask("a long one").await.contains("Line 160 of 160"));
    assert!(talk.ask("run the tests").await.contains("ended with code 0"));
    assert!(talk.ask("help").await.contains("`tour`"));
    let other = talk.ask("write me a compiler").await;
    assert!(other.contains("not a model") && other.contains("“write me a compiler”"), "{other}");
    talk.say(Origin::FollowUp, "some code then");
    assert!(talk.run().await.contains("```rust"));
    assert!(talk.ask("error").await.contains("went back to me as a result"));
}

#[tokio::test]
async fn a_tour_that_was_stopped_before_its_first_word_is_not_forced_on_the_next_prompt() {
    let mut talk = Talk::new();
    talk.say(Origin::Prompt, "go");
    assert!(talk.ask("help").await.contains("I am a script"));
}

#[tokio::test]
async fn the_fault_can_be_put_back_and_repaired_again() {
    let mut talk = Talk::new();
    talk.ask("go").await;
    assert!(talk.ask("tour").await.contains("already"));
    assert!(talk.ask("break").await.contains("fault is back"));
    assert!(talk.ask("tests").await.contains("did not end with code 0"));
    assert!(talk.ask("tour").await.contains("All checks pass."));
    assert_eq!(talk.exits(), [1, 0, 0, 1, 1, 0]);
}

#[tokio::test]
async fn a_resumed_conversation_goes_on_from_its_history_alone() {
    let mut talk = Talk::new();
    talk.say(Origin::Prompt, "go");
    talk.turn().await;
    talk.turn().await;
    talk.model = ScriptedModel::demo(Pace::Instant);
    assert!(talk.run().await.contains("All checks pass"));
}

#[tokio::test(start_paused = true)]
async fn the_natural_pace_is_sixty_to_a_hundred_and_twenty_pieces_a_second() {
    let mut talk = Talk::new();
    talk.ask("go").await;
    talk.say(Origin::Prompt, "long");
    let model = ScriptedModel::demo(Pace::Natural);
    let start = tokio::time::Instant::now();
    let events = events(&model, &talk.history).await.unwrap();
    let pieces = events.iter().filter(|e| matches!(e, StreamEvent::TextDelta { .. })).count();
    // The timer rounds up to whole milliseconds, so the lower end may be missed by a tenth.
    let rate = pieces as f64 / start.elapsed().as_secs_f64();
    assert!((54.0..=120.0).contains(&rate), "{rate} pieces a second");
    assert!(start.elapsed() > Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn the_staged_overload_asks_for_two_seconds_and_then_lets_the_turn_pass() {
    let mut talk = Talk::new();
    talk.say(Origin::Prompt, "go");
    for _ in 0..3 {
        talk.turn().await;
    }
    let model = ScriptedModel::demo(Pace::Natural);
    let error = events(&model, &talk.history).await.unwrap_err();
    assert_eq!((error.status, error.retry_after), (Some(529), Some(Duration::from_secs(2))));
    assert!(events(&model, &talk.history).await.is_ok());
}

#[tokio::test]
async fn the_model_names_itself_a_demo_without_a_price() {
    let info = ScriptedModel::demo(Pace::Instant).info();
    assert_eq!(info.model.to_string(), "demo/scripted");
    assert_eq!((info.context_window, info.price), (32_000, None));
}

#[test]
fn a_script_with_a_loose_end_is_refused_with_the_place() {
    let base = "first = \"a\"\notherwise = \"a\"\nover = \"a\"\nheard = \"\"\n";
    let cases = [
        ("[[turn]]\nid = \"b\"\nsteps = []\n", "first leads to turn a"),
        ("[[turn]]\nid = \"a\"\nsteps = []\nnext = \"x\"\n", "turn a leads to turn x"),
        ("[[turn]]\nid = \"a\"\nsteps = []\n[[turn]]\nid = \"a\"\nsteps = []\n", "there twice"),
        ("[[turn]]\nid = \"a\"\nsteps = [{ call = { tool = \"t\", args = {} } }]\n", "no `next`"),
        ("[[turn]]\nid = \"a\"\nstep = []\n", "not readable"),
    ];
    for (text, expected) in cases {
        let error = ScriptedModel::parse(&format!("{base}{text}"), Pace::Instant).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn the_sample_workspace_goes_away_with_its_guard() {
    let workspace = SampleWorkspace::create().unwrap();
    let path = workspace.path().to_path_buf();
    assert!(path.join("src/tally.sh").is_file() && path.is_absolute());
    drop(workspace);
    assert!(!path.exists());
}
