//! Remembered answers and the audit log on disk.

use std::os::unix::fs::PermissionsExt as _;

use codebot::kernel::command::Mode;
use codebot::kernel::ports::{Access, Capability, Gate};
use codebot::permission::{GateConfig, PermissionGate};

use super::fixture::{Did, Fixture, asked, call, verdict, write, write_did};

async fn always(fixture: &Fixture, gate: &PermissionGate, line: &str) {
    let question = asked(fixture.shell(gate, line));
    gate.remember(&question).await.unwrap();
}

/// Scenario 191.
#[tokio::test]
async fn remembered_answers_survive_in_a_private_file() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    always(&fixture, &gate, "cargo test").await;
    assert_eq!(fixture.shell_did(&gate, "cargo test --lib"), Did::Allow);
    let path = fixture.config().store;
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let later = fixture.gate(Mode::Balanced);
    assert_eq!(later.remembered(), ["Bash(cargo test *)"]);
    assert_eq!(fixture.shell_did(&later, "cargo test x"), Did::Allow);
    later.revoke("Bash(cargo test *)").unwrap();
    assert_eq!(fixture.shell_did(&later, "cargo test x"), Did::Ask);
    assert!(fixture.gate(Mode::Balanced).remembered().is_empty());
}

/// Scenario 192, scenario P07.
#[tokio::test]
async fn a_chain_asks_while_one_part_is_unknown() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    always(&fixture, &gate, "npm test").await;
    assert_eq!(fixture.shell_did(&gate, "npm test && ls"), Did::Allow);
    assert_eq!(fixture.shell_did(&gate, "npm test && curl x"), Did::Ask);
    assert_eq!(fixture.shell_did(&gate, "npm test && npm run x"), Did::Ask);
}

/// Scenario P08.
#[tokio::test]
async fn a_remembered_edit_covers_its_folder_only() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    let question = asked(write(&gate, &fixture.ws().join("src/x")));
    gate.remember(&question).await.unwrap();
    assert_eq!(write_did(&gate, &fixture.ws().join("src/a/b")), Did::Allow);
    assert_eq!(write_did(&gate, &fixture.ws().join("lib/c")), Did::Ask);
    assert_eq!(write_did(&gate, &fixture.ws().join("src/../lib/c")), Did::Ask);
    assert_eq!(write_did(&gate, &fixture.ws().join("src/.env")), Did::Ask);
    let root = asked(write(&gate, &fixture.ws().join("x")));
    gate.remember(&root).await.unwrap();
    assert_eq!(write_did(&gate, &fixture.ws().join("y")), Did::Allow);
    assert_eq!(write_did(&gate, &fixture.ws().join("lib/c")), Did::Ask);
}

/// Case D20: a grant is bound to its workspace and to the exact spelling.
#[tokio::test]
async fn grants_are_bound_to_their_workspace() {
    let fixture = Fixture::new();
    always(&fixture, &fixture.gate(Mode::Balanced), "make all").await;
    let other = fixture.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let config = GateConfig { workspace: other.clone(), ..fixture.config() };
    let gate = PermissionGate::new(config);
    assert!(gate.remembered().is_empty());
    let access = [Access::Shell { command: "make all".into(), workdir: other }];
    asked(verdict(&gate, "bash", Capability::Shell, &access));
    let same = fixture.gate(Mode::Balanced);
    assert_eq!(fixture.shell_did(&same, "make all"), Did::Allow);
    assert_eq!(fixture.shell_did(&same, "Make all"), Did::Ask);
    assert_eq!(fixture.shell_did(&same, "cd /tmp && make all"), Did::Ask);
    assert_eq!(fixture.shell_did(&same, "cd src && make all"), Did::Allow);
}

#[tokio::test]
async fn two_sessions_keep_each_others_answers() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.gate(Mode::Balanced), fixture.gate(Mode::Balanced));
    always(&fixture, &one, "make a").await;
    always(&fixture, &two, "make b").await;
    let rules = fixture.gate(Mode::Balanced).remembered();
    assert_eq!(rules, ["Bash(make a *)", "Bash(make b *)"]);
}

#[tokio::test]
async fn what_offers_no_rule_can_not_be_remembered() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    let mut question = asked(fixture.shell(&gate, "rm -rf src"));
    assert!(gate.remember(&question).await.is_err());
    question.rule = Some("Bash(rm *)".into());
    assert!(gate.remember(&question).await.is_err(), "danger is never remembered");
    assert!(gate.remembered().is_empty());
}

#[tokio::test]
async fn a_broken_store_is_set_aside_and_grants_nothing() {
    for text in [
        "{ not json",
        "{\"version\":2,\"workspaces\":{}}",
        "{\"version\":1,\"workspaces\":{},\"more\":1}",
        "[]",
        "",
    ] {
        let fixture = Fixture::new();
        let path = fixture.config().store;
        std::fs::write(&path, text).unwrap();
        let gate = fixture.gate(Mode::Balanced);
        assert_eq!(gate.warnings().len(), 1, "{text}");
        assert!(gate.remembered().is_empty());
        assert!(!path.exists() && path.with_extension("broken").exists());
        always(&fixture, &gate, "make a").await;
        assert_eq!(fixture.gate(Mode::Balanced).remembered().len(), 1);
    }
}

#[tokio::test]
async fn a_grant_holds_for_the_session_when_the_disk_refuses() {
    let fixture = Fixture::new();
    let config = GateConfig { store: "/proc/nowhere/permissions.json".into(), ..fixture.config() };
    let gate = PermissionGate::new(config);
    let question = asked(fixture.shell(&gate, "make a"));
    let error = gate.remember(&question).await.unwrap_err();
    assert!(error.0.contains("/proc/nowhere"), "{error}");
    assert_eq!(fixture.shell_did(&gate, "make a"), Did::Allow);
}

#[test]
fn every_decision_is_one_line_of_the_audit_log() {
    let fixture = Fixture::new();
    let gate = fixture.gate_with(Mode::Balanced, &["Bash(make *)"], &["Bash(rm *)"]);
    for line in ["ls", "make a", "rm x", "touch \"a\nb\""] {
        fixture.shell(&gate, line);
    }
    gate.record(&call("bash"), true, "user: once");
    let path = fixture.config().audit;
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["verdict"].as_str().unwrap(), line["by"].as_str().unwrap()))
        .collect();
    assert_eq!(
        seen,
        [
            ("allow", "mode balanced"),
            ("allow", "allow rule Bash(make *)"),
            ("deny", "deny rule Bash(rm *)"),
            ("ask", "mode balanced"),
            ("allowed", "user: once"),
        ]
    );
    assert!(lines[0]["at"].as_str().unwrap().contains('T'));
}

#[test]
fn the_audit_log_is_rotated_and_never_fails_a_decision() {
    let fixture = Fixture::new();
    let path = fixture.config().audit;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    for round in 1..=6_u8 {
        std::fs::write(&path, vec![b'0' + round; 1024 * 1024 - 10]).unwrap();
        let gate = fixture.gate(Mode::Balanced);
        fixture.shell(&gate, "ls");
        fixture.shell(&gate, "pwd");
        assert!(path.metadata().unwrap().len() < 1000);
    }
    // The newest four are kept, each as private as the log.
    for (number, round) in (1..=4).zip([b'6', b'5', b'4', b'3']) {
        let old = path.with_extension(number.to_string());
        assert_eq!(std::fs::read(&old).unwrap()[0], round, "{number}");
        assert_eq!(mode(&old), 0o600, "{number}");
    }
    assert!(!path.with_extension("5").exists());
    assert_eq!(mode(&path), 0o600);
    let config = GateConfig { audit: "/proc/nowhere/audit".into(), ..fixture.config() };
    let gate = PermissionGate::new(config);
    assert_eq!(fixture.shell_did(&gate, "ls"), Did::Allow);
}
