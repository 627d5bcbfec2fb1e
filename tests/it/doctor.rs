//! The doctor's report: every finding has its line, every problem its remedy, no key is shown.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use codebot::app::doctor::{
    ConfigFact, ConfigState, DoctorFacts, FolderFact, ProgramFact, ProviderFact, SandboxFact,
    TerminalFact, find_program, has_failures, probe_folder, programs, report,
};
use codebot::app::service::LocalServer;

fn healthy() -> DoctorFacts {
    DoctorFacts {
        version: "1.2.3".to_owned(),
        configs: vec![ConfigFact { path: "~/c.toml".to_owned(), state: ConfigState::Read }],
        model: Some(Ok("anthropic/x".to_owned())),
        providers: vec![ProviderFact {
            name: "anthropic".to_owned(),
            key_env: "ANTHROPIC_API_KEY".to_owned(),
            has_key: true,
        }],
        servers: vec![LocalServer {
            label: "Ollama".to_owned(),
            base_url: "http://localhost:11434".to_owned(),
            models: vec!["ollama/a".to_owned(), "ollama/b".to_owned()],
        }],
        terminal: TerminalFact {
            term: Some("xterm-256color".to_owned()),
            colorterm: Some("truecolor".to_owned()),
            size: Some((120, 40)),
            is_terminal: true,
            locale: Some("en_US.UTF-8".to_owned()),
            ..TerminalFact::default()
        },
        sandbox: SandboxFact { active: true, text: "landlock confines commands".to_owned() },
        sessions: FolderFact { path: "~/state".to_owned(), problem: None },
        programs: vec![ProgramFact {
            name: "bash",
            path: Some(PathBuf::from("/bin/bash")),
            used_for: "running commands",
            required: true,
        }],
    }
}

#[test]
fn a_healthy_system_gets_a_clean_bill() {
    let text = report(&healthy());
    assert!(text.starts_with("codebot 1.2.3\n") && text.ends_with("everything is in order\n"));
    for part in [
        "ok    ~/c.toml",
        "anthropic/x would be used",
        "anthropic: key found",
        "Ollama answers at http://localhost:11434 with 2 models",
        "16 million colours",
        "size 120x40",
        "locale en_US.UTF-8",
        "landlock",
        "~/state is writable",
        "/bin/bash",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!has_failures(&healthy()));
}

#[test]
fn every_problem_has_its_remedy() {
    let mut facts = healthy();
    let broken = ConfigState::Broken("3:1: unknown table".to_owned());
    facts.configs = vec![ConfigFact { path: "~/c.toml".to_owned(), state: broken }];
    facts.model = None;
    facts.providers[0].has_key = false;
    facts.terminal = TerminalFact { term: Some("dumb".to_owned()), ..TerminalFact::default() };
    facts.sandbox = SandboxFact { active: false, text: "the kernel has no landlock".to_owned() };
    facts.sessions.problem = Some("permission denied".to_owned());
    facts.programs[0].path = None;
    let text = report(&facts);
    for part in [
        "FAIL  ~/c.toml: 3:1",
        "codebot --demo",
        "set ANTHROPIC_API_KEY",
        "codebot -p",
        "LANG=C.UTF-8",
        "warn  the kernel has no landlock",
        "CODEBOT_STATE_DIR",
        "FAIL  bash: not found",
        "4 to repair, 3 to look at",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(has_failures(&facts));
}

#[test]
fn the_terminal_is_read_from_the_given_environment_only() {
    let env = |name: &str| match name {
        "TERM" => Some("tmux-256color".to_owned()),
        "TMUX" => Some("/tmp/socket".to_owned()),
        "LC_ALL" | "COLORTERM" => Some(String::new()),
        "LANG" => Some("C.utf8".to_owned()),
        "SSH_TTY" => Some("/dev/pts/1".to_owned()),
        _ => None,
    };
    let found = TerminalFact::gather(&env, Some((80, 24)), true);
    assert_eq!((found.multiplexer, found.ssh, found.is_utf8()), (Some("tmux"), true, true));
    assert_eq!((found.colorterm.as_deref(), found.locale.as_deref()), (None, Some("C.utf8")));
    let text = report(&DoctorFacts { terminal: found, ..healthy() });
    assert!(
        text.contains("256 colours") && text.contains("inside tmux") && text.contains("OSC 52")
    );
}

#[test]
fn folders_and_programs_are_really_tried() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("deep/state");
    assert_eq!(probe_folder(&state, "~/s").problem, None);
    assert_eq!(std::fs::read_dir(&state).unwrap().count(), 0, "the probe leaves nothing behind");
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(probe_folder(&file.join("below"), "~/s").problem.is_some());

    let path = std::env::join_paths([PathBuf::from("relative"), folder.path().into()]).unwrap();
    assert_eq!(find_program("file", Some(&path)), None, "it may not be executed");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(find_program("file", Some(&path)), Some(file));
    assert_eq!(find_program("file", None), None);
    assert!(programs(Some(OsStr::new("/nowhere"))).iter().all(|program| program.path.is_none()));
}
