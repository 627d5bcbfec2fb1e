//! Making the view smaller in the course of a run: journal, events, commands, refusals.

use std::sync::Arc;

use codebot::context::project::SessionContext;
use codebot::context::summary::Summariser;
use codebot::kernel::agent::Agent;
use codebot::kernel::command::Command;
use codebot::kernel::compaction::{Phase, Step};
use codebot::kernel::error::ModelErrorKind;
use codebot::kernel::event::{EndReason, Event, Purpose};
use codebot::kernel::message::{Message, Stop, Usage};
use codebot::kernel::ports::{Record, StreamEvent, SystemBlock};
use serde_json::json;
use tokio::sync::mpsc;

use super::fake_lab::{Lab, Live, pass};
use super::fake_model::{Act, Script, call, done, fail, says, text, usage};

/// The context of a session, with the lab's own model for summaries.
pub(super) fn context(lab: &Lab) -> Arc<SessionContext> {
    let system = vec![SystemBlock { text: "be brief".to_owned(), cache: true }];
    let summariser = Summariser::new(lab.model.clone(), None, "key");
    Arc::new(SessionContext::new(system).with_summariser(summariser))
}

/// Starts the lab's agent on that context.
pub(super) fn start(lab: &Lab, context: &Arc<SessionContext>) -> Live {
    let (sender, events) = mpsc::channel(lab.capacity);
    let mut ports = lab.ports();
    ports.context = context.clone();
    let handle = Agent::spawn(ports, lab.config.clone(), lab.history.clone(), sender);
    Live { handle, events, log: Vec::new() }
}

fn summary() -> Script {
    vec![text(0, "<summary>we said hello</summary>"), usage(400, 20), done(Stop::EndTurn)]
}

fn phases(live: &Live) -> Vec<(Step, Phase)> {
    let of = |event: &Event| match event {
        Event::Compaction { step, phase } => Some((*step, phase.clone())),
        _ => None,
    };
    live.log.iter().filter_map(of).collect()
}

/// The kinds of the phases, without numbers.
fn course(live: &Live) -> Vec<&'static str> {
    let name = |(_, phase): (Step, Phase)| match phase {
        Phase::Start { .. } => "start",
        Phase::Done { .. } => "done",
        Phase::Failed { .. } => "failed",
        Phase::Undone => "undone",
    };
    phases(live).into_iter().map(name).collect()
}

/// Two prompts and their answers; the first is long enough to be worth a summary.
async fn talk(live: &mut Live) {
    for prompt in ["hi", "more"] {
        live.prompt(prompt);
        live.end().await;
    }
}

fn long(words: &str) -> String {
    format!("{words} {}", "word ".repeat(700))
}

/// Scenarios C11, 163, 165 and 173: forced far below the threshold, in a run of its own; the record
/// is on disk before the view changes, and the next request is made of it.
#[tokio::test(start_paused = true)]
async fn the_user_can_have_a_conversation_summed_up() {
    let lab = Lab::new(vec![says(&long("hello")), says("well"), summary(), says("again")]);
    let context = context(&lab);
    let mut live = start(&lab, &context);
    talk(&mut live).await;
    live.handle.send(Command::Compact { focus: "the greeting".to_owned() });
    let end = live.end().await;
    assert_eq!(end.reason, EndReason::Stop);
    assert_eq!(end.usage.total_input(), 400, "the costs are the run's");
    let booked = |e: &Event| matches!(e, Event::Usage { purpose: Purpose::Compact, usage, .. } if usage.output == 20);
    assert_eq!(live.count(booked), 1);
    assert_eq!(course(&live), ["start", "done"]);
    let Phase::Done { before, after } = phases(&live)[1].1.clone() else { panic!() };
    assert!(after < before);
    let asked = &lab.model.requests()[2];
    assert!(asked.reminder.as_deref().unwrap().ends_with("care most about: the greeting"));
    assert!(matches!(lab.journal.records().last(), Some(Record::Compaction { compaction })
        if compaction.summary.as_ref().unwrap().text == "we said hello"));
    let history = live.history().len();
    live.prompt("next");
    live.end().await;
    assert_eq!(live.history().len(), history + 2, "the history keeps everything");
    let lines = lab.request_lines(3);
    assert!(lines[0].starts_with("user:<conversation-summary>"), "{lines:?}");
    assert!(
        lines[0].contains("we said hello") && lines[0].contains("First request of the user\nhi")
    );
    assert_eq!(lines.last().unwrap(), "user:next");
}

/// `/compact undo`: by record, durable, and only while nothing runs.
#[tokio::test(start_paused = true)]
async fn a_summary_can_be_taken_back() {
    let lab = Lab::new(vec![says(&long("hello")), says("well"), summary(), says("again")]);
    let context = context(&lab);
    let mut live = start(&lab, &context);
    talk(&mut live).await;
    live.handle.send(Command::UndoCompaction);
    live.end().await;
    let nothing = |e: &Event| matches!(e, Event::Status { text } if text.contains("no compaction"));
    assert_eq!(live.count(nothing), 1);
    live.handle.send(Command::Compact { focus: String::new() });
    live.end().await;
    live.handle.send(Command::UndoCompaction);
    live.end().await;
    assert_eq!(course(&live), ["start", "done", "undone"]);
    let Some(Record::CompactionUndone { ids }) = lab.journal.records().pop() else { panic!() };
    assert_eq!(ids.len(), 1);
    live.prompt("next");
    live.end().await;
    assert_eq!(lab.request_lines(3)[0], "user:hi");
}

/// Asked for while a run is active: at its end, and that run ends once.
#[tokio::test(start_paused = true)]
async fn a_busy_agent_sums_up_at_the_end_of_its_run() {
    let lab = Lab::new(vec![
        says(&long("hello")),
        vec![Act::Wait(50), text(0, "well"), done(Stop::EndTurn)],
        summary(),
    ]);
    let context = context(&lab);
    let mut live = start(&lab, &context);
    live.prompt("hi");
    live.end().await;
    live.log.clear();
    live.prompt("more");
    live.until(|event| matches!(event, Event::TurnStart { .. })).await;
    live.handle.send(Command::Compact { focus: String::new() });
    live.end().await;
    assert_eq!(course(&live), ["start", "done"]);
    assert_eq!(live.count(|event| matches!(event, Event::RunEnd { .. })), 1);
    assert!(
        live.place(|event| matches!(event, Event::TurnEnd { .. }))
            < live.place(|event| matches!(event, Event::Compaction { .. }))
    );
}

/// Scenario 170: Esc ends the step and the run; the bracket is closed and nothing has changed.
#[tokio::test(start_paused = true)]
async fn a_stopped_summary_leaves_everything_as_it_was() {
    let slow = vec![Act::Wait(60_000), text(0, "<summary>x</summary>"), done(Stop::EndTurn)];
    let lab = Lab::new(vec![says(&long("hello")), says("well"), slow]);
    let context = context(&lab);
    let mut live = start(&lab, &context);
    talk(&mut live).await;
    live.handle.send(Command::Compact { focus: String::new() });
    live.until(|event| matches!(event, Event::Compaction { .. })).await;
    pass(10).await;
    live.abort();
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    assert_eq!(course(&live), ["start", "failed"]);
    assert!(context.changes().is_empty());
    assert!(!lab.journal.records().iter().any(|r| matches!(r, Record::Compaction { .. })));
}

/// Scenario 165: a record that can't be written is not in force, and the run ends with the reason.
#[tokio::test(start_paused = true)]
async fn an_unwritten_record_changes_no_view() {
    let lab = Lab::new(vec![says(&long("hello")), says("well"), summary()]);
    lab.journal.refuse(|record| matches!(record, Record::Compaction { .. }));
    let context = context(&lab);
    let mut live = start(&lab, &context);
    talk(&mut live).await;
    live.handle.send(Command::Compact { focus: String::new() });
    assert_eq!(live.end().await.reason, EndReason::Error);
    assert_eq!(course(&live), ["start", "failed"]);
    assert!(context.changes().is_empty());
}

/// The context is really too large: one summary by all means, one more attempt, and the window is
/// learnt from the words of the service.
#[tokio::test(start_paused = true)]
async fn an_overflow_is_answered_with_a_summary_and_one_more_attempt() {
    let mut refusal = fail(ModelErrorKind::Overflow);
    if let Act::Fail(error) = &mut refusal {
        error.message = "maximum context length is 8192 tokens".to_owned();
    }
    let lab =
        Lab::new(vec![says(&long("hello")), says("well"), vec![refusal], summary(), says("done")]);
    let context = context(&lab);
    let mut live = start(&lab, &context);
    talk(&mut live).await;
    live.prompt("and now?");
    assert_eq!(live.end().await.text, "done");
    assert_eq!(course(&live), ["start", "done"]);
    assert_eq!(live.count(|event| matches!(event, Event::Retry { attempt: 1, max: 1, .. })), 1);
    let lines = lab.request_lines(4);
    assert!(lines[0].starts_with("user:<conversation-summary>"));
    assert_eq!(lines.last().unwrap(), "user:and now?");
}

/// Scenario C12: what a summary replaced is not answered from the cache of results.
#[tokio::test(start_paused = true)]
async fn after_a_summary_the_same_call_gives_the_whole_result_again() {
    let look = |id: &str| vec![call(0, id, "read", json!({"text": "file"})), done(Stop::ToolUse)];
    let lab = Lab::new(vec![
        look("c1"),
        says(&long("seen")),
        says("well"),
        summary(),
        look("c2"),
        says("seen again"),
    ]);
    lab.tools.change("read", |tool| tool.cacheable = true);
    let context = context(&lab);
    let mut live = start(&lab, &context);
    talk(&mut live).await;
    live.handle.send(Command::Compact { focus: String::new() });
    live.end().await;
    live.handle.send(Command::Enqueue {
        kind: codebot::kernel::event::QueueKind::FollowUp,
        text: "once more".to_owned(),
    });
    live.handle.send(Command::Continue);
    live.end().await;
    let results = live.results();
    assert_eq!(results.len(), 2);
    assert!(!results[1].cached);
}

/// The cache of the service is watched: a sudden loss is told with its cause.
#[tokio::test(start_paused = true)]
async fn a_lost_cache_is_told() {
    let cached = |tokens: u64| {
        let usage = Usage { input: 10, output: 1, cache_read: tokens, cache_write: 0 };
        vec![text(0, "ok"), Act::Say(StreamEvent::Usage(usage)), done(Stop::EndTurn)]
    };
    let lab = Lab::new(vec![cached(30_000), cached(1_000)]);
    let mut live = start(&lab, &context(&lab));
    live.prompt("one");
    live.end().await;
    live.prompt("two");
    live.end().await;
    let told = |e: &Event| matches!(e, Event::Status { text } if text.starts_with("29000 tokens"));
    assert_eq!(live.count(told), 1, "{:?}", live.log);
}

/// Scenario F02: ten rounds and three prompts, and every request begins with the one before it,
/// byte for byte, system prompt and tools included.
#[tokio::test(start_paused = true)]
async fn every_request_begins_with_the_one_before() {
    let mut scripts: Vec<Script> = Vec::new();
    for at in 0..10 {
        let id = format!("c{at}");
        scripts.push(vec![
            text(0, "looking"),
            call(1, &id, "read", json!({"text": format!("file {at}")})),
            done(Stop::ToolUse),
        ]);
        if at % 4 == 3 {
            scripts.push(says("so far"));
        }
    }
    scripts.push(says("done"));
    let lab = Lab::new(scripts);
    let mut live = start(&lab, &context(&lab));
    for prompt in ["one", "two", "three"] {
        live.prompt(prompt);
        live.end().await;
    }
    let requests = lab.model.requests();
    assert_eq!(requests.len(), 13);
    for pair in requests.windows(2) {
        assert_eq!((&pair[0].system, &pair[0].tools), (&pair[1].system, &pair[1].tools));
        let shared = &pair[1].messages[..pair[0].messages.len()];
        let bytes = |messages: &[Arc<Message>]| serde_json::to_string(messages).unwrap();
        assert_eq!(bytes(shared), bytes(&pair[0].messages));
    }
}

/// Scenario L17: a summary that has seen the turn that is taken back falls with it, so nothing of
/// that turn is left in the next request.
#[tokio::test(start_paused = true)]
async fn a_turn_taken_back_after_a_summary_is_gone_from_the_view_too() {
    let scripts = vec![says(&long("hello")), says("well, secret"), summary(), says("again")];
    let lab = Lab::new(scripts);
    let context = context(&lab);
    let mut live = start(&lab, &context);
    talk(&mut live).await;
    live.handle.send(Command::Compact { focus: String::new() });
    live.end().await;
    live.handle.send(Command::Discard);
    live.until(|event| matches!(event, Event::TakenBack { .. })).await;
    assert_eq!(live.lines(), ["user:hi".to_owned(), format!("assistant:{}[]", long("hello"))]);
    live.prompt("next");
    live.end().await;
    let lines = lab.request_lines(3);
    assert!(
        lines.iter().all(|line| !line.contains("more") && !line.contains("secret")),
        "{lines:?}"
    );
    assert_eq!(lines.last().unwrap(), "user:next");
}

/// Case G15: a service that says "too large" to everything gets one recovery and then an end with
/// a reason, also when no summary comes of it; the history stays.
#[tokio::test(start_paused = true)]
async fn endless_overflow_ends_after_one_recovery() {
    let full = || vec![fail(ModelErrorKind::Overflow)];
    let empty = || vec![text(0, "<summary> </summary>"), done(Stop::EndTurn)];
    let variants = [
        // The summary helps nothing; it overflows too; it is empty.
        vec![full(), summary(), full()],
        vec![full(), full(), full(), full(), full(), full(), full(), full()],
        vec![full(), empty(), vec![fail(ModelErrorKind::Server)], full()],
    ];
    for scripts in variants {
        let mut all = vec![says(&long("hello")), says("well")];
        all.extend(scripts);
        let lab = Lab::with_last(all, Some(full()));
        let context = context(&lab);
        let mut live = start(&lab, &context);
        talk(&mut live).await;
        live.prompt("and now?");
        let end = live.end().await;
        assert_eq!(end.reason, EndReason::Error);
        let error = end.error.unwrap().message;
        assert!(error.starts_with("LLM call failed: ContextOverflow"), "{error}");
        assert!(lab.model.requests().len() <= 10, "{}", lab.model.requests().len());
        assert_eq!(live.count(|event| matches!(event, Event::Retry { .. })), 1);
        let said =
            |m: &Message| matches!(m, Message::Assistant(a) if a.text().starts_with("hello"));
        assert!(live.history().iter().any(said), "the history is whole");
    }
}
