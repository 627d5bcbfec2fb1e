//! Where a conversation stands in the script, read from its history alone: the newest prompt or
//! follow-up chooses the scene, and every answer after it moved one turn on, by how its calls went.

use std::sync::Arc;

use super::script::{Script, Turn};
use crate::kernel::message::{
    AssistantMessage, CallStatus, Detail, Message, Origin, ToolMessage, UserMessage, text_of,
};

/// Longest quote of the user's words, in characters.
const QUOTE: usize = 160;

/// The next thing to play.
#[derive(Clone, Debug, PartialEq)]
pub struct Position<'a> {
    /// The turn.
    pub turn: &'a Turn,
    /// The prompt of this scene on one line, shortened.
    pub prompt: String,
    /// What the user said since the last answer, each on one line, shortened.
    pub heard: Vec<String>,
    /// Answers in the history so far; makes call ids differ between turns.
    pub answers: usize,
    /// Id of the message that opened the scene.
    scene: String,
}

impl<'a> Position<'a> {
    /// Reads the history. Without any prompt it is the first turn.
    pub fn locate(script: &'a Script, messages: &[Arc<Message>]) -> Self {
        let start = messages.iter().rposition(|message| opens_scene(message)).unwrap_or(0);
        let (before, scene) = messages.split_at(start);
        let (id, prompt) = match scene.first().map(AsRef::as_ref) {
            Some(Message::User(user)) => (user.id.0.clone(), text_of(&user.blocks)),
            _ => (String::new(), String::new()),
        };
        let heard_of = |message: &Arc<Message>| {
            matches!(**message, Message::Assistant(_)) || opens_scene(message)
        };
        let entry = if before.iter().any(heard_of) {
            script.scene_for(&prompt)
        } else {
            script.first.as_str()
        };
        Self {
            turn: walk(script, entry, scene),
            prompt: quote(&prompt),
            heard: unanswered(scene),
            answers: messages.iter().filter(|m| matches!(***m, Message::Assistant(_))).count(),
            scene: id,
        }
    }

    /// Names this place in this conversation; the same for every attempt of one request.
    pub fn key(&self, conversation: &str) -> String {
        format!("{conversation}/{}/{}", self.scene, self.answers)
    }
}

fn opens_scene(message: &Message) -> bool {
    matches!(message, Message::User(UserMessage { origin: Origin::Prompt | Origin::FollowUp, .. }))
}

/// Follows the answers of a scene from its first turn to the one that is due.
fn walk<'a>(script: &'a Script, entry: &str, scene: &[Arc<Message>]) -> &'a Turn {
    let mut due = script.turn(entry);
    for (at, message) in scene.iter().enumerate() {
        let Message::Assistant(answer) = &**message else { continue };
        due = match outcome(answer, &scene[at + 1..]) {
            // Calls that the user's words overtook are asked for again.
            Some(Outcome::Skipped) => due,
            Some(outcome) => script.turn(branch(due, outcome).unwrap_or(&script.over)),
            None => script.turn(&script.over),
        };
    }
    due
}

/// How the calls of one answer went; ordered, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Ok,
    Failed,
    Cancelled,
    Denied,
    Skipped,
}

/// `None` when the answer asked for nothing.
fn outcome(answer: &AssistantMessage, after: &[Arc<Message>]) -> Option<Outcome> {
    let results: Vec<&ToolMessage> = after
        .iter()
        .take_while(|message| !matches!(***message, Message::Assistant(_)))
        .filter_map(|message| match &**message {
            Message::Tool(result) => Some(result),
            _ => None,
        })
        .collect();
    answer
        .calls()
        .map(|call| {
            let result = results.iter().find(|result| result.call_id == call.id);
            result.map_or(Outcome::Cancelled, |result| judge(result))
        })
        .max()
}

fn judge(result: &ToolMessage) -> Outcome {
    match (result.status, &result.detail) {
        (CallStatus::Ok, Some(Detail::Shell { exit, .. })) if *exit != Some(0) => Outcome::Failed,
        (CallStatus::Ok, _) => Outcome::Ok,
        (CallStatus::Error | CallStatus::TimedOut | CallStatus::Panicked, _) => Outcome::Failed,
        (CallStatus::Denied, _) => Outcome::Denied,
        (CallStatus::Skipped, _) => Outcome::Skipped,
        (CallStatus::Cancelled, _) => Outcome::Cancelled,
    }
}

fn branch(turn: &Turn, outcome: Outcome) -> Option<&str> {
    let on = &turn.on;
    let special = match outcome {
        Outcome::Ok => &on.ok,
        Outcome::Failed => &on.failed,
        Outcome::Denied => &on.denied,
        Outcome::Cancelled => &on.cancelled,
        Outcome::Skipped => &None,
    };
    special.as_deref().or(turn.next.as_deref())
}

/// The user's words of this scene that no answer followed yet.
fn unanswered(scene: &[Arc<Message>]) -> Vec<String> {
    let from = scene.iter().rposition(|message| matches!(**message, Message::Assistant(_)));
    let tail = &scene[from.map_or(0, |at| at + 1)..];
    tail.iter()
        .filter_map(|message| match &**message {
            Message::User(user) if user.origin == Origin::Steer => {
                Some(quote(&text_of(&user.blocks)))
            }
            _ => None,
        })
        .collect()
}

/// Words on one line, shortened.
fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUOTE) {
        None => line,
        Some((cut, _)) => format!("{}…", &line[..cut]),
    }
}
