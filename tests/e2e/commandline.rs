//! What needs no model: version, help, doctor, mistakes, and a start without a terminal.

use std::process::{Command, Output, Stdio};

use crate::pty::{Home, entries};

fn codebot(home: &Home, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codebot"));
    command.args(args).env_clear().envs(home.environment());
    command.current_dir(home.path("work")).stdin(Stdio::null());
    command
}

fn output(args: &[&str]) -> Output {
    codebot(&Home::new(), args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn version_and_help_go_to_stdout_with_code_0() {
    let version = output(&["--version"]);
    assert_eq!(version.status.code(), Some(0));
    assert_eq!(text(&version.stdout), format!("codebot {}\n", env!("CARGO_PKG_VERSION")));
    let help = output(&["--help"]);
    assert_eq!((help.status.code(), help.stderr.len()), (Some(0), 0));
    assert!(text(&help.stdout).contains("--demo"));
}

#[test]
fn mistakes_end_with_code_2_and_name_what_is_wrong() {
    for args in [&["--no-such-flag"][..], &["--permission-mode", "yolo"], &["-p", "  "]] {
        let output = output(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_broken_config_is_a_usage_error_with_its_place() {
    let home = Home::new();
    let file = home.path("config").join("broken.toml");
    std::fs::write(&file, "[providers\n").unwrap();
    let args = ["-p", "hi", "--config", file.to_str().unwrap()];
    let output = codebot(&home, &args).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("broken.toml"), "{}", text(&output.stderr));
}

#[test]
fn without_a_terminal_the_screen_points_to_print_mode() {
    let output = output(&["--demo"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty(), "no control bytes without a terminal");
    assert!(text(&output.stderr).contains("-p"), "{}", text(&output.stderr));
}

#[test]
fn doctor_reports_without_showing_a_key() {
    let home = Home::new();
    let key = "sk-very-secret-0123456789";
    let output = codebot(&home, &["doctor"]).env("ANTHROPIC_API_KEY", key).output().unwrap();
    let report = text(&output.stdout);
    for part in ["codebot ", "config", "model", "terminal", "sandbox", "sessions", "programs"] {
        assert!(report.contains(part), "{part} is missing in {report}");
    }
    assert!(report.contains("anthropic: key found"), "{report}");
    assert!(!report.contains(key) && !text(&output.stderr).contains(key));
    assert!(entries(&home.path("work")).is_empty(), "the directory stays as it was");
}
