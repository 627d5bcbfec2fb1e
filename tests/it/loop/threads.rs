//! The agent on several threads and real time: races between commands, deliveries and ends.

use codebot::kernel::command::{Command, QueueEdit};
use codebot::kernel::event::{Event, QueueKind};
use codebot::kernel::message::{Message, Origin, text_of};

use super::fake_grammar::{check_events, check_history};
use super::fake_lab::Lab;
use super::fake_model::{calls, says};

const WRITERS: usize = 4;
const EACH: usize = 50;

/// Scenario 61: prompts at every end and writers on other threads; nothing is lost,
/// nothing is delivered twice, no run starts inside another.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn messages_from_many_threads_arrive_exactly_once() {
    let script = calls(&[("k1", "read", "a"), ("k2", "write", "b")]);
    let mut lab = Lab::with_last(vec![script; 40], Some(says("ok")));
    lab.config.max_turns = 1_000;
    let mut live = lab.start();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let handle = live.handle.clone();
        writers.spawn(async move {
            for number in 0..EACH {
                let kind = if number % 2 == 0 { QueueKind::Steer } else { QueueKind::FollowUp };
                let text = format!("{writer}-{number:02}");
                handle.send(Command::Enqueue { kind, text });
                tokio::task::yield_now().await;
            }
        });
    }
    for _ in 0..20 {
        live.prompt("go");
        live.until(|event| matches!(event, Event::RunEnd { .. })).await;
    }
    while writers.join_next().await.is_some() {}
    live.prompt("last");
    live.until(|event| matches!(event, Event::RunEnd { .. })).await;
    live.handle.send(Command::Queue(QueueEdit::TakeAll));
    let rest = live.until(|event| matches!(event, Event::QueueReturned { .. })).await;
    let Event::QueueReturned { items } = rest else { unreachable!() };
    check_events(&live.log);
    check_history(&live.history());
    let delivered = |message: &Message| match message {
        Message::User(m) if matches!(m.origin, Origin::Steer | Origin::FollowUp) => {
            Some(text_of(&m.blocks))
        }
        _ => None,
    };
    let mut found: Vec<String> = live.history().iter().filter_map(delivered).collect();
    found.extend(items.into_iter().map(|item| item.text));
    found.sort();
    let mut sent: Vec<String> = (0..WRITERS)
        .flat_map(|writer| (0..EACH).map(move |number| format!("{writer}-{number:02}")))
        .collect();
    sent.sort();
    assert_eq!(found, sent);
}
