//! Places in the transcript.

use codebot::kernel::event::Event;
use codebot::kernel::message::{CallStatus, Origin};
use codebot::ui::store::scroll::{Position, Scroll};
use codebot::ui::store::transcript::Transcript;
use codebot::ui::theme::Theme;
use codebot::ui::view::transcript::TranscriptLayout;
use serde_json::json;

use super::{begin, call, ended, said, text, transcript};

struct Reader {
    layout: TranscriptLayout,
    scroll: Scroll,
    theme: Theme,
}

impl Reader {
    fn new() -> Self {
        Self { layout: TranscriptLayout::new(), scroll: Scroll::default(), theme: Theme::default() }
    }

    fn see(&mut self, transcript: &Transcript, width: u16, height: u16) -> Vec<String> {
        self.layout.prepare(transcript, &self.scroll, width, height, &self.theme, 0);
        self.scroll.settle(&self.layout.settled(), transcript);
        self.layout.visible_text()
    }
}

fn long(turns: usize) -> Transcript {
    let mut events = Vec::new();
    for turn in 0..turns {
        events.push(said(&format!("question {turn}"), Origin::Prompt));
        events.push(begin());
        let words = format!("answer {turn} goes on with quite a few words. ").repeat(8);
        events.push(text(&format!(
            "{words}\n\n- one\n- two\n\n```\ncode {turn}\n```\n\nend {turn}\n"
        )));
    }
    transcript(&events)
}

#[test]
fn one_row_up_is_one_row_up_all_the_way_and_back() {
    let shown = long(12);
    let mut reader = Reader::new();
    let mut all = Vec::new();
    reader.scroll.home(&shown);
    let mut page = reader.see(&shown, 50, 10);
    all.extend(page.clone());
    while !reader.layout.settled().at_end {
        reader.scroll.lines(1);
        let next = reader.see(&shown, 50, 10);
        assert_eq!(next[..9], page[1..], "down");
        all.push(next[9].clone());
        page = next;
    }
    for top in (0..all.len() - 10).rev() {
        reader.scroll.lines(-1);
        assert_eq!(reader.see(&shown, 50, 10), all[top..top + 10], "up at {top}");
    }
}

#[test]
fn pages_overlap_by_one_row() {
    let shown = long(12);
    let mut reader = Reader::new();
    let end = reader.see(&shown, 50, 10);
    reader.scroll.pages(-1, 10);
    let above = reader.see(&shown, 50, 10);
    assert_eq!(above[9], end[0]);
    assert!(!reader.scroll.is_latest());
    reader.scroll.pages(1, 10);
    assert_eq!(reader.see(&shown, 50, 10), end);
    assert!(reader.scroll.is_latest());
}

#[test]
fn a_resize_there_and_back_shows_the_same_text() {
    let shown = long(30);
    let mut reader = Reader::new();
    for start in [15, 40, 77] {
        reader.scroll.end();
        reader.see(&shown, 200, 20);
        reader.scroll.lines(-start);
        let before = reader.see(&shown, 200, 20);
        let anchor = reader.scroll.position();
        for width in [120, 40, 17, 3, 40, 80] {
            reader.see(&shown, width, 20);
            assert_eq!(reader.scroll.position(), anchor);
        }
        assert_eq!(reader.see(&shown, 200, 20), before);
    }
}

#[test]
fn new_content_does_not_move_the_reader() {
    let mut shown = long(10);
    let mut reader = Reader::new();
    reader.see(&shown, 60, 10);
    reader.scroll.lines(-20);
    let before = reader.see(&shown, 60, 10);
    assert_eq!(reader.scroll.unseen(&shown), 0);
    for event in [begin(), text("more\nand\nmore\n"), said("next", Origin::Prompt)] {
        shown.apply(&event, 0);
    }
    assert_eq!(reader.see(&shown, 60, 10), before);
    assert!(reader.scroll.unseen(&shown) >= 4);
    reader.scroll.end();
    assert!(reader.see(&shown, 60, 10).last().is_some_and(|row| row.contains("next")));
    assert_eq!(reader.scroll.unseen(&shown), 0);
}

#[test]
fn the_end_follows_what_comes() {
    let mut shown = long(10);
    let mut reader = Reader::new();
    reader.see(&shown, 60, 10);
    shown.apply(&begin(), 0);
    shown.apply(&text("brand new"), 0);
    assert!(reader.see(&shown, 60, 10).last().is_some_and(|row| row.contains("brand new")));
}

#[test]
fn jumps_visit_the_messages_of_the_user() {
    let shown = long(5);
    let mut reader = Reader::new();
    reader.see(&shown, 60, 6);
    for turn in (0..5).rev() {
        reader.scroll.turn(false, &shown);
        let seen = reader.see(&shown, 60, 6);
        assert!(seen[..2].iter().any(|row| row.contains(&format!("question {turn}"))), "{seen:?}");
    }
    reader.scroll.turn(true, &shown);
    assert!(reader.see(&shown, 60, 6)[1].contains("question 1"));
    for _ in 0..5 {
        reader.scroll.turn(true, &shown);
    }
    assert_eq!(reader.scroll.position(), Position::Latest);
}

#[test]
fn rows_tell_their_cell() {
    let shown = long(1);
    let mut reader = Reader::new();
    reader.see(&shown, 60, 40);
    assert_eq!(reader.layout.hit(0), Some(shown.cells()[0].id));
    assert_eq!(reader.layout.hit(3), Some(shown.cells()[1].id));
    assert_eq!(reader.layout.hit(39), None);
}

/// case E22
#[test]
fn an_output_of_many_lines_scrolls_beyond_any_small_counter() {
    let mut shown = Transcript::default();
    let answer = (0..100_000).map(|n| format!("row {n}\n")).collect::<Vec<_>>().concat();
    for event in [
        begin(),
        text(&answer),
        Event::ToolStart { call: call("1", "bash", &json!({})), preview: None },
        ended("1", "bash", CallStatus::Ok, "fine", None),
    ] {
        shown.apply(&event, 0);
    }
    let mut reader = Reader::new();
    reader.see(&shown, 80, 20);
    reader.scroll.lines(-90_000);
    let seen = reader.see(&shown, 80, 20);
    assert!(seen[0].trim().starts_with("row "), "{seen:?}");
    reader.scroll.lines(70_000);
    reader.see(&shown, 80, 20);
    reader.scroll.home(&shown);
    assert!(reader.see(&shown, 80, 20)[0].contains("row 0"));
    reader.scroll.end();
    assert!(reader.see(&shown, 80, 20)[19].contains("fine"));
}

#[test]
fn opening_a_result_by_a_click_keeps_its_first_line_in_place() {
    let mut shown = long(6);
    let output = (0..60).map(|at| format!("line {at}")).collect::<Vec<_>>().join("\n");
    let start = Event::ToolStart { call: call("1", "bash", &json!({})), preview: None };
    for event in [start, ended("1", "bash", CallStatus::Ok, &output, None)] {
        shown.apply(&event, 0);
    }
    let mut reader = Reader::new();
    let before = reader.see(&shown, 60, 12);
    let head = before.iter().position(|row| row.contains("bash")).expect("the call");
    let cell = reader.layout.hit(head as u16).expect("its cell");
    reader.scroll.hold(&shown);
    shown.toggle_fold(cell);
    let opened = reader.see(&shown, 60, 12);
    assert_eq!(opened[..=head], before[..=head]);
    assert!(opened[head + 1].contains("line 0"), "{opened:?}");
    assert!(!reader.scroll.is_latest());
    reader.scroll.hold(&shown);
    shown.toggle_fold(cell);
    reader.see(&shown, 60, 12);
    reader.scroll.pages(1, 12);
    assert_eq!(reader.see(&shown, 60, 12), before);
    assert!(reader.scroll.is_latest());
}

#[test]
fn a_click_that_leaves_the_end_in_sight_goes_on_following() {
    let mut shown = transcript(&[begin(), text("short")]);
    let mut reader = Reader::new();
    reader.see(&shown, 60, 12);
    reader.scroll.hold(&shown);
    reader.see(&shown, 60, 12);
    assert!(reader.scroll.is_latest());
    shown.apply(&text(" and more"), 0);
    assert!(reader.scroll.is_latest());
}
