//! Answers cut off at the output limit, pauses and refusals.

use codebot::kernel::event::{EndReason, Event};
use codebot::kernel::message::{Message, Origin, Stop};
use codebot::kernel::ports::StreamEvent;

use super::fake_lab::Lab;
use super::fake_model::{Act, Script, calls, done, says, text};

fn cut() -> Script {
    vec![text(0, "this is lo"), done(Stop::Length)]
}

fn resumes(history: &[Message]) -> usize {
    let resume =
        |message: &&Message| matches!(message, Message::User(m) if m.origin == Origin::Resume);
    history.iter().filter(resume).count()
}

/// Scenario 124.
#[tokio::test(start_paused = true)]
async fn a_cut_answer_is_resumed() {
    let lab = Lab::new(vec![cut(), says("ng")]);
    let live = lab.run("go").await;
    let last = lab.request_lines(1).pop().unwrap();
    assert!(last.starts_with("user:Your last answer was cut off"), "{last}");
    assert_eq!(live.summary().turns, 2);
}

/// Scenarios 125, S15, case G13.
#[tokio::test(start_paused = true)]
async fn an_unfinished_call_is_dropped_and_asked_for_in_pieces() {
    let start = Act::Say(StreamEvent::CallStart { index: 1, name: "write".into() });
    let bytes = Act::Say(StreamEvent::CallDelta { index: 1, bytes: 4_000 });
    let lab =
        Lab::new(vec![vec![text(0, "I write"), start, bytes, done(Stop::Length)], says("ok")]);
    let live = lab.run("go").await;
    assert!(lab.tools.ran().is_empty());
    assert_eq!(lab.request_lines(1)[1], "assistant:I write[]");
    assert!(lab.request_lines(1)[2].contains("smaller pieces"));
    assert_eq!(lab.model.requests().len(), 2);
    assert_eq!(live.summary().reason, EndReason::Stop);
}

/// Scenarios 126, 129, case G14.
#[tokio::test(start_paused = true)]
async fn there_are_three_recoveries_in_a_row_at_most() {
    for script in [cut(), vec![done(Stop::Length)]] {
        let lab = Lab::with_last(Vec::new(), Some(script));
        let live = lab.run("go").await;
        assert_eq!(resumes(&live.history()), 3);
        assert_eq!(lab.model.requests().len(), 4);
        assert_eq!(live.summary().reason, EndReason::Stop);
        let told = live.log.iter().any(
            |event| matches!(event, Event::Status { text } if text.contains("4 times in a row")),
        );
        assert!(told);
    }
}

/// Scenario 128.
#[tokio::test(start_paused = true)]
async fn a_complete_turn_gives_new_recoveries() {
    let tool = calls(&[("k1", "read", "a")]);
    let lab = Lab::new(vec![cut(), cut(), cut(), tool, cut(), cut(), cut(), says("ok")]);
    let live = lab.run("go").await;
    assert_eq!(resumes(&live.history()), 6);
    assert_eq!(live.summary().text, "ok");
}

#[tokio::test(start_paused = true)]
async fn a_paused_answer_is_sent_back_to_go_on() {
    let lab = Lab::new(vec![vec![text(0, "wait"), done(Stop::Pause)], says("now")]);
    lab.run("go").await;
    assert_eq!(lab.request_lines(1), ["user:go", "assistant:wait[]"]);
}

/// Scenario 149: what the model says when it declines is kept.
#[tokio::test(start_paused = true)]
async fn a_refusal_keeps_its_text_and_ends() {
    let lab = Lab::new(vec![vec![text(0, "I will not"), done(Stop::Refusal)]]);
    let live = lab.run("go").await;
    assert_eq!(live.summary().text, "I will not");
    let lab = Lab::new(vec![vec![done(Stop::ContentFilter)]]);
    assert_eq!(lab.run("go").await.lines(), ["user:go"]);
}
