//! The report about confinement, and what a sandbox that is on changes in decisions.

use codebot::kernel::command::Mode;
use codebot::kernel::ports::{Access, Capability};
use codebot::permission::{GateConfig, PermissionGate};
use codebot::sandbox::{Fence, Sandbox, probe, suspect};

use super::fixture::{Did, Fixture, did, verdict};

#[test]
fn the_report_never_claims_more_than_there_is() {
    let support = probe();
    assert_eq!(support.is_usable(), support.summary.contains("are available"), "{support:?}");
    assert_eq!(!support.is_usable(), support.summary.contains("your own rights"), "{support:?}");
    assert_eq!(support, probe(), "looking changes nothing");
    let made = Sandbox::new(Fence::default());
    assert_eq!(made.is_ok(), support.is_usable());
    if let Err(why) = made {
        assert_eq!(why, support.summary);
    }
}

#[test]
fn only_words_of_the_system_hint_at_the_fence() {
    assert!(suspect("sh: /etc/x: Permission denied").is_some());
    assert!(suspect("connect: Operation not permitted").is_some());
    assert!(suspect("error[E0308]: mismatched types").is_none());
}

#[test]
fn accept_edits_runs_commands_of_the_workspace_unasked_only_while_they_are_held_in() {
    let fixture = Fixture::new();
    let held = |mode| PermissionGate::new(GateConfig { mode, held: true, ..fixture.config() });
    let free = fixture.gate(Mode::AcceptEdits);
    let gate = held(Mode::AcceptEdits);
    for line in ["make test", "cargo build && cargo test", "./run.sh", "python3 tool.py"] {
        assert_eq!(fixture.shell_did(&free, line), Did::Ask, "{line}");
        assert_eq!(fixture.shell_did(&gate, line), Did::Allow, "{line}");
    }
    // What leaves the workspace, touches keys, destroys, or is not understood still asks.
    for line in [
        "cp a /etc/b",
        "python3 x.py ~/.ssh/id_rsa",
        "git push --force",
        "rm -rf /",
        "sleep 9 &",
        "eval \"$X\"",
        "cp a .git/hooks/pre-commit",
    ] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
    assert_eq!(fixture.shell_did(&held(Mode::Balanced), "make test"), Did::Ask);
    assert_eq!(fixture.shell_did(&held(Mode::Strict), "make test"), Did::Deny);
}

#[test]
fn a_command_outside_of_the_sandbox_is_asked_for_each_time_whatever_was_allowed() {
    let fixture = Fixture::new();
    let config = GateConfig {
        mode: Mode::AcceptEdits,
        held: true,
        allow: vec!["Bash(make *)".to_owned()],
        ..fixture.config()
    };
    let gate = PermissionGate::new(config);
    let line = || Access::Shell { command: "make test".to_owned(), workdir: fixture.ws() };
    let inside = verdict(&gate, "bash", Capability::Shell, &[line()]);
    assert_eq!(did(&inside), Did::Allow);
    let outside = verdict(&gate, "bash", Capability::Shell, &[line(), Access::Unconfined]);
    let codebot::kernel::ports::Verdict::Ask(approval) = outside else { panic!("{outside:?}") };
    assert_eq!(approval.rule, None, "nothing remembers it");
    assert!(approval.reason.contains("outside of the sandbox"), "{}", approval.reason);
}
