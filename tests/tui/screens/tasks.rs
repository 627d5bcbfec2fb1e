//! Work beside the run on screen: the key that moves a command there, the count, the page, what is
//! told at an end, and the question before quitting.

use codebot::app::service::{JobLine, ListKind, Request, Update};
use codebot::kernel::command::Command;
use codebot::kernel::event::{Event, Preview};
use codebot::kernel::message::{CallId, CallStatus, MessageId, Timestamp, ToolCall, ToolMessage};
use codebot::ui::store::Effect;
use codebot::ui::store::overlay::Overlay;

use super::stage::Stage;

fn job(id: &str, status: &str) -> JobLine {
    JobLine {
        id: id.to_owned(),
        command: "npm run \u{1b}[31mdev".to_owned(),
        status: status.to_owned(),
        running: status == "running",
        elapsed_ms: 12_300,
        bytes: 4200,
    }
}

fn starts(stage: &mut Stage, id: &str) {
    let call = ToolCall {
        id: id.into(),
        name: "bash".into(),
        args: serde_json::Map::new(),
        invalid: None,
        opaque: None,
    };
    let preview = Preview::Command { command: "sleep 9".into(), workdir: ".".into() };
    stage.event(Event::ToolStart { call, preview: Some(preview) });
}

fn ends(stage: &mut Stage, id: &str) {
    let result = ToolMessage {
        id: MessageId::from("m"),
        at: Timestamp(0),
        call_id: id.into(),
        tool: "bash".into(),
        status: CallStatus::Ok,
        blocks: Vec::new(),
        detail: None,
        cached: false,
    };
    let (id, name, status) = (CallId::from(id), "bash".to_owned(), CallStatus::Ok);
    stage.event(Event::ToolEnd { id, name, status, result });
}

#[test]
fn ctrl_b_moves_the_running_command_and_is_the_carets_key_without_one() {
    let mut stage = Stage::busy();
    starts(&mut stage, "k1");
    stage.types("ab").key("ctrl+b");
    assert_eq!(stage.commands(), [Command::Background { id: "k1".into() }]);
    ends(&mut stage, "k1");
    stage.key("ctrl+b").types("x");
    assert!(stage.commands().is_empty());
    assert_eq!(stage.draft(), "axb");
}

#[test]
fn the_footer_counts_what_goes_on() {
    let mut stage = Stage::open();
    assert!(!stage.text().contains("task"));
    stage.news(Update::Jobs(vec![job("1", "running"), job("2", "running"), job("3", "done")]));
    assert!(stage.text().contains("⚙ 2 tasks"), "{}", stage.text());
}

/// Scenario B13: an end is told while nothing runs, and once.
#[test]
fn an_end_is_told_once_and_without_control_characters() {
    let mut stage = Stage::open();
    stage.news(Update::Jobs(vec![job("1", "running")]));
    stage.news(Update::Jobs(vec![job("1", "failed: exit code 3")]));
    let told = "task 1 failed: exit code 3: npm run";
    assert!(stage.text().contains(told), "{}", stage.text());
    assert!(!stage.text().contains('\u{1b}') && !stage.text().contains('⚙'));
    stage.wait(20_000).send(codebot::ui::store::Msg::Tick);
    stage.news(Update::Jobs(vec![job("1", "failed: exit code 3")]));
    assert_eq!(stage.text().matches(told).count(), 1);
}

#[test]
fn the_page_of_tasks_shows_the_list_as_it_is_then() {
    let mut stage = Stage::open();
    stage.types("/tasks").key("enter");
    let asks = |stage: &mut Stage| {
        matches!(stage.taken().as_slice(), [Effect::Request(Request::List(ListKind::Tasks))])
    };
    assert!(asks(&mut stage));
    assert!(matches!(stage.store.overlay, Some(Overlay::List(_))));
    stage.news(Update::Jobs(vec![job("1", "running"), job("2", "done")]));
    assert!(asks(&mut stage), "an open list follows what happens");
    stage.key("esc");
    stage.news(Update::Jobs(vec![job("1", "done"), job("2", "done")]));
    assert!(stage.store.overlay.is_none(), "a list nobody asked for opens nothing");
    assert!(stage.taken().is_empty());
}

/// Scenario B14.
#[test]
fn quitting_asks_once_while_something_goes_on() {
    for quit in ["ctrl+d", "/quit"] {
        let quits = |stage: &mut Stage| {
            if quit == "/quit" {
                stage.types(quit).key("enter");
            } else {
                stage.key(quit);
            }
            stage.taken().iter().any(|e| matches!(e, Effect::Request(Request::Shutdown)))
        };
        let mut stage = Stage::open();
        stage.news(Update::Jobs(vec![job("1", "running")]));
        assert!(!quits(&mut stage));
        assert!(stage.text().contains("1 task in the background would be stopped"));
        stage.wait(60_000);
        assert!(!quits(&mut stage), "an old question is asked again");
        stage.wait(2000);
        assert!(quits(&mut stage));
        let mut stage = Stage::open();
        stage.news(Update::Jobs(vec![job("1", "done")]));
        assert!(quits(&mut stage), "nothing goes on");
    }
}
