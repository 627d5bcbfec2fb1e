//! Files as they were before a turn: kept by edits and commands, planned, put back, read again from
//! the journal.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use codebot::kernel::checkpoint::{Change, FileState, Past};
use codebot::kernel::message::{CallId, CallStatus, Message, MessageId, ToolCall};
use codebot::kernel::ports::{
    CallContext, Durability, Journal, ProgressSink, Record, Toolbox, Wrapped,
};
use codebot::rewind::keeper::Keeper;
use codebot::rewind::log::Log;
use codebot::rewind::look::{keep, look};
use codebot::rewind::plan::{self, Plan};
use codebot::rewind::restore::restore;
use codebot::rewind::store::Store;
use codebot::session::journal::SessionJournal;
use codebot::session::replay::load;
use codebot::tools::{Tools, ToolsConfig};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::support::*;

const MEGABYTE: u64 = 1024 * 1024;

/// A workspace with tools whose changes are kept.
struct Room {
    dir: tempfile::TempDir,
    keeper: Keeper,
    tools: Wrapped,
    journal: Arc<dyn Journal>,
    file: PathBuf,
}

impl Room {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("ws")).unwrap();
        let store = Store::open(root.join("copies"), 64 * MEGABYTE);
        let looks = |line: &str, _: &std::path::Path| line.starts_with("ls");
        let keeper = Keeper::new(store, vec![root.join("ws")], Arc::new(looks));
        let inner = SessionJournal::create(&new_session(&root.join("state"), &root, "s1"));
        let file = inner.path().to_path_buf();
        let journal = keeper.attach(Arc::new(inner), Vec::new());
        let tools = Tools::new(ToolsConfig::new(root.join("ws"), root.join("spill")));
        let tools = Wrapped::new(Arc::new(tools), vec![Arc::new(keeper.clone())]);
        Self { dir, keeper, tools, journal, file }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("ws").join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    async fn turn(&self, id: &str) -> MessageId {
        self.journal.append(&said(user(id, id)), Durability::Flush).await.unwrap();
        MessageId::from(id)
    }

    async fn call(&self, name: &str, args: Value) {
        let Value::Object(args) = args else { panic!() };
        let call = ToolCall {
            id: CallId::from("c"),
            name: name.into(),
            args,
            invalid: None,
            opaque: None,
        };
        let context = CallContext::new(CancellationToken::new(), ProgressSink::none());
        let outcome = self.tools.run(call, context).await;
        assert_eq!(outcome.status, CallStatus::Ok, "{outcome:?}");
    }

    async fn bash(&self, line: &str) {
        self.call("bash", json!({"command": line})).await;
    }

    async fn edit(&self, name: &str, old: &str, new: &str) {
        self.call("edit", json!({"file_path": name, "edits": [{"old": old, "new": new}]})).await;
    }

    /// Puts back what the plan holds, as the user would have it; what could not be put back is told.
    fn go_back(&self, plan: &Plan) -> Vec<String> {
        let put = |item: &plan::Item| {
            let done = restore(&item.path, &item.found, &item.target, self.keeper.store());
            done.err()
        };
        plan.items.iter().filter_map(put).collect()
    }

    fn names(&self, plan: &Plan) -> Vec<String> {
        let ws = self.path("");
        let name = |item: &plan::Item| item.path.strip_prefix(&ws).unwrap().display().to_string();
        plan.items.iter().map(name).collect()
    }
}

#[tokio::test]
async fn edits_of_several_turns_go_back_to_the_start_of_any_of_them() {
    let room = Room::new();
    room.put("a.rs", "one\ntwo\n");
    fs::set_permissions(room.path("a.rs"), fs::Permissions::from_mode(0o755)).unwrap();
    let first = room.turn("u1").await;
    room.edit("a.rs", "one", "1").await;
    room.edit("a.rs", "two", "2").await;
    let second = room.turn("u2").await;
    room.edit("a.rs", "1", "uno").await;
    room.call("write", json!({"file_path": "new/b.rs", "content": "b\n"})).await;
    let plan = room.keeper.plan(&second);
    assert_eq!(room.names(&plan), ["a.rs", "new/b.rs"]);
    assert_eq!(plan.items[0].lines, Some((1, 1)));
    assert_eq!(plan.items[1].target, FileState::Absent);
    assert!(plan.items.iter().all(|item| !item.changed_since));
    assert_eq!(room.go_back(&plan), [""; 0]);
    assert_eq!(room.text("a.rs"), "1\n2\n");
    assert!(!room.path("new/b.rs").exists());
    assert!(room.keeper.plan(&second).items.is_empty(), "nothing is left to do");
    let plan = room.keeper.plan(&first);
    assert_eq!(room.go_back(&plan), [""; 0]);
    assert_eq!(room.text("a.rs"), "one\ntwo\n");
    let mode = fs::metadata(room.path("a.rs")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o755);
}

/// scenario 219: deletions too, and without any git.
#[tokio::test]
async fn what_a_command_changed_deleted_or_made_comes_back() {
    let room = Room::new();
    room.put("text", "text\n");
    room.put("gone", "gone\n");
    room.put("deep/er/gone", "deep\n");
    room.put("binary", [0, 159, 146, 150]);
    room.put("script", "#!/bin/sh\n");
    symlink("text", room.path("way")).unwrap();
    let turn = room.turn("u1").await;
    room.bash(
        "echo more >> text; rm gone; rm -r deep; printf '\\1\\2' > binary; chmod +x script; \
         ln -sfn gone way; echo new > fresh; mv script moved; ln -s text other",
    )
    .await;
    let plan = room.keeper.plan(&turn);
    assert_eq!(plan.items.len(), 9, "{:?}", room.names(&plan));
    assert!(plan.lost.is_empty());
    assert_eq!(room.go_back(&plan), [""; 0]);
    assert_eq!((room.text("text"), room.text("gone")), ("text\n".into(), "gone\n".into()));
    assert_eq!(room.text("deep/er/gone"), "deep\n");
    assert_eq!(fs::read(room.path("binary")).unwrap(), [0, 159, 146, 150]);
    assert_eq!(fs::read_link(room.path("way")).unwrap(), PathBuf::from("text"));
    assert!(!room.path("fresh").exists() && !room.path("moved").exists());
    assert!(room.path("other").symlink_metadata().is_err());
    let mode = fs::metadata(room.path("script")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0);
}

#[tokio::test]
async fn a_file_that_somebody_else_changed_since_is_marked_and_named_apart() {
    let room = Room::new();
    room.put("mine", "1\n");
    room.put("theirs", "1\n");
    let turn = room.turn("u1").await;
    room.edit("mine", "1", "2").await;
    room.edit("theirs", "1", "2").await;
    room.put("theirs", "somebody's work\n");
    let plan = room.keeper.plan(&turn);
    let marks: Vec<bool> = plan.items.iter().map(|item| item.changed_since).collect();
    assert_eq!(
        (room.names(&plan), marks),
        (vec!["mine".into(), "theirs".into()], vec![false, true])
    );
    // What changes between plan and restoring is not touched.
    room.put("mine", "just now\n");
    let failed = room.go_back(&plan);
    assert_eq!(failed, ["it has changed just now"]);
    assert_eq!(room.text("mine"), "just now\n");
}

#[tokio::test]
async fn a_folder_that_became_a_link_leads_nothing_out_of_the_workspace() {
    let room = Room::new();
    room.put("sub/file", "1\n");
    let outside = room.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "2\n").unwrap();
    let turn = room.turn("u1").await;
    room.edit("sub/file", "1", "2").await;
    fs::remove_dir_all(room.path("sub")).unwrap();
    symlink(&outside, room.path("sub")).unwrap();
    let failed = room.go_back(&room.keeper.plan(&turn));
    assert!(failed.len() == 1 && failed[0].contains("now leads to"), "{failed:?}");
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "2\n");
    // A link in the place of the file itself is replaced, not followed.
    let turn = room.turn("u2").await;
    room.put("plain", "1\n");
    room.edit("plain", "1", "2").await;
    fs::remove_file(room.path("plain")).unwrap();
    symlink(outside.join("file"), room.path("plain")).unwrap();
    room.go_back(&room.keeper.plan(&turn));
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "2\n");
    assert_eq!(room.text("plain"), "1\n");
}

#[tokio::test]
async fn what_is_ignored_or_too_large_is_not_covered_and_the_large_one_is_named() {
    let room = Room::new();
    room.put(".gitignore", "out/\n");
    room.put("out/built", "1");
    room.put("large", vec![b'x'; 9 * MEGABYTE as usize]);
    let turn = room.turn("u1").await;
    room.bash("echo 2 > out/built; echo more >> large; echo small > small").await;
    let plan = room.keeper.plan(&turn);
    assert_eq!(room.names(&plan), ["small"]);
    assert_eq!(plan.lost.len(), 1);
    assert!(
        plan.lost[0].0.ends_with("large") && plan.lost[0].1.contains("8 MB"),
        "{:?}",
        plan.lost
    );
    let home = Keeper::new(
        Store::open(room.dir.path().join("none"), MEGABYTE),
        Vec::new(),
        Arc::new(|_: &str, _: &std::path::Path| false),
    );
    assert!(home.cut().unwrap().contains("not covered"));
}

/// scenario 219: a copy that went to make room is a clear reason.
#[tokio::test]
async fn copies_are_private_kept_once_and_the_oldest_go_first() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("copies");
    let store = Store::open(&at, 3 * MEGABYTE);
    // Nothing in it repeats, so that pressing does not make it smaller.
    let noise = |seed: u8| {
        let mut reader = blake3::Hasher::new().update(&[seed]).finalize_xof();
        let mut content = vec![0; MEGABYTE as usize];
        reader.fill(&mut content);
        content
    };
    let name = store.put(&noise(1)).unwrap();
    assert_eq!(store.put(&noise(1)).unwrap(), name);
    assert_eq!(store.get(&name).unwrap(), noise(1));
    let file = at.join(&name[..2]).join(&name);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let old = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
    fs::File::options().append(true).open(&file).unwrap().set_modified(old).unwrap();
    for seed in 2..5 {
        store.put(&noise(seed)).unwrap();
    }
    assert!(!store.has(&name) && store.dropped() > 0);
    let mut log = Log::default();
    let turn = MessageId::from("u1");
    log.begin(turn.clone());
    let was = FileState::File { copy: name, mode: 0o644, bytes: MEGABYTE };
    log.push(vec![Change { path: dir.path().join("x"), was, now: FileState::Absent }]);
    let plan = plan::make(&log, &turn, &store);
    assert!(plan.lost[0].1.contains("dropped to make room"), "{:?}", plan.lost);
    // A damaged copy is found out when it is read.
    let name = store.put(b"good").unwrap();
    fs::write(at.join(&name[..2]).join(&name), zstd_of(b"evil")).unwrap();
    assert!(store.get(&name).is_err());
}

fn zstd_of(content: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(content, 1).unwrap()
}

#[tokio::test]
async fn the_journal_tells_a_later_process_the_same() {
    let room = Room::new();
    room.put("a", "1\n");
    let odd = std::ffi::OsString::from(String::from("b"));
    room.put(odd.to_str().unwrap(), "1\n");
    let first = room.turn("u1").await;
    room.edit("a", "1", "2").await;
    let second = room.turn("u2").await;
    room.bash("printf 3 > \"$(printf 'c\\377')\"; rm b").await;
    let loaded = load(&room.file).unwrap();
    let log = Log::of(loaded.past);
    for turn in [&first, &second] {
        let again = plan::make(&log, turn, room.keeper.store());
        let live = room.keeper.plan(turn);
        assert_eq!(room.names(&again), room.names(&live));
        assert_eq!(again.items.len(), if *turn == first { 3 } else { 2 });
    }
    assert!(
        matches!(&Log::of(vec![Past::Turn(first.clone())]), log if log.count_since(&first) == 0)
    );
}

/// Going back and forth again is what a reload gives.
#[tokio::test]
async fn a_rewind_and_its_redo_are_replayed() {
    let room = Room::new();
    for message in [user("u1", "one"), assistant("a1", "first", &[])] {
        room.journal.append(&said(message), Durability::Buffered).await.unwrap();
    }
    for message in [user("u2", "two"), assistant("a2", "second", &[])] {
        room.journal.append(&said(message), Durability::Buffered).await.unwrap();
    }
    let ids = |names: &[&str]| names.iter().map(|name| MessageId::from(*name)).collect::<Vec<_>>();
    let history =
        |messages: Vec<Message>| messages.iter().map(|m| m.id().clone()).collect::<Vec<_>>();
    let record = Record::Rewind { taken: ids(&["u2", "a2"]), given: vec![], changes: vec![] };
    room.journal.append(&record, Durability::Flush).await.unwrap();
    assert_eq!(history(load(&room.file).unwrap().history), ids(&["u1", "a1"]));
    let record = Record::Rewind { taken: vec![], given: ids(&["u2", "a2"]), changes: vec![] };
    room.journal.append(&record, Durability::Flush).await.unwrap();
    let loaded = load(&room.file).unwrap();
    assert_eq!(history(loaded.history), ids(&["u1", "a1", "u2", "a2"]));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

/// What stands around an edit: a copy before, a look after.
#[test]
fn keeping_costs_an_edit_little() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("copies"), 64 * MEGABYTE);
    let file = dir.path().join("file");
    let line = "the quick brown fox jumps over the lazy dog\n";
    let mut times: Vec<_> = (0..20)
        .map(|n| {
            fs::write(&file, format!("{n}\n{}", line.repeat(500))).unwrap();
            let started = Instant::now();
            let (before, after) = (keep(&file, &store), look(&file).state);
            assert_eq!(before, after);
            started.elapsed()
        })
        .collect();
    times.sort();
    println!("around an edit of 22 KB: {:?}", times[times.len() / 2]);
}
