//! Ways to get more than was allowed: what hostile files or a hostile model could try against the
//! gate, each closed.

use std::os::unix::fs::symlink;
use std::path::Path;

use codebot::kernel::command::Mode;
use codebot::kernel::ports::{Capability, Gate, Verdict};
use codebot::permission::PermissionGate;

use super::fixture::{Did, Fixture, asked, read, verdict, write_did};

fn put(fixture: &Fixture, name: &str, text: &str) {
    let path = fixture.ws().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn remember(gate: &PermissionGate, verdict: Verdict) -> String {
    let approval = asked(verdict);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(gate.remember(&approval)).unwrap();
    approval.rule.unwrap()
}

#[test]
fn a_repository_laid_out_among_the_files_is_seen_in_every_shape() {
    for shape in [&["HEAD", "commondir"][..], &["HEAD", "objects/x", "refs/x"], &["HEAD"]] {
        let fixture = Fixture::new();
        for name in shape {
            put(&fixture, &format!("sub/{name}"), "ref: refs/heads/main\n");
        }
        let gate = fixture.gate(Mode::Balanced);
        for line in ["cd sub && git status", "git -C sub log"] {
            assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{shape:?} {line}");
        }
        assert_eq!(fixture.shell_did(&gate, "git status"), Did::Allow, "{shape:?}");
    }
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.ws().join("sub")).unwrap();
    symlink("refs/heads/main", fixture.ws().join("sub/HEAD")).unwrap();
    let gate = fixture.gate(Mode::Balanced);
    assert_eq!(fixture.shell_did(&gate, "cd sub && git status"), Did::Ask);
}

#[test]
fn a_toolchain_setting_is_seen_however_its_key_is_spelled() {
    for (file, text) in [
        ("rust-toolchain.toml", "[toolchain]\npath = \"evil\"\n"),
        ("rust-toolchain.toml", "[toolchain]\n\"p\\u0061th\" = \"evil\"\n"),
        ("rust-toolchain", "[toolchain]\n\"p\\u0061th\" = \"evil\"\n"),
        (".cargo/config.toml", "[build]\n\"rust\\u0063\" = \"./evil\"\n"),
        (".cargo/config.toml", "[ env ]\nRUSTC = \"./evil\"\n"),
    ] {
        let fixture = Fixture::new();
        let gate = fixture.gate(Mode::Balanced);
        assert_eq!(fixture.shell_did(&gate, "cargo --version"), Did::Allow);
        put(&fixture, file, text);
        assert_eq!(fixture.shell_did(&gate, "cargo --version"), Did::Ask, "{file} {text}");
    }
}

#[test]
fn a_version_manager_that_would_run_the_projects_program_is_seen() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    put(&fixture, ".tool-versions", "nodejs 22.1.0\n");
    assert_eq!(fixture.shell_did(&gate, "node -v && go version"), Did::Allow);
    put(&fixture, ".tool-versions", "nodejs path:./evil\n");
    for line in ["node -v", "cd src && python3 --version", "go version", "npm ls"] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
    assert_eq!(fixture.shell_did(&gate, "ls"), Did::Allow);
}

#[test]
fn options_that_change_how_folders_are_read_are_not_harmless() {
    let fixture = Fixture::new();
    symlink("../..", fixture.ws().join("src/up")).unwrap();
    let gate = fixture.gate(Mode::Balanced);
    let line = "set -o physical; cd src/up/..; cat home/x";
    assert_eq!(fixture.shell_did(&gate, line), Did::Ask);
    assert_eq!(fixture.shell_did(&gate, "set -o pipefail; cat f"), Did::Allow);
}

#[test]
fn a_bracket_in_a_sed_script_hides_no_second_command() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    for script in
        ["s|[]|]A|g;s,x|w M,b,", "s|[^]|]A|g;s,x|w M,b,", "s/[[:x/:]]/y/", "s|[\\]|]A|g;s,x|w M,b,"]
    {
        assert_eq!(fixture.shell_did(&gate, &format!("sed '{script}' f")), Did::Ask, "{script}");
    }
    assert_eq!(fixture.shell_did(&gate, "sed -n 's/[a-z]x/y/p' f"), Did::Allow);
}

#[test]
fn a_shell_that_lies_in_the_workspace_runs_nothing_unasked() {
    let fixture = Fixture::new();
    put(&fixture, "bash", "");
    for (path_env, want) in [(".:/usr/bin", Did::Ask), ("/usr/bin", Did::Allow)] {
        let path_env = path_env.to_owned();
        let config = codebot::permission::GateConfig { path_env, ..fixture.config() };
        let gate = PermissionGate::new(config);
        assert_eq!(fixture.shell_did(&gate, "echo x"), want);
    }
}

#[test]
fn an_answer_for_one_command_does_not_cover_what_is_put_into_it() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    let rule = remember(&gate, fixture.shell(&gate, "sqlite3 app.db"));
    assert_eq!(rule, "Bash(= sqlite3 app.db)");
    assert_eq!(fixture.shell_did(&gate, "sqlite3 app.db"), Did::Allow);
    for line in [
        "sqlite3 app.db <<'E'\ndrop table x;\nE",
        "sqlite3 app.db < f",
        "sqlite3 app.db <<< 'drop table x'",
        "echo 'drop table x' | sqlite3 app.db",
        "cat f | (sqlite3 app.db)",
        "{ sqlite3 app.db; } < f",
    ] {
        let asked = asked(fixture.shell(&gate, line));
        assert_eq!(asked.rule, None, "{line}");
    }
}

#[test]
fn an_answer_for_a_build_tool_does_not_cover_arguments_that_are_programs() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    for (line, want) in [
        ("cargo test --lib", "Bash(cargo test *)"),
        ("make build", "Bash(make build *)"),
        ("go test ./...", "Bash(go test *)"),
        ("npm run build", "Bash(npm run build *)"),
        ("just check", "Bash(just check *)"),
        ("pytest -q", "Bash(pytest *)"),
        ("mvn test", "Bash(= mvn test)"),
        ("git add f", "Bash(git add *)"),
    ] {
        assert_eq!(remember(&gate, fixture.shell(&gate, line)), want);
    }
    for line in [
        "cargo test -p core -- --nocapture 'a b'",
        "make build -j8 -k install",
        "go test -run 'A|B' ./...",
        "npm run build -- --watch",
        "pytest -q -k 'a and b' tests",
        "git add src f",
    ] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Allow, "{line}");
    }
    for line in [
        "cargo test --config 'build.rustc-wrapper=\"./x\"'",
        "cargo test --config=x.toml",
        "make build SHELL=./x",
        "make build --eval='$(shell ./x)'",
        "make build --ev='$(shell ./x)'",
        "make build -f x.mk",
        "make build -Ex",
        "go test -exec ./x ./...",
        "go test --exec=./x ./...",
        "go test -toolexec './x' ./...",
        "npm run build --script-shell=./x",
        "npm run build -- '$(./x)'",
        "just check '; ./x'",
        "just check --shell ./x",
        "pytest -p x",
        "pytest --basetemp=src",
        "mvn test exec:exec -Dexec.executable=sh",
    ] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
    let wide = fixture.gate_with(Mode::Balanced, &["Bash(*)"], &[]);
    assert_eq!(fixture.shell_did(&wide, "make build SHELL=./x"), Did::Allow);
}

#[test]
fn reading_a_whole_folder_does_not_read_its_credentials_unasked() {
    let fixture = Fixture::new();
    put(&fixture, "deep/er/server.key", "k\n");
    let gate = fixture.gate(Mode::Balanced);
    for (line, want) in [
        ("grep -r KEY .", Did::Ask),
        ("grep -rn KEY", Did::Ask),
        ("grep --recursive KEY deep", Did::Ask),
        ("grep -d recurse KEY deep", Did::Ask),
        ("rg --hidden KEY", Did::Ask),
        ("rg -uuu KEY .", Did::Ask),
        ("rg KEY deep", Did::Ask),
        ("diff -N deep/er src", Did::Ask),
        ("cd deep && grep -r KEY", Did::Ask),
        ("grep -rn --include=*.rs main .", Did::Allow),
        ("grep -rn --include '*.rs' main .", Did::Allow),
        ("rg -g '*.rs' main", Did::Allow),
        ("grep -r KEY src", Did::Allow),
        ("rg main src", Did::Allow),
        ("grep KEY f", Did::Allow),
        ("find . -name '*.key'", Did::Allow),
    ] {
        assert_eq!(fixture.shell_did(&gate, line), want, "{line}");
    }
    let approval = asked(fixture.shell(&gate, "grep -r KEY ."));
    assert_eq!(approval.rule, None);
    assert!(approval.reason.contains(".env") || approval.reason.contains("secrets.txt"));
    let trust = fixture.gate(Mode::Trust);
    assert_eq!(fixture.shell_did(&trust, "grep -r KEY ."), Did::Allow);
    let strict = fixture.gate(Mode::Strict);
    assert_eq!(fixture.shell_did(&strict, "grep -r KEY ."), Did::Deny);
    assert_eq!(fixture.shell_did(&strict, "grep -r KEY src"), Did::Allow);
}

#[test]
fn an_allow_rule_does_not_speak_for_the_credentials_of_a_folder() {
    let fixture = Fixture::new();
    let gate = fixture.gate_with(Mode::Balanced, &["Bash(cargo test *)"], &[]);
    assert_eq!(fixture.shell_did(&gate, "cargo test && grep -r KEY src"), Did::Allow);
    assert_eq!(fixture.shell_did(&gate, "cargo test && grep -r KEY ."), Did::Ask);
}

#[test]
fn a_folder_too_large_to_be_checked_asks() {
    let fixture = Fixture::new();
    let many = fixture.ws().join("many");
    std::fs::create_dir(&many).unwrap();
    for n in 0..10_001 {
        std::fs::write(many.join(n.to_string()), "").unwrap();
    }
    let gate = fixture.gate(Mode::Balanced);
    assert_eq!(fixture.shell_did(&gate, "grep -r x many"), Did::Ask);
}

#[test]
fn a_deny_rule_holds_below_a_searched_folder_and_through_links() {
    let fixture = Fixture::new();
    put(&fixture, "plans/a.md", "x\n");
    symlink(fixture.ws().join("src"), fixture.ws().join("alias")).unwrap();
    let gate = fixture.gate_with(Mode::Trust, &[], &["Read(plans/**)", "Read(alias/**)"]);
    for line in
        ["grep -r x plans", "cat plans/a.md", "cat alias/main.rs", "cat ./alias/../f alias/x"]
    {
        assert_eq!(fixture.shell_did(&gate, line), Did::Deny, "{line}");
    }
    std::fs::remove_file(fixture.ws().join(".env")).unwrap();
    std::fs::remove_file(fixture.ws().join("secrets.txt")).unwrap();
    assert_eq!(fixture.shell_did(&gate, "grep -r x ."), Did::Deny);
    assert_eq!(fixture.shell_did(&gate, "grep -r x docs"), Did::Allow);
    assert!(gate.is_closed(&fixture.ws().join("plans/a.md")));
    assert!(gate.is_closed(&fixture.ws().join("deep/.env")));
    assert!(!gate.is_closed(&fixture.ws().join("src/main.rs")));
}

#[test]
fn throwing_away_uncommitted_work_is_dangerous() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    for line in [
        "git restore .",
        "git restore src",
        "git checkout -- f",
        "git checkout .",
        "git restore -SW f",
    ] {
        let approval = asked(fixture.shell(&gate, line));
        assert!(approval.danger && approval.rule.is_none(), "{line}");
    }
    for line in ["git restore --staged f", "git restore -S f", "git checkout main"] {
        assert!(!asked(fixture.shell(&gate, line)).danger, "{line}");
    }
}

#[test]
fn files_that_make_programs_run_later_ask_before_they_are_written() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Trust);
    for name in [
        ".git/hooks/pre-commit",
        ".git/config",
        "sub/.git/config",
        ".git",
        ".GIT/config",
        ".codebot/config.toml",
        "src/.codebot/x",
        ".husky/pre-push",
        ".vscode/tasks.json",
        ".claude/settings.json",
        ".devcontainer/devcontainer.json",
        ".exrc",
        ".tool-versions",
        ".envrc",
    ] {
        assert_eq!(write_did(&gate, &fixture.ws().join(name)), Did::Ask, "{name}");
        let line = format!("echo x > {name}");
        assert_eq!(fixture.shell_did(&gate, &line), Did::Ask, "{line}");
    }
    assert_eq!(read(&gate, &fixture.ws().join(".git/config")), Did::Ask);
    assert_eq!(read(&gate, Path::new("/proc/self/environ")), Did::Ask);
}

#[test]
fn a_tool_that_names_nothing_it_touches_is_not_taken_for_harmless() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::AcceptEdits);
    for capability in [Capability::Write, Capability::Shell, Capability::Network] {
        assert!(matches!(verdict(&gate, "x", capability, &[]), Verdict::Ask(_)), "{capability:?}");
    }
}

/// A gate that panics ends the run.
#[test]
fn flags_of_a_command_that_has_none_are_judged_without_harm() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    for line in ["go test -run x", "rev -x f", "cksum -- f", "whoami -a", "true -x", "arch --x=1"] {
        fixture.shell_did(&gate, line);
    }
    assert_eq!(fixture.shell_did(&gate, "rev -x f"), Did::Ask);
}

#[test]
fn trust_does_not_leave_the_workspace_by_a_line_that_is_not_understood() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Trust);
    let line = "for f in *; do cat $f; done";
    let from = |workdir: std::path::PathBuf| {
        let access = codebot::kernel::ports::Access::Shell { command: line.to_owned(), workdir };
        super::fixture::did(&verdict(&gate, "bash", Capability::Shell, &[access]))
    };
    assert_eq!(from(fixture.ws()), Did::Allow);
    assert_eq!(from(fixture.home()), Did::Ask);
    std::fs::write(fixture.home().join("notes"), "").unwrap();
    for line in [
        "X=1 cat ~/notes",
        "X=1 cat $HOME/notes",
        "X=1 cat ${HOME}/*",
        "X=1 cat ~/.ssh/*",
        "tar -cf x.tar -C/etc .",
    ] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
    for line in
        ["X=1 cat src/*", "echo \"$X\"", "for f in *.rs; do wc $f; done", "X=1 sed s/a/b/ f"]
    {
        assert_eq!(fixture.shell_did(&gate, line), Did::Allow, "{line}");
    }
}
