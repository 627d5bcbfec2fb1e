//! The grammar of a run, checked over the events of every test, and what makes a history valid.

use std::collections::{HashMap, HashSet};

use codebot::kernel::event::Event;
use codebot::kernel::message::{CallId, Message, MessageId, ToolMessage};

/// Checks the events of one or more runs that have ended.
pub(crate) fn check_events(events: &[Event]) {
    let mut run = None;
    for event in events {
        match event {
            Event::Queue { .. }
            | Event::QueueReturned { .. }
            | Event::Mode { .. }
            | Event::Plan { .. }
            | Event::RoutePinned { .. }
            | Event::LimitChanged { .. }
            | Event::TakenBack { .. }
            | Event::Rejected { .. } => {}
            Event::RunStart { .. } => {
                assert!(run.is_none(), "a run started inside a run");
                run = Some(RunCheck::default());
            }
            Event::RunEnd { summary } => {
                let check = run.take().expect("RunEnd without RunStart");
                check.end();
                assert_eq!(summary.tool_calls, check.started, "calls counted");
            }
            other => {
                run.as_mut().unwrap_or_else(|| panic!("outside of a run: {other:?}")).see(other);
            }
        }
    }
    assert!(run.is_none(), "a run has no RunEnd");
}

#[derive(Default)]
struct RunCheck {
    turn: u32,
    turn_open: bool,
    message: Option<MessageId>,
    open_calls: HashSet<CallId>,
    asked: Option<CallId>,
    results: HashMap<MessageId, ToolMessage>,
    started: u32,
    failed: bool,
}

impl RunCheck {
    fn see(&mut self, event: &Event) {
        assert!(!self.failed, "after Error only RunEnd may come: {event:?}");
        match event {
            Event::TurnStart { turn } => {
                assert!(!self.turn_open, "a turn started inside a turn");
                self.turn += 1;
                self.turn_open = true;
                assert_eq!(*turn, self.turn);
            }
            Event::TurnEnd { turn } => {
                assert!(self.turn_open, "TurnEnd without TurnStart");
                assert_eq!(*turn, self.turn);
                assert!(self.message.is_none(), "an answer stayed open");
                assert!(self.open_calls.is_empty(), "calls stayed open: {:?}", self.open_calls);
                self.turn_open = false;
            }
            Event::MessageStart { id } => {
                // What an earlier run could not save comes before the first turn.
                assert!(self.turn_open || self.turn == 0, "an answer outside of a turn");
                assert!(self.message.replace(id.clone()).is_none(), "two answers at a time");
            }
            Event::MessageDelta { .. } => {
                self.inside(event);
                assert!(self.message.is_some(), "a delta outside of an answer");
            }
            Event::MessageDiscarded { .. } => {
                self.inside(event);
                assert!(self.message.take().is_some(), "nothing to discard");
            }
            Event::MessageEnd { message } => self.message_end(message),
            Event::ToolStart { call, .. } => {
                self.inside(event);
                self.started += 1;
                assert!(self.open_calls.insert(call.id.clone()), "started twice: {}", call.id);
            }
            Event::ToolProgress { id, .. } => {
                assert!(self.open_calls.contains(id), "progress of a closed call");
            }
            Event::ToolEnd { id, result, status, .. } => {
                assert!(self.open_calls.remove(id), "ended without a start: {id}");
                assert_ne!(self.asked.as_ref(), Some(id), "ended with an open prompt");
                assert_eq!((&result.call_id, result.status), (id, *status));
                self.results.insert(result.id.clone(), result.clone());
            }
            Event::ApprovalAsked { approval } => {
                let id = &approval.call.id;
                assert!(self.open_calls.contains(id), "asked about a call that did not start");
                assert!(self.asked.replace(id.clone()).is_none(), "two prompts at a time");
            }
            Event::ApprovalClosed { id, .. } => assert_eq!(self.asked.take().as_ref(), Some(id)),
            Event::Error { .. } => self.failed = true,
            Event::Retry { .. } => {
                self.inside(event);
                assert!(self.open_calls.is_empty(), "calls must end before the retry");
                assert!(self.message.is_none(), "the broken answer must be closed first");
            }
            Event::RouteSelected { .. } | Event::RouteEscalated { .. } => {
                assert!(!self.turn_open, "routes change between turns: {event:?}");
            }
            Event::Reflection { .. } | Event::WrapUp { .. } | Event::ModelFailover { .. } => {
                self.inside(event);
            }
            Event::StreamFallback
            | Event::Usage { .. }
            | Event::Compaction { .. }
            | Event::Status { .. }
            | Event::Notice { .. } => {}
            Event::RunStart { .. }
            | Event::RunEnd { .. }
            | Event::Queue { .. }
            | Event::QueueReturned { .. }
            | Event::Mode { .. }
            | Event::Plan { .. }
            | Event::RoutePinned { .. }
            | Event::LimitChanged { .. }
            | Event::TakenBack { .. }
            | Event::Rejected { .. } => unreachable!("seen by the caller"),
        }
    }

    fn message_end(&mut self, message: &Message) {
        match message {
            Message::Assistant(answer) => {
                assert_eq!(self.message.take().as_ref(), Some(&answer.id));
            }
            Message::Tool(result) => {
                let told = self.results.remove(&result.id);
                let told = told.or_else(|| (self.turn == 0).then(|| result.clone()));
                let told = told.expect("a result without ToolEnd");
                assert_eq!((&told.blocks, told.status), (&result.blocks, result.status));
            }
            Message::User(_) | Message::Note(_) => {}
        }
    }

    fn inside(&self, event: &Event) {
        assert!(self.turn_open, "outside of a turn: {event:?}");
    }

    fn end(&self) {
        assert!(!self.turn_open && self.message.is_none(), "RunEnd with something open");
        assert!(self.open_calls.is_empty() && self.asked.is_none(), "RunEnd with an open call");
    }
}

/// Checks that every call has its result directly after it, in order, that ids are unique and that
/// time does not run backwards.
pub(crate) fn check_history(history: &[Message]) {
    check_calls(history);
    let mut ids = HashSet::new();
    let mut at = None;
    for message in history {
        assert!(ids.insert(message.id().clone()), "id used twice: {}", message.id());
        assert!(at <= Some(message.at()), "time ran backwards");
        at = Some(message.at());
    }
}

/// Checks the pairing alone.
pub(crate) fn check_calls(history: &[Message]) {
    let mut owed: Vec<CallId> = Vec::new();
    for message in history {
        match message {
            Message::Tool(result) => {
                assert!(!owed.is_empty(), "a result without a call");
                assert_eq!(owed.remove(0), result.call_id, "results out of order");
            }
            Message::Assistant(answer) => {
                assert!(owed.is_empty(), "calls without results: {owed:?}");
                owed = answer.calls().map(|call| call.id.clone()).collect();
                let unique: HashSet<_> = owed.iter().collect();
                assert_eq!(unique.len(), owed.len(), "call ids are unique in a message");
            }
            Message::User(_) | Message::Note(_) => {
                assert!(owed.is_empty(), "calls without results: {owed:?}");
            }
        }
    }
    assert!(owed.is_empty(), "calls without results: {owed:?}");
}
