//! What a child does, as a few short lines for its live view.

use std::collections::VecDeque;

use crate::kernel::event::{Event, Progress};
use crate::kernel::message::{CallStatus, Message, ToolCall};

/// Lines that are kept.
const LINES: usize = 20;
/// Characters of a line.
const WIDTH: usize = 120;

/// The newest lines of one child.
#[derive(Debug)]
pub struct Log {
    name: String,
    turns: u32,
    tokens: u64,
    lines: VecDeque<String>,
    bytes: u64,
}

impl Log {
    /// The empty log of the agent called `name`.
    pub fn new(name: String) -> Self {
        Self { name, turns: 0, tokens: 0, lines: VecDeque::new(), bytes: 0 }
    }

    /// Takes an event; whether there is something new to show.
    pub fn see(&mut self, event: &Event) -> bool {
        match event {
            Event::TurnStart { turn } => self.turns = *turn,
            Event::Usage { usage, .. } => self.tokens += usage.total_input() + usage.output,
            Event::ToolStart { call, .. } => self.add(&format!("▸ {}", told(call))),
            Event::ToolEnd { status, result, .. } if *status != CallStatus::Ok => {
                self.add(&format!("  {}", first_line(&result.text())));
            }
            Event::MessageEnd { message: Message::Assistant(answer) } => {
                let text = answer.text();
                if text.trim().is_empty() {
                    return false;
                }
                self.add(first_line(&text));
            }
            Event::ApprovalAsked { .. } => self.add("waits for your answer"),
            Event::Retry { attempt, max, .. } => self.add(&format!("retry {attempt}/{max}")),
            Event::Reflection { .. } => self.add("is asked to think again"),
            _ => return false,
        }
        true
    }

    fn add(&mut self, line: &str) {
        let line: String = line.chars().take(WIDTH).collect();
        self.bytes += line.len() as u64;
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// The head and the newest lines.
    pub fn report(&self) -> Progress {
        let turns = if self.turns == 1 { "turn" } else { "turns" };
        let mut tail =
            format!("{} · {} {turns} · {} tokens", self.name, self.turns, thousands(self.tokens));
        for line in &self.lines {
            tail.push('\n');
            tail.push_str(line);
        }
        Progress::Output { tail, bytes: self.bytes }
    }
}

/// A call as its tool and the argument that says most.
fn told(call: &ToolCall) -> String {
    let main = ["command", "file_path", "pattern", "path", "url", "query", "task"];
    let words = main.iter().find_map(|name| call.args.get(*name)?.as_str());
    let words = words.or_else(|| call.args.values().find_map(serde_json::Value::as_str));
    format!("{} {}", call.name, first_line(words.unwrap_or_default())).trim_end().to_owned()
}

fn first_line(text: &str) -> &str {
    text.trim_start().lines().next().unwrap_or_default()
}

fn thousands(tokens: u64) -> String {
    if tokens < 1000 { tokens.to_string() } else { format!("{:.1}k", tokens as f64 / 1000.0) }
}
