//! Taking back the last turn.

use codebot::kernel::command::Command;
use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::message::{Message, MessageId};
use codebot::kernel::ports::Record;
use codebot::session::rounds::rebuild;

use super::fake_lab::{Lab, Live, pass};
use super::fake_model::{Act, calls, done, says, text};
use codebot::kernel::message::Stop;

async fn take_back(live: &mut Live) -> (Vec<MessageId>, String) {
    live.handle.send(Command::Discard);
    let told = live.until(|event| matches!(event, Event::TakenBack { .. })).await;
    let Event::TakenBack { ids, text } = told else { unreachable!() };
    (ids, text)
}

/// What a reload of the journal gives.
fn reloaded(lab: &Lab) -> Vec<Message> {
    rebuild(&lab.journal.records(), &|name| name == "write").history
}

/// Scenario L17: by id, so that whatever else happened to the history does not matter, and a reload
/// of the journal gives the same.
#[tokio::test(start_paused = true)]
async fn exactly_the_last_turn_is_taken_back() {
    let work = calls(&[("k1", "read", "a"), ("k2", "write", "b")]);
    let mut lab = Lab::new(vec![says("one"), work, says("two"), says("three")]);
    lab.config.monitor = true;
    let mut live = lab.run("first").await;
    live.prompt("second");
    live.end().await;
    let gone: Vec<MessageId> = live.history()[2..].iter().map(|m| m.id().clone()).collect();
    let before = live.lines()[..2].to_vec();
    // The view was made smaller meanwhile: only the head of the conversation is another one.
    let mut shorter = live.history();
    shorter.remove(1);
    live.handle.replace(shorter).unwrap();
    assert_eq!(take_back(&mut live).await, (gone.clone(), "second".to_owned()));
    assert_eq!(live.lines(), before[..1]);
    assert!(lab.journal.records().contains(&Record::TakenBack { ids: gone }));
    assert_eq!(reloaded(&lab).len(), 2, "the journal still has the first answer");
    // The conversation goes on from there, in memory as after a reload.
    live.prompt("third");
    assert_eq!(live.end().await.reason, EndReason::Stop);
    assert_eq!(lab.request_lines(3), ["user:first", "user:third"]);
    assert_eq!(reloaded(&lab)[2..], live.history()[1..]);
}

#[tokio::test(start_paused = true)]
async fn turn_after_turn_can_be_taken_back_until_nothing_is_left() {
    let lab = Lab::new(vec![says("one"), says("two")]);
    let mut live = lab.run("first").await;
    live.prompt("second");
    live.end().await;
    assert_eq!(take_back(&mut live).await.1, "second");
    assert_eq!(reloaded(&lab), live.history());
    assert_eq!(take_back(&mut live).await.1, "first");
    assert!(live.history().is_empty() && reloaded(&lab).is_empty());
    live.handle.send(Command::Discard);
    let told = live.until(|event| matches!(event, Event::Rejected { .. })).await;
    assert!(matches!(told, Event::Rejected { reason } if reason.contains("nothing")));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_taken_back_under_a_run() {
    let slow = vec![Act::Wait(1000), text(0, "one"), done(Stop::EndTurn)];
    let lab = Lab::new(vec![slow]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::TurnStart { .. })).await;
    live.handle.send(Command::Discard);
    let told = live.until(|event| matches!(event, Event::Rejected { .. })).await;
    assert!(matches!(told, Event::Rejected { reason } if reason.contains("run is active")));
    live.end().await;
    assert_eq!(live.lines(), ["user:go", "assistant:one[]"]);
}

/// What could not be recorded is not taken back.
#[tokio::test(start_paused = true)]
async fn a_journal_that_refuses_keeps_the_turn() {
    let lab = Lab::new(vec![says("one"), says("two")]);
    let mut live = lab.run("go").await;
    lab.journal.refuse(|record| matches!(record, Record::TakenBack { .. }));
    live.handle.send(Command::Discard);
    live.until(|event| matches!(event, Event::Rejected { .. })).await;
    assert_eq!(live.lines().len(), 2);
    live.prompt("the agent is free again");
    assert_eq!(live.end().await.text, "two");
}

/// News is told once; taking back a turn must not make the model forget it.
#[tokio::test(start_paused = true)]
async fn news_of_background_work_stays() {
    let lab = Lab::new(vec![calls(&[("k", "work", "a")]), says("one")]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ToolStart { .. })).await;
    pass(10).await;
    lab.notices.add("7", "done", "built");
    live.end().await;
    take_back(&mut live).await;
    let lines = live.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("Task 7: done - built"), "{lines:?}");
    assert_eq!(reloaded(&lab), live.history());
}
