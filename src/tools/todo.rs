//! `todo_write`: the model's list of what is to be done. The list is a part of its result, so that
//! the conversation itself is its memory: replayed or taken back, the list goes along.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::{CallId, Detail, Todo, TodoState};
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::Bench;
use super::{Job, Tool};

/// Most items of a list.
const MOST: usize = 50;

/// Writes the list.
#[derive(Debug)]
pub struct TodoWrite;

/// Arguments of `todo_write`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The whole list in the order of the work; it replaces the one before.
    #[schemars(length(max = 50))]
    todos: Vec<Item>,
}

/// An item as the model writes it.
#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    /// What is to be done.
    #[schemars(length(min = 1, max = 300))]
    content: String,
    /// How far it is.
    status: Status,
}

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

impl Tool for TodoWrite {
    type Args = Args;

    fn access(_: &Bench, _: &Args) -> Vec<Access> {
        Vec::new()
    }

    async fn preview(_: &Bench, _: &CallId, args: Args) -> Result<Option<Preview>, ToolError> {
        check(&args).map(|()| None)
    }

    async fn run(bench: &Bench, args: Args, _: Job) -> ToolOutcome {
        if let Err(error) = check(&args) {
            return ToolOutcome::failed(&error);
        }
        let todo = |item: Item| {
            let mut content = item.content.trim().to_owned();
            bench.mask.hide(&mut content);
            let state = match item.status {
                Status::Pending => TodoState::Pending,
                Status::InProgress => TodoState::InProgress,
                Status::Completed => TodoState::Completed,
            };
            Todo { content, state }
        };
        let todos: Vec<Todo> = args.todos.into_iter().map(todo).collect();
        ToolOutcome::ok(told(&todos)).with_detail(Detail::Todos { todos })
    }
}

fn check(args: &Args) -> Result<(), ToolError> {
    let wrong = |text: String| Err(ToolError::new("InvalidArguments", text));
    if args.todos.len() > MOST {
        return wrong(format!("{} items are too many; at most {MOST}", args.todos.len()));
    }
    if args.todos.iter().any(|item| item.content.trim().is_empty()) {
        return wrong("an item is empty".to_owned());
    }
    let active = args.todos.iter().filter(|item| item.status == Status::InProgress);
    let names: Vec<&str> = active.map(|item| item.content.as_str()).collect();
    if names.len() > 1 {
        return wrong(format!("only one item may be in_progress, not {}", names.join(" and ")));
    }
    Ok(())
}

/// The state of the list in one line for the model, which knows what it wrote.
fn told(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "the list is empty now".to_owned();
    }
    let done = todos.iter().filter(|todo| todo.state == TodoState::Completed).count();
    let all = todos.len();
    match todos.iter().find(|todo| todo.state == TodoState::InProgress) {
        Some(todo) => format!("{done} of {all} done; in progress: {}", todo.content),
        None if done == all => format!("all {all} done"),
        None => {
            format!("{done} of {all} done; none in progress: mark the next one when you begin it")
        }
    }
}
