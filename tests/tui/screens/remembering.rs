//! The memory and the skills on screen: `#`, the panels, skills in the menu of commands.

use codebot::app::service::{
    EditId, Entry, ListKind, Listing, Offer, Request, SkillLine, Update, Verb,
};
use codebot::ui::store::{Effect, Msg};

use super::stage::Stage;

fn skills() -> Update {
    let skill = |name: &str, args: &str, help: &str| SkillLine {
        name: name.into(),
        args: args.into(),
        help: help.into(),
    };
    Update::Skills(vec![
        skill("help", "", "never reached"),
        skill("review", "[file]", "reads a change \u{1b}[31mred"),
        skill("ship_it", "", "ships"),
    ])
}

fn requests(stage: &mut Stage) -> Vec<String> {
    let effects = stage.taken().into_iter();
    effects
        .filter_map(|effect| match effect {
            Effect::Request(request) => Some(format!("{request:?}")),
            _ => None,
        })
        .collect()
}

#[test]
fn a_line_after_the_sign_is_remembered_and_not_sent() {
    let mut stage = Stage::open();
    stage.types("# prefer tabs");
    assert!(stage.text().contains("enter remembers this line"), "{}", stage.text());
    stage.key("enter");
    assert_eq!(requests(&mut stage), ["Remember(\"prefer tabs\")"]);
    assert!(stage.store.composer.is_empty());
    stage.types("#").key("enter");
    assert_eq!(requests(&mut stage), Vec::<String>::new());
    stage.key("ctrl+c").types("## a heading").key("enter");
    assert!(requests(&mut stage)[0].contains("Prompt"), "a heading is a message");
}

#[test]
fn the_command_opens_the_panel_takes_back_and_remembers() {
    let mut stage = Stage::open();
    stage.types("/memory undo").key("enter");
    assert_eq!(requests(&mut stage), ["ForgetLast"]);
    stage.types("/memory use nix").key("enter");
    assert_eq!(requests(&mut stage), ["Remember(\"use nix\")"]);
    stage.types("/memory").key("enter");
    assert_eq!(requests(&mut stage).last().unwrap(), "List(Memory)");
    let mut listing = Listing::new(ListKind::Memory, "Memory", "nothing");
    listing.entries = vec![
        Entry::new("f1", "prefers tabs").column("preference").column("90 %").note("f1 from user"),
    ];
    listing.offers = vec![
        Offer::new(Verb::Edit, "edits it"),
        Offer::new(Verb::Remove, "forgets it").confirmed(),
    ];
    stage.news(Update::List(listing));
    insta::assert_snapshot!("memory", stage.text());
    stage.key("ctrl+g");
    assert!(requests(&mut stage)[0].contains("verb: Edit"));
}

#[test]
fn an_entry_comes_back_from_the_editor_as_a_request() {
    let mut stage = Stage::open();
    let id = EditId { kind: ListKind::Memory, entry: "f1".into() };
    stage.news(Update::Edit { id: id.clone(), text: "prefers tabs".into() });
    let taken = stage.taken();
    assert!(matches!(&taken[..], [Effect::EditEntry(_, text)] if text == "prefers tabs"));
    stage.send(Msg::EditedEntry(id.clone(), Ok("prefers spaces".into())));
    let taken = stage.taken();
    assert!(
        matches!(&taken[..], [Effect::Request(Request::Edited { text, .. })] if text == "prefers spaces")
    );
    stage.send(Msg::EditedEntry(id, Err("the editor failed".into())));
    assert!(stage.text().contains("the editor failed"));
}

#[test]
fn skills_are_in_the_menu_and_are_sent_as_they_are_written() {
    let mut stage = Stage::open();
    stage.news(skills());
    stage.types("/rev");
    let text = stage.text();
    assert!(text.contains("/review [file]") && text.contains("reads a change"), "{text}");
    assert!(!text.contains('\u{1b}'));
    stage.key("tab").types("src/a.rs").key("enter");
    assert!(requests(&mut stage)[0].contains("/review src/a.rs"));
    stage.run_starts();
    stage.types("/ship_it").key("enter");
    assert!(requests(&mut stage).last().unwrap().contains("Enqueue"), "it waits like any words");
    stage.types("/help").key("enter");
    assert_eq!(requests(&mut stage).iter().filter(|r| r.contains("/help")).count(), 0);
    stage.key("esc").types("/rewiev").key("enter");
    assert!(stage.text().contains("did you mean /review"), "{}", stage.text());
}
