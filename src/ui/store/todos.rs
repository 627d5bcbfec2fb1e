//! The model's list of what is to be done, as the newest result of its tool says: how many are done
//! for the run line, the whole list for its page. Follows what is taken back.

use super::overlay::TextPanel;
use crate::kernel::event::Event;
use crate::kernel::message::{Detail, Message, MessageId, Todo, TodoState, ToolMessage};
use crate::ui::text::sanitize::clean_line;

/// Lists in the order they were written; the last one holds.
#[derive(Clone, Debug, Default)]
pub struct Todos {
    lists: Vec<(MessageId, Vec<Todo>)>,
}

impl Todos {
    /// The lists of an earlier life of the session.
    pub fn load(history: &[Message]) -> Self {
        let mut todos = Self::default();
        for message in history {
            if let Message::Tool(result) = message {
                todos.take(result);
            }
        }
        todos
    }

    /// Follows the run.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::MessageEnd { message: Message::Tool(result) } => self.take(result),
            Event::TakenBack { ids, .. } => self.lists.retain(|(id, _)| !ids.contains(id)),
            _ => {}
        }
    }

    fn take(&mut self, result: &ToolMessage) {
        if let Some(Detail::Todos { todos }) = &result.detail {
            self.lists.push((result.id.clone(), todos.clone()));
        }
    }

    /// The list that holds; empty when there is none.
    pub fn list(&self) -> &[Todo] {
        self.lists.last().map_or(&[], |(_, todos)| todos)
    }

    /// How many are done, and how many there are; nothing without a list or when all is done.
    pub fn count(&self) -> Option<(usize, usize)> {
        let list = self.list();
        let done = list.iter().filter(|todo| todo.state == TodoState::Completed).count();
        (done < list.len()).then_some((done, list.len()))
    }

    /// What is being done.
    pub fn current(&self) -> Option<&str> {
        let current = self.list().iter().find(|todo| todo.state == TodoState::InProgress);
        current.map(|todo| todo.content.as_str())
    }

    /// The page of `/todo`.
    pub fn page(&self) -> TextPanel {
        let line =
            |todo: &Todo| (mark(todo.state).to_owned(), clean_line(&todo.content).into_owned());
        let mut lines: Vec<_> = self.list().iter().map(line).collect();
        let done = self.list().iter().filter(|todo| todo.state == TodoState::Completed).count();
        let title = match lines.len() {
            0 => "To do".to_owned(),
            all => format!("To do: {done} of {all} done"),
        };
        if lines.is_empty() {
            let text = "the model has written no list; ask it to plan its work";
            lines.push((String::new(), text.to_owned()));
        }
        TextPanel { title, lines, scroll: 0 }
    }
}

/// The sign of a state, told apart without colours.
pub fn mark(state: TodoState) -> &'static str {
    match state {
        TodoState::Pending => "☐",
        TodoState::InProgress => "▸",
        TodoState::Completed => "☑",
    }
}
