//! Lists to choose from on screen: filter, columns, what needs a second key, numbered menus, and a
//! list that changes under the eyes.

use codebot::app::service::{Entry, ListKind, Listing, Offer, Pick, Request, Update, Verb};
use codebot::ui::store::Effect;
use codebot::ui::store::overlay::Overlay;

use super::stage::Stage;

fn entries() -> Vec<Entry> {
    let entry = |id: &str, title: &str, columns: [&str; 3], note: &str| {
        let columns = columns.map(str::to_owned).to_vec();
        Entry { columns, ..Entry::new(id, title).note(note) }
    };
    vec![
        entry("a", "alpha/large", ["200k", "$3.00 in", "$15.00 out"], "reads pictures"),
        entry("b", "beta/small-model-with-a-long-name", ["32k", "free", ""], "on this machine"),
        entry("c", "日本/モデル", ["1M", "$0.10 in", "$0.40 out"], "a \u{1b}[31mred\u{202e} note"),
        entry("d", "delta", ["?", "?", "?"], ""),
    ]
}

fn listing() -> Listing {
    let mut listing = Listing::new(ListKind::Tasks, "Things", "there is nothing yet");
    listing.entries = entries();
    listing.entries[1].current = true;
    listing.offers = vec![
        Offer::new(Verb::Choose, "takes it").closing(),
        Offer::new(Verb::Remove, "forgets it").confirmed(),
        Offer::new(Verb::More, "more"),
    ];
    listing
}

fn menu() -> Listing {
    let mut menu = Listing::menu(ListKind::Tasks, "What is to come back?");
    menu.preface = vec!["3 files would change:".to_owned(), "  src/main.rs  +3 −1".to_owned()];
    menu.entries = vec![Entry::new("both", "conversation and files"), Entry::new("files", "files")];
    menu.offers = vec![Offer::new(Verb::Choose, "does it").closing()];
    menu
}

fn shows(columns: u16, rows: u16, listing: Listing) -> Stage {
    let mut stage = Stage::sized(columns, rows);
    stage.types("/tasks").key("enter");
    assert!(stage.text().contains("looking…"), "the panel is there before its list");
    stage.news(Update::List(listing));
    stage.taken();
    stage
}

fn picks(stage: &mut Stage) -> Vec<(String, Verb)> {
    let effects = stage.taken().into_iter();
    let picked = effects.filter_map(|effect| match effect {
        Effect::Request(Request::Pick(Pick { id, verb, .. })) => Some((id, verb)),
        _ => None,
    });
    picked.collect()
}

#[test]
fn a_list_at_every_width() {
    for columns in [40, 80, 200] {
        let mut stage = shows(columns, 24, listing());
        insta::assert_snapshot!(format!("list_{columns}"), stage.text());
        stage.key("down");
        let text = stage.text();
        assert!(text.contains("a red note"), "clean: {text}");
        let menu = shows(columns, 24, menu());
        insta::assert_snapshot!(format!("list_menu_{columns}"), menu.text());
    }
}

#[test]
fn typing_filters_by_words_anywhere_and_else_by_characters_of_the_name() {
    let mut stage = shows(80, 24, listing());
    stage.types("zeta machine");
    assert!(stage.text().contains("nothing fits"), "{}", stage.text());
    stage.key("esc");
    stage.types("FREE machine");
    assert!(stage.text().contains("1 of 4") && stage.text().contains("beta/"), "{}", stage.text());
    stage.key("ctrl+u");
    stage.types("aplg");
    stage.key("enter");
    assert_eq!(picks(&mut stage), [("a".to_owned(), Verb::Choose)]);
    assert!(stage.store.overlay.is_none());
}

#[test]
fn esc_shows_all_again_and_then_closes() {
    let mut stage = shows(80, 24, listing());
    stage.types("delta").key("esc");
    assert!(stage.text().contains("alpha/large"));
    stage.key("esc");
    assert!(stage.store.overlay.is_none());
    assert_eq!(stage.draft(), "");
}

#[test]
fn what_cannot_be_taken_back_is_asked_for_twice_with_nothing_between() {
    let mut stage = shows(80, 24, listing());
    stage.key("delete");
    assert!(picks(&mut stage).is_empty());
    assert!(stage.text().contains("del again forgets it: beta/small"), "{}", stage.text());
    stage.key("down").key("delete");
    assert!(picks(&mut stage).is_empty(), "the question was about another entry");
    stage.key("ctrl+x");
    assert_eq!(picks(&mut stage), [("c".to_owned(), Verb::Remove)]);
    assert!(matches!(stage.store.overlay, Some(Overlay::List(_))), "it stays for the next list");
}

#[test]
fn a_changed_list_keeps_filter_and_selection() {
    let mut stage = shows(80, 24, listing());
    stage.types("a").key("down").key("down");
    stage.key("right");
    assert_eq!(picks(&mut stage), [("c".to_owned(), Verb::More)]);
    let mut changed = listing();
    changed.entries.remove(0);
    stage.news(Update::List(changed));
    stage.key("right");
    assert_eq!(picks(&mut stage), [("c".to_owned(), Verb::More)]);
    stage.news(Update::List(Listing { entries: Vec::new(), ..listing() }));
    assert!(stage.text().contains("there is nothing yet"), "{}", stage.text());
    stage.key("enter").key("delete").key("right").key("up").key("down");
    assert!(picks(&mut stage).is_empty());
}

#[test]
fn a_list_nobody_waits_for_opens_nothing() {
    let mut stage = Stage::open();
    stage.news(Update::List(listing()));
    assert!(stage.store.overlay.is_none());
}

#[test]
fn digits_choose_from_a_menu() {
    let mut stage = shows(80, 24, menu());
    stage.types("9x").key("2");
    assert_eq!(picks(&mut stage), [("files".to_owned(), Verb::Choose)]);
}

/// On a low screen the lines above go first; selected entry and keys stay in sight.
#[test]
fn a_low_screen_shows_the_selected_entry() {
    for rows in 6..16 {
        for listing in [listing(), menu()] {
            let mut stage = shows(40, rows, listing);
            stage.key("end");
            assert!(stage.text().contains("❯ "), "{rows} rows: {}", stage.text());
            let full = rows >= 9;
            assert!(!full || stage.text().contains("esc "), "{rows} rows: {}", stage.text());
        }
    }
    for (columns, rows) in [(0, 0), (1, 1), (5, 3), (20, 5), (3, 40)] {
        let mut stage = shows_at(columns, rows);
        stage.key("down").types("b");
        let _no_panic = stage.screen();
    }
}

fn shows_at(columns: u16, rows: u16) -> Stage {
    let mut stage = Stage::sized(columns, rows);
    stage.types("/tasks").key("enter");
    stage.news(Update::List(listing()));
    stage
}
