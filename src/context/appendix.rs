//! The part of a summary that no model writes: requests word for word, open tasks, files. Pure; the
//! same history gives the same text.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use super::trim::{is_request, middle_out};
use crate::kernel::message::{CallStatus, Detail, Message, Todo, TodoState, ToolCall, text_of};

/// Longest quote of the first request, in characters.
const FIRST: usize = 4000;
/// Longest quote of the newest request: far above what anybody types, so that a pasted log does not
/// fill the room that was just made.
const LAST: usize = 16_000;
/// Most paths in one list.
const PATHS: usize = 60;
/// Longest list of open tasks, in characters.
const TASKS: usize = 4000;

/// The appendix for a history whose first messages up to `cut` are about to be left out.
pub fn write(history: &[Arc<Message>], cut: usize, tasks: &str) -> String {
    let gone = &history[..cut];
    let mut text = String::new();
    let mut part = |title: &str, body: &str| {
        if !body.trim().is_empty() {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            // Writing to a string can't fail.
            let _infallible = write!(text, "{gap}## {title}\n{body}");
        }
    };
    let first = gone.iter().position(|message| is_request(message));
    let last = history.iter().rposition(|message| is_request(message));
    if let Some(first) = first.filter(|first| Some(*first) != last) {
        part("First request of the user", &words(&history[first], FIRST));
    }
    if let Some(last) = last.filter(|last| *last < cut) {
        part("Newest request of the user, word for word", &words(&history[last], LAST));
    }
    part("Open tasks", &middle_out(tasks.trim(), TASKS, 0));
    let files = Files::of(gone);
    part("Files changed", &list(&files.changed));
    part("Files read", &list(&files.read));
    text
}

/// What the model's newest list has open, one line each; empty without a list.
pub fn open_tasks(history: &[Arc<Message>]) -> String {
    let newest = history.iter().rev().find_map(|message| match &**message {
        Message::Tool(result) => match &result.detail {
            Some(Detail::Todos { todos }) => Some(todos),
            _ => None,
        },
        _ => None,
    });
    let line = |todo: &Todo| match todo.state {
        TodoState::Completed => None,
        TodoState::InProgress => Some(format!("- {} (in progress)", todo.content)),
        TodoState::Pending => Some(format!("- {}", todo.content)),
    };
    let lines: Vec<String> = newest.into_iter().flatten().filter_map(line).collect();
    lines.join("\n")
}

fn words(message: &Message, most: usize) -> String {
    match message {
        Message::User(user) => middle_out(&text_of(&user.blocks), most / 2, most / 2),
        _ => String::new(),
    }
}

/// The files that calls were about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Written or edited.
    pub changed: BTreeSet<String>,
    /// Only read.
    pub read: BTreeSet<String>,
}

impl Files {
    /// Those of successful calls; a changed file is not listed as read too.
    pub fn of(history: &[Arc<Message>]) -> Self {
        let mut files = Self::default();
        let mut calls: Vec<&ToolCall> = Vec::new();
        for message in history {
            match &**message {
                Message::Assistant(answer) => calls = answer.calls().collect(),
                Message::Tool(result) if result.status == CallStatus::Ok => {
                    if let Some(call) = calls.iter().find(|call| call.id == result.call_id) {
                        files.add(call);
                    }
                }
                Message::Tool(_) | Message::User(_) | Message::Note(_) => {}
            }
        }
        files.read.retain(|path| !files.changed.contains(path));
        files
    }

    fn add(&mut self, call: &ToolCall) {
        let path = ["path", "file_path"].iter().find_map(|name| call.args.get(*name)?.as_str());
        let Some(path) = path else { return };
        let path: String = path.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        match call.name.as_str() {
            "read" => self.read.insert(path),
            "write" | "edit" | "multi_edit" | "apply_patch" | "notebook_edit" => {
                self.changed.insert(path)
            }
            _ => false,
        };
    }
}

fn list(paths: &BTreeSet<String>) -> String {
    let mut text: Vec<String> = paths.iter().take(PATHS).map(|path| format!("- {path}")).collect();
    if paths.len() > PATHS {
        text.push(format!("- and {} more", paths.len() - PATHS));
    }
    text.join("\n")
}
