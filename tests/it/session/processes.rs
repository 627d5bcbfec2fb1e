//! What needs a process of its own: a full disk, a second program, a foreign umask.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use codebot::config::edit::save_provider_key;
use codebot::config::env::Env;
use codebot::config::paths::Paths;
use codebot::kernel::ports::{Durability, Journal};
use codebot::session::journal::SessionJournal;
use codebot::session::replay::{OpenError, load};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::support::*;

/// case F05: the limit makes a write come back short and then fail, as a full disk does.
#[tokio::test]
async fn a_full_disk_leaves_a_valid_file_and_goes_on_when_space_returns() {
    let Some(state) = given() else {
        let state = tempfile::tempdir().unwrap();
        let test =
            "session::processes::a_full_disk_leaves_a_valid_file_and_goes_on_when_space_returns";
        let output = run_alone(test, "trap '' XFSZ; ulimit -S -f 16", state.path());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
        return;
    };
    let journal = journal(&state, "s1");
    append(&journal, &said(user("u1", "one"))).await;
    append(&journal, &said(assistant("a1", "two", &[]))).await;
    let before = fs::read(journal.path()).unwrap();
    let big = said(user("u2", &"x".repeat(40_000)));
    for durability in [Durability::Flush, Durability::Buffered, Durability::Flush] {
        let error = journal.append(&big, durability).await.unwrap_err();
        assert!(error.to_string().contains("cannot write the session file"), "{error}");
        assert_eq!(fs::read(journal.path()).unwrap(), before, "the failed record is taken back");
    }
    assert_eq!(texts(&load(journal.path()).unwrap().history), ["one", "two"]);
    // A record that still fits is written; nothing was switched off.
    append(&journal, &said(user("u3", "small"))).await;

    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: maximum, maximum }).unwrap();
    append(&journal, &big).await;
    let loaded = load(journal.path()).unwrap();
    assert_eq!(loaded.history.len(), 4);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

/// case F05
#[tokio::test]
async fn a_session_that_cannot_write_its_first_record_leaves_no_file() {
    let Some(state) = given() else {
        let state = tempfile::tempdir().unwrap();
        let test =
            "session::processes::a_session_that_cannot_write_its_first_record_leaves_no_file";
        let output = run_alone(test, "trap '' XFSZ; ulimit -S -f 4", state.path());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
        return;
    };
    let journal = journal(&state, "s1");
    let big = said(user("u1", &"x".repeat(40_000)));
    journal.append(&big, Durability::Flush).await.unwrap_err();
    assert!(!journal.is_used().await && !journal.path().exists(), "no false hint to resume");
    append(&journal, &said(user("u1", "small"))).await;
    assert_eq!(texts(&load(journal.path()).unwrap().history), ["small"]);
}

/// case F07
#[tokio::test]
async fn a_second_process_is_refused_and_a_dead_one_holds_nothing() {
    if let Some(path) = given() {
        match SessionJournal::resume(&path, &|_| true) {
            Err(OpenError::Busy { .. }) => println!("refused"),
            Err(error) => panic!("{error}"),
            Ok((journal, _)) => {
                append(&journal, &said(user("u2", "from the second"))).await;
                // Dies with the lock in its hands.
                std::process::abort();
            }
        }
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let test = "session::processes::a_second_process_is_refused_and_a_dead_one_holds_nothing";
    let journal = journal(state.path(), "s1");
    append(&journal, &said(user("u1", "one"))).await;
    let path = journal.path().to_path_buf();
    let output = run_alone(test, "true", &path);
    assert!(String::from_utf8_lossy(&output.stdout).contains("refused"), "{output:?}");
    append(&journal, &said(assistant("a1", "two", &[]))).await;
    drop(journal);

    let output = run_alone(test, "ulimit -c 0", &path);
    assert!(!output.status.success(), "it was to die: {output:?}");
    let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
    assert_eq!(texts(&loaded.history), ["one", "two", "from the second"]);
    append(&journal, &said(user("u3", "three"))).await;
    assert_eq!(load(&path).unwrap().history.len(), 4);
}

/// case F01: a real kill in the middle of writing, many times.
#[tokio::test]
async fn nothing_that_was_reported_saved_is_lost_to_a_kill() {
    let test = "session::processes::nothing_that_was_reported_saved_is_lost_to_a_kill";
    if let Some(path) = given() {
        let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
        for n in loaded.history.len() + 1.. {
            append(&journal, &said(user(&format!("u{n}"), &"x".repeat(n % 7 * 3000)))).await;
            println!("saved {n}");
        }
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let path = written(state.path(), &[said(user("u1", "one"))]).await;
    for round in 0..5 {
        let mut child = start_alone(test, "true", &path);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let saved = |line: std::io::Result<String>| line.ok()?.strip_prefix("saved ")?.parse().ok();
        let last: usize = lines.filter_map(saved).nth(20 + round * 3).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let loaded = load(&path).unwrap();
        assert!(loaded.history.len() >= last, "{} of {last}", loaded.history.len());
        assert!(loaded.warnings.iter().all(|w| w.contains("unfinished")), "{:?}", loaded.warnings);
    }
}

/// case F16
#[tokio::test]
async fn saved_files_are_for_their_owner_only_whatever_the_umask() {
    let test = "session::processes::saved_files_are_for_their_owner_only_whatever_the_umask";
    if let Some(home) = given() {
        let journal = journal(&home.join("state"), "s1");
        append(&journal, &said(user("u1", "hello"))).await;
        save_provider_key(&places(&home), "anthropic", "sk-secret", None).unwrap();
        assert!(!fs::read_to_string(journal.path()).unwrap().contains("sk-secret"));
        return;
    }
    for umask in ["000", "022", "177"] {
        let home = tempfile::tempdir().unwrap();
        let output = run_alone(test, &format!("umask {umask}"), home.path());
        assert!(output.status.success(), "{output:?}");
        let files = check_modes(home.path());
        assert_eq!(files, 2, "session and config under umask {umask}");
    }
}

/// Checks everything below a folder; returns the number of files.
fn check_modes(dir: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        if path.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            files += check_modes(&path);
        } else {
            assert_eq!(mode, 0o600, "{}", path.display());
            files += 1;
        }
    }
    files
}

/// case F08, for the config file.
#[test]
fn keys_saved_by_many_processes_at_once_are_all_there() {
    let test = "session::processes::keys_saved_by_many_processes_at_once_are_all_there";
    if let Some(home) = given() {
        let own = std::process::id();
        for n in 0..10 {
            save_provider_key(&places(&home), &format!("p{own}-{n}"), "k", None).unwrap();
        }
        return;
    }
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert!(run_alone(test, "true", home.path()).status.success()));
        }
    });
    let saved = fs::read_to_string(home.path().join("config/config.toml")).unwrap();
    let table: toml::Table = saved.parse().unwrap();
    assert_eq!(table["providers"].as_table().unwrap().len(), 30);
}

fn places(home: &Path) -> Paths {
    Paths::find(&Env::of([
        ("CODEBOT_CONFIG_DIR", home.join("config")),
        ("CODEBOT_STATE_DIR", home.join("state")),
    ]))
    .unwrap()
}
