//! Turns records into a history in which every call has its answer. Answers made here depend only
//! on the records, so each reload of the same file makes the same ones at the same places; nothing
//! is ever run again.

use std::collections::HashSet;

use crate::kernel::compaction::Compaction;
use crate::kernel::message::{
    AssistantMessage, Block, CallId, CallStatus, Message, MessageId, Origin, RunId, Timestamp,
    ToolCall, ToolMessage, UserMessage,
};
use crate::kernel::ports::Record;

pub use crate::kernel::repair::OUTCOME_UNKNOWN;
/// Told to the model when a call with side effects left no intent.
pub const NOT_EXECUTED: &str = "not executed: the session ended before it started";
/// Told to the model when a call without side effects has no answer.
pub const INTERRUPTED: &str = "interrupted: the session ended before its result was saved";

/// Longest quote of a call's arguments in a notice, in characters.
const ARGS_CHARS: usize = 200;

/// What became of the records.
#[derive(Clone, Debug, Default)]
pub struct Rebuilt {
    /// The conversation, every call answered.
    pub history: Vec<Message>,
    /// Calls whose outcome is unknown, in the order they were started.
    pub open_intents: Vec<CallId>,
    /// What was added, one line each.
    pub warnings: Vec<String>,
    /// Messages that the user took back.
    taken: HashSet<MessageId>,
    /// Changes of the view that are in force, in order.
    pub compactions: Vec<Compaction>,
}

/// An intent that no committed message has accounted for so far.
#[derive(Clone, Debug)]
struct Pending {
    /// How many messages stood before it.
    place: usize,
    run: RunId,
    turn: u32,
    index: usize,
    call: ToolCall,
}

/// Reads the records in order.
#[derive(Default)]
struct Builder {
    history: Vec<Message>,
    /// Where the newest assistant message stands.
    answer: Option<usize>,
    /// Intents since the newest user-side message without an assistant message that holds the call.
    pending: Vec<Pending>,
    /// Intents whose assistant message never came.
    lost: Vec<Pending>,
    compactions: Vec<Compaction>,
    /// Calls that were started: place of the assistant message and call id.
    started: HashSet<(usize, CallId)>,
    /// Messages that the user took back.
    taken: HashSet<MessageId>,
}

/// Builds the history and answers what was left open.
pub fn rebuild(records: &[Record], has_side_effects: &dyn Fn(&str) -> bool) -> Rebuilt {
    let mut builder = Builder::default();
    for record in records {
        builder.take(record);
    }
    builder.finish(has_side_effects)
}

impl Builder {
    fn take(&mut self, record: &Record) {
        match record {
            Record::Message { message } => self.message(message),
            Record::Intent { run, turn, index, call } => self.intent(Pending {
                place: self.history.len(),
                run: run.clone(),
                turn: *turn,
                index: *index,
                call: call.clone(),
            }),
            // Left in place until the end: what was made up for them must go too.
            Record::TakenBack { ids } => self.taken.extend(ids.iter().cloned()),
            Record::Rewind { taken, given, .. } => {
                self.taken.retain(|id| !given.contains(id));
                self.taken.extend(taken.iter().cloned());
            }
            Record::Compaction { compaction } => self.compactions.push(compaction.clone()),
            // The history is the same whoever answers, whatever is allowed and became of files.
            Record::Switched { .. } | Record::Planning { .. } | Record::Checkpoint { .. } => {}
            Record::CompactionUndone { ids } => self.compactions.retain(|c| !ids.contains(&c.id)),
            Record::Discarded { run, turn, call_ids } => self.pending.retain(|pending| {
                pending.run != *run || pending.turn != *turn || !call_ids.contains(&pending.call.id)
            }),
        }
    }

    fn message(&mut self, message: &Message) {
        match message {
            Message::Assistant(answer) => {
                let place = self.history.len();
                self.answer = Some(place);
                for call in answer.calls() {
                    if let Some(at) = self.pending.iter().position(|p| p.call.id == call.id) {
                        self.pending.remove(at);
                        self.started.insert((place, call.id.clone()));
                    }
                }
            }
            // The stream an intent belongs to is over when somebody speaks, so a later call with
            // the same id is another one.
            Message::User(_) => {
                self.lost.append(&mut self.pending);
                self.answer = None;
            }
            Message::Tool(_) | Message::Note(_) => {}
        }
        self.history.push(message.clone());
    }

    fn intent(&mut self, intent: Pending) {
        // Started after its message was committed, or while the stream still ran.
        let committed = self.answer.filter(|&place| {
            let id = &intent.call.id;
            let unanswered = !self.history[place..].iter().any(|m| is_result_of(m, id));
            unanswered && calls_of(&self.history[place]).any(|call| call.id == *id)
        });
        match committed {
            Some(place) => {
                self.started.insert((place, intent.call.id));
            }
            None => self.pending.push(intent),
        }
    }

    fn finish(mut self, has_side_effects: &dyn Fn(&str) -> bool) -> Rebuilt {
        self.lost.append(&mut self.pending);
        let mut out = Rebuilt {
            taken: std::mem::take(&mut self.taken),
            compactions: self.compactions,
            ..Rebuilt::default()
        };
        let mut lost = self.lost.into_iter().peekable();
        let history = self.history;
        let mut at = 0;
        while at < history.len() {
            while let Some(intent) = lost.next_if(|intent| intent.place <= at) {
                out.notice(&intent);
            }
            let end = round_end(&history, at);
            match &history[at] {
                message if out.taken.contains(message.id()) => {
                    let kept = history[at + 1..end].iter();
                    out.history.extend(kept.filter(|m| !out.taken.contains(m.id())).cloned());
                }
                Message::Assistant(answer) => {
                    let started = |call: &ToolCall| self.started.contains(&(at, call.id.clone()));
                    let reason = |call: &ToolCall| {
                        if started(call) {
                            (CallStatus::Error, OUTCOME_UNKNOWN)
                        } else if has_side_effects(&call.name) {
                            (CallStatus::Cancelled, NOT_EXECUTED)
                        } else {
                            (CallStatus::Cancelled, INTERRUPTED)
                        }
                    };
                    out.round(answer, &history[at + 1..end], &reason);
                }
                other => out.history.push(other.clone()),
            }
            at = end;
        }
        lost.for_each(|intent| out.notice(&intent));
        out
    }
}

impl Rebuilt {
    /// Adds an assistant message with its results, the missing ones made up in call order.
    fn round(
        &mut self,
        answer: &AssistantMessage,
        results: &[Message],
        reason: &dyn Fn(&ToolCall) -> (CallStatus, &'static str),
    ) {
        self.history.push(Message::Assistant(answer.clone()));
        let calls: Vec<&ToolCall> = answer.calls().collect();
        let mut missing = calls
            .iter()
            .enumerate()
            .filter(|(_, call)| !results.iter().any(|m| is_result_of(m, &call.id)))
            .peekable();
        for message in results {
            let place = calls.iter().position(|call| is_result_of(message, &call.id));
            while let Some((index, call)) = missing.next_if(|(index, _)| Some(*index) < place) {
                self.answer(answer, index, call, reason(call));
            }
            self.history.push(message.clone());
        }
        for (index, call) in missing {
            self.answer(answer, index, call, reason(call));
        }
    }

    fn answer(
        &mut self,
        answer: &AssistantMessage,
        index: usize,
        call: &ToolCall,
        (status, text): (CallStatus, &str),
    ) {
        if status == CallStatus::Error {
            self.open_intents.push(call.id.clone());
        }
        self.warnings.push(format!("{}: {text}", call.name));
        self.history.push(Message::Tool(ToolMessage {
            id: MessageId(format!("{}-result-{index}", answer.id)),
            at: answer.at,
            call_id: call.id.clone(),
            tool: call.name.clone(),
            status,
            blocks: vec![Block::text(text)],
            detail: None,
            cached: false,
        }));
    }

    /// Tells the model of a call that ran although the answer that asked for it was never saved.
    fn notice(&mut self, intent: &Pending) {
        let Pending { run, turn, index, call, .. } = intent;
        let id = MessageId(format!("{run}-{turn}-notice-{index}"));
        if self.taken.contains(&id) {
            return;
        }
        let args = serde_json::to_string(&call.args).unwrap_or_default();
        let args: String = args.chars().take(ARGS_CHARS).collect();
        let text = format!(
            "Interrupted: {} {args} was started, outcome unknown; inspect before retrying",
            call.name
        );
        self.open_intents.push(call.id.clone());
        self.warnings.push(text.clone());
        self.history.push(Message::User(UserMessage {
            id,
            at: self.history.last().map_or(Timestamp::default(), Message::at),
            origin: Origin::Notice,
            blocks: vec![Block::text(text)],
            before: None,
        }));
    }
}

/// Where the round that starts at `at` ends: an assistant message with calls takes the results
/// after it along, anything else stands alone.
fn round_end(history: &[Message], at: usize) -> usize {
    if calls_of(&history[at]).next().is_none() {
        return at + 1;
    }
    let after = &history[at + 1..];
    let last = after
        .iter()
        .take_while(|m| matches!(m, Message::Tool(_) | Message::Note(_)))
        .enumerate()
        .filter(|(_, m)| matches!(m, Message::Tool(_)))
        .last();
    at + 1 + last.map_or(0, |(index, _)| index + 1)
}

fn calls_of(message: &Message) -> impl Iterator<Item = &ToolCall> {
    let answer = match message {
        Message::Assistant(answer) => Some(answer),
        _ => None,
    };
    answer.into_iter().flat_map(AssistantMessage::calls)
}

fn is_result_of(message: &Message, id: &CallId) -> bool {
    matches!(message, Message::Tool(result) if result.call_id == *id)
}
