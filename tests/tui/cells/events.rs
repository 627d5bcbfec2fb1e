//! From events to cells.

use codebot::kernel::event::{Delta, EndReason, Event, RunError, RunSummary, Tier, WrapReason};
use codebot::kernel::message::{Block, CallStatus, Message, Note, Origin, Timestamp, Usage};
use codebot::ui::store::transcript::{CellKind, Fold, ToolState, Transcript};
use serde_json::json;

use super::{assistant, begin, call, ended, result, said, text, thinking, transcript, user};

fn kinds(transcript: &Transcript) -> Vec<String> {
    transcript
        .cells()
        .iter()
        .map(|cell| match &cell.kind {
            CellKind::User { text, mark } => format!("user {} {text}", mark.unwrap_or("-")),
            CellKind::Assistant { text, .. } => format!("assistant {text}"),
            CellKind::Thinking { text, .. } => format!("thinking {text}"),
            CellKind::Tool(tool) => match tool.state {
                ToolState::Ended { status, .. } => format!("{} {status:?}", tool.name),
                state => format!("{} {state:?}", tool.name),
            },
            CellKind::Retry { done, .. } => format!("retry {done}"),
            CellKind::Notice { text, .. } => format!("notice {text}"),
            CellKind::Summary { text } => format!("summary {text}"),
        })
        .collect()
}

fn summary(reason: EndReason) -> RunSummary {
    RunSummary {
        run: "r".into(),
        reason,
        turns: 1,
        tool_calls: 0,
        tool_errors: 0,
        denied_unasked: 0,
        usage: Usage::default(),
        elapsed_ms: 800,
        text: String::new(),
        wrap: None,
        cost: None,
        limit: None,
        error: None,
    }
}

#[test]
fn deltas_fill_one_cell_of_their_kind() {
    let shown = transcript(&[
        begin(),
        thinking("hm"),
        thinking("m"),
        text("\n\n"),
        text("  Hello"),
        text(" world"),
        Event::MessageEnd {
            message: assistant(vec![
                Block::Thinking { text: "hmm".into(), opaque: None },
                Block::text("\n\n  Hello world"),
            ]),
        },
    ]);
    assert_eq!(kinds(&shown), ["thinking hmm", "assistant Hello world"]);
    assert!(shown.cells().iter().all(|cell| !cell.is_streaming() && cell.base == 0));
}

#[test]
fn the_committed_message_has_the_last_word() {
    let shown = transcript(&[
        begin(),
        text("partial answ"),
        Event::MessageEnd { message: assistant(vec![Block::text("whole answer")]) },
    ]);
    assert_eq!(kinds(&shown), ["assistant whole answer"]);
    assert!(shown.cells()[0].base > 0);
}

#[test]
fn a_discarded_answer_leaves_nothing() {
    let shown = transcript(&[
        said("hi", Origin::Prompt),
        begin(),
        thinking("a"),
        text("b"),
        Event::ToolStart { call: call("1", "read", &json!({ "path": "x" })), preview: None },
        ended("1", "read", CallStatus::Cancelled, "", None),
        text("c"),
        Event::MessageDiscarded { turn: 1 },
    ]);
    assert_eq!(kinds(&shown), ["user - hi"]);
}

#[test]
fn steering_and_follow_ups_are_marked() {
    let shown = transcript(&[
        said("a", Origin::Prompt),
        said("b", Origin::Steer),
        said("c", Origin::FollowUp),
        said("d", Origin::Notice),
    ]);
    assert_eq!(kinds(&shown), ["user - a", "user steer b", "user follow-up c", "notice d"]);
}

#[test]
fn an_escape_sequence_cut_by_deltas_is_still_one() {
    let shown = transcript(&[begin(), text("a\x1b"), text("]0;ow"), text("n\x07b\r"), text("\nc")]);
    assert_eq!(kinds(&shown), ["assistant ab\nc"]);
}

#[test]
fn a_wait_is_one_cell_until_the_answer_begins() {
    let retry = |attempt| Event::Retry { attempt, max: 3, delay_ms: 10, error: "busy".into() };
    let mut shown = transcript(&[retry(1), retry(2)]);
    assert_eq!(kinds(&shown), ["retry false"]);
    assert!(shown.is_animated());
    shown.apply(&begin(), 1010);
    assert_eq!(kinds(&shown), ["retry true"]);
    assert!(!shown.is_animated());
}

#[test]
fn a_run_ends_with_one_line_and_no_open_call() {
    let mut shown = transcript(&[Event::ToolStart {
        call: call("1", "bash", &json!({ "command": "sleep 9" })),
        preview: None,
    }]);
    shown.apply(&Event::RunEnd { summary: summary(EndReason::Aborted) }, 2000);
    assert_eq!(kinds(&shown), ["bash Cancelled", "summary stopped · 1 turn · 800 ms"]);
}

#[test]
fn an_error_is_shown_once() {
    let error = RunError { message: "no credit".into(), provider: true };
    let failed = RunSummary { error: Some(error), ..summary(EndReason::Error) };
    let end = Event::RunEnd { summary: failed };
    let start = Event::RunStart { run: "r".into() };
    let both = [start.clone(), Event::Error { message: "no credit".into() }, end.clone()];
    assert_eq!(kinds(&transcript(&both))[0], "notice no credit");
    assert_eq!(transcript(&both).cells().len(), 2);
    assert_eq!(transcript(&[start, end]).cells().len(), 2);
}

#[test]
fn a_resumed_session_shows_the_same_cells_as_the_live_one() {
    let first = call("1", "read", &json!({ "path": "a.rs" }));
    let answer = assistant(vec![Block::text("I read it."), Block::Call(first.clone())]);
    let last = assistant(vec![Block::text("Done.")]);
    let live = transcript(&[
        said("go", Origin::Prompt),
        begin(),
        text("I read it."),
        Event::MessageDelta { delta: Delta::Call { name: "read".into(), bytes: 3 } },
        Event::ToolStart { call: first, preview: None },
        ended("1", "read", CallStatus::Ok, "words", None),
        Event::MessageEnd { message: answer.clone() },
        Event::MessageEnd { message: Message::Tool(result("1", "read", CallStatus::Ok, "words")) },
        begin(),
        text("Done."),
        Event::MessageEnd { message: last.clone() },
    ]);
    let mut loaded = Transcript::default();
    let tool = Message::Tool(result("1", "read", CallStatus::Ok, "words"));
    loaded.load(&[user("go", Origin::Prompt), answer, tool, last]);
    assert_eq!(kinds(&loaded), kinds(&live));
}

#[test]
fn a_call_without_a_result_is_closed_when_a_session_is_resumed() {
    let mut shown = Transcript::default();
    let open = call("1", "bash", &json!({ "command": "make" }));
    let note = Note { id: "n".into(), at: Timestamp(0), text: "interrupted".into() };
    shown.load(&[assistant(vec![Block::Call(open)]), Message::Note(note)]);
    assert_eq!(kinds(&shown), ["bash Cancelled", "notice interrupted"]);
}

#[test]
fn titles_name_the_main_argument_in_one_line() {
    let title = |name: &str, args: serde_json::Value| {
        let shown = transcript(&[Event::ToolStart { call: call("1", name, &args), preview: None }]);
        match &shown.cells()[0].kind {
            CellKind::Tool(tool) => tool.title.clone(),
            kind => panic!("{kind:?}"),
        }
    };
    assert_eq!(title("bash", json!({ "command": "ls\nrm x" })), "ls …");
    assert_eq!(title("grep", json!({ "pattern": "a", "path": "src" })), "a in src");
    assert_eq!(title("edit", json!({ "old": "x", "path": "a.rs" })), "a.rs");
    assert_eq!(title("odd", json!({ "n": 1, "what": "this" })), "this");
    assert_eq!(title("none", json!({})), "");
}

#[test]
fn outputs_are_bounded_and_say_what_is_missing() {
    let long = "x".repeat(200_000);
    let shown = transcript(&[
        Event::ToolStart { call: call("1", "bash", &json!({})), preview: None },
        ended("1", "bash", CallStatus::Ok, &long, None),
    ]);
    let CellKind::Tool(tool) = &shown.cells()[0].kind else { panic!("no tool") };
    assert!(tool.output.len() < 66_000);
    assert!(tool.output.contains("134.4 KB left out"), "{}", &tool.output[49_100..49_200]);
}

#[test]
fn all_outputs_together_are_bounded() {
    let long = "x".repeat(64_000);
    let mut shown = Transcript::default();
    for number in 0..400 {
        let id = format!("c{number}");
        let call = call(&id, "bash", &json!({}));
        shown.apply(&Event::ToolStart { call, preview: None }, 0);
        shown.apply(&ended(&id, "bash", CallStatus::Ok, &long, None), 0);
    }
    let kept: usize = shown
        .cells()
        .iter()
        .map(|cell| match &cell.kind {
            CellKind::Tool(tool) => tool.output.len(),
            _ => 0,
        })
        .sum();
    assert!(kept < 18 * 1024 * 1024, "{kept}");
}

#[test]
fn folding_follows_the_kind_until_the_user_chooses() {
    let mut shown = transcript(&[
        begin(),
        thinking("a"),
        Event::ToolStart { call: call("1", "bash", &json!({})), preview: None },
        ended("1", "bash", CallStatus::Error, "no", None),
    ]);
    let open = |shown: &Transcript| -> Vec<bool> {
        shown.cells().iter().map(|cell| shown.is_open(cell)).collect()
    };
    assert_eq!(open(&shown), [false, true]);
    let id = shown.cells()[0].id;
    shown.toggle_fold(id);
    assert_eq!(shown.cells()[0].fold, Some(Fold::Open));
    shown.fold_all();
    assert_eq!(open(&shown), [true, true]);
    shown.fold_all();
    assert_eq!(open(&shown), [false, true], "each has its usual form again");
}

#[test]
fn a_cleared_transcript_never_reuses_a_name() {
    let mut shown = transcript(&[said("a", Origin::Prompt)]);
    let old = shown.cells()[0].id;
    shown.clear();
    assert!(shown.is_empty());
    shown.apply(&said("b", Origin::Prompt), 0);
    assert!(shown.cells()[0].id > old);
}

#[test]
fn waiting_for_an_answer_is_no_part_of_a_calls_time() {
    let approval = codebot::kernel::event::Approval {
        call: call("1", "edit", &json!({ "path": "a.rs" })),
        preview: None,
        reason: "writes ask".into(),
        parts: vec![],
        rule: None,
        danger: false,
    };
    let start = Event::ToolStart { call: approval.call.clone(), preview: None };
    let mut shown = transcript(&[start, Event::ApprovalAsked { approval }]);
    assert_eq!(kinds(&shown), ["edit Asking"]);
    shown.apply(&Event::ApprovalClosed { id: "1".into(), answer: None }, 9000);
    let CellKind::Tool(tool) = &shown.cells()[0].kind else { panic!("no tool") };
    assert_eq!((tool.started_ms, tool.state), (9000, ToolState::Running));
}

#[test]
fn what_steers_a_chat_is_told_when_it_is_out_of_the_ordinary() {
    let selected = |tier| Event::RouteSelected {
        tier,
        rule: "short request".into(),
        budget: 2,
        model: "a/b".into(),
    };
    let (from, to) = (Tier::Medium, Tier::Full);
    let signature = "bash|{\"command\":\"make\u{1b}[2J\"}";
    let reflection = |again| Event::Reflection { number: 1, again, signature: signature.into() };
    let shown = transcript(&[
        selected(Tier::Medium),
        selected(Tier::Fast),
        Event::RouteEscalated { from, to, budget: 10 },
        reflection(false),
        reflection(true),
        Event::WrapUp { reason: WrapReason::Stuck },
    ]);
    let kinds = kinds(&shown);
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    assert_eq!(kinds[1], "notice more work than it looked like: medium → full (10 calls)");
    assert!(kinds[2].contains("think again (bash|") && !kinds[2].contains('\u{1b}'));
    assert!(kinds[4].contains("the model reports"));
}

#[test]
fn after_a_report_the_way_on_is_named() {
    for reason in [WrapReason::MaxIters, WrapReason::Stuck, WrapReason::MaxTurns] {
        let summary = RunSummary { wrap: Some(reason), ..summary(EndReason::Stop) };
        let kinds = kinds(&transcript(&[Event::RunEnd { summary }]));
        assert_eq!(kinds[0], "summary stopped with a report · 1 turn · 800 ms");
        assert!(kinds[1].starts_with("notice write \"continue\""), "{kinds:?}");
    }
}

#[test]
fn calls_that_ended_while_the_answer_streamed_have_one_cell_each() {
    let calls = ["1", "2", "3"].map(|id| call(id, "read", &json!({ "path": id })));
    let start = |at: usize| Event::ToolStart { call: calls[at].clone(), preview: None };
    let end = |id| ended(id, "read", CallStatus::Ok, "x", None);
    let message = assistant(calls.iter().cloned().map(Block::Call).collect());
    let mut shown = transcript(&[begin(), start(0), end("1"), start(1), end("2")]);
    for event in [Event::MessageEnd { message }, start(2), end("3")] {
        shown.apply(&event, 0);
    }
    assert_eq!(kinds(&shown), ["read Ok", "read Ok", "read Ok"]);
}

#[test]
fn a_call_that_starts_after_its_answer_has_one_cell() {
    let one = call("1", "bash", &json!({ "command": "ls" }));
    let message = assistant(vec![Block::Call(one.clone())]);
    let shown = transcript(&[
        begin(),
        Event::MessageEnd { message },
        Event::ToolStart { call: one, preview: None },
        ended("1", "bash", CallStatus::Ok, "x", None),
    ]);
    assert_eq!(kinds(&shown), ["bash Ok"]);
}

#[test]
fn the_end_of_a_run_says_what_became_of_its_calls() {
    let all = [
        CallStatus::Ok,
        CallStatus::Error,
        CallStatus::TimedOut,
        CallStatus::Denied,
        CallStatus::Skipped,
        CallStatus::Cancelled,
    ];
    let mut shown = transcript(&[Event::RunStart { run: "r".into() }, begin()]);
    for (at, status) in all.into_iter().enumerate() {
        let id = at.to_string();
        let call = call(&id, "bash", &json!({}));
        shown.apply(&Event::ToolStart { call, preview: None }, 0);
        shown.apply(&ended(&id, "bash", status, "x", None), 0);
    }
    let end = |tool_calls| Event::RunEnd {
        summary: RunSummary { tool_calls, ..summary(EndReason::Stop) },
    };
    shown.apply(&end(6), 0);
    let last = kinds(&shown).pop().unwrap();
    let calls = "6 tools (2 failed, 1 denied, 1 skipped, 1 cancelled)";
    assert_eq!(last, format!("summary done · 1 turn · {calls} · 800 ms"));
    shown.apply(&Event::RunStart { run: "s".into() }, 0);
    shown.apply(&end(1), 0);
    assert_eq!(kinds(&shown).pop().unwrap(), "summary done · 1 turn · 1 tool · 800 ms");
}

#[test]
fn an_error_is_told_without_the_name_of_its_class() {
    let told = |message: &str| {
        let shown = transcript(&[Event::Error { message: message.to_owned() }]);
        kinds(&shown).pop().unwrap()
    };
    assert_eq!(told("LLM call failed: Auth: no key"), "notice no key");
    assert_eq!(told("LLM call failed: nothing came: late"), "notice nothing came: late");
    assert_eq!(told("disk full: 0 bytes"), "notice disk full: 0 bytes");
}
