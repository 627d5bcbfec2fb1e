//! Background jobs: real commands, their registry, their output and their end.

use std::time::{Duration, Instant};

use codebot::kernel::message::CallStatus;
use codebot::kernel::ports::{CallContext, Notices, ProgressSink, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::process::{gone, lives};
use super::{Desk, call, context, text};

/// More than any of these commands takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

async fn start(desk: &Desk, command: &str) -> String {
    desk.ok("bash", json!({"command": command, "background": true})).await
}

/// Waits for the end of the newest job.
async fn end(desk: &Desk) {
    let job = desk.tools.jobs().all().pop().unwrap();
    tokio::time::timeout(PATIENCE, job.ended()).await.unwrap();
}

async fn output(desk: &Desk, args: Value) -> String {
    desk.ok("task_output", args).await
}

/// Asks for the output of the first job until it fits.
async fn until(desk: &Desk, fits: impl Fn(&str) -> bool) -> String {
    let started = Instant::now();
    loop {
        let out = output(desk, json!({"id": "1"})).await;
        if fits(&out) {
            return out;
        }
        assert!(started.elapsed() < PATIENCE, "{out}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn news(desk: &Desk) -> Vec<(String, String, String)> {
    let all = desk.tools.jobs().peek();
    all.into_iter().map(|finished| (finished.id, finished.status, finished.text)).collect()
}

#[tokio::test]
async fn a_background_command_returns_at_once_and_its_output_can_be_read() {
    let desk = Desk::new();
    let told = start(&desk, "echo one; exec sleep 61.11").await;
    assert!(told.starts_with("Started in the background as task 1."), "{told}");
    let listed = desk.ok("task_list", json!({})).await;
    assert!(listed.starts_with("1  running  ") && listed.contains("echo one; exec"), "{listed}");
    until(&desk, |out| out.contains("\none\n")).await;
    let told = desk.ok("task_stop", json!({"id": "1"})).await;
    assert!(told.starts_with("task 1 and all it had started was stopped after"), "{told}");
    assert!(gone("sleep 61.11").await);
    let out = output(&desk, json!({"id": "1"})).await;
    assert!(out.starts_with("task 1: failed: stopped, ") && out.contains("\none\n"), "{out}");
    assert!(news(&desk).is_empty(), "who stops it needs no news");
    let told = desk.ok("task_stop", json!({"id": "task 1"})).await;
    assert!(told.starts_with("task 1 has ended before"), "{told}");
}

/// Scenarios B05, B09: ends with their codes, oldest first, until they are acknowledged.
#[tokio::test]
async fn every_end_is_news_until_it_was_told() {
    let desk = Desk::new();
    start(&desk, "echo fine").await;
    end(&desk).await;
    start(&desk, "echo bad >&2; exit 3").await;
    end(&desk).await;
    desk.ok("bash", json!({"command": "exec sleep 62", "background": true, "timeout": 0.05})).await;
    end(&desk).await;
    let told = news(&desk);
    let heads: Vec<_> = told.iter().map(|(id, status, _)| (id.as_str(), status.as_str())).collect();
    assert_eq!(heads, [("1", "done"), ("2", "failed"), ("3", "failed")]);
    assert!(told[0].2.starts_with("echo fine: exit code 0 after "), "{}", told[0].2);
    assert!(told[0].2.contains("; output: fine; "), "{}", told[0].2);
    assert!(told[1].2.contains(": exit code 3 after ") && told[1].2.contains("bad"));
    assert!(told[2].2.contains("timed out after 0.05 s") && told[2].2.contains("wrote nothing"));
    assert_eq!(news(&desk), told, "asking changes nothing");
    desk.tools.jobs().acknowledge(&["1".to_owned(), "3".to_owned()]);
    assert_eq!(news(&desk), told[1..2]);
}

/// Scenario B06 and case G25: news stays short, the whole output is there page by page.
#[tokio::test]
async fn long_output_is_short_in_the_news_and_whole_in_its_file() {
    let desk = Desk::new();
    start(&desk, "for i in $(seq 1 3000); do echo \"line $i\"; done").await;
    end(&desk).await;
    let (_, _, text) = news(&desk).pop().unwrap();
    let excerpt = text.split("; output: ").nth(1).unwrap().split("; all of it").next().unwrap();
    assert!(excerpt.chars().count() <= 505, "{excerpt}");
    assert!(excerpt.starts_with("line 1\nline 2\n") && excerpt.ends_with("line 3000"), "{excerpt}");
    let path = text.rsplit(", ").next().unwrap();
    assert!(std::fs::read_to_string(path).unwrap().ends_with("line 2999\nline 3000\n"));
    let first = output(&desk, json!({"id": "1", "offset": 1, "limit": 2})).await;
    let lines: Vec<&str> = first.lines().skip(1).collect();
    assert_eq!(lines, ["line 1", "line 2", "[lines 1-2 of 3000; go on with offset 3]"]);
    let newest = output(&desk, json!({"id": "1", "limit": 2})).await;
    let lines: Vec<&str> = newest.lines().skip(1).collect();
    assert_eq!(lines, ["line 2999", "line 3000", "[lines 2999-3000 of 3000]"]);
    let beyond = output(&desk, json!({"id": "1", "offset": 4000})).await;
    assert!(beyond.ends_with("[no line 4000 yet: there are 3000 lines]"), "{beyond}");
}

/// Scenario B08: names are given here and never twice, so the same work can be started again both
/// while it runs and after its end.
#[tokio::test]
async fn the_same_command_twice_is_two_tasks() {
    let desk = Desk::new();
    let names = |told: &str| told.starts_with("Started in the background as task ");
    for _ in 0..2 {
        assert!(names(&start(&desk, "exec sleep 66.2").await));
    }
    desk.tools.stop_all();
    end(&desk).await;
    assert!(names(&start(&desk, "exec sleep 66.2").await));
    let ids: Vec<String> = desk.tools.jobs().all().iter().map(|job| job.id.clone()).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    desk.tools.stop_all();
}

/// Scenario B12: as long as nothing happens the same question has the same answer.
#[tokio::test]
async fn equal_states_of_a_task_give_equal_answers() {
    let desk = Desk::new();
    start(&desk, "echo up; exec sleep 63.3").await;
    let first = until(&desk, |out| out.contains("\nup\n") && !out.contains(" 0 bytes")).await;
    assert_eq!(output(&desk, json!({"id": "1"})).await, first);
}

#[tokio::test]
async fn asking_can_wait_for_the_end_and_be_interrupted() {
    let desk = Desk::new();
    start(&desk, "sleep 0.2; echo ready").await;
    let out = output(&desk, json!({"id": "1", "wait": 30})).await;
    assert!(out.starts_with("task 1: done") && out.contains("ready"), "{out}");
    start(&desk, "exec sleep 64").await;
    let cancel = CancellationToken::new();
    let context = CallContext::new(cancel.clone(), ProgressSink::none());
    let ask = desk.tools.run(call("task_output", json!({"id": "2", "wait": 600})), context);
    let (outcome, ()) = tokio::join!(ask, async { cancel.cancel() });
    assert_eq!(outcome.status, CallStatus::Cancelled);
}

#[tokio::test]
async fn a_task_that_is_not_there_is_an_error_that_names_those_that_are() {
    let desk = Desk::new();
    let error = desk.fails("task_output", json!({"id": "7"})).await;
    assert!(error.contains("there is no background task 7; none was started"), "{error}");
    start(&desk, "true").await;
    let error = desk.fails("task_stop", json!({"id": "7"})).await;
    assert!(error.contains("there are 1"), "{error}");
}

/// A running command is moved: what it wrote before and after is in one file.
#[tokio::test]
async fn a_running_command_can_be_moved_to_the_background() {
    let desk = Desk::new();
    let (progress, seen) = super::recorder();
    let context = CallContext::new(CancellationToken::new(), progress);
    let background = context.background.clone();
    let command = "echo before; until [ -e go ]; do sleep 0.02; done; echo after";
    let run = desk.tools.run(call("bash", json!({"command": command, "timeout": 60})), context);
    let push = async {
        while seen.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        background.cancel();
    };
    let (outcome, ()) = tokio::join!(run, push);
    assert_eq!(outcome.status, CallStatus::Ok);
    let told = text(&outcome);
    assert!(told.starts_with("Moved to the background by the user as task 1."), "{told}");
    assert!(told.ends_with("output so far:\nbefore\n"), "{told}");
    desk.put("go", "");
    end(&desk).await;
    let out = output(&desk, json!({"id": "1"})).await;
    assert!(out.starts_with("task 1: done") && out.ends_with("\nbefore\nafter\n"), "{out}");
}

/// Case C28: nothing is ever read from a terminal.
#[tokio::test]
async fn a_background_command_that_reads_gets_the_end_of_input() {
    let desk = Desk::new();
    for command in ["cat", "read x; echo got $?", "cat; cat -"] {
        start(&desk, command).await;
        end(&desk).await;
    }
    assert_eq!(news(&desk).len(), 3);
}

/// Scenario B14 and case C33: with the tools everything ends, a command that ignores TERM too.
#[tokio::test]
async fn stopping_everything_ends_the_jobs_soon() {
    let desk = Desk::new();
    start(&desk, "sleep 65.51").await;
    start(&desk, "trap '' TERM; sleep 65.52 & while :; do sleep 0.0655; done").await;
    let started = Instant::now();
    while !lives("sleep 65.51") || !lives("sleep 65.52") {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(desk.tools.jobs().running(), 2);
    desk.tools.stop_all();
    for word in ["sleep 65.51", "sleep 65.52", "sleep 0.0655"] {
        assert!(gone(word).await, "{word}");
    }
}

#[tokio::test]
async fn starts_and_ends_are_announced() {
    let desk = Desk::new();
    let mut changes = desk.tools.jobs().subscribe();
    start(&desk, "true").await;
    tokio::time::timeout(PATIENCE, changes.wait_for(|version| *version >= 2))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(desk.tools.jobs().running(), 0);
}

/// Scenarios K01, K02, K03, K08: which questions have a key, and what proves a file unchanged.
#[tokio::test]
async fn only_looks_can_be_answered_again_and_only_while_nothing_runs() {
    let desk = Desk::new();
    let path = desk.put("a.txt", "one\n");
    let key = |name: &str, args: Value| desk.tools.cache_key(&call(name, args));
    let read = key("read", json!({"file_path": "a.txt", "limit": 3}));
    assert!(read.is_some());
    assert_eq!(read, key("read", json!({"limit": 3, "file_path": "a.txt", "offset": null})));
    assert_ne!(read, key("read", json!({"limit": 4, "file_path": "a.txt"})));
    assert!(key("grep", json!({"pattern": "x"})).is_some());
    for (name, args) in [
        ("bash", json!({"command": "ls"})),
        ("write", json!({"file_path": "b", "content": ""})),
        ("task_output", json!({"id": "1"})),
        ("task_list", json!({})),
    ] {
        assert_eq!(key(name, args), None, "{name}");
    }
    let state = async || {
        let call = call("read", json!({"file_path": "a.txt"}));
        desk.tools.fingerprint(&call).await
    };
    let before = state().await;
    assert!(before.is_some());
    assert_eq!(before, state().await);
    std::fs::write(&path, "other\n").unwrap();
    assert_ne!(before, state().await);
    assert_eq!(desk.tools.fingerprint(&call("ls", json!({}))).await, None);
    start(&desk, "exec sleep 66.6").await;
    assert_eq!(key("read", json!({"file_path": "a.txt"})), None, "a job may change it");
    desk.tools.run(call("task_stop", json!({"id": "1"})), context()).await;
    assert!(key("read", json!({"file_path": "a.txt"})).is_some());
}
