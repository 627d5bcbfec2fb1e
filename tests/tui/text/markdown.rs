//! Markdown: what it looks like, and that streaming never changes it.

use codebot::ui::text::code::Plain;
use codebot::ui::text::outline::{Outline, PieceKind};
use codebot::ui::text::row::Row;
use codebot::ui::text::sanitize::is_hidden;
use codebot::ui::text::stream::{self, piece_rows};
use codebot::ui::text::width::width;
use proptest::prelude::*;

const E21: &str = "# Title\n\nSome **bold** text with `a | b` and a [link](https://x.org/a_b).\n\
- one\n  - two\n\n    ```rust\n    fn f() {}\n    ```\n- three\n\n\
| 名前 | b `\\|` c |\n|---|:-:|\n| 漢字 | x |\n| y | z |\n\n\
~~~\ntilde ``` inside\n~~~\n````md\n```\ninner\n```\n````\n\
> quote\n> more\n\n1. a\n2. b\n\n---\n**open and `never closed\n\n```py\nprint(1)\n";

fn text_of(rows: &[Row]) -> String {
    let lines: Vec<&str> = rows.iter().map(|row| row.text().trim_end()).collect();
    lines.join("\n")
}

fn render(text: &str, columns: usize) -> String {
    text_of(&stream::rows(text, columns, &mut Plain))
}

/// Feeds the text in pieces, drawing after every piece as a frame would.
fn streamed(text: &str, cuts: &[usize], columns: usize) -> Vec<Row> {
    let mut outline = Outline::default();
    for cut in cuts.iter().copied().chain([text.len()]) {
        let part = &text[..text.floor_char_boundary(cut)];
        outline.feed(part);
        if let Some(open) = outline.open(part) {
            let first = outline.closed().is_empty();
            let _frame = piece_rows(part, &outline, open, first, true, columns, &mut Plain);
        }
    }
    outline.finish(text);
    let mut out = Vec::new();
    for piece in outline.closed() {
        let first = out.is_empty();
        out.extend(piece_rows(text, &outline, *piece, first, false, columns, &mut Plain));
    }
    out
}

/// case E21
#[test]
fn every_split_gives_the_same_rows_as_the_whole() {
    let deep: String = (0..200).map(|i| format!("{}- x\n", "  ".repeat(i))).collect();
    let texts = [E21.to_owned(), format!("{E21}```\n\n{deep}"), "foo\n#bar\n- \n-".to_owned()];
    for text in &texts {
        for columns in [20, 80] {
            let whole = stream::rows(text, columns, &mut Plain);
            let step = if text.len() > 2000 { 331 } else { 1 };
            for cut in (0..=text.len()).step_by(step) {
                assert_eq!(streamed(text, &[cut], columns), whole, "cut at {cut}");
            }
        }
    }
}

#[test]
fn one_character_at_a_time_gives_the_same_rows() {
    let cuts: Vec<usize> = (0..E21.len()).collect();
    assert_eq!(streamed(E21, &cuts, 60), stream::rows(E21, 60, &mut Plain));
}

#[test]
fn blocks_look_as_they_should() {
    insta::assert_snapshot!(render(E21, 60));
}

#[test]
fn lists_nest_and_hang() {
    let text = "1. first item that is long enough to wrap\n2. second\n   - [x] done\n   - [ ] open\n\n\
* loose\n\n* list\n\n  with text\n";
    insta::assert_snapshot!(render(text, 24));
}

/// case E22
#[test]
fn wide_tables_become_records() {
    let text = "| alpha | beta | gamma | delta | epsilon | zeta |\n|--|--|--|--|--|--|\n\
| some words | more words here | 漢字漢字 | x | y | z |\n| a | b | c | d | e | f |\n";
    let narrow = render(text, 40);
    assert!(narrow.lines().all(|line| width(line) <= 40), "{narrow}");
    insta::assert_snapshot!(narrow);
    insta::assert_snapshot!(render(text, 80));
}

#[test]
fn entities_do_not_smuggle_controls_in() {
    let rows = render("a&#27;[31mb&#x202e;c [x](&#27;]0;t) `&#27;`", 80);
    assert!(rows.chars().all(|c| !is_hidden(c) || c == '\n'), "{rows:?}");
}

#[test]
fn an_open_fence_costs_only_its_newest_part() {
    let mut text = String::from("```\n");
    let mut outline = Outline::default();
    for number in 0..10_000 {
        text.push_str(&format!("line {number}\n"));
        outline.feed(&text);
        let open = outline.open(&text).expect("a fence is open");
        let rows = piece_rows(&text, &outline, open, false, true, 80, &mut Plain);
        assert!(rows.len() <= 66, "{}", rows.len());
    }
    assert_eq!(outline.closed().len(), 10_000 / 64);
    assert!(outline.closed().iter().all(|piece| matches!(piece.kind, PieceKind::Code { .. })));
}

#[test]
fn long_paragraphs_lists_and_lines_are_cut_into_bounded_pieces() {
    let list = "- an item of a very long list\n".repeat(2000);
    let prose = "words and words and words\n".repeat(4000);
    let line = "word ".repeat(40_000);
    let solid = "x".repeat(200_000);
    for text in [list, prose, line, solid] {
        let outline = Outline::of(&text);
        let longest = outline.closed().iter().map(|piece| piece.end - piece.start).max();
        assert!(longest.is_some_and(|bytes| bytes <= 33 * 1024), "{longest:?}");
        let covered: u32 = outline.closed().iter().map(|piece| piece.end - piece.start).sum();
        assert_eq!(covered as usize, text.len());
    }
}

#[test]
fn a_fence_after_a_list_without_a_blank_line_is_a_block_of_its_own() {
    let text = "1. do this\n```sh\nls\n```\n2. and that\n";
    let shown = render(text, 40);
    assert_eq!(shown, "1. do this\n\n  sh\n  ls\n\n2. and that");
}

fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z]{1,5} ?",
        3 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => Just("```".to_owned()),
        1 => Just("\n```rs\n".to_owned()),
        1 => Just("\n~~~~\n".to_owned()),
        1 => Just("- ".to_owned()),
        1 => Just("\n- ".to_owned()),
        1 => Just("  ".to_owned()),
        1 => Just("    ".to_owned()),
        1 => Just("\n12. ".to_owned()),
        1 => Just("# ".to_owned()),
        1 => Just("\n> ".to_owned()),
        1 => Just("**".to_owned()),
        1 => Just("`".to_owned()),
        1 => Just("|".to_owned()),
        1 => Just("\n|--|--|\n".to_owned()),
        1 => Just("\n---\n".to_owned()),
        1 => Just("[a](b)".to_owned()),
        1 => Just("<b>".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("漢字，".to_owned()),
        1 => Just("👩\u{200d}👧".to_owned()),
        1 => Just("&amp;&#27;".to_owned()),
        1 => Just("[x]: /u\n".to_owned()),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn cuts_never_change_the_rows(
        text in markdown(),
        cuts in proptest::collection::vec(0_usize..200, 0..6),
        columns in 1_usize..60,
    ) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        prop_assert_eq!(streamed(&text, &cuts, columns), stream::rows(&text, columns, &mut Plain));
    }

    #[test]
    fn no_row_overflows(text in markdown(), columns in 12_usize..60) {
        for row in stream::rows(&text, columns, &mut Plain) {
            prop_assert!(width(row.text()) <= columns, "{:?}", row.text());
        }
    }

    #[test]
    fn sources_grow_from_top_to_bottom(text in markdown(), columns in 4_usize..60) {
        let rows = stream::rows(&text, columns, &mut Plain);
        prop_assert!(rows.is_sorted_by_key(|row| row.src.start));
    }
}
