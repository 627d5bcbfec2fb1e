//! What "always" would remember of a line.

use codebot::permission::rules::text_of_keys;

use super::fixture::Fixture;

fn key(line: &str) -> Option<String> {
    Fixture::new().judge(line).keys.map(|keys| text_of_keys(&keys))
}

/// Scenario 197.
#[test]
fn the_keys_table_holds() {
    for (line, want) in [
        ("ls -la && make build", "Bash(make build *)"),
        ("go test ./... && go vet", "Bash(go test *), Bash(go vet *)"),
        ("go test ./... 2>&1 | tail", "Bash(go test *)"),
        ("go test ./... > /dev/null", "Bash(go test *)"),
        ("./script.sh a", "Bash(= ./script.sh a)"),
        ("npm run x; npm run y", "Bash(npm run x *), Bash(npm run y *)"),
        ("npm run x; npm run x", "Bash(npm run x *)"),
        ("cargo test --lib", "Bash(cargo test *)"),
        ("npm test", "Bash(npm test *)"),
        ("npm install", "Bash(= npm install)"),
        ("make", "Bash(= make)"),
        ("pytest -q tests", "Bash(pytest *)"),
        ("mkdir -p src/a", "Bash(= mkdir -p src/a)"),
        ("git push", "Bash(= git push)"),
    ] {
        assert_eq!(key(line).as_deref(), Some(want), "{line:?}");
    }
}

/// Scenario 197: nothing is remembered of these.
#[test]
fn opaque_lines_have_no_key() {
    for line in [
        "make build > out.txt",
        "mkdir -p made && echo x > made/log",
        "make $(echo x)",
        "make `x`",
        "make \"$(x)\"",
        "make build &",
        "make build\nmake test",
        "A=1 make build",
        "sudo make build",
        "ls | xargs make",
        "bash -c 'make'",
        "rm -rf target",
        "rm f",
        "git push --force",
        "make <(ls)",
        "ls -la | head",
        "git status",
        "python3 s.py",
        "node x.js",
        "npx tool",
        "find . -exec ls \\;",
        "git -c x=y commit",
        "env make",
        "curl x",
        "./script.sh *",
        "make 'a b'",
        "cat f | sh",
        "eval make",
        "cargo test && curl x",
    ] {
        assert_eq!(key(line), None, "{line:?}");
    }
}
