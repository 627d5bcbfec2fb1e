//! Plain runs: answers, calls, ends.

use codebot::kernel::agent::AgentConfig;
use codebot::kernel::command::{Command, Mode, Setting};
use codebot::kernel::error::ModelErrorKind;
use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::message::{
    AssistantMessage, Block, CallStatus, Message, ModelRef, Origin, Stop, Timestamp, Usage,
    UserMessage,
};
use codebot::kernel::ports::Effort;

use super::fake_lab::{Lab, pass};
use super::fake_model::{Act, calls, done, fail, says, text, usage};
use super::fake_ports::Rule;

fn user(text: &str) -> Message {
    let blocks = vec![Block::text(text)];
    let id = format!("old-{text}").as_str().into();
    Message::User(UserMessage {
        id,
        at: Timestamp(1),
        origin: Origin::Prompt,
        blocks,
        before: None,
    })
}

fn answer(text: &str, stop: Stop) -> Message {
    Message::Assistant(AssistantMessage {
        id: "old-answer".into(),
        at: Timestamp(2),
        model: ModelRef::default(),
        blocks: vec![Block::text(text)],
        stop,
        usage: Usage::default(),
    })
}

/// Scenario 1, scenario L01.
#[tokio::test(start_paused = true)]
async fn a_text_answer_ends_the_run() {
    let lab = Lab::new(vec![vec![usage(7, 3), text(0, "hel"), text(0, "lo"), done(Stop::EndTurn)]]);
    let live = lab.run("hi").await;
    assert_eq!(live.lines(), ["user:hi", "assistant:hello[]"]);
    let summary = live.summary();
    assert_eq!(summary.reason, EndReason::Stop);
    assert_eq!((summary.turns, summary.tool_calls, summary.tool_errors), (1, 0, 0));
    assert_eq!(summary.text, "hello");
    assert_eq!((summary.usage.input, summary.usage.output), (7, 3));
    assert_eq!(live.count(|event| matches!(event, Event::Usage { .. })), 1);
    assert_eq!(lab.journal.messages(), live.history());
}

/// Scenarios 2, 8, L02.
#[tokio::test(start_paused = true)]
async fn a_call_runs_once_and_its_result_is_in_the_next_request() {
    let lab = Lab::new(vec![calls(&[("k1", "read", "ping")]), says("done")]);
    let live = lab.run("go").await;
    assert_eq!(lab.tools.names(), ["read:ping"]);
    assert_eq!(lab.request_lines(1), ["user:go", "assistant:[k1]", "tool:k1=ping"]);
    let summary = live.summary();
    assert_eq!((summary.turns, summary.tool_calls, summary.tool_errors), (2, 1, 0));
    assert_eq!(summary.text, "done");
}

/// Scenarios 3, L10.
#[tokio::test(start_paused = true)]
async fn the_cap_on_turns_ends_an_endless_run() {
    let mut lab = Lab::with_last(Vec::new(), Some(calls(&[("k", "read", "again")])));
    lab.config.max_turns = 3;
    let live = lab.run("go").await;
    assert_eq!((lab.model.requests().len(), lab.tools.ran().len()), (3, 3));
    let summary = live.summary();
    assert_eq!(summary.reason, EndReason::MaxTurns);
    assert_eq!((summary.turns, summary.tool_calls), (3, 3));
    assert_eq!(summary.text, "Agent loop exceeded 3 iterations");
    assert_eq!(live.count(|event| matches!(event, Event::Error { .. })), 1);
}

/// Scenario 4.
#[tokio::test(start_paused = true)]
async fn a_cap_of_zero_means_the_default() {
    let mut lab = Lab::with_last(Vec::new(), Some(calls(&[("k", "read", "again")])));
    lab.config = AgentConfig { max_turns: 0, ..AgentConfig::default() };
    assert_eq!(lab.run("go").await.summary().turns, 200);
}

/// Every request of a run carries the level of thinking; without one the model decides.
#[tokio::test(start_paused = true)]
async fn the_level_of_thinking_reaches_every_request() {
    for effort in [None, Some(Effort::Off), Some(Effort::Max)] {
        let mut lab = Lab::new(vec![calls(&[("k", "read", "x")]), says("done")]);
        lab.config.effort = effort;
        lab.run("go").await;
        let seen: Vec<_> = lab.model.requests().iter().map(|request| request.effort).collect();
        assert_eq!(seen, [effort; 2]);
    }
}

/// Scenarios 5, 16.
#[tokio::test(start_paused = true)]
async fn continue_answers_a_history_that_waits() {
    let mut lab = Lab::new(vec![says("here")]);
    lab.history = vec![user("existing")];
    let mut live = lab.start();
    live.handle.send(Command::Continue);
    live.end().await;
    assert_eq!(live.lines(), ["user:existing", "assistant:here[]"]);
    assert_eq!(live.count(|event| matches!(event, Event::MessageEnd { .. })), 1);
}

/// Scenarios 6, 15, L15.
#[tokio::test(start_paused = true)]
async fn continue_without_anything_to_answer_ends_with_an_error() {
    for history in [Vec::new(), vec![user("a"), answer("b", Stop::EndTurn)]] {
        let mut lab = Lab::new(Vec::new());
        lab.history = history;
        let mut live = lab.start();
        live.handle.send(Command::Continue);
        assert_eq!(live.end().await.reason, EndReason::Error);
        assert_eq!(live.count(|event| matches!(event, Event::Error { .. })), 1);
        assert!(lab.model.requests().is_empty());
    }
}

/// A follow-up that waits is something to continue with.
#[tokio::test(start_paused = true)]
async fn continue_delivers_what_waits_in_the_queue() {
    let mut lab = Lab::new(vec![says("c")]);
    lab.history = vec![user("a"), answer("b", Stop::EndTurn)];
    let mut live = lab.start();
    live.follow_up("more");
    live.handle.send(Command::Continue);
    live.end().await;
    assert_eq!(live.lines()[2..], ["user:more", "assistant:c[]"]);
}

/// Scenario 17.
#[tokio::test(start_paused = true)]
async fn a_failed_answer_at_the_end_is_not_seen() {
    let mut lab = Lab::new(vec![says("now")]);
    lab.history = vec![user("a"), answer("half", Stop::Aborted)];
    let mut live = lab.start();
    live.handle.send(Command::Continue);
    live.end().await;
    assert_eq!(lab.request_lines(0), ["user:a"]);
}

/// Scenario 7.
#[tokio::test(start_paused = true)]
async fn events_carry_the_messages_in_the_order_of_the_history() {
    let lab = Lab::new(vec![calls(&[("k1", "read", "a"), ("k2", "read", "b")]), says("done")]);
    let live = lab.run("go").await;
    let told: Vec<_> = live
        .log
        .iter()
        .filter_map(|event| match event {
            Event::MessageEnd { message } => Some(message.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(told, live.history());
}

/// Scenario 10.
#[tokio::test(start_paused = true)]
async fn a_panic_of_the_model_is_an_error_of_the_run() {
    let lab = Lab::new(vec![vec![text(0, "he"), Act::Panic], says("fine")]);
    let mut live = lab.start();
    live.prompt("go");
    let summary = live.end().await;
    assert_eq!(summary.reason, EndReason::Error);
    assert!(summary.error.unwrap().message.contains("the model panicked"));
    assert_eq!(live.count(|event| matches!(event, Event::MessageDiscarded { .. })), 1);
    live.prompt("again");
    assert_eq!(live.end().await.text, "fine");
}

/// Scenarios 11, L13.
#[tokio::test(start_paused = true)]
async fn a_panic_of_a_tool_is_only_its_own_result() {
    let lab = Lab::new(vec![calls(&[("k1", "panic", ""), ("k2", "read", "b")]), says("done")]);
    let live = lab.run("go").await;
    let results = live.results();
    assert_eq!(results[0].status, CallStatus::Panicked);
    assert_eq!(results[0].text(), "Error: Panic: the tool panicked");
    assert_eq!(results[1].text(), "b");
    assert_eq!(live.summary().reason, EndReason::Stop);
}

/// Scenario 12, case G23: whatever panics, the run ends once and the agent goes on.
#[tokio::test(start_paused = true)]
async fn a_panic_of_gate_or_journal_ends_the_run_and_not_the_agent() {
    let script = || vec![calls(&[("k1", "slow", "a"), ("k2", "write", "b")]), says("fine")];
    let mut lab = Lab::new(script());
    lab.config.start = codebot::kernel::agent::ToolStart::AfterMessage;
    lab.gate.rule("write", Rule::Panic);
    let mut live = lab.start();
    live.prompt("go");
    assert_eq!(live.end().await.reason, EndReason::Error);
    live.prompt("again");
    assert_eq!(live.end().await.text, "fine");

    let lab = Lab::new(vec![says("a")]);
    let mut live = lab.start();
    lab.journal.panics.store(true, std::sync::atomic::Ordering::Relaxed);
    live.prompt("go");
    assert_eq!(live.end().await.reason, EndReason::Error);
    lab.journal.panics.store(false, std::sync::atomic::Ordering::Relaxed);
    live.prompt("again");
    assert_eq!(live.end().await.text, "a");
}

/// Scenarios 13, L06.
#[tokio::test(start_paused = true)]
async fn an_unknown_tool_is_an_error_result_and_nobody_is_asked() {
    let lab = Lab::new(vec![calls(&[("k1", "nope", "")]), says("done")]);
    let live = lab.run("go").await;
    assert_eq!(live.results()[0].text(), "Unknown tool: nope");
    assert_eq!(live.results()[0].status, CallStatus::Error);
    assert_eq!(lab.gate.asked.load(std::sync::atomic::Ordering::Relaxed), 0);
}

/// Scenario L09.
#[tokio::test(start_paused = true)]
async fn a_round_goes_through_its_steps_in_order() {
    let lab = Lab::new(vec![calls(&[("k1", "write", "a")]), says("done")]);
    let mut lab = lab;
    lab.config.start = codebot::kernel::agent::ToolStart::AfterMessage;
    lab.run("go").await;
    assert_eq!(
        lab.trace.all(),
        [
            "commit user",
            "project",
            "request",
            "commit assistant",
            "preview k1",
            "gate k1",
            "intent k1",
            "run k1",
            "commit k1",
            "project",
            "request",
            "commit assistant",
        ]
    );
}

/// Scenario L11.
#[tokio::test(start_paused = true)]
async fn a_refused_request_ends_the_run_after_one_attempt() {
    let lab = Lab::new(vec![vec![fail(ModelErrorKind::Auth)]]);
    let live = lab.run("go").await;
    let error = live.summary().error.unwrap();
    assert_eq!(error.message, "LLM call failed: Auth: the service said no");
    assert!(error.provider);
    assert_eq!(lab.model.requests().len(), 1);
}

/// Scenario L12, case B08: an empty answer is never kept.
#[tokio::test(start_paused = true)]
async fn an_empty_answer_gets_one_more_chance() {
    let blank = || vec![text(0, " \n"), done(Stop::EndTurn)];
    let lab = Lab::new(vec![blank(), vec![done(Stop::EndTurn)]]);
    let live = lab.run("go").await;
    assert_eq!(live.summary().reason, EndReason::Stop);
    assert_eq!(live.summary().text, "");
    assert_eq!(lab.model.requests().len(), 2);
    assert_eq!(live.count(|event| matches!(event, Event::Status { .. })), 2);
    assert!(!live.history().iter().any(|message| matches!(message, Message::Assistant(_))));
}

/// Scenario L16.
#[tokio::test(start_paused = true)]
async fn a_prompt_after_a_failed_run_is_well_formed() {
    let broken = vec![calls(&[("k1", "read", "a")]), vec![fail(ModelErrorKind::Auth)]];
    let lab = Lab::new([broken, vec![says("ok")]].concat());
    let mut live = lab.start();
    live.prompt("one");
    live.end().await;
    live.prompt("two");
    live.end().await;
    assert_eq!(lab.request_lines(2), ["user:one", "assistant:[k1]", "tool:k1=a", "user:two"]);
}

/// Scenario 20: a reader that is gone does not keep the run.
#[tokio::test(start_paused = true)]
async fn an_abort_ends_a_run_whose_reader_stopped() {
    let mut lab = Lab::with_last(Vec::new(), Some(calls(&[("k", "read", "again")])));
    lab.capacity = 4;
    let live = lab.start();
    live.prompt("go");
    pass(1_000).await;
    assert!(live.handle.snapshot().busy, "it waits for the reader");
    live.abort();
    pass(10_000).await;
    assert!(!live.handle.snapshot().busy);
}

/// Scenario 20: with the channel closed the run ends by itself.
#[tokio::test(start_paused = true)]
async fn a_closed_channel_aborts_the_run() {
    let lab = Lab::with_last(Vec::new(), Some(calls(&[("k", "slow", "again")])));
    let live = lab.start();
    live.prompt("go");
    pass(150).await;
    drop(live.events);
    pass(1_000).await;
    assert!(!live.handle.snapshot().busy);
}

/// Scenario 21.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_gets_everything_in_order() {
    let mut script: Vec<Act> = (0..1_000).map(|n| text(0, &format!("{n} "))).collect();
    script.push(done(Stop::EndTurn));
    let mut lab = Lab::new(vec![script]);
    lab.capacity = 8;
    let mut live = lab.start();
    live.prompt("go");
    pass(5_000).await;
    let mut heard = String::new();
    live.end().await;
    for event in &live.log {
        if let Event::MessageDelta { delta: codebot::kernel::event::Delta::Text { text } } = event {
            heard.push_str(text);
        }
    }
    let said: Vec<_> = (0..1_000).map(|n| format!("{n} ")).collect();
    assert_eq!(heard, said.concat());
}

/// Whoever sees `RunEnd` can prompt at once; while busy it is refused.
#[tokio::test(start_paused = true)]
async fn the_agent_is_idle_before_the_end_is_told() {
    let lab = Lab::new(vec![says("a"), says("b")]);
    let mut live = lab.start();
    live.prompt("one");
    live.prompt("too early");
    live.until(|event| matches!(event, Event::RunEnd { .. })).await;
    assert!(!live.handle.snapshot().busy);
    live.prompt("two");
    live.end().await;
    assert_eq!(live.lines(), ["user:one", "assistant:a[]", "user:two", "assistant:b[]"]);
    assert_eq!(live.count(|event| matches!(event, Event::Rejected { .. })), 1);
}

/// Case B09: a prompt of blanks is not sent.
#[tokio::test(start_paused = true)]
async fn a_blank_prompt_is_rejected() {
    let lab = Lab::new(Vec::new());
    let mut live = lab.start();
    live.prompt(" \n");
    live.until(|event| matches!(event, Event::Rejected { .. })).await;
    assert!(!live.handle.snapshot().busy);
}

#[tokio::test(start_paused = true)]
async fn the_mode_changes_at_any_time() {
    let lab = Lab::new(Vec::new());
    let mut live = lab.start();
    live.handle.send(Command::Configure(Setting::Mode(Mode::Trust)));
    let event = live.until(|event| matches!(event, Event::Mode { .. })).await;
    assert_eq!(event, Event::Mode { mode: Mode::Trust });
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_the_run_and_closes_the_channel() {
    let lab = Lab::new(vec![calls(&[("k1", "stop", "a")])]);
    let mut live = lab.start();
    live.prompt("go");
    live.until(|event| matches!(event, Event::ToolStart { .. })).await;
    live.handle.shutdown().await;
    assert!(!live.handle.snapshot().busy);
    assert_eq!(live.end().await.reason, EndReason::Aborted);
    assert!(lab.tools.ran()[0].cancelled);
    assert!(live.events.recv().await.is_none());
}
