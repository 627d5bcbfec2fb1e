//! Models on screen: `/model`, `/effort`, `/cost`, `/login`, and what the footer says after a change.

use codebot::app::service::{ListKind, Request, Setup, SetupChoice, Update};
use codebot::kernel::event::{Event, Purpose};
use codebot::kernel::message::{
    AssistantMessage, Block, Message, MessageId, ModelRef, Stop, Timestamp, Usage,
};
use codebot::kernel::ports::Effort;
use codebot::ui::store::Effect;
use codebot::ui::store::overlay::Overlay;

use super::stage::{Stage, ready};
use super::starting::offers;

fn requests(stage: &mut Stage) -> Vec<Request> {
    let effects = stage.taken().into_iter();
    let request = |effect| match effect {
        Effect::Request(request) => Some(request),
        _ => None,
    };
    effects.filter_map(request).collect()
}

#[test]
fn the_list_opens_by_key_and_by_command_and_a_name_needs_no_list() {
    for (input, kind) in [
        ("alt+m", ListKind::Models),
        ("/model", ListKind::Models),
        ("/model main", ListKind::Models),
        ("/model small", ListKind::SmallModels),
        ("/logout", ListKind::Keys),
    ] {
        let mut stage = Stage::open();
        if input.starts_with('/') {
            stage.types(input).key("enter");
        } else {
            stage.key(input);
        }
        assert!(
            matches!(requests(&mut stage).as_slice(), [Request::List(asked)] if *asked == kind),
            "{input}"
        );
        assert!(matches!(stage.store.overlay, Some(Overlay::List(_))));
    }
    for (input, wanted, is_small) in
        [("/model openai/gpt-5", "openai/gpt-5", false), ("/model small groq/x", "groq/x", true)]
    {
        let mut stage = Stage::open();
        stage.types(input).key("enter");
        let asked = requests(&mut stage);
        let [Request::Model { reference, small }] = asked.as_slice() else { panic!("{asked:?}") };
        assert_eq!((reference.as_str(), *small), (wanted, is_small));
        assert!(stage.store.overlay.is_none());
    }
}

#[test]
fn the_footer_follows_the_model_and_its_effort() {
    let mut stage = Stage::open();
    assert!(!stage.text().contains("high"));
    let mut info = ready().model;
    info.model = ModelRef { provider: "openai".into(), model: "gpt-9".into() };
    stage.news(Update::Model { info: Box::new(info), effort: Some(Effort::High) });
    assert!(stage.text().contains("gpt-9 · high"), "{}", stage.text());
}

#[test]
fn effort_is_shown_changed_and_checked() {
    let mut stage = Stage::open();
    stage.types("/effort").key("enter");
    assert!(stage.text().contains("effort is auto; there are auto, off, low"), "{}", stage.text());
    stage.types("/effort max").key("enter");
    assert!(matches!(requests(&mut stage).as_slice(), [Request::Effort(Some(Effort::Max))]));
    stage.types("/effort auto").key("enter");
    assert!(matches!(requests(&mut stage).as_slice(), [Request::Effort(None)]));
    stage.types("/effort huge").key("enter");
    assert!(stage.text().contains("there is no effort huge"));
    assert!(requests(&mut stage).is_empty());
}

fn answers(stage: &mut Stage, model: &str, usage: Usage, cost: Option<f64>) {
    stage.event(Event::Usage { purpose: Purpose::Main, usage, cost });
    let message = Message::Assistant(AssistantMessage {
        id: MessageId::from("m"),
        at: Timestamp(0),
        model: ModelRef { provider: "anthropic".into(), model: model.into() },
        blocks: vec![Block::text("yes")],
        stop: Stop::EndTurn,
        usage,
    });
    stage.event(Event::MessageEnd { message });
}

/// Scenario F14: what the cache gave and took is input; the page says what was spent on what, and
/// what the caches have saved.
#[test]
fn the_page_of_costs() {
    let mut stage = Stage::sized(100, 30);
    stage.types("/cost").key("enter");
    assert!(stage.text().contains("nothing was spent in this session yet"), "{}", stage.text());
    stage.key("esc");
    let usage = Usage { input: 1000, output: 200, cache_read: 90_000, cache_write: 9000 };
    answers(&mut stage, "claude-sonnet-4-5", usage, Some(0.0665));
    answers(&mut stage, "claude-sonnet-4-5", usage, Some(0.0665));
    answers(&mut stage, "other", Usage { input: 10, output: 1, ..Usage::default() }, None);
    let side = Usage { input: 4000, output: 100, ..Usage::default() };
    stage.event(Event::Usage { purpose: Purpose::Compact, usage: side, cost: Some(0.01) });
    stage.event(Event::Usage { purpose: Purpose::Child, usage: side, cost: Some(0.02) });
    stage.types("/cost").key("enter");
    insta::assert_snapshot!("cost", stage.text());
}

#[test]
fn a_login_beside_a_session_can_be_closed_and_shows_what_is_going_on() {
    let mut stage = Stage::open();
    stage.types("/login").key("enter");
    assert!(matches!(requests(&mut stage).as_slice(), [Request::Login(None)]));
    let log_in = Setup { demo: false, reason: "Log in to a provider".into(), ..offers() };
    stage.news(Update::Setup(log_in.clone()));
    assert!(
        !stage.text().contains("demo") && stage.text().contains("esc closes"),
        "{}",
        stage.text()
    );
    stage.key("2").paste(" sk-secret\n");
    assert!(!stage.text().contains("sk-secret"), "{}", stage.text());
    stage.key("enter");
    let asked = requests(&mut stage);
    assert!(matches!(asked.as_slice(), [Request::Setup(SetupChoice::Key { provider, key })]
            if provider == "anthropic" && key == "sk-secret"));
    let busy =
        Setup { busy: true, reason: "Trying the key at Anthropic…".into(), ..log_in.clone() };
    stage.news(Update::Setup(busy));
    assert!(stage.text().contains("Trying the key"), "{}", stage.text());
    let refused = Setup { reason: "anthropic refused the key".into(), ..log_in };
    stage.news(Update::Setup(refused));
    assert!(stage.text().contains("refused the key"));
    let models = vec!["anthropic/one".to_owned(), "anthropic/two".to_owned()];
    stage.news(Update::Setup(Setup { models, reason: "Which one?".into(), ..Setup::default() }));
    assert!(stage.text().contains("2 anthropic/two") && !stage.text().contains("Ollama"));
    stage.key("2");
    let asked = requests(&mut stage);
    assert!(
        matches!(asked.as_slice(), [Request::Setup(SetupChoice::Model(name))] if name == "anthropic/two")
    );
    stage.news(Update::SetupDone);
    assert!(stage.store.setup.is_none());
    stage.news(Update::Setup(offers()));
    stage.key("esc");
    assert!(stage.store.setup.is_none());
    assert!(matches!(requests(&mut stage).as_slice(), [Request::Setup(SetupChoice::Cancel)]));
}

/// Without a session there is nothing to go back to, but what is under way can be given up.
#[test]
fn the_first_set_up_stays() {
    let mut stage = Stage::starting(80, 24);
    stage.news(Update::Setup(offers()));
    stage.key("esc");
    assert!(stage.store.setup.is_some());
    stage.news(Update::Setup(Setup { busy: true, ..offers() }));
    stage.key("1");
    assert!(requests(&mut stage).is_empty());
    stage.key("esc");
    assert!(matches!(requests(&mut stage).as_slice(), [Request::Setup(SetupChoice::Cancel)]));
    assert!(stage.store.setup.is_some());
}
