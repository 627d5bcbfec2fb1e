//! `bash` and time: limits, cancelling, left-over processes, endless output.

use std::time::{Duration, Instant};

use codebot::kernel::message::CallStatus;
use codebot::kernel::ports::{CallContext, ProgressSink, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Desk, call, context, text};

fn line(command: &str) -> Value {
    json!({ "command": command })
}

/// Whether a process with that word on its command line lives.
pub(super) fn lives(word: &str) -> bool {
    let found = std::process::Command::new("pgrep").args(["-f", "--", word]).output().unwrap();
    !found.stdout.is_empty()
}

pub(super) async fn gone(word: &str) -> bool {
    for _ in 0..100 {
        if !lives(word) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

/// case C21 and scenario 210
#[tokio::test]
async fn a_background_child_that_keeps_the_pipe_does_not_keep_the_tool() {
    for (command, output) in [
        ("sleep 31.21 & echo done", "done\n"),
        ("sleep 31.22 >/dev/null & echo done", "done\n"),
        ("sleep 31.23 >/dev/null 2>&1 & echo done", "done\n"),
        ("(while :; do echo x; sleep .1; done) & echo hi", "hi\n"),
    ] {
        let desk = Desk::new();
        let started = Instant::now();
        let outcome = desk.call("bash", line(command)).await;
        assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
        assert_eq!(outcome.status, CallStatus::Ok);
        let text = text(&outcome);
        assert!(text.contains(output) && text.contains("still runs in the background"), "{text}");
    }
}

/// case C33
#[tokio::test]
async fn stop_all_and_drop_end_what_was_left_running() {
    let desk = Desk::new();
    desk.ok("bash", line("sleep 33.31 & trap '' TERM; (trap '' TERM; sleep 33.32) & echo x")).await;
    desk.ok("bash", line("set -m; sleep 33.33 & echo y")).await;
    assert!(lives("sleep 33.31") && lives("sleep 33.32") && lives("sleep 33.33"));
    let started = Instant::now();
    desk.tools.stop_all();
    assert!(started.elapsed() < Duration::from_secs(1));
    for word in ["sleep 33.31", "sleep 33.32", "sleep 33.33"] {
        assert!(gone(word).await, "{word}");
    }
    desk.ok("bash", line("sleep 33.34 & echo z")).await;
    assert!(lives("sleep 33.34"));
    drop(desk);
    assert!(gone("sleep 33.34").await);
}

#[tokio::test]
async fn what_runs_on_is_not_killed_by_its_own_output() {
    let desk = Desk::new();
    let command = "(for i in $(seq 60); do sleep 0.02; echo line; echo $i > count; done) & echo up";
    desk.ok("bash", line(command)).await;
    let count = || desk.text("count").trim().parse::<u32>().unwrap_or(0);
    let before = count();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        if count() > before + 5 {
            return;
        }
    }
    panic!("it stopped at {before}");
}

#[tokio::test]
async fn stop_all_ends_a_command_that_is_being_waited_for() {
    let desk = Desk::new();
    let started = Instant::now();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        desk.tools.stop_all();
    };
    let (outcome, ()) = tokio::join!(desk.call("bash", line("sleep 36.61")), stop);
    assert_eq!(text(&outcome), "ended by signal 15 (TERM)");
    assert!(started.elapsed() < Duration::from_secs(2));
}

/// case C23
#[tokio::test]
async fn a_timeout_ends_the_whole_group_and_keeps_the_output() {
    let desk = Desk::new();
    let command = "echo begun; bash -c 'sleep 300.23 & sleep 300.24; :'";
    let started = Instant::now();
    let outcome = desk.call("bash", json!({"command": command, "timeout": 0.2})).await;
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(outcome.status, CallStatus::TimedOut);
    assert_eq!(text(&outcome), "begun\n[timed out after 0.2 s; all it had started was stopped]");
    assert!(gone("sleep 300.23").await && gone("sleep 300.24").await);
}

#[tokio::test]
async fn the_default_limit_holds_when_the_call_names_none() {
    let desk = Desk::with(|config| config.timeout = Duration::from_millis(50));
    assert_eq!(desk.call("bash", line("sleep 5")).await.status, CallStatus::TimedOut);
}

#[tokio::test]
async fn a_command_that_ignores_term_is_killed() {
    let desk = Desk::new();
    let command = "trap '' TERM; echo up; while :; do sleep 0.0525; done";
    let started = Instant::now();
    let outcome = desk.call("bash", json!({"command": command, "timeout": 0.1})).await;
    assert_eq!(outcome.status, CallStatus::TimedOut);
    assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
    assert!(gone("sleep 0.0525").await);
}

/// case C34
#[tokio::test]
async fn a_cancelled_command_changes_nothing_later() {
    let desk = Desk::new();
    let cancel = CancellationToken::new();
    let context = CallContext::new(cancel.clone(), ProgressSink::none());
    let run =
        desk.tools.run(call("bash", line("echo on; sleep 0.6; echo late > late.txt")), context);
    let stop = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
        Instant::now()
    };
    let (outcome, stopped) = tokio::join!(run, stop);
    assert!(stopped.elapsed() < Duration::from_millis(500), "{:?}", stopped.elapsed());
    assert_eq!(outcome.status, CallStatus::Cancelled);
    assert!(text(&outcome).starts_with("on\n[cancelled"), "{}", text(&outcome));
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(!desk.path("late.txt").exists());
}

#[tokio::test]
async fn a_dropped_call_kills_its_command() {
    let desk = Desk::new();
    let run = desk.tools.run(call("bash", line("sleep 35.51; :")), context());
    let short = tokio::time::timeout(Duration::from_millis(150), run).await;
    assert!(short.is_err());
    assert!(gone("sleep 35.51").await);
}

#[cfg(target_os = "linux")]
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// case C25 and scenario 209
#[cfg(target_os = "linux")]
#[tokio::test]
async fn endless_output_stays_in_bounded_memory_and_starves_nobody() {
    let desk = Desk::new();
    let before = resident_kb();
    let ticks = async {
        let (mut worst, mut last) = (Duration::ZERO, Instant::now());
        for _ in 0..80 {
            tokio::time::sleep(Duration::from_millis(5)).await;
            worst = worst.max(last.elapsed());
            last = Instant::now();
        }
        worst
    };
    let command = json!({"command": "yes", "timeout": 0.7});
    let (outcome, worst) = tokio::join!(desk.call("bash", command), ticks);
    assert_eq!(outcome.status, CallStatus::TimedOut);
    let text = text(&outcome);
    assert!(text.starts_with("y\ny\n") && text.contains("B in all") && text.len() < 4000, "{text}");
    assert!(worst < Duration::from_millis(400), "{worst:?}");
    let one_line = "head -c 20M /dev/zero | tr '\\0' a; echo; echo end >&2";
    let out = desk.call("bash", line(one_line)).await;
    assert!(super::text(&out).ends_with("end\n"));
    let grown = resident_kb().saturating_sub(before);
    assert!(grown < 64 * 1024, "{grown} KB");
}
