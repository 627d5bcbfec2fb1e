//! Colours from the worker thread.

use std::time::Duration;

use codebot::ui::text::code::Plain;
use codebot::ui::text::highlight::{Asking, Highlighter, Key, MAX_BYTES};
use codebot::ui::text::role::Role;
use codebot::ui::text::stream;

async fn coloured(highlighter: &mut Highlighter, lang: &str, code: &str) -> bool {
    let key = Key::of(lang, code);
    let ready = highlighter.ready();
    highlighter.request(key, lang, code);
    for _ in 0..100 {
        if highlighter.get(key).is_some() {
            return true;
        }
        let _late = tokio::time::timeout(Duration::from_millis(100), ready.notified()).await;
    }
    false
}

#[tokio::test]
async fn code_becomes_coloured_without_changing_its_height() {
    let text = "```rust\n// a comment\nfn main() { let x = \"s\"; }\n```\n";
    let plain = stream::rows(text, 30, &mut Plain);
    let mut highlighter = Highlighter::default();
    assert!(!highlighter.is_started());
    let code = "// a comment\nfn main() { let x = \"s\"; }\n";
    assert!(coloured(&mut highlighter, "rust", code).await);
    let mut colours = Asking { highlighter: &mut highlighter, missing: false };
    let rows = stream::rows(text, 30, &mut colours);
    assert!(!colours.missing);
    let texts = |rows: &[codebot::ui::text::row::Row]| -> Vec<String> {
        rows.iter().map(|row| row.text().to_owned()).collect()
    };
    assert_eq!(texts(&rows), texts(&plain));
    let roles: Vec<Role> = rows[2].line.runs.iter().map(|run| run.ink.role).collect();
    assert!(roles.contains(&Role::Keyword) && roles.contains(&Role::Function), "{roles:?}");
    assert!(rows[1].line.runs.iter().any(|run| run.ink.role == Role::Comment));
}

#[tokio::test]
async fn common_languages_are_known() {
    let mut highlighter = Highlighter::default();
    let cases = [
        ("ts", "const a: number = 1;\n"),
        ("python", "def f(): pass\n"),
        ("bash", "if true; then echo hi; fi\n"),
        ("toml", "[a]\nb = 1\n"),
        ("go", "func main() {}\n"),
    ];
    for (lang, code) in cases {
        assert!(coloured(&mut highlighter, lang, code).await, "{lang}");
        let block = highlighter.get(Key::of(lang, code)).expect("ready");
        let inked = block.lines.iter().flatten().any(|(_, role)| *role != Role::CodeText);
        assert!(inked, "{lang}");
    }
}

#[test]
fn blocks_over_the_limits_start_nothing() {
    let mut highlighter = Highlighter::default();
    let big = "x".repeat(MAX_BYTES + 1);
    highlighter.request(Key::of("rust", &big), "rust", &big);
    let many = "x\n".repeat(3001);
    highlighter.request(Key::of("rust", &many), "rust", &many);
    assert!(!highlighter.is_started());
}
