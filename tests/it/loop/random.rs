//! Random scripts of output, user actions and failures: the promises of the loop hold in all.

use codebot::kernel::agent::{Delivery, ToolStart};
use codebot::kernel::command::{Answer, Command};
use codebot::kernel::error::ModelErrorKind;
use codebot::kernel::event::Event;
use codebot::kernel::message::{Message, Origin, Stop};
use codebot::kernel::ports::Record;
use proptest::prelude::*;

use super::fake_lab::{Lab, pass};
use super::fake_model::{Act, Script, call, done, fail, says, text};
use super::fake_ports::Rule;

/// What a user does, each after some milliseconds.
#[derive(Clone, Debug)]
enum Deed {
    Steer,
    FollowUp,
    Abort,
    Allow(&'static str),
    Refuse(&'static str),
    CancelCall(&'static str),
    RetryNow,
}

const TOOLS: [&str; 9] =
    ["read", "slow", "alone", "write", "work", "stop", "fail", "panic", "nope"];

fn id() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["k1", "k2", "k3"])
}

fn act() -> impl Strategy<Value = Act> {
    let tool = prop::sample::select(TOOLS.to_vec());
    prop_oneof![
        3 => (0..4usize).prop_map(|index| text(index, "words ")),
        4 => (0..6usize, id(), tool).prop_map(|(at, id, tool)| call(at, id, tool, "x".into())),
        2 => (1..150u64).prop_map(Act::Wait),
    ]
}

fn ending() -> impl Strategy<Value = Act> {
    let stop = prop::sample::select(vec![
        Stop::EndTurn,
        Stop::ToolUse,
        Stop::Length,
        Stop::Error,
        Stop::Aborted,
        Stop::Refusal,
    ]);
    let kind = prop::sample::select(vec![
        ModelErrorKind::Network,
        ModelErrorKind::RateLimit,
        ModelErrorKind::Auth,
    ]);
    prop_oneof![
        6 => stop.prop_map(done),
        3 => kind.prop_map(fail),
        1 => Just(Act::Cut),
        1 => Just(Act::Panic),
    ]
}

fn script() -> impl Strategy<Value = Script> {
    (prop::collection::vec(act(), 0..6), ending()).prop_map(|(mut acts, end)| {
        acts.push(end);
        acts
    })
}

fn deed() -> impl Strategy<Value = (u64, Deed)> {
    let deed = prop_oneof![
        4 => Just(Deed::Steer),
        3 => Just(Deed::FollowUp),
        1 => Just(Deed::Abort),
        3 => id().prop_map(Deed::Allow),
        2 => id().prop_map(Deed::Refuse),
        1 => id().prop_map(Deed::CancelCall),
        1 => Just(Deed::RetryNow),
    ];
    (0..200u64, deed)
}

#[derive(Clone, Debug)]
struct Case {
    scripts: Vec<Script>,
    deeds: Vec<(u64, Deed)>,
    start: ToolStart,
    delivery: Delivery,
    asks: bool,
    max_turns: u32,
    capacity: usize,
    /// The commit of the journal that fails.
    fails_at: Option<usize>,
}

fn case() -> impl Strategy<Value = Case> {
    (
        prop::collection::vec(script(), 1..6),
        prop::collection::vec(deed(), 0..10),
        prop::sample::select(vec![ToolStart::Stream, ToolStart::ReadOnly, ToolStart::AfterMessage]),
        prop::sample::select(vec![Delivery::All, Delivery::One]),
        any::<bool>(),
        2..8u32,
        2..40usize,
        prop::option::weighted(0.2, 0..12usize),
    )
        .prop_map(|(scripts, deeds, start, delivery, asks, max_turns, capacity, fails_at)| {
            Case { scripts, deeds, start, delivery, asks, max_turns, capacity, fails_at }
        })
}

async fn play(case: Case) {
    let mut lab = Lab::with_last(case.scripts, Some(says("fin")));
    lab.capacity = case.capacity;
    lab.config.start = case.start;
    lab.config.steer_mode = case.delivery;
    lab.config.follow_mode = case.delivery;
    lab.config.max_turns = case.max_turns;
    if case.asks {
        lab.gate.rule("work", Rule::Ask);
        lab.gate.rule("slow", Rule::Ask);
    }
    if let Some(at) = case.fails_at {
        let count = std::sync::atomic::AtomicUsize::new(0);
        lab.journal.refuse(move |_| count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= at);
    }
    let mut live = lab.start();
    live.prompt("go");
    let queued = act_out(live.handle.clone(), case.deeds);
    let ((), queued) = tokio::join!(
        async {
            live.until(|event| matches!(event, Event::RunEnd { .. })).await;
        },
        queued
    );
    settle(&lab, &mut live, case.fails_at.is_none()).await;
    // Every queued message is in the history or still in its queue, once.
    let mut found: Vec<String> = live
        .history()
        .iter()
        .filter_map(|message| match message {
            Message::User(m) if matches!(m.origin, Origin::Steer | Origin::FollowUp) => {
                Some(codebot::kernel::message::text_of(&m.blocks))
            }
            _ => None,
        })
        .chain(live.handle.snapshot().queue.into_iter().map(|item| item.text))
        .collect();
    found.sort();
    assert_eq!(found, queued);
}

/// Does the deeds, then answers every prompt until the run ends, and gives the queued texts.
async fn act_out(
    handle: codebot::kernel::agent::AgentHandle,
    deeds: Vec<(u64, Deed)>,
) -> Vec<String> {
    use codebot::kernel::event::QueueKind;
    let mut queued = Vec::new();
    for (number, (wait, deed)) in deeds.into_iter().enumerate() {
        pass(wait).await;
        let text = format!("m{number:02}");
        let command = match deed {
            Deed::Steer => Command::Enqueue { kind: QueueKind::Steer, text: text.clone() },
            Deed::FollowUp => Command::Enqueue { kind: QueueKind::FollowUp, text: text.clone() },
            Deed::Abort => Command::Abort,
            Deed::Allow(id) => Command::Answer { id: id.into(), answer: Answer::Once },
            Deed::Refuse(id) => {
                Command::Answer { id: id.into(), answer: Answer::Deny { words: None } }
            }
            Deed::CancelCall(id) => Command::CancelCall { id: id.into() },
            Deed::RetryNow => Command::RetryNow,
        };
        if matches!(command, Command::Enqueue { .. }) {
            queued.push(text);
        }
        handle.send(command);
    }
    pass(1).await;
    while handle.snapshot().busy {
        pass(100).await;
        for id in ["k1", "k2", "k3", "k1_2", "k2_2", "k3_2", "k1_3", "k2_3", "k3_3"] {
            handle.send(Command::Answer { id: id.into(), answer: Answer::Once });
        }
        pass(100).await;
    }
    queued
}

/// Lets late tasks speak, then checks events, history and journal.
async fn settle(lab: &Lab, live: &mut super::fake_lab::Live, journal_is_sound: bool) {
    for _ in 0..50 {
        pass(10).await;
        while let Ok(event) = live.events.try_recv() {
            live.log.push(event);
        }
    }
    super::fake_grammar::check_events(&live.log);
    assert!(!live.handle.snapshot().busy);
    assert_eq!(lab.journal.messages(), live.history(), "memory is what the journal says");
    if journal_is_sound {
        super::fake_grammar::check_history(&live.history());
    }
    // Nothing with side effects ran without its intent.
    let intents = |name: &str| {
        let is =
            |record: &Record| matches!(record, Record::Intent { call, .. } if call.name == name);
        lab.journal.records().iter().filter(|record| is(record)).count()
    };
    for name in ["write", "work", "stop"] {
        let ran = lab.tools.ran().iter().filter(|ran| ran.tool == name).count();
        assert!(ran <= intents(name), "{name} ran {ran} times");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_script_breaks_the_promises(case in case()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(play(case));
    }
}
