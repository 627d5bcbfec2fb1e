//! Width and wrapping.

use codebot::ui::text::role::{Ink, Role};
use codebot::ui::text::row::{Line, Row};
use codebot::ui::text::width::{pad, truncate, truncate_start, width};
use codebot::ui::text::wrap;
use proptest::prelude::*;

fn line(text: &str) -> Line {
    let mut line = Line::default();
    line.push(text, Ink::new(Role::Text), 0);
    line
}

fn soft(text: &str, columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    wrap::soft(&line(text), columns, &Line::default(), &Line::default(), &mut rows);
    rows
}

fn hard(text: &str, columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    wrap::hard(&line(text), columns, &Line::default(), &Line::default(), &mut rows);
    rows
}

fn texts(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(Row::text).collect()
}

fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z]{1,9}",
        3 => Just(" ".to_owned()),
        1 => Just("   ".to_owned()),
        1 => Just("-".to_owned()),
        1 => Just("漢字かな".to_owned()),
        1 => Just("，".to_owned()),
        1 => Just("。」".to_owned()),
        1 => Just("👩\u{200d}👩\u{200d}👧".to_owned()),
        1 => Just("🇨🇳".to_owned()),
        1 => Just("e\u{301}".to_owned()),
        1 => Just("ｶﾞ".to_owned()),
        1 => Just("❤\u{fe0f}".to_owned()),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|parts| parts.concat())
}

#[test]
fn words_stay_together_where_they_fit() {
    assert_eq!(texts(&soft("the quick brown fox", 10)), ["the quick", "brown fox"]);
    assert_eq!(texts(&soft("well-known facts", 6)), ["well-", "known", "facts"]);
    assert_eq!(texts(&soft("abcdefghij", 4)), ["abcd", "efgh", "ij"]);
    assert_eq!(texts(&soft("", 4)), [""]);
}

#[test]
fn a_closing_mark_never_starts_a_row() {
    for columns in 4..20 {
        for row in soft("你好，世界。这是一个测试，看看换行。", columns) {
            assert!(!row.text().starts_with(['，', '。']), "{columns}: {}", row.text());
        }
    }
}

#[test]
fn emoji_clusters_are_never_split() {
    let family = "👨\u{200d}👩\u{200d}👧";
    for row in soft(&family.repeat(5), 5) {
        assert!(row.text().replace(family, "").is_empty(), "{:?}", row.text());
    }
}

#[test]
fn an_indent_makes_no_empty_first_row() {
    assert_eq!(texts(&soft("    abcdefgh", 8)), ["    abcd", "efgh"]);
    assert_eq!(texts(&soft("    abcdefgh", 5)), ["abcde", "fgh"]);
    assert_eq!(texts(&soft("        abc", 5)), ["abc"]);
}

/// case E11
#[test]
fn tabs_run_to_the_next_stop_of_four() {
    assert_eq!(line("\ta").text, "    a");
    assert_eq!(line("abc\td").text, "abc d");
    assert_eq!(line("abcd\te").text, "abcd    e");
    assert_eq!(line("漢\tb").text, "漢  b");
}

#[test]
fn marks_hang_and_rows_know_their_source() {
    let mut rows = Vec::new();
    let (first, rest) = (Line::of("• ", Role::Marker), Line::of("  ", Role::Text));
    wrap::soft(&line("one two three"), 9, &first, &rest, &mut rows);
    assert_eq!(texts(&rows), ["• one two", "  three"]);
    assert_eq!(rows[0].src, 0..7);
    assert_eq!(rows[1].src, 8..13);
}

#[test]
fn too_long_texts_are_cut_on_grapheme_borders() {
    assert_eq!(truncate("abcdef", 4), "abc…");
    assert_eq!(truncate("漢字漢字", 4), "漢…");
    assert_eq!(truncate("abc", 3), "abc");
    assert_eq!(truncate("abc", 0), "");
    assert_eq!(truncate_start("src/ui/text/wrap.rs", 8), "…wrap.rs");
    assert_eq!(pad("漢", 4), "漢  ");
}

proptest! {
    #[test]
    fn no_row_is_wider_than_asked(text in words(), columns in 3_usize..40) {
        for row in soft(&text, columns).iter().chain(&hard(&text, columns)) {
            prop_assert!(width(row.text()) <= columns, "{:?} in {columns}", row.text());
        }
    }

    #[test]
    fn soft_rows_lose_nothing_but_blanks(text in words(), columns in 1_usize..40) {
        let joined: String = soft(&text, columns).iter().map(Row::text).collect();
        let solid = |text: &str| text.replace(' ', "");
        prop_assert_eq!(solid(&joined), solid(&text));
    }

    #[test]
    fn hard_rows_lose_nothing(text in words(), columns in 1_usize..40) {
        let joined: String = hard(&text, columns).iter().map(Row::text).collect();
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn every_row_is_a_slice_of_its_source(text in words(), columns in 2_usize..40) {
        for row in soft(&text, columns) {
            let range = row.src.start as usize..row.src.end as usize;
            prop_assert_eq!(&text[range], row.text());
        }
    }

    #[test]
    fn width_is_what_the_buffer_draws(text in words()) {
        use ratatui::{buffer::Buffer, layout::Rect, style::Style};
        let mut buffer = Buffer::empty(Rect::new(0, 0, 400, 1));
        let (x, _) = buffer.set_stringn(0, 0, &text, 400, Style::new());
        prop_assert_eq!(usize::from(x), width(&text));
    }
}
