//! Builders of messages and journals, and a way to run one test of this binary as a process of its
//! own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use codebot::kernel::message::{
    AssistantMessage, Block, CallId, CallStatus, Message, MessageId, ModelRef, Note, Origin, RunId,
    Stop, Timestamp, ToolCall, ToolMessage, Usage, UserMessage,
};
use codebot::kernel::ports::{Durability, Journal, Record};
use codebot::session::journal::{NewSession, SessionJournal};
use serde_json::{Map, Value, json};

pub(super) const START: Timestamp = Timestamp(1_772_000_000_000);

pub(super) fn user(id: &str, text: &str) -> Message {
    Message::User(UserMessage {
        id: MessageId::from(id),
        at: Timestamp(START.0 + 1000),
        origin: Origin::Prompt,
        blocks: vec![Block::text(text)],
        before: None,
    })
}

pub(super) fn assistant(id: &str, text: &str, calls: &[ToolCall]) -> Message {
    let mut blocks = vec![Block::text(text)];
    blocks.extend(calls.iter().cloned().map(Block::Call));
    Message::Assistant(AssistantMessage {
        id: MessageId::from(id),
        at: Timestamp(START.0 + 2000),
        model: ModelRef { provider: "demo".into(), model: "m".into() },
        blocks,
        stop: if calls.is_empty() { Stop::EndTurn } else { Stop::ToolUse },
        usage: Usage { input: 10, output: 5, ..Usage::default() },
    })
}

pub(super) fn call(id: &str, name: &str) -> ToolCall {
    let mut args = Map::new();
    args.insert("command".into(), json!("sleep 100"));
    ToolCall { id: CallId::from(id), name: name.into(), args, invalid: None, opaque: None }
}

pub(super) fn result(id: &str, call: &ToolCall, text: &str) -> Message {
    Message::Tool(ToolMessage {
        id: MessageId::from(id),
        at: Timestamp(START.0 + 3000),
        call_id: call.id.clone(),
        tool: call.name.clone(),
        status: CallStatus::Ok,
        blocks: vec![Block::text(text)],
        detail: None,
        cached: false,
    })
}

pub(super) fn note(id: &str, text: &str) -> Message {
    Message::Note(Note { id: MessageId::from(id), at: START, text: text.into() })
}

pub(super) fn said(message: Message) -> Record {
    Record::Message { message }
}

pub(super) fn intent(turn: u32, index: usize, call: &ToolCall) -> Record {
    Record::Intent { run: RunId::from("r1"), turn, index, call: call.clone() }
}

pub(super) fn discarded(turn: u32, calls: &[&ToolCall]) -> Record {
    let call_ids = calls.iter().map(|call| call.id.clone()).collect();
    Record::Discarded { run: RunId::from("r1"), turn, call_ids }
}

pub(super) fn taken_back(ids: &[&str]) -> Record {
    Record::TakenBack { ids: ids.iter().map(|id| MessageId::from(*id)).collect() }
}

pub(super) fn new_session(state: &Path, cwd: &Path, id: &str) -> NewSession {
    NewSession {
        state_dir: state.to_path_buf(),
        cwd: cwd.to_path_buf(),
        id: id.into(),
        created: START,
        model: "demo/m".into(),
    }
}

pub(super) fn journal(state: &Path, id: &str) -> SessionJournal {
    SessionJournal::create(&new_session(state, Path::new("/some/project"), id))
}

pub(super) async fn append(journal: &SessionJournal, record: &Record) {
    journal.append(record, Durability::Flush).await.unwrap();
}

/// A closed session with these records.
pub(super) async fn written(state: &Path, records: &[Record]) -> PathBuf {
    let journal = journal(state, "s1");
    for record in records {
        append(&journal, record).await;
    }
    journal.path().to_path_buf()
}

/// A message as a line of a session file.
pub(super) fn line(message: Message) -> String {
    serde_json::to_string(&said(message)).unwrap()
}

pub(super) fn header() -> String {
    json!({
        "record": "session", "format": 1, "id": "s1", "cwd": "/some/project",
        "created": START.0, "app": "0.1.0", "model": "demo/m",
    })
    .to_string()
}

/// A session file with this content.
pub(super) fn file(state: &Path, content: impl AsRef<[u8]>) -> PathBuf {
    let path = state.join("20260225T060640Z-s1.jsonl");
    std::fs::write(&path, content).unwrap();
    path
}

pub(super) fn texts(history: &[Message]) -> Vec<String> {
    history
        .iter()
        .map(|message| match serde_json::to_value(message).unwrap() {
            Value::Object(fields) => fields["blocks"][0]["text"].as_str().unwrap_or("").to_owned(),
            other => panic!("a message is an object: {other}"),
        })
        .collect()
}

/// In the process that [`run_alone`] started: what it was given.
pub(super) fn given() -> Option<PathBuf> {
    std::env::var_os("CODEBOT_TEST_ALONE").map(PathBuf::from)
}

/// Runs one test of this binary as a process of its own after the shell line `before`; the test
/// finds `given` in [`given`].
pub(super) fn run_alone(test: &str, before: &str, given: &Path) -> Output {
    start_alone(test, before, given).wait_with_output().unwrap()
}

/// The same without waiting for its end.
pub(super) fn start_alone(test: &str, before: &str, given: &Path) -> Child {
    Command::new("bash")
        .args(["-c", &format!("{before}; exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("CODEBOT_TEST_ALONE", given)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}
