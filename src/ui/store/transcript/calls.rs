//! Tool cells: from a call's start over its progress to its result. Outputs are bounded, each and
//! in all; what was left out says so.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use crate::kernel::event::{Approval, Preview, Progress};
use crate::kernel::message::{CallId, CallStatus, Detail, ToolCall, ToolMessage};
use crate::ui::text::sanitize;

use super::{CellId, CellKind, ToolCell, ToolState, Transcript, bytes_text};

/// Bytes of output kept in a cell.
const OUTPUT_MAX: usize = 64 * 1024;
/// Of these, bytes of its beginning.
const OUTPUT_HEAD: usize = 48 * 1024;
/// Bytes of output kept in all cells; above that the oldest are cut to [`OUTPUT_OLD`].
const TOTAL_MAX: usize = 16 * 1024 * 1024;
const OUTPUT_OLD: usize = 2 * 1024;
/// Bytes of a title.
const TITLE_MAX: usize = 400;
/// Arguments that say what a call is about, most telling first.
const MAIN_ARGS: &[&str] = &[
    "command",
    "pattern",
    "file_path",
    "path",
    "query",
    "url",
    "task",
    "description",
    "name",
    "question",
    "prompt",
];

/// Which cell belongs to which call, and how much output is kept.
#[derive(Debug, Default)]
pub(super) struct Calls {
    running: HashMap<CallId, CellId>,
    outputs: VecDeque<(CellId, usize)>,
    total: usize,
}

impl Transcript {
    pub(super) fn is_running(&self, id: &CallId) -> bool {
        self.calls.running.contains_key(id)
    }

    pub(super) fn is_any_running(&self) -> bool {
        !self.calls.running.is_empty()
    }

    pub(super) fn start_call(&mut self, call: &ToolCall, preview: Option<&Preview>, now_ms: u64) {
        let tool = ToolCell {
            call: call.id.clone(),
            name: sanitize::clean_line(&call.name).into_owned(),
            title: title(&call.args),
            preview: preview.cloned(),
            state: ToolState::Running,
            started_ms: now_ms,
            output: String::new(),
            bytes: 0,
            detail: None,
        };
        let id = self.push(CellKind::Tool(Box::new(tool)));
        self.calls.running.insert(call.id.clone(), id);
    }

    pub(super) fn progress(&mut self, id: &CallId, progress: &Progress) {
        let Progress::Output { tail, bytes } = progress;
        self.change_call(id, |tool| {
            tool.output = sanitize::clean_output(tail).into_owned();
            tool.bytes = *bytes;
        });
    }

    pub(super) fn ask(&mut self, approval: &Approval) {
        self.change_call(&approval.call.id, |tool| {
            tool.state = ToolState::Asking;
            if approval.preview.is_some() {
                tool.preview.clone_from(&approval.preview);
            }
        });
    }

    /// The wait for an answer is over; it is no part of the call's own time.
    pub(super) fn asked(&mut self, id: &CallId, now_ms: u64) {
        self.change_call(id, |tool| {
            if tool.state == ToolState::Asking {
                tool.state = ToolState::Running;
                tool.started_ms = now_ms;
            }
        });
    }

    pub(super) fn end_call(
        &mut self,
        id: &CallId,
        status: CallStatus,
        result: &ToolMessage,
        now_ms: u64,
    ) {
        let output = bounded(&sanitize::clean_output(&result.text()));
        let kept = output.len();
        self.change_call(id, |tool| {
            tool.state = ToolState::Ended { status, at_ms: now_ms };
            tool.output = output;
            tool.detail.clone_from(&result.detail);
            match &tool.detail {
                Some(Detail::Diff(_)) => tool.preview = None,
                Some(Detail::Shell { bytes, .. }) => tool.bytes = *bytes,
                Some(Detail::File { .. } | Detail::Hits { .. } | Detail::Todos { .. }) | None => {}
            }
        });
        if let Some(cell) = self.calls.running.remove(id) {
            self.calls.outputs.push_back((cell, kept));
            self.calls.total += kept;
            self.cut_oldest();
        }
    }

    /// Ends every call that never got a result.
    pub(super) fn close_calls(&mut self, now_ms: u64) {
        let open: Vec<CallId> = self.calls.running.keys().cloned().collect();
        for id in open {
            self.change_call(&id, |tool| {
                tool.state = ToolState::Ended { status: CallStatus::Cancelled, at_ms: now_ms };
            });
        }
        self.calls.running.clear();
    }

    fn cut_oldest(&mut self) {
        while self.calls.total > TOTAL_MAX {
            let Some((id, kept)) = self.calls.outputs.pop_front() else { return };
            self.calls.total -= kept;
            self.change(id, |cell| {
                if let CellKind::Tool(tool) = &mut cell.kind
                    && tool.output.len() > OUTPUT_OLD
                {
                    let left_out = tool.output.len() - OUTPUT_OLD;
                    tool.output.truncate(tool.output.floor_char_boundary(OUTPUT_OLD));
                    tool.output.shrink_to_fit();
                    tool.output.push_str(&left_out_line(left_out));
                }
            });
        }
    }

    fn change_call(&mut self, id: &CallId, change: impl FnOnce(&mut ToolCell)) {
        let Some(cell) = self.calls.running.get(id).copied() else { return };
        self.change(cell, |cell| {
            if let CellKind::Tool(tool) = &mut cell.kind {
                change(tool);
            }
        });
    }
}

/// The beginning and the end of a text that is too long.
fn bounded(text: &str) -> String {
    if text.len() <= OUTPUT_MAX {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(OUTPUT_HEAD);
    let tail = text.floor_char_boundary(text.len() - (OUTPUT_MAX - OUTPUT_HEAD));
    format!("{}{}{}", &text[..head], left_out_line(tail - head), &text[tail..])
}

fn left_out_line(bytes: usize) -> String {
    format!("\n… {} left out …\n", bytes_text(bytes as u64))
}

/// What a call is about: its main argument in one line.
fn title(args: &Map<String, Value>) -> String {
    let main = MAIN_ARGS.iter().find_map(|name| args.get(*name)?.as_str());
    let text = main.or_else(|| args.values().find_map(Value::as_str)).unwrap_or_default();
    let first = text.trim_start().lines().next().unwrap_or_default();
    let more = text.trim().lines().nth(1).is_some();
    let cut = first.floor_char_boundary(TITLE_MAX);
    let mut title = sanitize::clean_line(&first[..cut]).into_owned();
    let place = args.get("path").and_then(Value::as_str);
    if args.contains_key("pattern")
        && let Some(path) = place.filter(|path| !path.is_empty())
    {
        title.push_str(" in ");
        title.push_str(&sanitize::clean_line(&path[..path.floor_char_boundary(TITLE_MAX)]));
    }
    if more || cut < first.len() {
        title.push_str(" …");
    }
    title
}
