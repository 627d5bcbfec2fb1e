//! Questions of the model and its list of what is to be done, on screen.

use codebot::app::service::{Request, Update};
use codebot::kernel::event::Event;
use codebot::kernel::message::{
    CallId, CallStatus, Detail, Message, MessageId, Timestamp, Todo, TodoState, ToolMessage,
};
use codebot::kernel::question::{Choice, Question, Replies, Reply};
use codebot::ui::store::Effect;
use codebot::ui::store::overlay::Overlay;

use super::stage::Stage;

fn choice(label: &str, description: &str) -> Choice {
    Choice { label: label.into(), description: description.into() }
}

fn questions() -> Vec<Question> {
    vec![
        Question {
            question:
                "The tests need a database. Which one should they \u{1b}[31muse, now that the \
                       old one is gone?"
                    .into(),
            header: "Database".into(),
            options: vec![
                choice("SQLite (recommended)", "one file, nothing to install"),
                choice("Postgres", "what production runs; needs a container on every machine"),
            ],
            multiple: false,
        },
        Question {
            question: "What else?".into(),
            header: "Extras".into(),
            options: vec![choice("Docs", ""), choice("Changelog", ""), choice("Bench", "")],
            multiple: true,
        },
    ]
}

/// A stage whose panel takes keys.
fn asked(columns: u16, rows: u16, questions: Vec<Question>) -> Stage {
    let mut stage = Stage::sized(columns, rows);
    stage.run_starts();
    stage.news(Update::Question { id: CallId::from("q1"), questions });
    stage.wait(2000);
    stage
}

fn replied(stage: &mut Stage) -> Option<Replies> {
    stage.taken().into_iter().find_map(|effect| match effect {
        Effect::Request(Request::Reply { id, replies }) => {
            assert_eq!(id, CallId::from("q1"));
            Some(replies)
        }
        _ => None,
    })
}

fn chosen(labels: &[&str]) -> Reply {
    Reply { chosen: labels.iter().map(|label| (*label).to_owned()).collect(), words: None }
}

#[test]
fn a_question_at_every_width() {
    for columns in [40, 80, 200] {
        let mut stage = asked(columns, 24, questions());
        insta::assert_snapshot!(format!("question_{columns}"), stage.text());
        stage.key("1");
        insta::assert_snapshot!(format!("question_several_{columns}"), stage.text());
    }
    let low = asked(40, 10, questions());
    insta::assert_snapshot!("question_low", low.text());
    for (columns, rows) in [(0, 0), (1, 1), (20, 5), (20, 8), (3, 50)] {
        let mut stage = asked(columns, rows, questions());
        stage.key("down").key("down").types("x");
        let _no_panic = stage.screen();
    }
}

#[test]
fn digits_answer_and_the_next_question_follows() {
    let mut stage = asked(80, 24, questions());
    stage.key("2");
    assert!(stage.text().contains("question 2 of 2"), "{}", stage.text());
    assert_eq!(replied(&mut stage), None);
    stage.key("1").key("3").key("enter");
    let replies = vec![chosen(&["Postgres"]), chosen(&["Docs", "Bench"])];
    assert_eq!(replied(&mut stage), Some(Replies::Answered(replies)));
    assert!(stage.store.question.is_none());
}

#[test]
fn words_of_ones_own_are_an_answer_too() {
    let mut stage = asked(80, 24, questions()[..1].to_vec());
    stage.types("MySQL, 5").key("left").key("backspace").types(" or").key("enter");
    let words = Reply { chosen: Vec::new(), words: Some("MySQL, or5".into()) };
    assert_eq!(replied(&mut stage), Some(Replies::Answered(vec![words])));
    let mut stage = asked(80, 24, questions()[1..].to_vec());
    stage.key("2").key("down").key("down").paste("and more").key("enter");
    let both = Reply { words: Some("and more".into()), ..chosen(&["Changelog"]) };
    assert_eq!(replied(&mut stage), Some(Replies::Answered(vec![both])));
}

#[test]
fn esc_declines_and_a_stop_takes_the_question_away() {
    let mut stage = asked(80, 24, questions());
    stage.key("esc");
    assert_eq!(replied(&mut stage), Some(Replies::Declined));
    let mut stage = asked(80, 24, questions());
    stage.news(Update::QuestionClosed { id: CallId::from("other") });
    assert!(stage.store.question.is_some());
    stage.news(Update::QuestionClosed { id: CallId::from("q1") });
    assert!(stage.store.question.is_none());
}

/// What was being typed when the panel came is for the composer.
#[test]
fn a_question_takes_no_key_that_was_meant_for_the_composer() {
    let mut stage = Stage::busy();
    stage.types("wait");
    stage.news(Update::Question { id: CallId::from("q1"), questions: questions() });
    stage.types(", 1").key("2");
    assert_eq!(replied(&mut stage), None);
    assert_eq!(stage.draft(), "wait, 12");
    stage.wait(2000);
    stage.key("2");
    assert!(stage.text().contains("question 2 of 2"), "{}", stage.text());
}

fn todos(stage: &mut Stage, id: &str, states: &[TodoState]) {
    let names = ["Read the parser", "Change its tokens", "Run the tests", "Write it \u{202e}down"];
    let todo =
        |(content, state): (&&str, &TodoState)| Todo { content: (*content).into(), state: *state };
    let todos = names.iter().zip(states).map(todo).collect();
    let result = ToolMessage {
        id: MessageId::from(id),
        at: Timestamp(0),
        call_id: "c".into(),
        tool: "todo_write".into(),
        status: CallStatus::Ok,
        blocks: Vec::new(),
        detail: Some(Detail::Todos { todos }),
        cached: false,
    };
    stage.event(Event::MessageEnd { message: Message::Tool(result) });
}

#[test]
fn the_list_is_counted_shown_and_taken_back() {
    use TodoState::{Completed, InProgress, Pending};
    let mut stage = Stage::sized(100, 24);
    stage.types("/todo").key("enter");
    assert!(stage.text().contains("has written no list"), "{}", stage.text());
    stage.key("esc");
    stage.run_starts();
    todos(&mut stage, "m1", &[InProgress, Pending, Pending, Pending]);
    assert!(stage.text().contains("todos 0/4"), "{}", stage.text());
    todos(&mut stage, "m2", &[Completed, InProgress, Pending, Pending]);
    assert!(stage.text().contains("todos 1/4"));
    stage.types("/todo").key("enter");
    assert!(matches!(stage.store.overlay, Some(Overlay::Text(_))));
    insta::assert_snapshot!("todo_page", stage.text());
    stage.key("esc");
    stage.event(Event::TakenBack { ids: vec![MessageId::from("m2")], text: String::new() });
    assert!(stage.text().contains("todos 0/4"), "{}", stage.text());
    todos(&mut stage, "m3", &[Completed; 4]);
    assert!(!stage.text().contains("todos"), "all is done");
}
