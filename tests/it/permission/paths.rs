//! Where paths lead: links, siblings, private places.

use std::os::unix::fs::symlink;
use std::path::Path;

use codebot::kernel::command::Mode;
use codebot::permission::paths::resolve;

use super::fixture::{Did, Fixture, asked, read, write, write_did};

/// Case D26, scenario 184: a link that leads out is outside, also for files that do not exist.
#[test]
fn links_that_lead_out_are_outside() {
    let fixture = Fixture::new();
    let (ws, root) = (fixture.ws(), fixture.root());
    std::fs::create_dir(root.join("o")).unwrap();
    std::fs::write(root.join("o/secret"), "x").unwrap();
    symlink(root.join("o"), ws.join("out")).unwrap();
    symlink(root.join("o/new"), ws.join("dl")).unwrap();
    symlink("../o/other", ws.join("rel")).unwrap();
    symlink("loop", ws.join("loop")).unwrap();
    let gate = fixture.gate(Mode::Trust);
    for name in ["out/x", "out/y/z", "dl", "rel", "loop", "a/b/../../../x", "out/../x"] {
        assert_eq!(write_did(&gate, &ws.join(name)), Did::Ask, "write {name}");
    }
    assert_eq!(read(&gate, &ws.join("out/secret")), Did::Ask);
    assert!(asked(write(&gate, &ws.join("dl"))).rule.is_none());
    // A parent that becomes a link after the check is caught by the next check.
    std::fs::create_dir(ws.join("later")).unwrap();
    assert_eq!(write_did(&gate, &ws.join("later/x")), Did::Allow);
    std::fs::remove_dir(ws.join("later")).unwrap();
    symlink(root.join("o"), ws.join("later")).unwrap();
    assert_eq!(write_did(&gate, &ws.join("later/x")), Did::Ask);
}

/// Case D26: a link inside that stays inside is inside.
#[test]
fn links_that_stay_inside_are_inside() {
    let fixture = Fixture::new();
    symlink("src", fixture.ws().join("code")).unwrap();
    let gate = fixture.gate(Mode::AcceptEdits);
    assert_eq!(write_did(&gate, &fixture.ws().join("code/x.rs")), Did::Allow);
}

/// Case D27: a folder whose name merely starts like the workspace's is outside.
#[test]
fn a_sibling_is_not_the_workspace() {
    let fixture = Fixture::new();
    let ws = fixture.ws();
    let text = ws.display().to_string();
    std::fs::create_dir(fixture.root().join("ws-evil")).unwrap();
    let gate = fixture.gate(Mode::Trust);
    for path in [
        format!("{text}-evil/x"),
        format!("{text}/../ws-evil/x"),
        format!("/{text}-evil/x"),
        format!("{text}/src/../../ws-evil/x"),
    ] {
        assert_eq!(write_did(&gate, Path::new(&path)), Did::Ask, "{path}");
    }
    assert_eq!(write_did(&gate, &ws.join("src/../x")), Did::Allow);
    let line = "echo x > ../ws-evil/x";
    assert_eq!(fixture.shell_did(&gate, line), Did::Ask);
}

/// Case D28: a search that would follow a link out asks.
#[test]
fn searches_do_not_follow_links_out() {
    let fixture = Fixture::new();
    std::fs::write(fixture.root().join("secret.rs"), "s3cr3t").unwrap();
    for private in [".env", "secrets.txt"] {
        std::fs::remove_file(fixture.ws().join(private)).unwrap();
    }
    symlink(fixture.root().join("secret.rs"), fixture.ws().join("link.rs")).unwrap();
    let gate = fixture.gate(Mode::Balanced);
    for line in
        ["grep s3cr3t link.rs", "cat link.rs", "grep s3cr3t *.rs", "grep -R s3cr3t .", "rg -L x"]
    {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
    assert_eq!(fixture.shell_did(&gate, "grep -r s3cr3t ."), Did::Allow);
}

/// Case D34: the checked path is the one that would be opened.
#[test]
fn spellings_of_a_private_file_are_the_same_file() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Trust);
    for name in [".env", "./.env", "src/../.env", ".ENV", ".env.local", "src//../.env"] {
        assert_eq!(read(&gate, &fixture.ws().join(name)), Did::Ask, "{name}");
    }
    for name in [".e\u{200b}nv", ".env.example", "env", "src/environment.rs"] {
        assert_eq!(read(&gate, &fixture.ws().join(name)), Did::Allow, "{name}");
    }
    symlink(".env", fixture.ws().join("plain")).unwrap();
    assert_eq!(read(&gate, &fixture.ws().join("plain")), Did::Ask);
    let denied = fixture.gate_with(Mode::Trust, &[], &["Read(.env)"]);
    for name in [".env", "./.env", "src/../.env", "plain"] {
        assert_eq!(read(&denied, &fixture.ws().join(name)), Did::Deny, "{name}");
    }
    for line in ["cat .env", "cat ./.env", "cat src/../.env", "cat plain", "cat .e*", "cp .env x"] {
        assert_eq!(fixture.shell_did(&denied, line), Did::Deny, "{line}");
    }
}

/// Scenario 193: trust still asks for private places and outside the workspace.
#[test]
fn trust_asks_for_private_places() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Trust);
    let ws = fixture.ws();
    for name in [
        ".git/hooks/pre-commit",
        ".git/config",
        "sub/.git/config",
        ".git",
        ".bashrc",
        ".envrc",
        ".vscode/tasks.json",
        ".codebot/config.toml",
        "key.pem",
        "id_ed25519",
    ] {
        assert_eq!(write_did(&gate, &ws.join(name)), Did::Ask, "{name}");
    }
    for path in ["/etc/cron.d/x", "/etc/systemd/system/x.service", "/etc/passwd"] {
        assert_eq!(write_did(&gate, Path::new(path)), Did::Ask, "{path}");
    }
    for name in [".bashrc", ".config/autostart/x", ".ssh/authorized_keys", ".config/codebot/c.toml"]
    {
        assert_eq!(write_did(&gate, &fixture.home().join(name)), Did::Ask, "{name}");
    }
    for line in [
        "cat .git/config",
        "cp f .git/hooks/pre-commit",
        "cat $X ~/.ssh/id_rsa",
        "bash -c 'cat ~/.ssh/id_rsa'",
        "python3 -c 'open(\"/root/.ssh/id_rsa\")'",
        "echo x >> ~/.bashrc",
        "tar cf x.tar ~/.aws",
        "cp --target-directory=/usr/x f",
        "rm ../x",
    ] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
}

#[test]
fn ordinary_work_runs_in_trust() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Trust);
    for line in [
        "cargo build && ./target/debug/x --flag=1",
        "awk '/foo/ {print $1}' f",
        "sed -i s/a/b/ f",
        "make CC=gcc",
        "curl https://example.org/a/b?c=/d",
        "cmd > /dev/null 2>&1",
        "curl -X GET /api/users",
        "git add . && git commit -m 'a b'",
        "FOO=bar make",
        "for i in 1 2 3; do echo $i; done",
    ] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Allow, "{line}");
    }
    assert_eq!(write_did(&gate, &fixture.ws().join("src/.gitignore")), Did::Allow);
    assert_eq!(write_did(&gate, &fixture.ws().join(".github/workflows/x.yml")), Did::Allow);
}

#[test]
fn further_roots_count_as_workspace() {
    let fixture = Fixture::new();
    let more = fixture.root().join("more");
    std::fs::create_dir(&more).unwrap();
    let config = codebot::permission::GateConfig { roots: vec![more.clone()], ..fixture.config() };
    let gate = codebot::permission::PermissionGate::new(config);
    assert_eq!(read(&gate, &more.join("x")), Did::Allow);
    assert_eq!(fixture.shell_did(&gate, "ls ../more"), Did::Allow);
    let rule = asked(write(&gate, &more.join("a/x"))).rule.unwrap();
    assert_eq!(rule, format!("Edit({}/**)", more.join("a").display()));
}

#[test]
fn a_workspace_reached_through_a_link_is_the_same_workspace() {
    let fixture = Fixture::new();
    let alias = fixture.root().join("alias");
    symlink(fixture.ws(), &alias).unwrap();
    let config = codebot::permission::GateConfig { workspace: alias.clone(), ..fixture.config() };
    let gate = codebot::permission::PermissionGate::new(config);
    assert_eq!(read(&gate, &alias.join("f")), Did::Allow);
    assert_eq!(read(&gate, &fixture.ws().join("f")), Did::Allow);
    assert_eq!(resolve(&alias.join("x/y")), Some(fixture.ws().join("x/y")));
}
