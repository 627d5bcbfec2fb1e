//! `todo_write` and `ask_user`: what they take, what they say, and who is asked.

use std::sync::{Arc, Mutex};

use codebot::kernel::message::{CallId, CallStatus, Detail, TodoState, text_of};
use codebot::kernel::ports::{Capability, Toolbox};
use codebot::kernel::question::{Question, Replies, Reply};
use codebot::tools::ask::Asks;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Desk, call, context};

/// Answers at once, or never.
#[derive(Debug)]
struct Person {
    says: Option<Replies>,
    asked: Mutex<Vec<Question>>,
}

impl Asks for Person {
    fn ask(&self, _: &CallId, questions: Vec<Question>) -> BoxFuture<'static, Replies> {
        *self.asked.lock().unwrap() = questions;
        match self.says.clone() {
            Some(says) => std::future::ready(says).boxed(),
            None => std::future::pending().boxed(),
        }
    }
}

fn desk(says: Option<Replies>) -> (Desk, Arc<Person>) {
    let person = Arc::new(Person { says, asked: Mutex::default() });
    let asks = Arc::clone(&person);
    (Desk::with(|config| config.asks = Some(asks)), person)
}

fn question() -> Value {
    json!({"question": "Which database?", "header": "Database", "options": [
        {"label": "SQLite", "description": "one file"}, {"label": "Postgres"}]})
}

#[tokio::test]
async fn the_list_is_checked_counted_and_part_of_the_result() {
    let desk = Desk::new();
    let item = |content: &str, status: &str| json!({"content": content, "status": status});
    let list = json!({"todos": [item(" Read it ", "completed"), item("Change it", "in_progress"),
        item("Test it", "pending")]});
    let outcome = desk.call("todo_write", list).await;
    assert_eq!(text_of(&outcome.blocks), "1 of 3 done; in progress: Change it");
    let Some(Detail::Todos { todos }) = outcome.detail else { panic!("no list") };
    let states: Vec<TodoState> = todos.iter().map(|todo| todo.state).collect();
    assert_eq!(states, [TodoState::Completed, TodoState::InProgress, TodoState::Pending]);
    assert_eq!(todos[0].content, "Read it");
    for (list, said) in [
        (json!([]), "the list is empty now"),
        (json!([item("a", "completed")]), "all 1 done"),
        (json!([item("a", "pending")]), "none in progress"),
    ] {
        let said_now = desk.ok("todo_write", json!({"todos": list})).await;
        assert!(said_now.contains(said), "{said_now}");
    }
    let two = json!([item("a", "in_progress"), item("b", "in_progress")]);
    let error = desk.fails("todo_write", json!({"todos": two})).await;
    assert!(error.contains("only one item may be in_progress, not a and b"), "{error}");
    let blank = call("todo_write", json!({"todos": [item("  ", "pending")]}));
    let error = desk.tools.preview(&blank).await.unwrap_err();
    assert!(error.to_string().contains("an item is empty"), "{error}");
    let unknown = call("todo_write", json!({"todos": [item("a", "maybe")]}));
    assert!(desk.tools.validate(&unknown).is_err());
    assert_eq!(desk.tools.traits("todo_write").unwrap().capability, Capability::Internal);
}

#[tokio::test]
async fn answers_come_with_their_questions() {
    let replies = vec![
        Reply { chosen: vec!["Postgres".into()], words: None },
        Reply { chosen: vec!["A".into(), "B".into()], words: Some("and C".into()) },
    ];
    let (desk, person) = desk(Some(Replies::Answered(replies)));
    let several = json!({"question": "Which letters?", "header": "Letters", "multiple": true,
        "options": [{"label": "A"}, {"label": "B"}]});
    let said = desk.ok("ask_user", json!({"questions": [question(), several]})).await;
    assert_eq!(
        said,
        "Which database?\n→ Postgres\n\nWhich letters?\n→ A, B; in their own words: and C"
    );
    let asked = person.asked.lock().unwrap();
    assert_eq!((asked.len(), asked[0].options.len(), asked[1].multiple), (2, 2, true));
    assert!(desk.tools.traits("ask_user").unwrap().exclusive);
}

/// Scenario 213: limits, a stopped question, nobody to ask.
#[tokio::test]
async fn questions_are_checked_and_can_be_stopped_declined_or_impossible() {
    let (desk, _person) = desk(None);
    let with = |key: &str, value: Value| {
        let mut changed = question();
        changed[key] = value;
        json!({"questions": [changed]})
    };
    let option = |label: &str| json!({"label": label});
    for (args, said) in [
        (json!({"questions": []}), "questions"),
        (json!({"questions": vec![question(); 5]}), "questions"),
        (with("options", json!([option("one")])), "options"),
        (with("options", Value::from(vec![option("x"); 7])), "options"),
    ] {
        let error = desk.tools.validate(&call("ask_user", args)).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    for (args, said) in [
        (with("options", json!([option("same"), option("same")])), "must be there and differ"),
        (with("question", json!("   ")), "is empty"),
    ] {
        let error = desk.tools.preview(&call("ask_user", args)).await.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let (stop, mut waits) = (CancellationToken::new(), context());
    waits.cancel = stop.clone();
    let asking = desk.tools.run(call("ask_user", json!({"questions": [question()]})), waits);
    tokio::pin!(asking);
    assert!(asking.as_mut().now_or_never().is_none());
    stop.cancel();
    assert_eq!(asking.await.status, CallStatus::Cancelled);

    let (declines, _person) = super::ask::desk(Some(Replies::Declined));
    let said = declines.ok("ask_user", json!({"questions": [question()]})).await;
    assert!(said.contains("did not want to answer"), "{said}");
    let (nobody, _person) = super::ask::desk(Some(Replies::Nobody));
    let said = nobody.fails("ask_user", json!({"questions": [question()]})).await;
    assert!(said.contains("nobody can be asked"), "{said}");
    let alone = Desk::new();
    assert!(!alone.tools.specs().iter().any(|spec| spec.name == "ask_user"));
}
