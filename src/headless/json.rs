//! JSON for programs: one object at the end, or one object a line while it happens. The fields here
//! are a promise to scripts; they are reduced from the loop's events by hand, so that a change
//! inside shows up as a compile error and not as a changed format.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::clean;
use super::print::{headline, label, remark, remark_on};
use super::report::{Report, Sink};
use crate::app::service::{Level, Ready};
use crate::kernel::budget::{Cap, Reached};
use crate::kernel::command::{Answer, Mode};
use crate::kernel::compaction::{Phase, Step};
use crate::kernel::event::{
    Delta, EndReason, Event, Finished, Preview, Progress, RunError, RunSummary, Tier, WrapReason,
};
use crate::kernel::message::{CallStatus, Message, MessageId, Stop, Usage, text_of};
use crate::kernel::ports::Price;

/// What is known of the session once it is open.
#[derive(Clone, Debug, Default)]
struct Facts {
    session: String,
    model: String,
    price: Option<Price>,
}

impl Facts {
    fn of(ready: &Ready) -> Self {
        Self {
            session: ready.session.clone(),
            model: ready.model.model.to_string(),
            price: ready.model.price,
        }
    }
}

/// The sum of a run; as `result` the only object, as `run_end` the last line.
#[derive(Debug, Serialize)]
struct Ended<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    reason: EndReason,
    text: &'a str,
    turns: u32,
    tool_calls: u32,
    tool_errors: u32,
    denied_unasked: u32,
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    elapsed_ms: u64,
    session: &'a str,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrap: Option<WrapReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Reached>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RunError>,
}

impl<'a> Ended<'a> {
    fn new(kind: &'static str, facts: &'a Facts, summary: &'a RunSummary) -> Self {
        Self {
            kind,
            reason: summary.reason,
            text: &summary.text,
            turns: summary.turns,
            tool_calls: summary.tool_calls,
            tool_errors: summary.tool_errors,
            denied_unasked: summary.denied_unasked,
            usage: summary.usage,
            // A run that ended before its first call may still have a known price: zero.
            cost_usd: summary.cost.or_else(|| facts.price.map(|price| price.cost(summary.usage))),
            elapsed_ms: summary.elapsed_ms,
            session: &facts.session,
            model: &facts.model,
            wrap: summary.wrap,
            limit: summary.limit,
            error: summary.error.as_ref(),
        }
    }
}

/// One line of the stream. Names and fields are documented; absent means unknown.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    RunStart {
        run: &'a str,
        session: &'a str,
        model: &'a str,
    },
    TurnStart {
        turn: u32,
    },
    MessageStart {
        id: &'a str,
    },
    MessageDelta(Piece<'a>),
    MessageEnd(Committed<'a>),
    MessageDiscarded {
        turn: u32,
    },
    ToolStart {
        id: &'a str,
        name: &'a str,
        args: &'a Map<String, Value>,
    },
    ToolProgress {
        id: &'a str,
        bytes: u64,
    },
    ToolEnd {
        id: &'a str,
        name: &'a str,
        status: CallStatus,
        text: String,
    },
    ApprovalAsked {
        id: &'a str,
        name: &'a str,
        reason: &'a str,
        preview: Option<&'a Preview>,
    },
    ApprovalDenied {
        id: &'a str,
        name: &'a str,
        reason: String,
    },
    ApprovalClosed {
        id: &'a str,
        allowed: bool,
    },
    Background {
        finished: &'a [Finished],
    },
    Retry {
        attempt: u32,
        max: u32,
        delay_ms: u64,
        error: &'a str,
    },
    StreamFallback,
    RouteSelected {
        tier: Tier,
        rule: &'a str,
        budget: u32,
        model: &'a str,
    },
    RouteEscalated {
        from: Tier,
        to: Tier,
        budget: u32,
    },
    RoutePinned {
        tier: Option<Tier>,
    },
    ModelFailover {
        from: &'a str,
        to: &'a str,
        error: &'a str,
    },
    LimitChanged {
        cap: Cap,
        value: f64,
    },
    TakenBack {
        ids: &'a [MessageId],
    },
    Reflection {
        number: u32,
        again: bool,
        signature: &'a str,
    },
    WrapUp {
        reason: WrapReason,
    },
    Compaction {
        step: Step,
        #[serde(flatten)]
        phase: &'a Phase,
    },
    Usage {
        usage: Usage,
    },
    Status {
        text: &'a str,
    },
    Notice {
        level: &'a str,
        text: &'a str,
    },
    Error {
        message: &'a str,
    },
    TurnEnd {
        turn: u32,
    },
    Mode {
        mode: Mode,
    },
    Plan {
        on: bool,
    },
    Rejected {
        reason: &'a str,
    },
}

/// A piece of a streamed answer.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Piece<'a> {
    Text { text: &'a str },
    Thinking { text: &'a str },
    Call { name: &'a str, bytes: u64 },
}

/// A message that entered the history.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Committed<'a> {
    User { id: &'a str, text: String },
    Assistant { id: &'a str, text: String, stop: Stop, usage: Usage },
    Tool { id: &'a str, call_id: &'a str, status: CallStatus, text: String },
    Note { id: &'a str, text: &'a str },
}

/// The lines of one event; most have one, queue changes have none.
fn lines<'a>(event: &'a Event, facts: &'a Facts) -> Vec<Line<'a>> {
    let line = match event {
        Event::RunStart { run } => {
            Line::RunStart { run: run.as_str(), session: &facts.session, model: &facts.model }
        }
        Event::TurnStart { turn } => Line::TurnStart { turn: *turn },
        Event::MessageStart { id } => Line::MessageStart { id: id.as_str() },
        Event::MessageDelta { delta } => Line::MessageDelta(piece(delta)),
        Event::MessageEnd { message } => Line::MessageEnd(committed(message)),
        Event::MessageDiscarded { turn } => Line::MessageDiscarded { turn: *turn },
        Event::ToolStart { call, .. } => {
            Line::ToolStart { id: call.id.as_str(), name: &call.name, args: &call.args }
        }
        Event::ToolProgress { id, progress: Progress::Output { bytes, .. } } => {
            Line::ToolProgress { id: id.as_str(), bytes: *bytes }
        }
        Event::ToolEnd { .. } => return tool_end(event),
        Event::ApprovalAsked { approval } => Line::ApprovalAsked {
            id: approval.call.id.as_str(),
            name: &approval.call.name,
            reason: &approval.reason,
            preview: approval.preview.as_ref(),
        },
        Event::ApprovalClosed { id, answer } => {
            let allowed = matches!(answer, Some(Answer::Once | Answer::Always));
            Line::ApprovalClosed { id: id.as_str(), allowed }
        }
        Event::Retry { attempt, max, delay_ms, error } => {
            Line::Retry { attempt: *attempt, max: *max, delay_ms: *delay_ms, error }
        }
        Event::Notice { finished } => Line::Background { finished },
        Event::StreamFallback => Line::StreamFallback,
        Event::RouteSelected { tier, rule, budget, model } => {
            Line::RouteSelected { tier: *tier, rule, budget: *budget, model }
        }
        Event::RouteEscalated { from, to, budget } => {
            Line::RouteEscalated { from: *from, to: *to, budget: *budget }
        }
        Event::RoutePinned { tier } => Line::RoutePinned { tier: *tier },
        Event::ModelFailover { from, to, error } => Line::ModelFailover { from, to, error },
        Event::LimitChanged { cap, value } => Line::LimitChanged { cap: *cap, value: *value },
        Event::TakenBack { ids, .. } => Line::TakenBack { ids },
        Event::Reflection { number, again, signature } => {
            Line::Reflection { number: *number, again: *again, signature }
        }
        Event::WrapUp { reason } => Line::WrapUp { reason: *reason },
        Event::Compaction { step, phase } => Line::Compaction { step: *step, phase },
        Event::Usage { usage, .. } => Line::Usage { usage: *usage },
        Event::Status { text } => Line::Status { text },
        Event::Error { message } => Line::Error { message },
        Event::TurnEnd { turn } => Line::TurnEnd { turn: *turn },
        Event::Mode { mode } => Line::Mode { mode: *mode },
        Event::Plan { on } => Line::Plan { on: *on },
        Event::Rejected { reason } => Line::Rejected { reason },
        // The end of the run has its own object; queues belong to front ends with a person.
        Event::RunEnd { .. } | Event::Queue { .. } | Event::QueueReturned { .. } => return vec![],
    };
    vec![line]
}

/// A refused call has a line of its own, so that scripts need not know the words of the result.
fn tool_end(event: &Event) -> Vec<Line<'_>> {
    let Event::ToolEnd { id, name, status, result } = event else { return vec![] };
    let id = id.as_str();
    let end = Line::ToolEnd { id, name, status: *status, text: result.text() };
    if *status == CallStatus::Denied {
        return vec![Line::ApprovalDenied { id, name, reason: headline(result) }, end];
    }
    vec![end]
}

fn piece(delta: &Delta) -> Piece<'_> {
    match delta {
        Delta::Text { text } => Piece::Text { text },
        Delta::Thinking { text } => Piece::Thinking { text },
        Delta::Call { name, bytes } => Piece::Call { name, bytes: *bytes },
    }
}

fn committed(message: &Message) -> Committed<'_> {
    let id = message.id().as_str();
    match message {
        Message::User(user) => Committed::User { id, text: text_of(&user.blocks) },
        Message::Assistant(answer) => {
            Committed::Assistant { id, text: answer.text(), stop: answer.stop, usage: answer.usage }
        }
        Message::Tool(result) => Committed::Tool {
            id,
            call_id: result.call_id.as_str(),
            status: result.status,
            text: result.text(),
        },
        Message::Note(note) => Committed::Note { id, text: &note.text },
    }
}

/// Writes one object and its line end at once, so that a reader never sees half a line.
fn write(out: &mut Sink, object: &impl Serialize) -> io::Result<()> {
    let mut line = clean::json(&serde_json::to_string(object)?);
    line.push('\n');
    out.write_all(line.as_bytes())?;
    out.flush()
}

/// The object that stands for a run that never was.
#[derive(Debug, Serialize)]
struct NoRun<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    reason: EndReason,
    text: &'static str,
    turns: u32,
    tool_calls: u32,
    usage: Usage,
    session: &'a str,
    error: RunError,
}

fn no_run<'a>(kind: &'static str, facts: &'a Facts, message: &str) -> NoRun<'a> {
    NoRun {
        kind,
        reason: EndReason::Error,
        text: "",
        turns: 0,
        tool_calls: 0,
        usage: Usage::default(),
        session: &facts.session,
        error: RunError { message: message.trim_end().to_owned(), provider: false },
    }
}

/// One object at the end.
pub struct JsonReport {
    out: Sink,
    err: Sink,
    facts: Facts,
}

/// One object a line.
pub struct StreamReport {
    out: Sink,
    err: Sink,
    facts: Facts,
}

impl std::fmt::Debug for JsonReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonReport").field("facts", &self.facts).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for StreamReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamReport").field("facts", &self.facts).finish_non_exhaustive()
    }
}

impl JsonReport {
    /// Writes to these.
    pub fn new(out: Sink, err: Sink) -> Self {
        Self { out, err, facts: Facts::default() }
    }
}

impl StreamReport {
    /// Writes to these.
    pub fn new(out: Sink, err: Sink) -> Self {
        Self { out, err, facts: Facts::default() }
    }
}

impl Report for JsonReport {
    fn ready(&mut self, ready: &Ready) {
        self.facts = Facts::of(ready);
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        remark_on(&mut self.err, event);
        Ok(())
    }

    fn notice(&mut self, level: Level, text: &str) {
        if level != Level::Info {
            remark(&mut self.err, label(level), text);
        }
    }

    fn finished(&mut self, summary: &RunSummary) -> io::Result<()> {
        write(&mut self.out, &Ended::new("result", &self.facts, summary))
    }

    fn failed(&mut self, message: &str) -> io::Result<()> {
        remark(&mut self.err, "error", message);
        write(&mut self.out, &no_run("result", &self.facts, message))
    }
}

impl Report for StreamReport {
    fn ready(&mut self, ready: &Ready) {
        self.facts = Facts::of(ready);
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        for line in lines(event, &self.facts) {
            write(&mut self.out, &line)?;
        }
        Ok(())
    }

    fn notice(&mut self, level: Level, text: &str) {
        let _closed = write(&mut self.out, &Line::Notice { level: label(level), text });
    }

    fn finished(&mut self, summary: &RunSummary) -> io::Result<()> {
        write(&mut self.out, &Ended::new("run_end", &self.facts, summary))
    }

    fn failed(&mut self, message: &str) -> io::Result<()> {
        remark(&mut self.err, "error", message);
        write(&mut self.out, &Line::Error { message: message.trim_end() })?;
        write(&mut self.out, &no_run("run_end", &self.facts, message))
    }
}
