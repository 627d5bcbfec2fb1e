//! Text for people: the final answer on stdout, what deserves a look as single lines on stderr.

use std::io::{self, Write};

use super::clean;
use super::report::{Report, Sink};
use crate::app::service::{Level, Ready};
use crate::kernel::event::{Event, RunSummary, WrapReason};
use crate::kernel::message::{CallStatus, ToolMessage};

/// Longest line on stderr, in characters.
const LINE: usize = 300;

/// Writes one line for people on `err`, cleaned and shortened; a closed stderr is ignored.
pub fn remark(err: &mut dyn Write, label: &str, text: &str) {
    let line: String = clean::line(text).chars().take(LINE).collect();
    let _closed = writeln!(err, "{label}: {line}").and_then(|()| err.flush());
}

/// Notices, retries, refusals and errors on `err`, shared by all formats.
pub fn remark_on(err: &mut dyn Write, event: &Event) {
    match event {
        Event::Retry { attempt, max, delay_ms, error } => {
            let wait = *delay_ms as f64 / 1000.0;
            remark(err, "retry", &format!("{error}; attempt {attempt} of {max} in {wait:.1} s"));
        }
        Event::ToolEnd { name, status: CallStatus::Denied, result, .. } => {
            remark(err, "denied", &format!("{name}: {}", result.text()));
        }
        Event::Status { text } => remark(err, "note", text),
        Event::Reflection { number, again: false, signature } => {
            let text =
                format!("no progress, the model is asked to reflect ({number}): {signature}");
            remark(err, "note", &text);
        }
        Event::WrapUp { reason } => remark(err, "note", wrap_line(*reason)),
        Event::ModelFailover { from, to, error } => {
            remark(err, "warning", &format!("{from} failed, {to} answers instead: {error}"));
        }
        // The same words come again with the end of the run.
        Event::Error { .. }
        | Event::Rejected { .. }
        | Event::RunStart { .. }
        | Event::TurnStart { .. }
        | Event::MessageStart { .. }
        | Event::MessageDelta { .. }
        | Event::MessageEnd { .. }
        | Event::MessageDiscarded { .. }
        | Event::ToolStart { .. }
        | Event::ToolProgress { .. }
        | Event::ToolEnd { .. }
        | Event::ApprovalAsked { .. }
        | Event::ApprovalClosed { .. }
        | Event::StreamFallback
        | Event::RouteSelected { .. }
        | Event::RouteEscalated { .. }
        | Event::RoutePinned { .. }
        | Event::LimitChanged { .. }
        | Event::TakenBack { .. }
        | Event::Reflection { .. }
        | Event::Usage { .. }
        | Event::Compaction { .. }
        | Event::Notice { .. }
        | Event::TurnEnd { .. }
        | Event::RunEnd { .. }
        | Event::Queue { .. }
        | Event::QueueReturned { .. }
        | Event::Mode { .. }
        | Event::Plan { .. } => {}
    }
}

/// Why the run ends with a report.
fn wrap_line(reason: WrapReason) -> &'static str {
    match reason {
        WrapReason::MaxIters => "the calls of this request are used up, the model reports",
        WrapReason::Stuck => "no progress after two reflections, the model reports",
        WrapReason::MaxTurns => "the limit on turns is reached, the model reports",
    }
}

/// The label of a notice.
pub fn label(level: Level) -> &'static str {
    match level {
        Level::Info => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

/// The first line of a result, for a log of single lines.
pub fn headline(result: &ToolMessage) -> String {
    result.text().lines().next().unwrap_or_default().to_owned()
}

/// Writes the final answer and remarks.
pub struct TextReport {
    out: Sink,
    err: Sink,
    for_eyes: bool,
}

impl std::fmt::Debug for TextReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReport").field("for_eyes", &self.for_eyes).finish_non_exhaustive()
    }
}

impl TextReport {
    /// Writes to these; `for_eyes` takes controls out of the answer.
    pub fn new(out: Sink, err: Sink, for_eyes: bool) -> Self {
        Self { out, err, for_eyes }
    }
}

impl Report for TextReport {
    fn ready(&mut self, _ready: &Ready) {}

    fn event(&mut self, event: &Event) -> io::Result<()> {
        remark_on(&mut self.err, event);
        Ok(())
    }

    fn notice(&mut self, level: Level, text: &str) {
        // What is merely good to know has no place beside an answer that may be piped on.
        if level != Level::Info {
            remark(&mut self.err, label(level), text);
        }
    }

    fn finished(&mut self, summary: &RunSummary) -> io::Result<()> {
        let answer = summary.text.trim_end();
        if !answer.is_empty() {
            let answer = if self.for_eyes { clean::text(answer) } else { answer.to_owned() };
            writeln!(self.out, "{answer}")?;
            self.out.flush()?;
        }
        if let Some(error) = &summary.error {
            remark(&mut self.err, "error", &error.message);
        }
        Ok(())
    }

    fn failed(&mut self, message: &str) -> io::Result<()> {
        // Several lines may hold one remedy each.
        let message = clean::text(message);
        let _closed = writeln!(self.err, "error: {}", message.trim_end());
        Ok(())
    }
}
