//! What a reload makes of calls that a crash left open.

use codebot::kernel::message::{CallStatus, Message, Origin};
use codebot::kernel::ports::Record;
use codebot::session::journal::SessionJournal;
use codebot::session::replay::{Loaded, load, load_with};
use codebot::session::rounds::{INTERRUPTED, NOT_EXECUTED, OUTCOME_UNKNOWN};

use super::support::*;

async fn reloaded(records: &[Record]) -> Loaded {
    let state = tempfile::tempdir().unwrap();
    let path = written(state.path(), records).await;
    load(&path).unwrap()
}

fn tool(message: &Message) -> (&str, CallStatus, String) {
    match message {
        Message::Tool(result) => (result.call_id.as_str(), result.status, result.text()),
        other => panic!("a result was expected: {other:?}"),
    }
}

/// case B01, case F15
#[tokio::test]
async fn a_call_killed_while_it_ran_is_answered_outcome_unknown_at_every_reload() {
    let state = tempfile::tempdir().unwrap();
    let k1 = call("k1", "bash");
    let records = [
        said(user("u1", "go")),
        said(assistant("a1", "", std::slice::from_ref(&k1))),
        intent(1, 0, &k1),
    ];
    let path = written(state.path(), &records).await;
    let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
    let expected = ("k1", CallStatus::Error, OUTCOME_UNKNOWN.to_owned());
    assert_eq!(tool(&loaded.history[2]), expected);
    assert_eq!(loaded.open_intents, vec![k1.id]);
    append(&journal, &said(user("u2", "go on"))).await;
    drop(journal);
    let again = load(&path).unwrap();
    assert_eq!(again.history[..3], loaded.history[..]);
    assert_eq!(again.history[3], user("u2", "go on"));
}

/// scenario S19, case B22
#[tokio::test]
async fn a_call_whose_approval_was_open_is_answered_not_executed() {
    let k1 = call("k1", "bash");
    let loaded = reloaded(&[said(user("u1", "go")), said(assistant("a1", "", &[k1]))]).await;
    assert_eq!(tool(&loaded.history[2]), ("k1", CallStatus::Cancelled, NOT_EXECUTED.to_owned()));
    assert!(loaded.open_intents.is_empty());
}

#[tokio::test]
async fn a_call_that_only_looks_is_answered_interrupted() {
    let state = tempfile::tempdir().unwrap();
    let calls = [call("k1", "read"), call("k2", "bash")];
    let path =
        written(state.path(), &[said(user("u1", "go")), said(assistant("a1", "", &calls))]).await;
    let loaded = load_with(&path, &|name| name == "bash").unwrap();
    assert_eq!(tool(&loaded.history[2]).2, INTERRUPTED);
    assert_eq!(tool(&loaded.history[3]).2, NOT_EXECUTED);
}

#[tokio::test]
async fn missing_results_stand_in_call_order_between_the_real_ones() {
    let calls = [call("k1", "bash"), call("k2", "bash"), call("k3", "bash"), call("k4", "bash")];
    let loaded = reloaded(&[
        said(user("u1", "go")),
        intent(1, 0, &calls[0]),
        said(assistant("a1", "", &calls)),
        intent(1, 1, &calls[1]),
        said(result("t2", &calls[1], "two")),
        said(user("u2", "next")),
    ])
    .await;
    let answers: Vec<_> = loaded.history[2..6].iter().map(tool).collect();
    assert_eq!(answers.iter().map(|a| a.0).collect::<Vec<_>>(), ["k1", "k2", "k3", "k4"]);
    assert_eq!(answers[0].2, OUTCOME_UNKNOWN);
    assert_eq!(answers[1].2, "two");
    assert_eq!(answers[2].2, NOT_EXECUTED);
    assert_eq!(loaded.history[6], user("u2", "next"));
}

#[tokio::test]
async fn an_intent_without_its_answer_becomes_a_notice_at_its_place() {
    let state = tempfile::tempdir().unwrap();
    let k1 = call("k1", "bash");
    let path = written(state.path(), &[said(user("u1", "go")), intent(1, 0, &k1)]).await;
    let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
    let Message::User(notice) = &loaded.history[1] else { panic!("{:?}", loaded.history) };
    assert_eq!(notice.origin, Origin::Notice);
    let text = &texts(&loaded.history)[1];
    assert!(
        text.starts_with("Interrupted: bash {\"command\":\"sleep 100\"} was started"),
        "{text}"
    );
    append(&journal, &said(user("u2", "go on"))).await;
    // A later call with the same id is another call.
    append(&journal, &said(assistant("a2", "", std::slice::from_ref(&k1)))).await;
    append(&journal, &said(result("t2", &k1, "done"))).await;
    let again = load(&path).unwrap();
    assert_eq!(again.history[..2], loaded.history[..]);
    assert_eq!(again.history.len(), 5);
    assert_eq!(tool(&again.history[4]).2, "done");
}

#[tokio::test]
async fn a_dropped_answer_takes_its_intents_along() {
    let k1 = call("k1", "bash");
    let loaded = reloaded(&[
        said(user("u1", "go")),
        intent(1, 0, &k1),
        discarded(1, &[&k1]),
        said(assistant("a1", "done", &[])),
    ])
    .await;
    assert_eq!(loaded.history, [user("u1", "go"), assistant("a1", "done", &[])]);
    assert!(loaded.open_intents.is_empty());
    assert!(loaded.warnings.is_empty());
}

/// case B06
#[tokio::test]
async fn ids_that_start_again_in_every_round_are_paired_round_by_round() {
    let c0 = call("c0", "bash");
    let mut records = vec![said(user("u1", "go"))];
    for round in 0..3 {
        let calls = std::slice::from_ref(&c0);
        records.push(said(assistant(&format!("a{round}"), "", calls)));
        records.push(intent(round, 0, &c0));
        if round != 1 {
            records.push(said(result(&format!("t{round}"), &c0, &format!("r{round}"))));
        }
    }
    let loaded = reloaded(&records).await;
    let answers: Vec<String> = texts(&loaded.history).into_iter().skip(2).step_by(2).collect();
    assert_eq!(answers, ["r0", OUTCOME_UNKNOWN, "r2"]);
}

/// case F03: repair of open calls runs after bad lines were skipped.
#[tokio::test]
async fn a_result_lost_to_a_bad_line_is_answered() {
    let state = tempfile::tempdir().unwrap();
    let k1 = call("k1", "bash");
    let lines = [
        header(),
        line(user("u1", "go")),
        line(assistant("a1", "", std::slice::from_ref(&k1))),
        serde_json::to_string(&intent(1, 0, &k1)).unwrap(),
        "{bad".to_owned(),
        line(assistant("a2", "done", &[])),
    ];
    let path = file(state.path(), lines.join("\n") + "\n");
    let loaded = load(&path).unwrap();
    assert_eq!(texts(&loaded.history), ["go", "", OUTCOME_UNKNOWN, "done"]);
}

#[tokio::test]
async fn ids_made_by_a_reload_are_distinct() {
    let calls = [call("k1", "bash"), call("k2", "bash")];
    let lost = call("k9", "bash");
    let loaded = reloaded(&[
        said(user("u1", "go")),
        said(assistant("a1", "", &calls)),
        said(user("u2", "go")),
        said(assistant("a2", "", &calls)),
        said(user("u3", "go")),
        intent(1, 0, &lost),
        intent(1, 1, &lost),
    ])
    .await;
    let ids: std::collections::HashSet<_> = loaded.history.iter().map(Message::id).collect();
    assert_eq!(ids.len(), loaded.history.len());
}

/// Scenario L17: a turn that was taken back stays away, with the answers that a reload had made up
/// for it.
#[tokio::test]
async fn a_turn_taken_back_does_not_come_again() {
    let k1 = call("k1", "bash");
    let records = [
        said(user("u1", "go")),
        said(assistant("a1", "done", &[])),
        said(user("u2", "more")),
        said(assistant("a2", "", std::slice::from_ref(&k1))),
        intent(1, 0, &k1),
    ];
    let open = reloaded(&records).await;
    let ids: Vec<&str> = open.history[2..].iter().map(|message| message.id().as_str()).collect();
    assert_eq!(ids.len(), 3, "with the answer that was made up");
    let gone = [records.to_vec(), vec![taken_back(&ids), said(user("u3", "else"))]].concat();
    let loaded = reloaded(&gone).await;
    let expected = [user("u1", "go"), assistant("a1", "done", &[]), user("u3", "else")];
    assert_eq!(loaded.history, expected);
    assert!(loaded.warnings.is_empty() && loaded.open_intents.is_empty());
    // A start whose answer was never saved is told by a message that can go as well.
    let lost = [said(user("u1", "go")), intent(1, 0, &k1)];
    let told = reloaded(&lost).await.history[1].id().clone();
    let gone = [lost.to_vec(), vec![taken_back(&["u1", told.as_str()])]].concat();
    let loaded = reloaded(&gone).await;
    assert!(loaded.history.is_empty() && loaded.warnings.is_empty());
}
