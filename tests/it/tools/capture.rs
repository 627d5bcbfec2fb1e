//! Output of commands: decoding, cleaning, memory, saved files, secrets.

use std::sync::Arc;

use codebot::kernel::message::CallId;
use codebot::tools::capture::{Capture, Spill};
use codebot::tools::clean::Cleaner;
use codebot::tools::mask::Mask;

fn cleaned(pieces: &[&[u8]]) -> (String, bool) {
    let mut cleaner = Cleaner::default();
    let mut out = String::new();
    for piece in pieces {
        cleaner.push(piece);
        out.push_str(&cleaner.take_lines());
    }
    cleaner.finish();
    out.push_str(&cleaner.take_all_but(0));
    (out, cleaner.is_lossy())
}

fn plain(bytes: &[u8]) -> String {
    let whole = cleaned(&[bytes]).0;
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(cleaned(&single).0, whole, "pieces must not matter");
    whole
}

fn capture(dir: &std::path::Path, secrets: &[&str]) -> Capture {
    let mask = Mask::new(secrets.iter().map(|&s| s.to_owned()).collect());
    Capture::new(Arc::new(mask), Spill { dir: dir.to_owned(), id: CallId::from("c/../1") })
}

/// case C27
#[test]
fn escapes_and_progress_bars_fold_into_plain_lines() {
    let input = b"10%\r50%\r100%\n\x1b[31mred\x1b[0m \x1b]0;t\x07 \x1b[2J end";
    assert_eq!(plain(input), "100%\nred   end");
    assert_eq!(plain(b"a\r\nb\r\r\nc\r"), "a\nb\nc");
    assert_eq!(plain(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b(B\x1bPq#0\x1b\\x"), "link x");
    assert_eq!(plain(b"bo\x08old \x1b[1;2;3mx\x1bM y \x7f\x01z\ta"), "bold x y z\ta");
    assert_eq!(plain("\u{9b}31mx\u{85}é語".as_bytes()), "xé語");
    assert_eq!(plain(b"\x1b]0;never ends\nnext line\n"), "\nnext line\n");
}

/// case C26
#[test]
fn other_encodings_are_replaced_and_split_characters_are_whole_and_nul_ends_nothing() {
    assert_eq!(cleaned(&[b"\xc4\xe3\xba\xc3"]), ("\u{fffd}\u{fffd}\u{fffd}".to_owned(), true));
    assert_eq!(cleaned(&[b"\xe4", b"\xbd", b"\xa0"]), ("你".to_owned(), false));
    assert_eq!(cleaned(&[b"a\0b"]), ("ab".to_owned(), false));
    assert_eq!(cleaned(&[b"x\xe4\xbd"]), ("x\u{fffd}".to_owned(), true));
}

#[test]
fn random_bytes_never_panic_and_pieces_never_matter_for_text() {
    use proptest::prelude::*;
    proptest!(|(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..200)| {
        let cut = cut.min(bytes.len());
        let pieces = cleaned(&[&bytes[..cut], &bytes[cut..]]).0;
        let whole = cleaned(&[&bytes]).0;
        prop_assert_eq!(pieces, whole);
    });
}

#[test]
fn a_short_output_is_whole_and_a_long_one_is_saved_and_shown_by_its_ends() {
    let dir = tempfile::tempdir().unwrap();
    let mut short = capture(dir.path(), &[]);
    short.push(b"a\nb");
    assert_eq!(short.finish(), "a\nb");
    let mut long = capture(dir.path(), &[]);
    for n in 0..10_000 {
        long.push(format!("line {n}\n").as_bytes());
    }
    let text = long.finish();
    assert!(text.starts_with("line 0\nline 1\n") && text.ends_with("line 9999\n"), "{text}");
    assert!(text.contains("10000 lines") && text.chars().count() < 2400, "{text}");
    let path = dir.path().join("bash-c1.txt");
    assert!(text.contains(&path.display().to_string()), "{text}");
    let saved = std::fs::read_to_string(&path).unwrap();
    assert_eq!(saved, super::lines(0..10_000, |n| format!("line {n}")));
}

/// scenario 209
#[test]
fn the_saved_file_is_capped_and_keeps_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut long = capture(dir.path(), &[]);
    let chunk = "0123456789abcde\n".repeat(4096);
    for _ in 0..200 {
        long.push(chunk.as_bytes());
    }
    long.push(b"the end\n");
    let text = long.finish();
    assert!(text.contains("only the first 10.0 MB") && text.ends_with("the end\n"), "{text}");
    let saved = std::fs::read_to_string(dir.path().join("bash-c1.txt")).unwrap();
    assert!(saved.len() < 10 * 1024 * 1024 + 1000 && saved.ends_with("the end\n"));
}

#[test]
fn an_output_that_cannot_be_saved_says_so_and_is_still_shown() {
    let dir = tempfile::tempdir().unwrap();
    let blocked = dir.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let mut long = capture(&blocked, &[]);
    long.push("x\n".repeat(40_000).as_bytes());
    assert!(long.finish().contains("could not be saved"));
}

/// case C31
#[test]
fn a_secret_is_masked_in_reports_in_text_and_on_disk_wherever_it_is_cut() {
    let secret = "sk-test-0123456789";
    let dir = tempfile::tempdir().unwrap();
    for cut in 0..secret.len() {
        let mut out = capture(dir.path(), &[secret]);
        out.push(format!("key {}", &secret[..cut]).as_bytes());
        assert!(!out.report().contains("sk-t"), "{}", out.report());
        out.push(&secret.as_bytes()[cut..]);
        assert!(!out.report().contains("sk-t"), "{}", out.report());
        assert_eq!(out.finish(), "key [secret]");
    }
    for before in 65_520..65_540 {
        let mut out = capture(dir.path(), &[secret]);
        for piece in
            format!("{}{secret}{}", "x".repeat(before), "y".repeat(70_000)).as_bytes().chunks(7)
        {
            out.push(piece);
        }
        let text = out.finish();
        let path = text.split("saved as ").nth(1).unwrap().split(',').next().unwrap();
        let saved = std::fs::read_to_string(path).unwrap();
        assert!(saved.contains("x[secret]y") && !saved.contains("sk-test"), "cut at {before}");
    }
}

#[test]
fn short_values_are_not_secrets_and_overlapping_ones_leave_nothing() {
    let mask = Mask::new(vec!["short".into(), "secret-value".into(), "secret-value-longer".into()]);
    assert_eq!(mask.apply("a short secret-value-longer"), Some("a short [secret]".into()));
    assert_eq!(mask.apply("nothing"), None);
    assert!(!format!("{mask:?}").contains("secret-value"));
}

#[test]
fn reports_hold_the_last_twenty_lines_and_the_open_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = capture(dir.path(), &[]);
    for n in 1..=50 {
        out.push(format!("line {n}\n").as_bytes());
    }
    assert_eq!(out.report().lines().count(), 20);
    assert!(out.report().starts_with("line 31\n"), "{}", out.report());
    out.push(b"50%");
    assert_eq!(out.report().lines().count(), 20);
    assert!(out.report().ends_with("line 50\n50%"));
    out.push("x".repeat(20_000).as_bytes());
    assert!(out.report().len() <= 4096);
    let mut wide = capture(dir.path(), &[]);
    wide.push(format!("{}\n", "w".repeat(3000)).repeat(3).as_bytes());
    assert!(wide.report().len() <= 4096 && wide.report().lines().count() == 1);
}
