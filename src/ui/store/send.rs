//! From written words to requests: prompts, steering, follow-ups, slash commands, and taking them
//! back.

use super::overlay::{self, Overlay, TextPanel};
use super::picker::Picker;
use super::plan;
use super::queue::QueuePanel;
use super::rewind;
use super::slash::{self, SlashKind, SlashRow};
use super::{Effect, Phase, Store, Trust, close, remember};
use crate::app::service::{Level, ListKind, Request};
use crate::kernel::command::{Command, Mode, QueueEdit, Setting};
use crate::kernel::event::{QueueKind, Tier};
use crate::kernel::message::Block;
use crate::kernel::ports::Effort;
use crate::ui::store::activity::Run;

/// Largest text that is put on the clipboard, in bytes; terminals drop longer ones silently.
const COPY_LIMIT: usize = 100_000;

pub(super) fn command(command: Command) -> Effect {
    Effect::Request(Request::Loop(command))
}

/// Sends what is in the composer. `kind` is the queue when a run is active.
pub(super) fn submit(store: &mut Store, kind: QueueKind, out: &mut Vec<Effect>) {
    if store.composer.is_blank() {
        go_on(store, out);
        return;
    }
    if let Some(row) = store.menu.chosen(store.composer.slash_word(), &store.skills) {
        let name = format!("/{}", row.name);
        store.composer.set(&name);
    }
    let text = store.composer.text();
    if remember::submit(store, &text, out) {
        return;
    }
    if let Some((name, rest)) = slash::parse(text.trim())
        && !is_skill(store, name)
    {
        run_slash(store, name, rest, out);
        return;
    }
    store.composer.take();
    store.menu.reset();
    if store.history.push(&text) {
        out.push(Effect::SaveHistory(text.clone()));
    }
    deliver(store, text, kind, out);
}

/// Whether `/name` is a skill and so a message like any other.
fn is_skill(store: &Store, name: &str) -> bool {
    slash::find(name).is_none() && store.skills.iter().any(|skill| skill.name == name)
}

/// Enter without words: delivers what waits while nothing runs.
fn go_on(store: &mut Store, out: &mut Vec<Effect>) {
    if store.phase == Phase::Open && !store.activity.is_busy() && !store.queue.is_empty() {
        store.activity.ask(store.now_ms);
        out.push(command(Command::Continue));
    }
}

/// Gives words to the loop in the way its state asks for.
pub(super) fn deliver(store: &mut Store, text: String, kind: QueueKind, out: &mut Vec<Effect>) {
    store.scroll.end();
    if store.phase != Phase::Open || store.activity.run() == Run::Stopping {
        store.pending.push(text);
    } else if store.activity.is_busy() {
        store.unconfirmed.push(text.clone());
        out.push(command(Command::Enqueue { kind, text }));
    } else {
        store.activity.ask(store.now_ms);
        store.asked = Some(text.clone());
        out.push(command(Command::Prompt { blocks: vec![Block::text(text)] }));
    }
}

/// Sends what waited for a session or for the end of a stopped run: the first as prompt, the rest
/// after it.
pub(super) fn deliver_pending(store: &mut Store, out: &mut Vec<Effect>) {
    for text in std::mem::take(&mut store.pending) {
        deliver(store, text, QueueKind::FollowUp, out);
    }
}

/// Stops the run and asks for the queue back.
pub(super) fn stop(store: &mut Store, out: &mut Vec<Effect>) {
    store.activity.stop();
    store.approvals.clear();
    store.question = None;
    out.push(command(Command::Queue(QueueEdit::TakeAll)));
    out.push(command(Command::Abort));
}

/// Returned words become entries of the history; the last one goes into an empty composer.
pub(super) fn take_back(store: &mut Store, texts: &[String]) {
    let Some(last) = texts.last().cloned() else { return };
    for text in texts {
        store.history.push(text);
    }
    if store.composer.is_empty() {
        store.composer.set(&last);
        store.history.show_newest();
        store.menu.reset();
    }
    let hint = match (texts.len(), store.composer.text() == last) {
        (1, true) => return,
        (1, false) => "your message came back; ↑ recalls it when nothing is typed".to_owned(),
        (count, true) => format!("{count} messages came back; ↑ recalls the others"),
        (count, false) => format!("{count} messages came back; ↑ recalls them"),
    };
    store.status.hint(hint, store.now_ms);
}

/// Asks for a mode; trust is confirmed once.
pub(super) fn set_mode(store: &mut Store, mode: Mode, out: &mut Vec<Effect>) {
    if mode == Mode::Trust && store.trust != Trust::Known {
        store.overlay = Some(Overlay::Trust { yes: false });
        return;
    }
    out.push(command(Command::Configure(Setting::Mode(mode))));
}

/// The mode after the one in force.
pub(super) fn next_mode(store: &mut Store, out: &mut Vec<Effect>) {
    let at = Mode::ALL.iter().position(|mode| *mode == store.status.mode).unwrap_or(0);
    let mut next = Mode::ALL[(at + 1) % Mode::ALL.len()];
    if next == Mode::Trust && store.trust == Trust::Refused {
        next = Mode::ALL[0];
    }
    set_mode(store, next, out);
}

/// The answer to the question before trust.
pub(super) fn answer_trust(store: &mut Store, yes: bool, out: &mut Vec<Effect>) {
    store.overlay = None;
    store.trust = if yes { Trust::Known } else { Trust::Refused };
    if yes {
        set_mode(store, Mode::Trust, out);
    }
}

fn run_slash(store: &mut Store, name: &str, rest: &str, out: &mut Vec<Effect>) {
    let Some(row) = slash::find(name) else {
        let near = slash::nearest(name, &store.skills);
        let hint = match near.as_slice() {
            [] => "type / to see all".to_owned(),
            names => format!("did you mean /{}?", names.join(", /")),
        };
        store.notice(Level::Warning, &format!("there is no command /{name}; {hint}"));
        return;
    };
    if row.idle_only && store.activity.is_busy() {
        store.notice(
            Level::Warning,
            &format!("/{name} has to wait for the end of the run; esc stops it"),
        );
        return;
    }
    store.composer.take();
    store.menu.reset();
    carry_out(store, row, rest, out);
}

fn carry_out(store: &mut Store, row: &SlashRow<'_>, rest: &str, out: &mut Vec<Effect>) {
    match row.kind {
        SlashKind::Help => store.overlay = Some(Overlay::Text(overlay::help())),
        SlashKind::New => out.push(Effect::Request(Request::NewSession)),
        SlashKind::Mode => mode_command(store, rest, out),
        SlashKind::Plan => plan::command(store, rest, out),
        SlashKind::Route => route_command(store, rest, out),
        SlashKind::Discard => out.push(command(Command::Discard)),
        SlashKind::Rewind => rewind::command(store, rest, out),
        SlashKind::Status => store.overlay = Some(Overlay::Text(status_page(store))),
        SlashKind::Context => out.push(Effect::Request(Request::Context)),
        SlashKind::Compact => compact(store, rest, out),
        SlashKind::Queue => open_queue(store),
        SlashKind::List(kind) => open_list(store, kind, out),
        SlashKind::Memory => memory_command(store, rest, out),
        // Sent as a message before it comes here.
        SlashKind::Skill => {}
        SlashKind::Model => model_command(store, rest, out),
        SlashKind::Effort => effort_command(store, rest, out),
        SlashKind::Todo => store.overlay = Some(Overlay::Text(store.todos.page())),
        SlashKind::Cost => store.overlay = Some(Overlay::Text(store.status.ledger.page())),
        SlashKind::Login => {
            let provider = Some(rest.to_owned()).filter(|name| !name.is_empty());
            out.push(Effect::Request(Request::Login(provider)));
        }
        SlashKind::Logout if rest.is_empty() => open_list(store, ListKind::Keys, out),
        SlashKind::Logout => out.push(Effect::Request(Request::Logout(rest.to_owned()))),
        SlashKind::Copy => copy(store, out),
        SlashKind::Quit => close(store, 0, out),
    }
}

fn memory_command(store: &mut Store, rest: &str, out: &mut Vec<Effect>) {
    match rest {
        "" => open_list(store, ListKind::Memory, out),
        "undo" => out.push(Effect::Request(Request::ForgetLast)),
        line => out.push(Effect::Request(Request::Remember(line.to_owned()))),
    }
}

fn compact(store: &mut Store, focus: &str, out: &mut Vec<Effect>) {
    let busy = store.activity.is_busy();
    if focus == "undo" {
        if busy {
            let text = "/compact undo has to wait for the end of the run; esc stops it";
            return store.notice(Level::Warning, text);
        }
        store.activity.ask(store.now_ms);
        return out.push(command(Command::UndoCompaction));
    }
    if busy {
        store.status.hint("the conversation is summed up at the end of the run", store.now_ms);
    } else {
        store.activity.ask(store.now_ms);
    }
    out.push(command(Command::Compact { focus: focus.to_owned() }));
}

fn mode_command(store: &mut Store, name: &str, out: &mut Vec<Effect>) {
    if name.is_empty() {
        let names = Mode::ALL.map(Mode::name).join(", ");
        let text = format!("mode is {}; there are {names}", store.status.mode.name());
        store.notice(Level::Info, &text);
    } else if let Some(mode) = Mode::from_name(name) {
        set_mode(store, mode, out);
    } else {
        let names = Mode::ALL.map(Mode::name).join(", ");
        store.notice(Level::Warning, &format!("there is no mode {name}; there are {names}"));
    }
}

fn route_command(store: &mut Store, name: &str, out: &mut Vec<Effect>) {
    let names = "fast, medium, full and auto";
    if name == "auto" {
        out.push(command(Command::Configure(Setting::Route(None))));
    } else if let Some(tier) = Tier::from_name(name) {
        out.push(command(Command::Configure(Setting::Route(Some(tier)))));
    } else if name.is_empty() {
        let way = match store.status.pinned {
            Some(tier) => format!("every request takes the {} route", tier.name()),
            None => "the words of a request choose its route".to_owned(),
        };
        let last = store.status.tier.map(|tier| format!(", the last took {}", tier.name()));
        let text = format!("{way}{}; there are {names}", last.unwrap_or_default());
        store.notice(Level::Info, &text);
    } else {
        store.notice(Level::Warning, &format!("there is no route {name}; there are {names}"));
    }
}

/// Without a name the list; `small` before it means the model for side work.
fn model_command(store: &mut Store, rest: &str, out: &mut Vec<Effect>) {
    let (small, name) = match rest.split_once(char::is_whitespace).unwrap_or((rest, "")) {
        ("small", name) => (true, name.trim()),
        ("main", name) => (false, name.trim()),
        _ => (false, rest),
    };
    if name.is_empty() {
        let kind = if small { ListKind::SmallModels } else { ListKind::Models };
        return open_list(store, kind, out);
    }
    out.push(Effect::Request(Request::Model { reference: name.to_owned(), small }));
}

fn effort_command(store: &mut Store, name: &str, out: &mut Vec<Effect>) {
    let names = Effort::ALL.map(Effort::name).join(", ");
    let known = Effort::from_name(name);
    if name.is_empty() {
        let now = store.status.effort.map_or("auto", Effort::name);
        return store.notice(Level::Info, &format!("effort is {now}; there are auto, {names}"));
    }
    if known.is_none() && name != "auto" {
        let text = format!("there is no effort {name}; there are auto, {names}");
        return store.notice(Level::Warning, &text);
    }
    let text = format!("effort {} from the next request on", known.map_or("auto", Effort::name));
    store.status.hint(text, store.now_ms);
    out.push(Effect::Request(Request::Effort(known)));
}

/// Starts the run that goes on where the last one reached its limit. After a report the model has
/// spoken last, so the user's word is needed.
pub(super) fn go_on_after(store: &mut Store, reported: bool, out: &mut Vec<Effect>) {
    if reported && store.queue.is_empty() {
        deliver(store, "continue".to_owned(), QueueKind::FollowUp, out);
    } else {
        store.activity.ask(store.now_ms);
        out.push(command(Command::Continue));
    }
}

/// Opens the panel of a list and asks for the list.
pub(super) fn open_list(store: &mut Store, kind: ListKind, out: &mut Vec<Effect>) {
    store.overlay = Some(Overlay::List(Picker::new(kind)));
    out.push(Effect::Request(Request::List(kind)));
}

/// Opens the queue panel, or says that nothing waits.
pub(super) fn open_queue(store: &mut Store) {
    if store.queue.is_empty() {
        store.status.hint("nothing waits", store.now_ms);
    } else {
        store.overlay = Some(Overlay::Queue(QueuePanel::default()));
    }
}

fn copy(store: &mut Store, out: &mut Vec<Effect>) {
    let answer = store.transcript.last_answer().map(str::to_owned);
    match answer {
        None => store.notice(Level::Info, "there is no answer to copy yet"),
        Some(text) if text.len() > COPY_LIMIT => store.notice(
            Level::Warning,
            "the answer is longer than 100 KB, which terminals do not take; it was not copied",
        ),
        Some(text) => {
            let done = format!("asked the terminal to copy {} characters", text.chars().count());
            store.status.hint(done, store.now_ms);
            out.push(Effect::Copy(text));
        }
    }
}

fn status_page(store: &Store) -> TextPanel {
    let status = &store.status;
    let mut lines = Vec::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push((name.to_owned(), value));
        }
    };
    add("version", env!("CARGO_PKG_VERSION").to_owned());
    add("workspace", status.workspace.clone());
    add("branch", status.branch.clone().unwrap_or_default());
    add("session", status.session.clone());
    if let Some(model) = &status.model {
        add("model", model.model.to_string());
        add("window", format!("{} tokens", model.context_window));
    }
    add("mode", status.mode.name().to_owned());
    add("sandbox", status.sandbox.clone());
    let usage = status.usage;
    add("input", format!("{} tokens, {} of them cached", usage.total_input(), usage.cache_read));
    add("output", format!("{} tokens", usage.output));
    add("context", status.context_percent().map(|p| format!("{p}% full")).unwrap_or_default());
    add("cost", status.cost.map(|cost| format!("${cost:.4}")).unwrap_or_default());
    TextPanel { title: "Status".to_owned(), lines, scroll: 0 }
}
