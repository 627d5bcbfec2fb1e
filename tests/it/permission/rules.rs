//! Rules: what allow rules reach and what deny rules catch.

use codebot::kernel::command::Mode;
use codebot::kernel::ports::{Access, Capability, Verdict};
use codebot::permission::known::Source;
use codebot::permission::rules::{Side, host_of, split_list};
use codebot::permission::{GateConfig, PermissionGate};

use super::fixture::{Did, Fixture, asked, did, read, verdict, write_did};

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

/// Rules that ask each time beat trust, allow rules and earlier answers, and are never remembered.
#[test]
fn ask_rules_ask_each_time() {
    let fixture = Fixture::new();
    let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let config = GateConfig {
        mode: Mode::Trust,
        allow: owned(&["Bash(git push *)", "mcp__x__*"]),
        ask: owned(&["Bash(git push *)", "Edit(src/**)", "WebFetch(*.docs.rs)", "mcp__x__post"]),
        deny: owned(&["Bash(git push --force *)"]),
        ..fixture.config()
    };
    let gate = PermissionGate::new(config);
    assert!(gate.warnings().is_empty(), "{:?}", gate.warnings());
    for line in ["git push", "ls && git push origin", "sh -c 'git push'", "/usr/bin/git push"] {
        let question = asked(fixture.shell(&gate, line));
        assert_eq!(question.rule, None, "{line}");
        assert!(question.reason.contains("ask rule `Bash(git push *)`"), "{}", question.reason);
    }
    assert_eq!(fixture.shell_did(&gate, "git push --force x"), Did::Deny, "deny comes first");
    assert_eq!(fixture.shell_did(&gate, "git pull"), Did::Allow);
    assert_eq!(write_did(&gate, &fixture.ws().join("src/x")), Did::Ask);
    assert_eq!(write_did(&gate, &fixture.ws().join("docs/x")), Did::Allow);
    let tool = |name: &str| did(&verdict(&gate, name, Capability::Network, &[]));
    assert_eq!((tool("mcp__x__post"), tool("mcp__x__get")), (Did::Ask, Did::Allow));
    let net = |address: &str| {
        let access = [Access::Network(address.to_owned())];
        did(&verdict(&gate, "web_fetch", Capability::Network, &access))
    };
    assert_eq!((net("https://a.docs.rs/"), net("https://docs.rs")), (Did::Ask, Did::Ask));
    assert_eq!(net("https://docs.rs.evil/"), Did::Allow, "trust mode, and another host");
}

#[test]
fn a_wrong_rule_names_its_place_and_the_nearest_right_one() {
    let fixture = Fixture::new();
    let texts = [
        ("Bsh(git *)", "did you mean `Bash(git *)`?"),
        ("bash(git *)", "did you mean `Bash(git *)`?"),
        ("Shell(ls)", "did you mean `Bash(ls)`?"),
        ("write(src/**)", "did you mean `Edit(src/**)`?"),
        ("Fetch(docs.rs)", "did you mean `WebFetch(docs.rs)`?"),
        ("Webfetch(docs.rs)", "did you mean `WebFetch(docs.rs)`?"),
        ("Bahs", "did you mean `Bash`?"),
        ("Bash(git *", "write `Bash(git *)`"),
        ("Edit()", "`Edit` alone means all"),
        ("Quux(x)", "use Bash, Read, Edit, WebFetch or the name of a tool"),
        ("WebFetch(*.)", "write `WebFetch(docs.rs)`"),
        ("WebFetch(a.*.rs)", "write `WebFetch(docs.rs)`"),
        ("Edit(src/[)", "permission rule `Edit(src/[)`"),
    ];
    for (text, words) in texts {
        let source = Source {
            side: Side::Deny,
            text: text.to_owned(),
            place: "/p/codebot.toml:7".to_owned(),
        };
        let config =
            GateConfig { deny: vec![text.to_owned()], sources: vec![source], ..fixture.config() };
        let gate = PermissionGate::new(config);
        let [warning] = gate.warnings() else { panic!("{text}: {:?}", gate.warnings()) };
        assert!(warning.starts_with("/p/codebot.toml:7: "), "{warning}");
        assert!(warning.contains(words), "{text}: {warning}");
        assert_eq!(fixture.shell_did(&gate, "echo x > f"), Did::Ask);
    }
}

#[test]
fn host_patterns_match_label_by_label() {
    let fixture = Fixture::new();
    for (pattern, address, fits) in [
        ("*.docs.rs", "https://a.docs.rs/x", true),
        ("*.docs.rs", "https://a.b.docs.rs", true),
        ("*.docs.rs", "https://docs.rs", false),
        ("*.docs.rs", "https://xdocs.rs", false),
        ("*.docs.rs", "https://a.docs.rs.evil", false),
        ("docs.rs", "https://docs.rs:443/", true),
        ("docs.rs", "https://DOCS.RS./", true),
        ("docs.rs", "https://a.docs.rs", false),
        ("https://docs.rs/", "http://docs.rs", true),
        ("domain:docs.rs", "http://docs.rs", true),
        ("*", "http://anything", true),
    ] {
        let rule = format!("WebFetch({pattern})");
        let gate = fixture.gate_with(Mode::Balanced, &[&rule], &[]);
        let access = [Access::Network(address.to_owned())];
        let want = if fits { Did::Allow } else { Did::Ask };
        let got = did(&verdict(&gate, "web_fetch", Capability::Network, &access));
        assert_eq!(got, want, "{pattern} {address}");
    }
}

#[test]
fn every_rule_is_listed_with_its_place() {
    let fixture = Fixture::new();
    let config = GateConfig {
        allow: vec!["Bash(make *)".into()],
        deny: vec!["Read(closed)".into()],
        trusted: vec!["Bash(just *)".into()],
        sources: vec![Source {
            side: Side::Allow,
            text: "Bash(make *)".into(),
            place: "config.toml:3".into(),
        }],
        ..fixture.config()
    };
    let gate = PermissionGate::new(config);
    let listed: Vec<(&str, String, Option<String>)> =
        gate.rules().into_iter().map(|r| (r.side.name(), r.text, r.place)).collect();
    let place = |text: &str| Some(text.to_owned());
    assert_eq!(
        listed,
        [
            ("deny", "Read(closed)".to_owned(), place("built in")),
            ("allow", "Bash(just *)".to_owned(), place("built in")),
            ("allow", "Bash(make *)".to_owned(), place("config.toml:3")),
        ]
    );
    assert_eq!(fixture.shell_did(&gate, "just x"), Did::Allow);
    gate.distrust("Bash(just *)");
    assert_eq!(fixture.shell_did(&gate, "just x"), Did::Ask);
    gate.trust("Bash(just *)").unwrap();
    assert_eq!(fixture.shell_did(&gate, "just x"), Did::Allow);
    assert!(gate.trust("Bash(").is_err());
}
