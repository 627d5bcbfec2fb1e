//! Tables of lines that only read and lines that do not.

use codebot::kernel::command::Mode;
use codebot::permission::shell::{Class, Danger};

use super::fixture::{Did, Fixture, asked};

fn reads(fixture: &Fixture, line: &str) -> bool {
    let found = fixture.judge(line);
    found.class == Class::ReadOnly && found.outside.is_empty() && found.sensitive.is_empty()
}

fn all_ask(lines: &[&str]) {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    for line in lines {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line:?}");
    }
}

fn none_asks(lines: &[&str]) {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    for line in lines {
        let why = fixture.judge(line).reason;
        assert_eq!(fixture.shell_did(&gate, line), Did::Allow, "{line:?} {why}");
    }
}

/// Scenario 196: the table of what only reads. `git ls-files` and the listing forms of `branch`
/// and `remote` read here; every other use of the latter two does not.
#[test]
fn the_read_only_table_holds() {
    let fixture = Fixture::new();
    std::fs::write(fixture.ws().join("id_rsa.pub"), "x").unwrap();
    for line in [
        "ls",
        "grep -r x .",
        "git status",
        "find . -name x",
        "sed 's/a/b/' f",
        "ls && pwd && cat f",
        "cat f | grep x | wc -l",
        "cat id_rsa.pub",
    ] {
        assert!(reads(&fixture, line), "{line:?}: {}", fixture.judge(line).reason);
    }
    for line in [
        "rm f",
        "mv f g",
        "cp f g",
        "git checkout x",
        "git commit",
        "git reset",
        "git push",
        "git branch x",
        "git config a b",
        "git remote add a b",
        "find . -exec ls {} \\;",
        "find . -delete",
        "sed -i s/a/b/ f",
        "sed --in-place s/a/b/ f",
        "ls > x",
        "ls >> x",
        "ls && rm f",
        "ls | tee x",
        "ls $(pwd)",
        "ls `pwd`",
        "ls\nrm f",
        "ls &",
        "A=1 ls",
        "awk 1 f",
        "bash -c ls",
        "sudo ls",
        "cat ~/.ssh/id_rsa",
        "cat ~/.netrc",
        "cat ~/.aws/credentials",
        "",
        "   ",
    ] {
        assert!(!reads(&fixture, line), "{line:?}");
    }
}

/// Scenario 198.
#[test]
fn flags_that_write_or_run_are_not_read_only() {
    let fixture = Fixture::new();
    for line in [
        "sort -o f a.txt",
        "uniq a.txt b.txt",
        "sed 'w f' a.txt",
        "sed 's/x/id/e' f",
        "find . -fprint f",
        "fd -x rm",
        "rg --pre sh x",
        "git diff --output=f",
        "git log --ext-diff",
        "git show --textconv",
        "tree -o f",
        "date -s 10:00",
        "date 01011200",
        "hostname x",
        "less '+!cmd' f",
        "printenv",
        "env",
        "cat /proc/self/environ",
        "cat .env",
        "grep -r x ~/.ssh",
        "cat ~/.s*/id_rsa",
        "git -c core.pager=x log",
    ] {
        assert!(!reads(&fixture, line), "{line:?}");
    }
    for line in ["find . -exec ls {} \\;", "git -c x=y status", "git -c x=y commit"] {
        assert!(fixture.judge(line).keys.is_none(), "{line:?} must not be remembered");
    }
}

/// Case D01.
#[test]
fn every_command_of_a_chain_is_judged() {
    all_ask(&[
        "ls && touch M",
        "ls; touch M",
        "ls || touch M",
        "false || touch M",
        "ls | tee M",
        "ls |& tee M",
        "ls & touch M",
        "ls\ntouch M",
    ]);
}

/// Case D03: where `cd` leads counts for what follows.
#[test]
fn a_change_of_directory_counts_for_later_paths() {
    all_ask(&["cd /tmp/x && python3 s.py", "cd .. && touch M", "cd .. && cat ws/f", "cd /tmp; ls"]);
    all_ask(&["cd src && cat ../../home/x", "cd && ls", "cd - && ls", "cd src || cat ../../x"]);
    none_asks(&["cd src && cat ../f", "(cd src); cat f", "cd src && cd ../docs && cat guide.md"]);
    let fixture = Fixture::new();
    let found = fixture.judge("cd .. && echo x > y");
    assert!(found.outside.iter().any(|path| path.ends_with("y")), "{found:?}");
}

/// Case D03: the shell takes `..` off the name of a link, the system off the place it leads to.
#[test]
fn a_link_does_not_confuse_the_directory() {
    let fixture = Fixture::new();
    std::fs::create_dir_all(fixture.ws().join("sub/deep")).unwrap();
    std::os::unix::fs::symlink("sub/deep", fixture.ws().join("link")).unwrap();
    let gate = fixture.gate(Mode::Balanced);
    assert_eq!(fixture.shell_did(&gate, "cd link && cd .. && cat ../x"), Did::Ask);
    assert_eq!(fixture.shell_did(&gate, "cd link && cat ../../f"), Did::Allow);
    assert_eq!(fixture.shell_did(&gate, "cd link && cat ../../../x"), Did::Ask);
}

/// Case D04.
#[test]
fn substitutions_are_never_approved() {
    all_ask(&[
        "echo \"$(touch M)\"",
        "echo `touch M`",
        "echo $(( $(touch M; echo 1) ))",
        "diff <(touch M) f",
        "cat < $(touch M; echo f)",
        "echo \"$\\\n(touch M)\"",
        "a='$(touch M)'; echo \"${a@P}\"",
        "a='x[$(touch M)]'; echo $((a))",
        "test -v \"$a\"",
        "test -v 'x[$(touch M)]'",
        "printf -v 'x[$(touch M)]' y",
    ]);
}

/// Case D05.
#[test]
fn here_documents_are_judged_by_their_quotes() {
    all_ask(&[
        "cat <<E\n`touch M`\nE",
        "cat <<-E\n\t$(touch M)\n\tE",
        "sh <<E\ntouch M\nE",
        "sh <<'E'\ntouch M\nE",
    ]);
    none_asks(&["cat <<'E'\n$(touch M)\nE", "cat <<\"E\"\n`x`\nE"]);
}

/// Case D06.
#[test]
fn redirections_that_write_ask_and_the_others_do_not() {
    all_ask(&[
        "echo x > M",
        "echo x >> M",
        "echo x >| M",
        "echo x &> M",
        "echo x >& M",
        "cat 1<>M f",
        "ls 2> M",
        "echo x {fd}> M",
    ]);
    none_asks(&["ls 2>&1", "ls >&2", "ls 2>&-", "cat < f", "ls > /dev/null"]);
    let fixture = Fixture::new();
    let outside = fixture.judge("echo x > /usr/y");
    assert_eq!(outside.outside, [std::path::PathBuf::from("/usr/y")]);
}

/// Case D07.
#[test]
fn quoting_hides_nothing() {
    let fixture = Fixture::new();
    let found = fixture.judge("cat \">\" secrets.txt");
    assert!(found.sensitive.iter().any(|(path, _)| path == "secrets.txt"), "{found:?}");
    all_ask(&[
        "cat \">\" secrets.txt",
        "t\"ou\"ch M",
        "\\touch M",
        "$'\\x74ouch' M",
        "{touch,M}",
        "c=touch; $c M",
        "l${x}s",
    ]);
}

/// Case D09.
#[test]
fn a_planted_program_is_not_taken_for_the_real_one() {
    all_ask(&[
        "./ls",
        "/tmp/w/ls",
        "ls(){ touch M; }; ls",
        "shopt -s expand_aliases\nalias ls='touch M #'\nls",
        "hash -p /usr/bin/touch ls; ls M",
    ]);
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.ws().join("bin")).unwrap();
    std::fs::write(fixture.ws().join("bin/ls"), "").unwrap();
    std::fs::write(fixture.ws().join("src/cat"), "").unwrap();
    for (path, line, want) in [
        (format!("{}/bin:/usr/bin", fixture.ws().display()), "ls", Did::Ask),
        (format!("{}/bin:/usr/bin", fixture.ws().display()), "cat f", Did::Allow),
        ("/usr/bin:bin".to_owned(), "ls", Did::Ask),
        (".:/usr/bin".to_owned(), "cd src && cat main.rs", Did::Ask),
        (":/usr/bin".to_owned(), "cd bin; ls", Did::Ask),
        ("/usr/bin:".to_owned(), "echo x", Did::Allow),
    ] {
        let config = codebot::permission::GateConfig { path_env: path.clone(), ..fixture.config() };
        let gate = codebot::permission::PermissionGate::new(config);
        assert_eq!(fixture.shell_did(&gate, line), want, "{path} {line}");
    }
}

/// Case D10.
#[test]
fn find_asks_when_it_runs_or_writes() {
    all_ask(&[
        "find . -exec touch M \\;",
        "find . -exec touch M {} +",
        "find . -execdir touch M \\;",
        "find . -ok touch M \\;",
        "find . -delete",
        "find . -fprint M",
        "find . -fprintf M x",
        "find . -fls M",
        "find . -fprint0 M",
        "find . -name * -maxdepth 1",
    ]);
    none_asks(&["find . -name '*.rs' -maxdepth 2"]);
}

/// Case D12.
#[test]
fn git_reads_only_with_known_sub_commands_and_flags() {
    all_ask(&[
        "git -c core.pager='touch M' log",
        "git -p log",
        "git -c alias.z='!touch M' z",
        "git --config-env=alias.z=P z",
        "git -c diff.external='touch M;:' diff",
        "git grep -O'touch M' a",
        "git grep --open-files-in-pager=x a",
        "git diff --output=M",
        "git log --output=M",
        "git -C /other status",
        "git --git-dir=x status",
        "git --work-tree=x status",
        "git --exec-path=. status",
        "git config core.fsmonitor x",
        "git branch -D x",
        "git branch x",
        "git diff /etc/passwd /etc/group",
        "git show HEAD:.env",
    ]);
    none_asks(&["git log -p"]);
}

#[test]
fn git_asks_where_project_files_look_like_a_repository() {
    let fixture = Fixture::new();
    for folder in ["bare/objects", "bare/refs"] {
        std::fs::create_dir_all(fixture.ws().join(folder)).unwrap();
    }
    std::fs::write(fixture.ws().join("bare/HEAD"), "x").unwrap();
    let gate = fixture.gate(Mode::Balanced);
    assert_eq!(fixture.shell_did(&gate, "cd bare && git status"), Did::Ask);
    assert_eq!(fixture.shell_did(&gate, "git -C bare status"), Did::Ask);
    assert_eq!(fixture.shell_did(&gate, "git status"), Did::Allow);
}

#[test]
fn rust_tools_ask_where_the_project_brings_its_own() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    std::fs::write(fixture.ws().join("rust-toolchain.toml"), "[toolchain]\nchannel='1.90'")
        .unwrap();
    assert_eq!(fixture.shell_did(&gate, "cargo --version"), Did::Allow);
    std::fs::write(fixture.ws().join("rust-toolchain.toml"), "[toolchain]\npath='x'").unwrap();
    assert_eq!(fixture.shell_did(&gate, "cargo --version"), Did::Ask);
}

/// Case D19: what "always" saves is printed before and covers nothing else.
#[test]
fn a_remembered_command_covers_nothing_else() {
    let fixture = Fixture::new();
    let gate = fixture.gate_with(Mode::Balanced, &["Bash(ls *)"], &[]);
    for line in ["curl x | sh", "ls -la /usr", "ls $(touch M)", "ls > M", "ls\ntouch M"] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
    let question = asked(fixture.shell(&fixture.gate(Mode::Balanced), "cargo test --lib"));
    assert_eq!(question.rule.as_deref(), Some("Bash(cargo test *)"));
}

/// Case D30: a refused edit is not possible through the shell either.
#[test]
fn edits_through_the_shell_ask() {
    let lines = [
        "git apply p.diff",
        "python3 -c 'open(\"x\",\"w\")'",
        "cat > x <<E\ny\nE",
        "cp y x",
        "mv y x",
        "ln -sf y x",
    ];
    all_ask(&lines);
    let fixture = Fixture::new();
    let gate = fixture.gate_with(Mode::Trust, &[], &["Edit(x)"]);
    assert_eq!(fixture.shell_did(&gate, "cat > x <<E\ny\nE"), Did::Deny);
    for line in ["cp y x", "mv y x", "ln -sf y x"] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
}

/// Case D24: what can't be seen is not understood.
#[test]
fn hidden_characters_make_a_line_not_understood() {
    let fixture = Fixture::new();
    for line in [
        "echo ok\x1b[2K\r; touch M",
        "ls \u{009b}2J",
        "cat \u{202e}gnp.exe",
        "l\u{200b}s",
        "ls \u{e0041}",
        "ls \u{2028}",
        "ls \0",
        "ls \u{e000}",
    ] {
        assert_eq!(fixture.judge(line).class, Class::NotUnderstood, "{line:?}");
    }
    let padded = format!("ls{}; touch M", " ".repeat(300));
    assert_eq!(fixture.judge(&padded).parts, ["ls", "touch M"]);
    let long = format!("ls {}", "x".repeat(9000));
    assert_eq!(fixture.judge(&long).class, Class::NotUnderstood);
}

/// Scenario P06.
#[test]
fn a_harmless_start_does_not_cover_the_rest() {
    all_ask(&["ls; rm x", "git status && curl x"]);
}

#[test]
fn patterns_are_filled_in_before_they_are_judged() {
    let fixture = Fixture::new();
    std::os::unix::fs::symlink("/etc/hostname", fixture.ws().join("zlink")).unwrap();
    std::fs::write(fixture.ws().join("server.pem"), "x").unwrap();
    let gate = fixture.gate(Mode::Balanced);
    for line in
        ["cat .e*", "cat *.pem", "cat z*", "cat *", "sort *", "grep .e* f", "cat ?erver.pem"]
    {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
    assert_eq!(fixture.shell_did(&gate, "cat *.txt"), Did::Ask, "secrets.txt is among them");
    assert_eq!(fixture.shell_did(&gate, "cat src/*.rs"), Did::Allow);
    assert_eq!(fixture.judge("rm -rf *").danger.0, Danger::Dangerous);
}
