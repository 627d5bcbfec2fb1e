//! The door for outside text.

use codebot::ui::text::sanitize::{Cleaner, clean, clean_line, clean_output, is_hidden, visible};
use proptest::prelude::*;

fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-z ]{0,6}",
        1 => Just("\x1b]0;own\x07".to_owned()),
        1 => Just("\x1b[31m".to_owned()),
        1 => Just("\x1b".to_owned()),
        1 => Just("\u{9b}2J".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        1 => Just("\n".to_owned()),
        1 => Just("👩\u{200d}👩\u{200d}👧".to_owned()),
        1 => Just("❤\u{fe0f}".to_owned()),
        1 => Just("漢字\u{200b}，".to_owned()),
        2 => any::<char>().prop_map(|c| c.to_string()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|parts| parts.concat())
}

fn is_allowed(c: char) -> bool {
    !is_hidden(c) || matches!(c, '\n' | '\t' | '\u{200d}' | '\u{fe0f}')
}

/// case E12
#[test]
fn nothing_that_acts_on_a_terminal_passes() {
    let cases = [
        ("a\x1b]0;own\x07b", "ab"),
        ("a\x1b[?1049lb", "ab"),
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\c", "abc"),
        ("a\u{9b}2Jb", "ab"),
        ("a\u{9d}0;t\u{9c}b", "ab"),
        ("a\x1bPq#0\x1b\\b", "ab"),
        ("a\x08b\0c\x7fd", "abcd"),
        ("one\rtwo\r\nthree", "one\ntwo\nthree"),
        ("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e", "abcde"),
        ("a\u{e0041}b\u{2028}c", "ab\nc"),
        ("a\x1b]0;never ends\nnext", "a\nnext"),
        ("a\x1b(Bb\x1b7c", "abc"),
        ("👨\u{200d}👩\u{200d}👧", "👨\u{200d}👩\u{200d}👧"),
        ("❤\u{fe0f} 1\u{fe0f}\u{20e3}", "❤\u{fe0f} 1\u{fe0f}\u{20e3}"),
        ("a\u{200d}b", "ab"),
        ("tab\there", "tab\there"),
    ];
    for (dirty, wanted) in cases {
        assert_eq!(clean(dirty), wanted, "{dirty:?}");
    }
}

#[test]
fn plain_text_is_not_copied() {
    assert!(matches!(clean("just text\n\twith lines"), std::borrow::Cow::Borrowed(_)));
    assert!(matches!(visible("just text"), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn progress_bars_keep_their_last_state() {
    assert_eq!(clean_output("10%\r50%\r100%\ndone\r\n"), "100%\ndone\n");
}

#[test]
fn titles_stay_on_one_line() {
    assert_eq!(clean_line("one\n\ttwo\x1b[0m"), "one two");
}

#[test]
fn what_asks_shows_what_is_hidden() {
    assert_eq!(visible("rm\u{202e} -rf\x1b[0m\tx\r\n"), "rm\\u{202e} -rf\\x1b[0m\\tx\\r\n");
}

proptest! {
    #[test]
    fn no_control_character_comes_out(text in nasty()) {
        prop_assert!(clean(&text).chars().all(is_allowed));
        prop_assert!(clean_line(&text).chars().all(|c| is_allowed(c) && c != '\n' && c != '\t'));
        prop_assert!(visible(&text).chars().all(|c| !is_hidden(c) || c == '\n'));
    }

    #[test]
    fn cutting_the_text_changes_nothing(text in nasty(), cut in 0_usize..40) {
        let cut = text.floor_char_boundary(cut);
        let mut out = String::new();
        let mut cleaner = Cleaner::default();
        cleaner.push(&text[..cut], &mut out);
        cleaner.push(&text[cut..], &mut out);
        cleaner.finish(&mut out);
        prop_assert_eq!(out, clean(&text).into_owned());
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(text in nasty()) {
        let once = clean(&text).into_owned();
        prop_assert_eq!(clean(&once).into_owned(), once);
    }
}
