//! The command line: what is accepted, what it means, and what is refused with exit code 2.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use codebot::cli::{Cli, Task, Wished};
use codebot::headless::Format;
use codebot::kernel::command::Mode;

fn parse(args: &[&str]) -> Cli {
    Cli::try_parse_from([&["codebot"], args].concat()).unwrap()
}

fn refused(args: &[&str]) -> clap::Error {
    Cli::try_parse_from([&["codebot"], args].concat()).unwrap_err()
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn nothing_typed_opens_an_interactive_session_with_defaults() {
    let cli = parse(&[]);
    assert_eq!(cli, Cli::default());
    let launch = cli.launch();
    assert!(launch.interactive && !launch.demo && !launch.resume);
    assert_eq!((launch.model, launch.mode, launch.max_turns), (None, None, None));
}

#[test]
fn every_flag_reaches_the_launch() {
    let cli = parse(&[
        "-p",
        "fix it",
        "-c",
        "-m",
        "ollama/qwen3",
        "--permission-mode",
        "accept-edits",
        "--output-format",
        "stream-json",
        "--max-turns",
        "7",
        "--add-dir",
        "a",
        "--add-dir",
        "b",
        "--config",
        "c.toml",
        "-C",
        "dir",
        "--no-mouse",
        "--no-alt-screen",
    ]);
    assert_eq!(cli.prompt.as_deref(), Some("fix it"));
    assert_eq!(cli.output_format, Some(Format::StreamJson));
    assert!(cli.print && cli.no_mouse && cli.no_alt_screen);
    let launch = cli.launch();
    assert_eq!(launch.model.as_deref(), Some("ollama/qwen3"));
    assert_eq!(launch.mode, Some(Mode::AcceptEdits));
    assert_eq!(launch.max_turns, Some(7));
    assert_eq!(launch.add_dirs, [PathBuf::from("a"), PathBuf::from("b")]);
    assert_eq!((launch.config, launch.cwd), (Some("c.toml".into()), Some("dir".into())));
    assert!(launch.resume && !launch.interactive);
}

#[test]
fn every_mode_and_format_has_its_name_on_the_command_line() {
    for mode in Mode::ALL {
        assert_eq!(
            parse(&["--permission-mode", mode.name()]).permission_mode,
            Some(Wished::Mode(mode))
        );
    }
    let launch = parse(&["--permission-mode", "plan"]).launch();
    assert!(launch.plan && launch.mode.is_none());
    for format in Format::ALL {
        let cli = parse(&["-p", "--output-format", format.name()]);
        assert_eq!(cli.output_format, Some(format));
    }
}

#[test]
fn a_prompt_is_a_prompt_unless_it_is_a_task() {
    assert_eq!(parse(&["doctor"]).command, Some(Task::Doctor));
    assert_eq!(parse(&["docter"]).prompt.as_deref(), Some("docter"));
    assert_eq!(parse(&["-p", "--", "--why"]).prompt.as_deref(), Some("--why"));
    assert_eq!(parse(&["--demo", "doctor the code"]).prompt.as_deref(), Some("doctor the code"));
}

#[test]
fn mistakes_are_usage_errors() {
    let mistakes: [&[&str]; 8] = [
        &["--permission-mode", "yolo"],
        &["-p", "--output-format", "xml"],
        &["--output-format", "json"],
        &["--max-turns", "0"],
        &["--max-turns", "many"],
        &["--demo", "-m", "a/b"],
        &["--no-such-flag"],
        &["two", "prompts"],
    ];
    for args in mistakes {
        assert_eq!(refused(args).exit_code(), 2, "{args:?}");
    }
    let text = refused(&["--permission-mode", "trsut"]).to_string();
    assert!(text.contains("accept-edits") && text.contains("trust"), "{text}");
}

#[test]
fn help_and_version_are_no_errors() {
    let help = refused(&["--help"]);
    assert_eq!((help.kind(), help.exit_code()), (ErrorKind::DisplayHelp, 0));
    let text = help.to_string();
    for part in [
        "--demo",
        "--print",
        "doctor",
        "Exit codes",
        "codebot [OPTIONS] doctor",
        "balanced",
        "stream-json",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let version = refused(&["--version"]);
    assert_eq!(version.exit_code(), 0);
    assert_eq!(version.to_string(), format!("codebot {}\n", env!("CARGO_PKG_VERSION")));
}
