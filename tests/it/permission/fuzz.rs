//! Arbitrary lines: no panic, and nothing that the shell would expand is ever taken for reading.

use codebot::permission::paths::Places;
use codebot::permission::shell::{Class, Setting, judge};
use proptest::prelude::*;

fn class(line: &str) -> Class {
    let ws = std::env::temp_dir();
    let places = Places::new(&[ws.clone()], None, &[], &[], &[]);
    judge(line, &ws, &Setting { places: &places, suspect_path: &[] }).class
}

/// Pieces that meet in real lines, in any order.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "ls",
            "cat",
            "echo",
            "git",
            "log",
            "find",
            "sort",
            " ",
            " ",
            " ",
            "\n",
            "\t",
            ";",
            "&&",
            "||",
            "|",
            "&",
            "(",
            ")",
            "{",
            "}",
            "'",
            "\"",
            "\\",
            "$",
            "$(",
            "`",
            "<",
            ">",
            ">>",
            "<<",
            "<<'E'",
            "E",
            "\nE\n",
            "<<<",
            ">&",
            "2>&1",
            "/dev/null",
            "-",
            "--",
            "-o",
            "*",
            "?",
            "[",
            "]",
            "~",
            "~/",
            "#",
            "!",
            "=",
            "a=b",
            "f",
            "..",
            "/",
            "../x",
            "rm",
            "-rf",
            "$HOME",
            "sudo",
            "bash",
            "-c",
            "touch",
            "M",
            "é",
            "\u{200b}",
            "\0",
            "\r",
        ])
        .prop_map(str::to_owned),
        "[a-z]{1,4}",
        any::<char>().prop_map(|c| c.to_string()),
    ]
}

/// Whether a substitution stands outside single quotes, comments and literal here-documents not
/// considered: a plain reading of the quotes from left to right.
fn substitutes(line: &str) -> bool {
    let mut chars = line.chars().peekable();
    let (mut single, mut double) = (false, false);
    while let Some(c) = chars.next() {
        match c {
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '\\' if !single => {
                chars.next();
            }
            '`' if !single => return true,
            '$' if !single && chars.peek() == Some(&'(') => return true,
            _ => {}
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn no_line_panics(line in any::<String>()) {
        class(&line);
    }

    #[test]
    fn no_mixture_of_shell_pieces_panics_or_hides_a_substitution(
        pieces in prop::collection::vec(piece(), 0..14)
    ) {
        let line = pieces.concat();
        let found = class(&line);
        if !line.contains(['#']) && !line.contains("<<") && substitutes(&line) {
            prop_assert!(!matches!(found, Class::ReadOnly | Class::Write(_)), "{line:?}");
        }
    }

    #[test]
    fn a_substitution_in_a_harmless_line_is_seen(
        before in "[a-z \"]{0,8}", inner in "[a-z ]{0,6}", tick in any::<bool>()
    ) {
        let middle = if tick { format!("`{inner}`") } else { format!("$({inner})") };
        let line = format!("echo {before}{middle}");
        prop_assert_eq!(class(&line), Class::NotUnderstood);
    }
}
