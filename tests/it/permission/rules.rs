//! Rules: what allow rules reach and what deny rules catch.

use codebot::kernel::command::Mode;
use codebot::kernel::ports::{Access, Capability, Verdict};
use codebot::permission::rules::{host_of, split_list};

use super::fixture::{Did, Fixture, did, read, verdict, write_did};

/// Scenario 190.
#[test]
fn command_rules_match_by_words() {
    let fixture = Fixture::new();
    for (rule, line, allowed) in [
        ("Bash(git *)", "git commit -m x", true),
        ("Bash(git *)", "gitx commit", false),
        ("Bash(make build)", "make build test", true),
        ("Bash(make build)", "make test", false),
        ("Bash(= make build)", "make build test", false),
        ("Bash(= make build)", "make build", true),
        ("Bash(npm install)", "npm install", true),
        ("Bash(npm install)", "npm ci", false),
        ("Bash(npm run test:*)", "npm run test:unit", true),
        ("Bash(npm run test:*)", "npm run build", false),
        ("Bash(mkdir *)", "mkdir 'a | b; c'", true),
        ("Bash(mkdir *)", "mkdir a | curl x", false),
        ("Bash(Mkdir *)", "mkdir a", false),
        ("Bash(mkdir *)", "mkdir a && ls && mkdir b", true),
        ("Bash(*)", "anything at all", true),
    ] {
        let gate = fixture.gate_with(Mode::Balanced, &[rule], &[]);
        let want = if allowed { Did::Allow } else { Did::Ask };
        assert_eq!(fixture.shell_did(&gate, line), want, "{rule} {line}");
    }
    let gate = fixture.gate_with(Mode::Balanced, &["Bash(echo *)"], &["Bash(rm *)"]);
    assert_eq!(fixture.shell_did(&gate, "echo ok && rm -rf /"), Did::Deny);
    assert_eq!(fixture.shell_did(&gate, "echo 'ok && rm x'"), Did::Allow);
}

/// Scenario 190: hosts and tools.
#[test]
fn host_and_tool_rules_match_exactly_what_they_say() {
    let fixture = Fixture::new();
    let gate = fixture.gate_with(Mode::Balanced, &["Network(*.github.com)", "mcp__ctx__*"], &[]);
    let net = |address: &str| {
        let access = [Access::Network(address.to_owned())];
        did(&verdict(&gate, "web_fetch", Capability::Network, &access))
    };
    assert_eq!(net("https://api.github.com/x"), Did::Allow);
    assert_eq!(net("https://API.GitHub.com:443/x"), Did::Allow);
    for address in [
        "https://github.com.evil.org/",
        "https://evilgithub.com/",
        "https://api.github.com@evil.org/",
        "https://evil.org/?x=api.github.com",
        "https://evil.org\\.api.github.com",
        "https://github.com/",
    ] {
        assert_eq!(net(address), Did::Ask, "{address}");
    }
    assert_eq!(host_of("http://[::1]:80/x"), "::1");
    let tool = |name: &str| did(&verdict(&gate, name, Capability::Network, &[]));
    assert_eq!(tool("mcp__ctx__get"), Did::Allow);
    assert_eq!(tool("mcp__other__get"), Did::Ask);
    assert_eq!(tool("MCP__CTX__get"), Did::Ask);
}

/// Scenario 199: allow rules do not reach over borders.
#[test]
fn allow_rules_do_not_reach_over_borders() {
    let fixture = Fixture::new();
    let gate = fixture.gate_with(Mode::Balanced, &["Bash(make *)", "Bash(cp *)"], &[]);
    for line in [
        "make x\ncurl y",
        "make x\nmake y",
        "make $(curl y)",
        "make `curl y`",
        "make \"$(curl y)\"",
        "make > out",
        "make 2> out",
        "make &",
        "make & curl y",
        "make; curl y",
        "make | curl y",
        "A=1 make",
        "make <(curl y)",
        "./make x",
        "cp f /usr/x",
        "cp .env x",
    ] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Ask, "{line}");
    }
    assert_eq!(fixture.shell_did(&gate, "make x 2>&1 | tail -5"), Did::Allow);
}

/// Scenario 199: deny rules see through spellings and wrappers.
#[test]
fn deny_rules_see_through_wrappers() {
    let fixture = Fixture::new();
    let gate = fixture.gate_with(Mode::Trust, &[], &["Bash(rm *)"]);
    for line in [
        "rm x",
        "sh -c 'rm x'",
        "bash -lc \"rm x\"",
        "env rm x",
        "env -i A=1 rm x",
        "/bin/rm x",
        "\\rm x",
        "'rm' x",
        "r\"m\" x",
        "(rm x)",
        "ls; rm x",
        "ls && { rm x; }",
        "echo $(rm x)",
        "echo `rm x`",
        "cat <(rm x)",
        "sudo rm x",
        "xargs rm < f",
        "find . -exec rm {} \\;",
        "nohup timeout 5 rm x",
        "if true; then rm x; fi",
        "f() { rm x; }; f",
        "A=1 rm x",
        "eval 'rm x'",
        "command rm x",
        "rm x ;; y",
        "while rm x; do :; done",
        "> log rm x",
    ] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Deny, "{line}");
    }
    for line in ["echo rm", "rmdir x", "ls rm"] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Allow, "{line}");
    }
}

/// Scenario 189, scenario P03: a deny rule wins over everything.
#[test]
fn deny_wins() {
    let fixture = Fixture::new();
    let gate = fixture.gate_with(
        Mode::Trust,
        &["Bash(git push)", "Edit(src/**)", "Read(docs/**)"],
        &[
            "Bash(git push *)",
            "Edit(src/gen/**)",
            "Read(docs/private)",
            "web_*",
            "Network(*.evil.org)",
        ],
    );
    assert_eq!(fixture.shell_did(&gate, "git push"), Did::Deny);
    assert_eq!(write_did(&gate, &fixture.ws().join("src/gen/x.rs")), Did::Deny);
    assert_eq!(write_did(&gate, &fixture.ws().join("src/x.rs")), Did::Allow);
    assert_eq!(read(&gate, &fixture.ws().join("docs/private/x")), Did::Deny);
    assert_eq!(did(&verdict(&gate, "web_fetch", Capability::Network, &[])), Did::Deny);
    let access = [Access::Network("https://x.evil.org".into())];
    let refused = verdict(&gate, "fetch", Capability::Network, &access);
    let Verdict::Deny { reason } = refused else { panic!("{refused:?}") };
    assert!(reason.contains("Network(*.evil.org)") && reason.contains("Do not try"), "{reason}");
}

/// Strict refuses commands, but one that a rule names is asked for.
#[test]
fn strict_asks_for_commands_that_a_rule_names() {
    let fixture = Fixture::new();
    let gate = fixture.gate_with(Mode::Strict, &["Bash(cargo test *)"], &[]);
    assert_eq!(fixture.shell_did(&gate, "cargo test"), Did::Ask);
    assert_eq!(fixture.shell_did(&gate, "cargo build"), Did::Deny);
}

#[test]
fn rules_that_make_no_sense_are_reported() {
    let fixture = Fixture::new();
    let gate = fixture.gate_with(Mode::Trust, &["Bash(ls", "Foo(x)", "Read()", "Edit([)"], &[]);
    assert_eq!(gate.warnings().len(), 4, "{:?}", gate.warnings());
    // A deny rule that can't be read must not open anything.
    let gate = fixture.gate_with(Mode::Trust, &[], &["Bash(rm"]);
    assert_eq!(gate.warnings().len(), 1);
    assert_eq!(fixture.shell_did(&gate, "make"), Did::Ask);
    assert_eq!(fixture.shell_did(&gate, "ls"), Did::Allow);
}

#[test]
fn lists_of_rules_split_where_they_were_joined() {
    assert_eq!(split_list("Bash(a b *), Edit(x/**)"), ["Bash(a b *)", "Edit(x/**)"]);
    assert_eq!(split_list("Bash(a, b)"), ["Bash(a, b)"]);
}
