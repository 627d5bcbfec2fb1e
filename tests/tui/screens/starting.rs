//! Before a session is open, and without a usable model.

use codebot::app::service::{LocalServer, ProviderOffer, Request, Setup, SetupChoice, Update};
use codebot::kernel::command::Command;
use codebot::kernel::event::QueueKind;
use codebot::kernel::message::Block;
use codebot::ui::store::{Effect, Settings, Store};

use super::stage::{Stage, ready};

pub(crate) fn offers() -> Setup {
    Setup {
        reason: "no model is configured".into(),
        servers: vec![LocalServer {
            label: "Ollama".into(),
            base_url: "http://127.0.0.1:11434/v1".into(),
            models: vec!["ollama/qwen3:8b".into()],
        }],
        providers: vec![ProviderOffer {
            name: "anthropic".into(),
            label: "Anthropic".into(),
            key_env: "ANTHROPIC_API_KEY".into(),
            default_model: "anthropic/claude-sonnet-4-5".into(),
        }],
        demo: true,
        ..Setup::default()
    }
}

#[test]
fn prompts_typed_before_a_session_is_open_are_sent_then() {
    let mut stage = Stage::starting(80, 24);
    stage.types("first").key("enter").types("second").key("enter");
    assert!(stage.commands().is_empty());
    assert!(stage.text().contains("… waits \"first\""), "{}", stage.text());
    stage.news(Update::Ready(Box::new(ready())));
    assert_eq!(
        stage.commands(),
        [
            Command::Prompt { blocks: vec![Block::text("first")] },
            Command::Enqueue { kind: QueueKind::FollowUp, text: "second".into() },
        ]
    );
}

#[test]
fn the_prompt_of_the_command_line_is_sent_when_ready() {
    let settings = Settings { first_prompt: Some("hello".into()), ..Settings::default() };
    let mut stage = Stage::starting(80, 24);
    stage.store = Store::new(settings, (80, 24));
    stage.news(Update::Ready(Box::new(ready())));
    assert_eq!(stage.commands(), [Command::Prompt { blocks: vec![Block::text("hello")] }]);
}

fn choices(stage: &mut Stage) -> Vec<SetupChoice> {
    let effects = stage.taken();
    effects
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::Request(Request::Setup(choice)) => Some(choice),
            _ => None,
        })
        .collect()
}

#[test]
fn the_set_up_panel_offers_demo_servers_and_keys() {
    let mut stage = Stage::starting(80, 24);
    stage.news(Update::Setup(offers()));
    stage.key("enter");
    assert_eq!(choices(&mut stage), [SetupChoice::Demo]);
    stage.key("enter");
    assert!(choices(&mut stage).is_empty(), "a choice is sent once");

    stage.news(Update::Setup(offers()));
    stage.key("2");
    assert_eq!(choices(&mut stage), [SetupChoice::Model("ollama/qwen3:8b".into())]);

    stage.news(Update::Setup(offers()));
    stage.key("down").key("enter").paste("  sk-secret\n");
    let text = stage.text();
    assert!(!text.contains("sk-secret"), "{text}");
    assert!(text.contains("•••"), "{text}");
    stage.key("enter");
    let key = SetupChoice::Key { provider: "anthropic".into(), key: "sk-secret".into() };
    assert_eq!(choices(&mut stage), [key]);
    stage.news(Update::Ready(Box::new(ready())));
    assert!(stage.store.setup.is_none());
}

#[test]
fn a_second_set_of_offers_keeps_what_was_typed() {
    let mut stage = Stage::starting(80, 24);
    let mut first = offers();
    first.servers.clear();
    stage.news(Update::Setup(first));
    stage.key("2").types("sk-1");
    stage.news(Update::Setup(offers()));
    stage.types("2").key("enter");
    let key = SetupChoice::Key { provider: "anthropic".into(), key: "sk-12".into() };
    assert_eq!(choices(&mut stage), [key]);
}
