//! The answer under way: deltas become assistant and thinking cells, the committed message has the
//! last word. A delta costs its own length, whatever was said before.

use crate::kernel::event::Delta;
use crate::kernel::message::{AssistantMessage, Block, Stop};
use crate::ui::text::sanitize::{self, Cleaner};

use super::{CellId, CellKind, Transcript};
use crate::app::service::Level;

/// What is known of the answer under way.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Cells of this answer, in order.
    cells: Vec<CellId>,
    /// The one that deltas of its kind are added to.
    current: Option<(CellId, bool)>,
    cleaner: Cleaner,
    /// Ids from here on were made since the answer began.
    since: Option<CellId>,
}

/// A stretch of answer text or of reasoning.
struct Segment {
    thinking: bool,
    text: String,
}

impl Transcript {
    pub(super) fn begin_answer(&mut self) {
        self.close_answer();
        self.answer.since = Some(CellId(self.next));
    }

    pub(super) fn delta(&mut self, delta: &Delta) {
        match delta {
            Delta::Text { text } => self.answer_text(text, false),
            Delta::Thinking { text } => self.answer_text(text, true),
            Delta::Call { .. } => self.pause_answer(),
        }
    }

    fn answer_text(&mut self, text: &str, thinking: bool) {
        if !matches!(self.answer.current, Some((_, kind)) if kind == thinking) {
            self.pause_answer();
            let text = text.trim_start();
            if text.is_empty() {
                return;
            }
            let kind = fresh(thinking, String::new(), true);
            let id = self.push(kind);
            self.answer.cells.push(id);
            self.answer.current = Some((id, thinking));
            self.grow(id, text);
        } else if let Some((id, _)) = self.answer.current {
            self.grow(id, text);
        }
    }

    fn grow(&mut self, id: CellId, added: &str) {
        let mut cleaner = self.answer.cleaner;
        let mut lines = 0;
        self.change(id, |cell| {
            if let Some(text) = text_mut(&mut cell.kind) {
                let before = text.len();
                cleaner.push(added, text);
                lines = text[before..].bytes().filter(|byte| *byte == b'\n').count() as u64;
            }
        });
        self.lines += lines;
        self.answer.cleaner = cleaner;
    }

    /// Ends the stretch under way; later text opens a cell of its own.
    pub(super) fn pause_answer(&mut self) {
        let Some((id, _)) = self.answer.current.take() else { return };
        let mut cleaner = std::mem::take(&mut self.answer.cleaner);
        self.change(id, |cell| {
            if let Some(text) = text_mut(&mut cell.kind) {
                cleaner.finish(text);
            }
            if let CellKind::Assistant { streaming, .. } | CellKind::Thinking { streaming, .. } =
                &mut cell.kind
            {
                *streaming = false;
            }
        });
    }

    /// Ends the answer as it stands.
    pub(super) fn close_answer(&mut self) {
        self.pause_answer();
        self.answer = Answer::default();
    }

    pub(super) fn discard_answer(&mut self) {
        let Some(since) = self.answer.since else { return };
        self.close_answer();
        self.remove(
            |cell| {
                matches!(
                    cell.kind,
                    CellKind::Assistant { .. } | CellKind::Thinking { .. } | CellKind::Tool(_)
                )
            },
            since,
        );
    }

    /// Takes in the committed message. Its calls get a cell here only when it comes from a history:
    /// those of an answer under way get theirs when they start, and may have ended by now.
    pub(super) fn end_answer(&mut self, message: &AssistantMessage, now_ms: u64) {
        self.pause_answer();
        let Answer { cells: live, since, .. } = std::mem::take(&mut self.answer);
        if live.is_empty() {
            self.write_answer(message, since.is_none(), now_ms);
        } else if !self.is_same(&live, message) {
            self.rewrite(&live, segments(message));
        }
        match message.stop {
            Stop::Refusal => self.notice(Level::Warning, "the model declined to answer"),
            Stop::ContentFilter => {
                self.notice(Level::Warning, "the service's filter cut the answer off");
            }
            Stop::EndTurn
            | Stop::ToolUse
            | Stop::Length
            | Stop::Pause
            | Stop::Error
            | Stop::Aborted => {}
        }
    }

    fn write_answer(&mut self, message: &AssistantMessage, with_calls: bool, now_ms: u64) {
        let mut run: Option<Segment> = None;
        for block in &message.blocks {
            match block {
                Block::Call(call) => {
                    self.write_segment(run.take());
                    if with_calls && !self.is_running(&call.id) {
                        self.start_call(call, None, now_ms);
                    }
                }
                Block::Text { text } => self.join(&mut run, text, false),
                Block::Thinking { text, .. } => self.join(&mut run, text, true),
                Block::Image { .. } | Block::Opaque(_) => {}
            }
        }
        self.write_segment(run);
    }

    fn join(&mut self, run: &mut Option<Segment>, text: &str, thinking: bool) {
        if run.as_ref().is_some_and(|segment| segment.thinking != thinking) {
            self.write_segment(run.take());
        }
        run.get_or_insert_with(|| Segment { thinking, text: String::new() }).text.push_str(text);
    }

    fn write_segment(&mut self, segment: Option<Segment>) {
        let Some(Segment { thinking, text }) = segment else { return };
        let text = cleaned(&text);
        if !text.is_empty() {
            self.lines += text.bytes().filter(|byte| *byte == b'\n').count() as u64;
            self.push(fresh(thinking, text, false));
        }
    }

    /// Whether the cells say what the message says; where calls cut them does not matter.
    fn is_same(&self, live: &[CellId], message: &AssistantMessage) -> bool {
        [false, true].into_iter().all(|wanted| {
            let mut said = String::new();
            for segment in segments(message).iter().filter(|segment| segment.thinking == wanted) {
                said.push_str(&segment.text);
            }
            let mut shown = String::new();
            for cell in live.iter().filter_map(|id| self.get(*id)) {
                match &cell.kind {
                    CellKind::Assistant { text, .. } if !wanted => shown.push_str(text),
                    CellKind::Thinking { text, .. } if wanted => shown.push_str(text),
                    _ => {}
                }
            }
            let shown: Vec<&str> = shown.split_whitespace().collect();
            said.split_whitespace().eq(shown)
        })
    }

    /// Puts the message's own text into the cells; surplus cells go, missing ones come.
    fn rewrite(&mut self, live: &[CellId], segments: Vec<Segment>) {
        let mut left = live.iter();
        for segment in segments {
            let kind = fresh(segment.thinking, segment.text, false);
            match left.next() {
                Some(id) => self.change(*id, |cell| {
                    cell.kind = kind;
                    cell.base = cell.version + 1;
                }),
                None => {
                    self.push(kind);
                }
            }
        }
        let surplus: Vec<CellId> = left.copied().collect();
        if let Some(first) = surplus.first() {
            self.remove(|cell| surplus.contains(&cell.id), *first);
        }
    }
}

fn segments(message: &AssistantMessage) -> Vec<Segment> {
    let mut out: Vec<Segment> = Vec::new();
    let mut cut = true;
    for block in &message.blocks {
        let (thinking, text) = match block {
            Block::Text { text } => (false, text),
            Block::Thinking { text, .. } => (true, text),
            Block::Call(_) => {
                cut = true;
                continue;
            }
            Block::Image { .. } | Block::Opaque(_) => continue,
        };
        match out.last_mut() {
            Some(last) if !cut && last.thinking == thinking => last.text.push_str(text),
            _ => out.push(Segment { thinking, text: text.clone() }),
        }
        cut = false;
    }
    for segment in &mut out {
        segment.text = cleaned(&segment.text);
    }
    out.retain(|segment| !segment.text.is_empty());
    out
}

fn cleaned(text: &str) -> String {
    sanitize::clean(text.trim_start()).into_owned()
}

fn fresh(thinking: bool, text: String, streaming: bool) -> CellKind {
    if thinking {
        CellKind::Thinking { text, streaming }
    } else {
        CellKind::Assistant { text, streaming }
    }
}

fn text_mut(kind: &mut CellKind) -> Option<&mut String> {
    match kind {
        CellKind::Assistant { text, .. } | CellKind::Thinking { text, .. } => Some(text),
        CellKind::User { .. }
        | CellKind::Tool(_)
        | CellKind::Retry { .. }
        | CellKind::Notice { .. }
        | CellKind::Summary { .. } => None,
    }
}
