//! Arbitrary lines: no panic, and nothing that the shell would expand is ever taken for reading.

use codebot::permission::paths::Places;
use codebot::permission::shell::{Class, Setting, judge};
use proptest::prelude::*;

fn class(line: &str) -> Class {
    let ws = std::env::temp_dir();
    let places = Places::new(std::slice::from_ref(&ws), None, &[], &[], &[]);
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

/// Parts of honest and of other lines.
fn part() -> impl Strategy<Value = String> {
    let parts = [
        "ls -la",
        "cat f",
        "git status",
        "grep -n x f",
        "make",
        "touch M",
        "echo 'a;b'",
        "rm -rf x",
    ];
    prop::sample::select(parts.to_vec()).prop_map(str::to_owned)
}

fn joint() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![" && ", " || ", "; ", " | "])
}

/// How far a class is from running unasked.
fn rank(class: &Class) -> u8 {
    match class {
        Class::ReadOnly => 0,
        Class::Write(_) => 1,
        Class::Other => 2,
        Class::NotUnderstood => 3,
    }
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

    /// Blanks and a comment at the end change nothing.
    #[test]
    fn what_stands_behind_a_line_changes_nothing(
        parts in prop::collection::vec(part(), 1..4),
        joint in joint(),
        end in prop::sample::select(vec![" ", "\t", "   ", "\n", " # note", " # rm -rf /"]),
    ) {
        let line = parts.join(joint);
        prop_assert_eq!(class(&format!("{line}{end}")), class(&line), "{:?} {:?}", line, end);
    }

    /// A further part of unknown effect never makes a line more allowed.
    #[test]
    fn an_unknown_part_never_makes_a_line_more_allowed(
        parts in prop::collection::vec(part(), 1..4),
        joint in joint(),
        unknown in "[a-z]{3,8}",
        place in 0..4_usize,
    ) {
        let unknown = format!("x{unknown}x --do");
        let before = rank(&class(&parts.join(joint)));
        let mut more = parts.clone();
        more.insert(place.min(parts.len()), unknown);
        let after = class(&more.join(joint));
        prop_assert!(rank(&after) >= before, "{more:?} {after:?}");
        prop_assert!(!matches!(after, Class::ReadOnly | Class::Write(_)), "{more:?}");
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

/// The grammar's scanner is C: characters far beyond ASCII after a brace once read outside a table.
#[test]
fn a_brace_before_a_far_character_does_not_crash() {
    for c in ['é', '中', '😀', '\u{f836f}', '\u{10fffd}'] {
        for line in [format!("ynn{{{c}"), format!("{{{c}..3}}"), format!("echo {{{c},{c}}}")] {
            assert!(!matches!(class(&line), Class::ReadOnly | Class::Write(_)), "{line:?}");
        }
    }
}
