//! The tools against real files and real processes.

mod ask;
mod bash;
mod capture;
mod compress;
mod edit;
mod jobs;
mod picture;
mod process;
mod read;
mod sandbox;
mod schema;
mod search;
mod web;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use codebot::kernel::event::{Preview, Progress};
use codebot::kernel::message::{Block, CallId, CallStatus, Detail, FileDiff, ToolCall, text_of};
use codebot::kernel::ports::{CallContext, ProgressSink, ToolOutcome, Toolbox};
use codebot::tools::{Tools, ToolsConfig};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A workspace of its own with tools that work in it.
struct Desk {
    dir: tempfile::TempDir,
    tools: Tools,
}

impl Desk {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut ToolsConfig)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("ws")).unwrap();
        let mut config = ToolsConfig::new(root.join("ws"), root.join("spill"));
        change(&mut config);
        Self { dir, tools: Tools::new(config) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("ws").join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// Validates and runs a call without a preview.
    async fn call(&self, name: &str, args: Value) -> ToolOutcome {
        let call = call(name, args);
        self.tools.validate(&call).unwrap();
        self.tools.run(call, context()).await
    }

    async fn ok(&self, name: &str, args: Value) -> String {
        let outcome = self.call(name, args).await;
        assert_eq!(outcome.status, CallStatus::Ok, "{}", text_of(&outcome.blocks));
        text_of(&outcome.blocks)
    }

    async fn fails(&self, name: &str, args: Value) -> String {
        let outcome = self.call(name, args).await;
        assert_eq!(outcome.status, CallStatus::Error, "{}", text_of(&outcome.blocks));
        text_of(&outcome.blocks)
    }

    async fn edit(&self, file: &str, old: &str, new: &str) -> String {
        let edits = json!([{"old": old, "new": new}]);
        self.ok("edit", json!({"file_path": file, "edits": edits})).await
    }

    async fn edit_fails(&self, file: &str, old: &str, new: &str) -> String {
        let edits = json!([{"old": old, "new": new}]);
        self.fails("edit", json!({"file_path": file, "edits": edits})).await
    }

    /// No temporary file was left anywhere.
    fn assert_tidy(&self) {
        fn walk(dir: &Path) {
            for entry in std::fs::read_dir(dir).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                assert!(!name.starts_with(".codebot-"), "{name} was left");
                if entry.file_type().unwrap().is_dir() {
                    walk(&entry.path());
                }
            }
        }
        walk(self.dir.path());
    }
}

fn call(name: &str, args: Value) -> ToolCall {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let Value::Object(args) = args else { panic!("arguments must be an object") };
    let id = CallId(format!("call_{number}"));
    ToolCall { id, name: name.to_owned(), args, invalid: None, opaque: None }
}

fn context() -> CallContext {
    CallContext::new(CancellationToken::new(), ProgressSink::none())
}

/// A sink that keeps every report.
fn recorder() -> (ProgressSink, Arc<Mutex<Vec<Progress>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    (ProgressSink::new(move |progress| sink.lock().unwrap().push(progress)), seen)
}

fn text(outcome: &ToolOutcome) -> String {
    text_of(&outcome.blocks)
}

fn diff_of(preview: Option<Preview>) -> FileDiff {
    match preview {
        Some(Preview::Diff(diff)) => diff,
        other => panic!("no diff: {other:?}"),
    }
}

fn detail(outcome: &ToolOutcome) -> Detail {
    outcome.detail.clone().expect("a detail")
}

fn is_image(block: &Block) -> bool {
    matches!(block, Block::Image { .. })
}

/// One line for each number.
fn lines(numbers: std::ops::Range<u32>, line: impl Fn(u32) -> String) -> String {
    let all: Vec<String> = numbers.map(line).collect();
    all.join("\n") + "\n"
}
