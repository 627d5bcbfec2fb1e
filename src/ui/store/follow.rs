//! What the loop and the application report, and what follows from it.

use super::limit::LimitPanel;
use super::meter::MeterPanel;
use super::overlay::Overlay;
use super::picker::Picker;
use super::question::QuestionPanel;
use super::rewind;
use super::send::{command, deliver_pending, take_back};
use super::setup::SetupPanel;
use super::todos::Todos;
use super::{Effect, Exit, Phase, Store, Trust};
use crate::app::service::{JobLine, Level, ListKind, Ready, Request, Update};
use crate::kernel::command::{Command, Mode};
use crate::kernel::event::{EndReason, Event, QueueItem, RunSummary};
use crate::ui::store::activity::Run;
use crate::ui::store::transcript::Transcript;

/// Follows the loop.
pub(super) fn event(store: &mut Store, event: &Event, out: &mut Vec<Effect>) {
    store.transcript.apply(event, store.now_ms);
    store.activity.apply(event, store.now_ms);
    store.status.apply(event);
    store.todos.apply(event);
    match event {
        Event::RunStart { .. } => {
            store.asked = None;
            store.overlay.take_if(|overlay| matches!(overlay, Overlay::Limit(_)));
        }
        Event::TakenBack { text, .. } => take_back(store, std::slice::from_ref(text)),
        Event::ApprovalAsked { approval } => {
            if store.activity.run() == Run::Stopping {
                return;
            }
            store.approvals.push(approval.clone(), store.now_ms);
            if !store.focused {
                out.push(Effect::Bell);
            }
        }
        Event::ApprovalClosed { id, .. } => store.approvals.close(id, store.now_ms),
        Event::RunEnd { summary } => run_end(store, summary, out),
        Event::Queue { items } => queue(store, items, out),
        Event::QueueReturned { items } => {
            store.queue.clear();
            store.unconfirmed.clear();
            let texts: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
            take_back(store, &texts);
        }
        Event::Rejected { reason } => rejected(store, reason),
        _ => {}
    }
}

fn run_end(store: &mut Store, summary: &RunSummary, out: &mut Vec<Effect>) {
    store.approvals.clear();
    store.asked = None;
    if !store.focused && summary.reason != EndReason::Aborted {
        out.push(Effect::Bell);
    }
    deliver_pending(store, out);
    let is_idle = !store.activity.is_busy() && store.phase == Phase::Open;
    if let Some(reached) = summary.limit.filter(|_| is_idle && store.overlay.is_none()) {
        let panel = LimitPanel::new(reached, summary.wrap.is_some(), store.now_ms);
        store.overlay = Some(Overlay::Limit(panel));
    }
    if !store.queue.is_empty() && !store.activity.is_busy() {
        store.status.hint("messages wait: enter sends them, /queue edits", store.now_ms);
    }
}

/// The queues changed. Words that were sent while the run was just ending wait in an idle loop:
/// they are meant for now.
fn queue(store: &mut Store, items: &[QueueItem], out: &mut Vec<Effect>) {
    let before = store.unconfirmed.len();
    for item in items {
        if let Some(at) = store.unconfirmed.iter().position(|text| *text == item.text) {
            store.unconfirmed.remove(at);
        }
    }
    let late = store.unconfirmed.len() < before;
    store.queue = items.to_vec();
    if late && !store.activity.is_busy() && store.phase == Phase::Open {
        store.activity.ask(store.now_ms);
        out.push(command(Command::Continue));
    }
}

fn rejected(store: &mut Store, reason: &str) {
    let asked = store.asked.take();
    store.activity.refuse();
    store.notice(Level::Warning, reason);
    take_back(store, asked.as_slice());
}

/// Follows the application.
pub(super) fn news(store: &mut Store, news: Update, out: &mut Vec<Effect>) {
    match news {
        Update::Ready(ready) => open(store, &ready, out),
        Update::Setup(setup) => {
            let open = store.phase == Phase::Open;
            store.setup.get_or_insert_with(|| SetupPanel::new(open)).update(&setup);
        }
        Update::Rewound { history, draft } => rewind::rewound(store, &history, &draft),
        Update::SetupDone => store.setup = None,
        Update::Question { id, questions } => {
            store.question = Some(QuestionPanel::new(id, questions, store.now_ms));
            if !store.focused {
                out.push(Effect::Bell);
            }
        }
        Update::QuestionClosed { id } => {
            store.question.take_if(|panel| *panel.id() == id);
        }
        Update::Model { info, effort } => {
            store.status.model = Some(*info);
            store.status.effort = effort;
        }
        Update::Jobs(lines) => jobs(store, lines, out),
        Update::Context(report) => store.overlay = Some(Overlay::Context(MeterPanel::new(report))),
        Update::List(listing) => {
            if let Some(Overlay::List(picker)) = &mut store.overlay {
                picker.update(listing);
            }
        }
        Update::Skills(skills) => store.skills = skills,
        Update::Edit { id, text } => out.push(Effect::EditEntry(id, text)),
        Update::Branch(branch) => store.status.branch = branch,
        Update::Notice { level, text } => store.notice(level, &text),
        Update::Failed(failure) => {
            out.push(Effect::Leave(Exit { code: failure.exit_code, error: Some(failure.message) }));
        }
        Update::Closed => {
            let code = closing_code(store).unwrap_or(0);
            out.push(Effect::Leave(Exit { code, error: None }));
        }
    }
}

/// The list of jobs is new: ends are told, and a panel that shows it asks for it again.
fn jobs(store: &mut Store, lines: Vec<JobLine>, out: &mut Vec<Effect>) {
    for ended in store.jobs.update(lines) {
        store.status.hint(ended.clone(), store.now_ms);
        store.notice(Level::Info, &ended);
    }
    let shows = |picker: &Picker| picker.kind() == ListKind::Tasks;
    if matches!(&store.overlay, Some(Overlay::List(picker)) if shows(picker)) {
        out.push(Effect::Request(Request::List(ListKind::Tasks)));
    }
}

fn open(store: &mut Store, ready: &Ready, out: &mut Vec<Effect>) {
    if store.closing_since().is_some() {
        return;
    }
    if store.phase == Phase::Open {
        // Another session: nothing of the old one stays but the draft.
        store.session += 1;
        store.transcript = Transcript::default();
        store.scroll.end();
        store.activity = super::Activity::default();
        store.approvals.clear();
        store.jobs = super::Jobs::default();
        store.question = None;
        store.queue.clear();
        store.unconfirmed.clear();
    }
    store.phase = Phase::Open;
    store.setup = None;
    store.overlay = None;
    store.status.open(ready);
    if ready.mode == Mode::Trust {
        store.trust = Trust::Known;
    }
    store.todos = Todos::load(&ready.history);
    store.transcript.load(&ready.history);
    deliver_pending(store, out);
}

/// The application ended without a word.
pub(super) fn app_gone(store: &mut Store, out: &mut Vec<Effect>) {
    out.push(Effect::Leave(match closing_code(store) {
        Some(code) => Exit { code, error: None },
        None => Exit {
            code: 1,
            error: Some("codebot stopped unexpectedly; the log file says more".to_owned()),
        },
    }));
}

fn closing_code(store: &Store) -> Option<u8> {
    match store.phase {
        Phase::Closing { code, .. } => Some(code),
        Phase::Starting | Phase::Open => None,
    }
}
