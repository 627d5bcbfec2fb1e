//! Tools that start while the model streams, and streams that break.

use codebot::kernel::agent::ToolStart;
use codebot::kernel::error::{ModelError, ModelErrorKind};
use codebot::kernel::event::{Delta, EndReason, Event};
use codebot::kernel::message::{Block, CallStatus, Message, ModelRef, Opaque, Stop};
use codebot::kernel::ports::{Record, StreamEvent};
use serde_json::json;

use super::fake_lab::{Lab, Live};
use super::fake_model::{Act, call, calls, done, fail, says, text};
use super::fake_ports::Rule;

fn is_answer(event: &Event) -> bool {
    matches!(event, Event::MessageEnd { message: Message::Assistant(_) })
}

fn is_result(event: &Event) -> bool {
    matches!(event, Event::MessageEnd { message: Message::Tool(_) })
}

fn one(id: &str, tool: &str) -> Act {
    call(1, id, tool, json!("x"))
}

fn drop_line() -> Act {
    fail(ModelErrorKind::Network)
}

fn discarded(live: &Live) -> usize {
    live.count(|event| matches!(event, Event::MessageDiscarded { .. }))
}

/// Scenarios 22, 24, S02.
#[tokio::test(start_paused = true)]
async fn a_tool_starts_before_the_answer_ends_and_its_result_comes_after() {
    let script = vec![text(0, "look"), one("k1", "read"), Act::Wait(40), done(Stop::ToolUse)];
    let lab = Lab::new(vec![script, says("done")]);
    let live = lab.run("go").await;
    let end = live.place(|event| matches!(event, Event::ToolEnd { .. }));
    let answer = live.place(is_answer);
    assert!(end < answer && answer < live.place(is_result));
}

/// Scenario S01.
#[tokio::test(start_paused = true)]
async fn deltas_are_told_once_and_before_the_call() {
    let progress = |bytes| Act::Say(StreamEvent::CallDelta { index: 1, bytes });
    let start = Act::Say(StreamEvent::CallStart { index: 1, name: "read".into() });
    let script = vec![
        text(0, "a"),
        text(0, "b"),
        start,
        progress(3),
        progress(4),
        one("k1", "read"),
        done(Stop::ToolUse),
    ];
    let live = Lab::new(vec![script, says("done")]).run("go").await;
    let deltas: Vec<_> = live
        .log
        .iter()
        .filter_map(|event| match event {
            Event::MessageDelta { delta: Delta::Text { text } } => Some(text.clone()),
            Event::MessageDelta { delta: Delta::Call { name, bytes } } => {
                Some(format!("{name}{bytes}"))
            }
            Event::ToolStart { .. } => Some("start".to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(deltas, ["a", "b", "read0", "read3", "read7", "start", "done"]);
}

/// Scenarios 25, 37.
#[tokio::test(start_paused = true)]
async fn reads_of_a_broken_answer_are_cancelled_and_forgotten() {
    for start in [ToolStart::Stream, ToolStart::ReadOnly] {
        let broken = vec![one("k1", "slow"), Act::Wait(10), drop_line()];
        let mut lab = Lab::new(vec![broken, calls(&[("k9", "read", "y")]), says("done")]);
        lab.config.start = start;
        let live = lab.run("go").await;
        assert!(lab.tools.ran()[0].cancelled);
        let end = live.place(|event| matches!(event, Event::ToolEnd { .. }));
        assert!(end < live.place(|event| matches!(event, Event::Retry { .. })));
        assert_eq!(live.lines()[1..], ["assistant:[k9]", "tool:k9=y", "assistant:done[]"]);
        let record = lab.journal.records().into_iter().find_map(|record| match record {
            Record::Discarded { turn, call_ids, .. } => Some((turn, call_ids)),
            _ => None,
        });
        assert_eq!(record, Some((1, vec!["k1".into()])));
        assert_eq!(live.summary().turns, 2);
    }
}

/// Scenarios 26, S07: what was done is not done again.
#[tokio::test(start_paused = true)]
async fn a_broken_answer_with_a_side_effect_goes_on_from_there() {
    let broken = vec![
        text(0, "I write"),
        one("k1", "work"),
        call(2, "k2", "read", json!("y")),
        text(3, "and th"),
        Act::Wait(50),
        drop_line(),
    ];
    let lab = Lab::new(vec![broken, says("done")]);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["work:x"]);
    assert_eq!(
        lab.request_lines(1),
        [
            "user:go",
            "assistant:I writeand th[k1,k2]",
            "tool:k1=x",
            "tool:k2=Cancelled before it started: the answer that asked for it broke off.",
        ]
    );
    assert_eq!(discarded(&live), 0);
    assert_eq!(live.count(|event| matches!(event, Event::Retry { attempt: 1, .. })), 1);
    let summary = live.summary();
    assert_eq!((summary.reason, summary.tool_calls), (EndReason::Stop, 2));
}

/// Scenario 26, S07: the same with `continue_partial` off.
#[tokio::test(start_paused = true)]
async fn without_continuation_it_ends_with_the_error_and_keeps_the_results() {
    let broken = vec![one("k1", "write"), Act::Wait(50), drop_line()];
    let mut lab = Lab::new(vec![broken]);
    lab.config.continue_partial = false;
    let live = lab.run("go").await;
    assert_eq!(live.lines(), ["user:go", "assistant:[k1]", "tool:k1=x"]);
    let error = live.summary().error.unwrap().message;
    assert_eq!(error, "LLM call failed: Network: the service said no");
}

/// The retry counter is carried over continued turns.
#[tokio::test(start_paused = true)]
async fn continued_answers_use_up_the_retries() {
    let broken = vec![one("k", "write"), Act::Wait(50), drop_line()];
    let lab = Lab::with_last(Vec::new(), Some(broken));
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Error);
    assert_eq!(lab.model.requests().len(), 4);
    assert_eq!(live.summary().turns, 4);
}

/// What the service signed is kept, an unfinished thought is not.
#[tokio::test(start_paused = true)]
async fn a_partial_answer_keeps_finished_blocks_only() {
    let thought =
        |index, text: &str| Act::Say(StreamEvent::ThinkingDelta { index, text: text.to_owned() });
    let opaque = Opaque { model: ModelRef::default(), data: json!("sig") };
    let broken = vec![
        thought(0, "hm"),
        Act::Say(StreamEvent::Opaque { index: 0, opaque: opaque.clone() }),
        one("k1", "write"),
        Act::Wait(10),
        Act::Say(StreamEvent::CallStart { index: 2, name: "read".into() }),
        thought(3, "then"),
        drop_line(),
    ];
    let lab = Lab::new(vec![broken, says("done")]);
    let live = lab.run("go").await;
    let Message::Assistant(answer) = &live.history()[1] else { panic!() };
    assert_eq!(answer.stop, Stop::Error);
    assert_eq!(answer.blocks.len(), 2);
    assert_eq!(answer.blocks[0], Block::Thinking { text: "hm".into(), opaque: Some(opaque) });
}

/// Scenarios 29, 136, 137, S06, case B03.
#[tokio::test(start_paused = true)]
async fn a_text_that_breaks_off_is_dropped_and_tried_again() {
    for broken in [vec![text(0, "on"), Act::Cut], vec![text(0, "on"), drop_line()]] {
        let lab = Lab::new(vec![broken, says("one")]);
        let live = lab.run("go").await;
        assert_eq!(live.lines(), ["user:go", "assistant:one[]"]);
        assert_eq!((lab.model.requests().len(), discarded(&live)), (2, 1));
        assert_eq!(lab.model.requests()[0], lab.model.requests()[1]);
    }
}

/// Scenario 30.
#[tokio::test(start_paused = true)]
async fn an_answer_marked_as_failed_ends_the_run() {
    let marked = |stop| vec![one("k1", "slow"), Act::Wait(5), done(stop)];
    let lab = Lab::new(vec![marked(Stop::Error)]);
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Error);
    assert_eq!(live.lines(), ["user:go"]);
    assert!(lab.tools.ran()[0].cancelled);

    let lab = Lab::new(vec![marked(Stop::Aborted)]);
    assert_eq!(lab.run("go").await.summary().reason, EndReason::Aborted);
}

/// The same after a side effect keeps what happened.
#[tokio::test(start_paused = true)]
async fn a_failed_answer_with_a_side_effect_is_kept() {
    let script = vec![one("k1", "write"), Act::Wait(5), done(Stop::Error)];
    let live = Lab::new(vec![script]).run("go").await;
    assert_eq!(live.summary().reason, EndReason::Error);
    assert_eq!(live.lines(), ["user:go", "assistant:[k1]", "tool:k1=x"]);
}

/// Scenarios 31, S18.
#[tokio::test(start_paused = true)]
async fn completed_calls_decide_and_not_the_stop_reason() {
    for stop in [Stop::Length, Stop::EndTurn] {
        let lab = Lab::new(vec![vec![one("k1", "read"), done(stop)], says("done")]);
        assert_eq!(lab.run("go").await.lines()[1..3], ["assistant:[k1]", "tool:k1=x"]);
    }
    let lab = Lab::new(vec![vec![text(0, "a"), done(Stop::ToolUse)]]);
    assert_eq!(lab.run("go").await.lines(), ["user:go", "assistant:a[]"]);
}

/// Scenario 36.
#[tokio::test(start_paused = true)]
async fn read_only_starts_reads_early_and_writes_late() {
    let script = vec![one("k1", "read"), call(2, "k2", "write", json!("y")), Act::Wait(40)];
    let script = [script, vec![done(Stop::ToolUse)]].concat();
    let mut lab = Lab::new(vec![script, says("done")]);
    lab.config.start = ToolStart::ReadOnly;
    let live = lab.run("go").await;
    let started = |id: &str| {
        live.place(|e| matches!(e, Event::ToolStart { call, .. } if call.id.as_str() == id))
    };
    let answer = live.place(is_answer);
    assert!(started("k1") < answer && answer < started("k2"));
}

/// The setting `read_only`: a prompt waits for the end of the answer.
#[tokio::test(start_paused = true)]
async fn read_only_asks_after_the_answer() {
    let script = vec![one("k1", "read"), Act::Wait(40), done(Stop::ToolUse)];
    let mut lab = Lab::new(vec![script, says("done")]);
    lab.config.start = ToolStart::ReadOnly;
    lab.gate.rule("read", Rule::Ask);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ApprovalAsked { .. })).await;
    live.answer("k1", codebot::kernel::command::Answer::Once);
    live.end().await;
    assert!(live.place(is_answer) < live.place(|e| matches!(e, Event::ApprovalAsked { .. })));
    assert_eq!(live.results()[0].text(), "x");
}

/// Scenario 38.
#[tokio::test(start_paused = true)]
async fn a_prompt_of_a_broken_answer_is_withdrawn() {
    let broken = vec![one("k1", "write"), Act::Wait(50), drop_line()];
    let lab = Lab::new(vec![broken, says("done")]);
    lab.gate.rule("write", Rule::Ask);
    let live = lab.run("go").await;
    assert_eq!(live.count(|e| matches!(e, Event::ApprovalClosed { answer: None, .. })), 1);
    assert!(lab.tools.ran().is_empty());
    assert_eq!(live.lines(), ["user:go", "assistant:done[]"]);
}

/// Scenario 40, case B05, scenario S17.
#[tokio::test(start_paused = true)]
async fn repeated_and_missing_ids_are_told_apart() {
    let script = vec![
        call(0, "f", "read", json!("a")),
        call(0, "f", "read", json!("a")),
        call(1, "f", "read", json!("b")),
        call(2, "", "read", json!("c")),
        call(3, "", "read", json!("d")),
        done(Stop::ToolUse),
    ];
    let lab = Lab::new(vec![script, says("done")]);
    let live = lab.run("go").await;
    let results: Vec<_> = live.results().iter().map(|r| (r.call_id.0.clone(), r.text())).collect();
    assert_eq!(results.len(), 4, "{results:?}");
    assert_eq!(results[0], ("f".into(), "a".into()));
    assert_eq!(results[1], ("f_2".into(), "b".into()));
    assert!(!results[2].0.is_empty() && results[2].0 != results[3].0);
}

/// Scenario S04.
#[tokio::test(start_paused = true)]
async fn a_service_that_does_not_stream_is_asked_for_the_whole_answer() {
    let error = ModelError::new(ModelErrorKind::StreamUnsupported, "no streams");
    let tool = calls(&[("k1", "read", "a")]);
    let lab = Lab::new(vec![vec![Act::Fail(error)], tool, says("done")]);
    let live = lab.run("go").await;
    assert_eq!(live.count(|event| matches!(event, Event::StreamFallback)), 1);
    assert_eq!(live.count(|event| matches!(event, Event::Retry { .. })), 0);
    assert_eq!(lab.model.whole.load(std::sync::atomic::Ordering::Relaxed), 2, "known from then on");
    assert_eq!(live.lines()[1..], ["assistant:[k1]", "tool:k1=a", "assistant:done[]"]);
    assert_eq!(live.summary().turns, 2);
}

/// Scenario S05.
#[tokio::test(start_paused = true)]
async fn there_is_no_other_way_once_something_was_streamed_or_for_another_error() {
    let unsupported = || Act::Fail(ModelError::new(ModelErrorKind::StreamUnsupported, "no"));
    let late = vec![text(0, "half"), unsupported()];
    for script in [late, vec![fail(ModelErrorKind::InvalidRequest)]] {
        let lab = Lab::new(vec![script]);
        let live = lab.run("go").await;
        assert_eq!(live.count(|event| matches!(event, Event::StreamFallback)), 0);
        assert_eq!(live.summary().reason, EndReason::Error);
        assert_eq!(lab.model.requests().len(), 1);
    }
    let lab = Lab::new(vec![vec![unsupported()], vec![unsupported()]]);
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Error);
    assert_eq!(lab.model.requests().len(), 2, "not for ever");
}

/// Scenario 102.
#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_written_runs_nothing() {
    let mut lab = Lab::new(vec![calls(&[("k1", "read", "a")])]);
    lab.config.start = ToolStart::AfterMessage;
    lab.journal.refuse(|r| matches!(r, Record::Message { message: Message::Assistant(_) }));
    let live = lab.run("go").await;
    assert!(lab.tools.ran().is_empty());
    let error = live.summary().error.unwrap();
    assert_eq!(error.message, "cannot write the session file s.jsonl: no space left");
    assert!(!error.provider);
}

/// Without an intent on disk nothing with side effects starts.
#[tokio::test(start_paused = true)]
async fn a_failed_intent_keeps_the_call_from_starting() {
    let script = vec![one("k1", "slow"), call(2, "k2", "write", json!("y")), Act::Wait(500)];
    let lab = Lab::new(vec![script]);
    lab.journal.refuse(|record| matches!(record, Record::Intent { .. }));
    let mut live = lab.start();
    live.prompt("go");
    assert_eq!(live.end_unpaired().await.reason, EndReason::Error);
    assert_eq!(lab.tools.names(), ["slow:x"]);
}

/// Scenarios 103, 104.
#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_written_cancels_the_rest() {
    let lab = Lab::new(vec![calls(&[("k1", "read", "a"), ("k2", "slow", "b")])]);
    lab.journal.refuse(|r| matches!(r, Record::Message { message: Message::Tool(_) }));
    let mut live = lab.start();
    live.prompt("go");
    assert_eq!(live.end_unpaired().await.reason, EndReason::Error);
    assert!(lab.tools.ran()[1].cancelled);
}

/// A failure of our own after a side effect does not make it forgotten.
#[tokio::test(start_paused = true)]
async fn a_panic_after_a_side_effect_keeps_what_was_done() {
    let script = vec![one("k1", "write"), Act::Wait(5), call(2, "k2", "work", json!("y"))];
    let lab = Lab::new(vec![[script, vec![Act::Wait(50)]].concat()]);
    lab.gate.rule("work", Rule::Panic);
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Error);
    assert_eq!(live.lines()[1..3], ["assistant:[k1,k2]", "tool:k1=x"]);
    assert_eq!(live.results()[1].status, CallStatus::Cancelled);
}

/// A prompt that could not be written is handed back.
#[tokio::test(start_paused = true)]
async fn a_prompt_that_cannot_be_written_is_returned() {
    let lab = Lab::new(Vec::new());
    lab.journal.refuse(|_| true);
    let live = lab.run("my words").await;
    let returned = live.log.iter().find_map(|event| match event {
        Event::QueueReturned { items } => Some(items[0].text.clone()),
        _ => None,
    });
    assert_eq!(returned.as_deref(), Some("my words"));
}

/// Scenarios 127, 93, 95, S16.
#[tokio::test(start_paused = true)]
async fn unreadable_arguments_never_run_and_are_quoted_briefly() {
    let raw = format!("{{\"path\": \"{}\u{1b}", "é\n".repeat(400));
    let script = vec![super::fake_model::broken_call(0, "k1", "write", &raw), done(Stop::Length)];
    let lab = Lab::new(vec![script, says("done")]);
    let live = lab.run("go").await;
    assert!(lab.tools.ran().is_empty());
    let result = &live.results()[0];
    assert_eq!(result.status, CallStatus::Error);
    assert!(result.text().starts_with("Error: InvalidArguments: the arguments are not a JSON"));
    assert!(result.text().chars().count() < 320 && !result.text().contains('\n'));
    let Message::Assistant(answer) = &live.history()[1] else { panic!() };
    assert!(answer.calls().next().unwrap().args.is_empty());
}
