//! Going back to an earlier turn on screen: how it is asked for, the two panels, and what becomes of
//! transcript and composer.

use codebot::app::service::{Entry, ListKind, Listing, Offer, Pick, Request, Update, Verb};
use codebot::kernel::message::{Block, Message, MessageId, Origin, Timestamp, UserMessage};
use codebot::ui::store::Effect;
use codebot::ui::store::overlay::Overlay;

use super::stage::Stage;

fn turns() -> Listing {
    let mut listing = Listing::new(ListKind::Turns, "Rewind to before", "nothing was said yet");
    listing.offers = vec![Offer::new(Verb::Choose, "looks at it")];
    listing.entries = vec![
        Entry::new("u3", "now rename the parser and run the tests").column("2 files since"),
        Entry::new("u2", "add a test for the \u{1b}[31mparser").column("3 files since"),
        Entry::new("u1", "日本語のコメントを消して").column("3 files since"),
    ];
    listing
}

fn choices() -> Listing {
    let mut menu = Listing::menu(ListKind::Rewind, "Rewind to before “add a test for the parser”");
    menu.preface = vec![
        "conversation: 2 turns go, 14 messages".to_owned(),
        "files: 3 files change back".to_owned(),
        "  src/parser.rs  +3 −12".to_owned(),
        "  tests/parser.rs  goes, it was not there".to_owned(),
        "! notes.md  +1 −0  changed since, not by codebot".to_owned(),
        "  big.bin stays: it is larger than the 8 MB that are copied, so there is no copy"
            .to_owned(),
    ];
    menu.entries = vec![
        Entry::new("both", "conversation and files"),
        Entry::new("files", "files only"),
        Entry::new("conversation", "conversation only, files stay"),
        Entry::new("both!", "overwriting: conversation and files")
            .note("also 1 file that was changed since, not by codebot; redo brings it back"),
        Entry::new("files!", "overwriting: files only"),
    ];
    menu.offers = vec![Offer::new(Verb::Choose, "does it").closing()];
    menu
}

fn requests(stage: &mut Stage) -> Vec<Request> {
    let effects = stage.taken().into_iter();
    let requests = effects.filter_map(|effect| match effect {
        Effect::Request(request) => Some(request),
        _ => None,
    });
    requests.collect()
}

fn asks_for_turns(stage: &mut Stage) -> bool {
    matches!(requests(stage).as_slice(), [Request::List(ListKind::Turns)])
}

#[test]
fn the_turns_and_what_one_of_them_would_mean_at_every_width() {
    for columns in [40, 80, 200] {
        let mut stage = Stage::sized(columns, 24);
        stage.types("/rewind").key("enter");
        assert!(asks_for_turns(&mut stage));
        stage.news(Update::List(turns()));
        insta::assert_snapshot!(format!("rewind_turns_{columns}"), stage.text());
        stage.wait(1000).key("down").key("enter");
        let picked = requests(&mut stage);
        let [Request::Pick(Pick { kind: ListKind::Turns, id, .. })] = picked.as_slice() else {
            panic!("{picked:?}")
        };
        assert_eq!(id, "u2");
        stage.news(Update::List(choices()));
        insta::assert_snapshot!(format!("rewind_choices_{columns}"), stage.text());
        stage.key("3");
        let picked = requests(&mut stage);
        let [Request::Pick(Pick { kind: ListKind::Rewind, id, .. })] = picked.as_slice() else {
            panic!("{picked:?}")
        };
        assert_eq!(id, "conversation");
        assert!(stage.store.overlay.is_none());
    }
}

#[test]
fn esc_twice_within_a_second_asks_for_the_turns_and_only_when_idle() {
    let mut stage = Stage::sized(80, 24);
    stage.key("esc").wait(300).key("esc");
    assert!(asks_for_turns(&mut stage));
    assert!(matches!(stage.store.overlay, Some(Overlay::List(_))));
    let mut stage = Stage::sized(80, 24);
    stage.key("esc").wait(1200).key("esc");
    assert!(requests(&mut stage).is_empty() && stage.store.overlay.is_none());
    stage.wait(300).key("esc");
    assert!(asks_for_turns(&mut stage), "the second and the third belong together");
    let mut stage = Stage::busy();
    stage.taken();
    stage.key("esc").wait(300).key("esc");
    assert!(!requests(&mut stage).iter().any(|r| matches!(r, Request::List(_))));
    assert!(stage.store.overlay.is_none());
}

#[test]
fn redo_is_asked_for_by_word_and_other_words_are_told() {
    let mut stage = Stage::sized(80, 24);
    stage.types("/rewind redo").key("enter");
    assert!(matches!(requests(&mut stage).as_slice(), [Request::Redo]));
    stage.types("/rewind fast").key("enter");
    assert!(requests(&mut stage).is_empty());
    assert!(stage.text().contains("/rewind fast is not known"), "{}", stage.text());
    let mut stage = Stage::busy();
    stage.taken();
    stage.types("/rewind").key("enter");
    assert!(stage.text().contains("has to wait for the end of the run"), "{}", stage.text());
}

#[test]
fn the_transcript_is_the_one_that_is_left_and_the_words_come_back() {
    let said = |id: &str, text: &str| {
        Message::User(UserMessage {
            id: MessageId::from(id),
            at: Timestamp(0),
            origin: Origin::Prompt,
            blocks: vec![Block::text(text)],
            before: None,
        })
    };
    let mut stage = Stage::sized(80, 24);
    let all = vec![said("u1", "the first"), said("u2", "the second")];
    stage.news(Update::Rewound { history: all, draft: String::new() });
    assert!(stage.text().contains("the second"));
    let left = vec![said("u1", "the first")];
    stage.news(Update::Rewound { history: left.clone(), draft: "the second".into() });
    assert_eq!(stage.draft(), "the second");
    let text = stage.text();
    assert!(text.contains("the first") && text.matches("the second").count() == 1, "{text}");
    // A draft is not overwritten; the words are in the history of prompts.
    let mut stage = Stage::sized(80, 24);
    stage.types("my draft");
    stage.news(Update::Rewound { history: left, draft: "the second".into() });
    assert_eq!(stage.draft(), "my draft");
    assert!(stage.text().contains("↑ recalls it"), "{}", stage.text());
}
