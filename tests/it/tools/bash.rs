//! `bash`: results, environment, progress.

use std::time::{Duration, Instant};

use codebot::kernel::event::{Preview, Progress};
use codebot::kernel::message::{CallStatus, Detail};
use codebot::kernel::ports::{CallContext, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Desk, call, context, detail, recorder, text};

fn line(command: &str) -> Value {
    json!({ "command": command })
}

#[tokio::test]
async fn stdout_and_stderr_come_in_the_order_they_were_written() {
    let desk = Desk::new();
    let out = desk.ok("bash", line("echo a; echo b >&2; echo c; echo d >&2")).await;
    assert_eq!(out, "a\nb\nc\nd\n");
    assert_eq!(desk.ok("bash", line("true")).await, "(no output)");
}

/// scenario 202
#[tokio::test]
async fn an_exit_code_is_a_structured_result_with_the_output() {
    let desk = Desk::new();
    let outcome = desk.call("bash", line("echo out; exit 7")).await;
    assert_eq!(outcome.status, CallStatus::Error);
    assert_eq!(text(&outcome), "out\nexit code 7");
    let Detail::Shell { exit, bytes, .. } = detail(&outcome) else { panic!() };
    assert_eq!((exit, bytes), (Some(7), 4));
    let outcome = desk.call("bash", line("kill -9 $$")).await;
    assert_eq!(outcome.status, CallStatus::Error);
    assert_eq!(text(&outcome), "ended by signal 9 (KILL)");
    assert!(matches!(detail(&outcome), Detail::Shell { exit: None, .. }));
}

/// scenario 202
#[tokio::test]
async fn every_call_has_its_own_workdir_and_a_missing_one_is_an_error() {
    let desk = Desk::new();
    desk.put("sub/x", "");
    let args = json!({"command": "pwd; cd /", "workdir": "sub"});
    assert_eq!(desk.ok("bash", args).await, format!("{}\n", desk.path("sub").display()));
    let pwd = desk.ok("bash", line("pwd")).await;
    assert!(pwd.ends_with("/ws\n"), "{pwd}");
    let missing = json!({"command": "true", "workdir": "nowhere"});
    let error = desk.fails("bash", missing.clone()).await;
    assert!(error.contains("workdir") && error.contains("nowhere"), "{error}");
    assert!(desk.tools.preview(&call("bash", missing)).await.is_err());
    desk.fails("bash", json!({"command": "true", "workdir": "sub/x"})).await;
    desk.fails("bash", line("echo a\u{0}b")).await;
}

#[tokio::test]
async fn the_preview_is_the_command_and_where_it_runs() {
    let desk = Desk::new();
    let preview = desk.tools.preview(&call("bash", line("ls -l"))).await.unwrap();
    assert_eq!(preview, Some(Preview::Command { command: "ls -l".into(), workdir: ".".into() }));
}

/// scenario 202
#[tokio::test]
async fn a_single_line_of_300000_characters_is_not_dropped() {
    let desk = Desk::new();
    let out = desk.ok("bash", line("head -c 300000 /dev/zero | tr '\\0' x")).await;
    assert!(out.starts_with("xxx") && out.ends_with("xxx") && out.contains("293.0 KB"), "{out}");
    let path = out.split("saved as ").nth(1).unwrap().split(',').next().unwrap();
    assert_eq!(std::fs::metadata(path).unwrap().len(), 300_000);
}

/// case C26
#[tokio::test]
async fn other_encodings_and_slow_characters_arrive() {
    let desk = Desk::new();
    let out = desk.ok("bash", line(r"printf '\xc4\xe3\xba\xc3\n'")).await;
    assert!(out.contains("\u{fffd}") && out.contains("not UTF-8"), "{out}");
    let slow = r"printf '\xe4'; sleep 0.03; printf '\xbd'; sleep 0.03; printf '\xa0\n'";
    assert_eq!(desk.ok("bash", line(slow)).await, "你\n");
    assert_eq!(desk.ok("bash", line(r"printf 'a\0b\n'")).await, "ab\n");
}

/// case C28
#[tokio::test]
async fn commands_that_read_their_input_find_its_end() {
    let desk = Desk::new();
    let started = Instant::now();
    assert_eq!(desk.ok("bash", line("cat")).await, "(no output)");
    desk.fails("bash", line("read x")).await;
    assert!(started.elapsed() < Duration::from_secs(2));
}

/// case C29
#[tokio::test]
async fn there_is_no_terminal_to_open() {
    let desk = Desk::new();
    let out = desk
        .ok("bash", line("(exec 3</dev/tty) 2>&1 || echo none; tty; ps -o sid=,pid= -p $$"))
        .await;
    assert!(out.contains("none"), "{out}");
    let ids: Vec<&str> = out.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(ids[0], ids[1], "the shell leads its own session: {out}");
}

/// case C30
#[tokio::test]
async fn git_fails_fast_where_it_would_open_an_editor_and_changes_no_history() {
    let desk = Desk::new();
    let setup = "git init -q . && git config user.email a@b && git config user.name n \
                 && for i in 1 2 3; do echo $i > f; git add f; git commit -qm $i; done \
                 && echo 4 > f && git add f";
    desk.ok("bash", line(setup)).await;
    let before = desk.ok("bash", line("git rev-parse HEAD")).await;
    let started = Instant::now();
    let commit = desk.fails("bash", line("git commit")).await;
    assert!(commit.contains("no editor here"), "{commit}");
    let rebase = desk.fails("bash", line("git stash -q; git rebase -i HEAD~2")).await;
    assert!(rebase.contains("no editor here"), "{rebase}");
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(
        desk.ok("bash", line("git rebase --abort 2>/dev/null; git rev-parse HEAD")).await,
        before
    );
    assert!(!desk.ok("bash", line("git log")).await.contains('\u{1b}'));
}

/// A server that wants a password for everything.
fn locked_server() -> u16 {
    use std::io::{Read, Write};
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                  Content-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
    });
    port
}

/// case C30
#[tokio::test]
async fn git_does_not_ask_for_a_password() {
    let desk = Desk::new();
    let url = format!("http://127.0.0.1:{}/r.git", locked_server());
    let command = format!("git -c credential.helper= -c http.proxy= ls-remote {url}");
    let started = Instant::now();
    let error = desk.fails("bash", line(&command)).await;
    assert!(error.contains("terminal prompts disabled"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// case C31
#[tokio::test]
async fn keys_of_providers_are_not_in_the_environment_and_masked_in_output() {
    let desk = Desk::with(|config| {
        config.secret_values = vec!["sk-test-000111".into()];
        config.secret_env = vec!["HOME".into(), "bad=name".into()];
    });
    let names = desk.ok("bash", line("env | cut -d= -f1")).await;
    assert!(std::env::var_os("HOME").is_some());
    assert!(!names.lines().any(|name| name == "HOME"), "{names}");
    assert!(names.lines().any(|name| name == "PATH"), "{names}");
    let wrapped = "export OPENAI_API_KEY=sk-test-000111; bash -c 'echo $OPENAI_API_KEY'";
    assert_eq!(desk.ok("bash", line(wrapped)).await, "[secret]\n");
    let mut command = std::process::Command::new("true");
    codebot::tools::environment::Environment::default().apply(&mut command);
    for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"] {
        let is_removed =
            |(name, value): (&std::ffi::OsStr, Option<_>)| name == key && value.is_none();
        assert!(command.get_envs().any(is_removed), "{key}");
    }
    let env = desk.ok("bash", line("echo $GIT_TERMINAL_PROMPT $PAGER $TERM")).await;
    assert_eq!(env, "0 cat dumb\n");
}

#[tokio::test]
async fn progress_comes_at_most_every_50_ms_and_only_on_change() {
    let desk = Desk::new();
    let (progress, seen) = recorder();
    let context = CallContext::new(CancellationToken::new(), progress);
    let command = "for i in $(seq 40); do echo $i; sleep 0.01; done; sleep 0.2; printf last";
    desk.tools.run(call("bash", line(command)), context).await;
    let seen = seen.lock().unwrap();
    assert!(seen.len() >= 3 && seen.len() <= 20, "{}", seen.len());
    let tails: Vec<&String> = seen
        .iter()
        .map(|progress| {
            let Progress::Output { tail, bytes } = progress;
            assert!(*bytes > 0 && tail.len() <= 4096 && tail.lines().count() <= 20);
            tail
        })
        .collect();
    assert!(tails.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(tails.iter().any(|tail| tail.contains("40")), "{tails:?}");
}

#[tokio::test]
async fn a_shell_that_does_not_exist_is_a_clear_error() {
    let desk = Desk::with(|config| config.shell = "/no/such/shell".into());
    let error = desk.fails("bash", line("true")).await;
    assert!(error.contains("/no/such/shell"), "{error}");
}

#[tokio::test]
async fn two_tools_of_one_session_can_run_commands_side_by_side() {
    let desk = Desk::new();
    let run = |command: &'static str| desk.tools.run(call("bash", line(command)), context());
    let (a, b) = tokio::join!(run("sleep 0.05; echo a"), run("echo b"));
    assert_eq!((text(&a), text(&b)), ("a\n".into(), "b\n".into()));
}

/// What the gate judged is a path without links; the shell must not read `..` in another way.
#[tokio::test]
async fn the_shell_starts_in_the_real_folder_whatever_the_program_was_started_with() {
    let desk = Desk::new();
    desk.put("a/b/x", "");
    std::os::unix::fs::symlink("a/b", desk.path("link")).unwrap();
    let args = json!({"command": "pwd; cd .. && pwd; echo \"[$OLDPWD]\"", "workdir": "link"});
    let out = desk.ok("bash", args).await;
    let (real, above) = (desk.path("a/b"), desk.path("a"));
    assert_eq!(out, format!("{}\n{}\n[{}]\n", real.display(), above.display(), real.display()));
    let unset = desk.ok("bash", line("echo \"$CDPATH$GLOBIGNORE$BASHOPTS_x\"; pwd")).await;
    assert_eq!(unset, format!("\n{}\n", desk.path("").display().to_string().trim_end_matches('/')));
}
