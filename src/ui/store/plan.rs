//! Planning on the screen: the key and the command that switch it, and the answer that ends it.

use super::send::command as request;
use super::{Effect, Store};
use crate::app::service::Level;
use crate::kernel::command::{Answer, Command, Mode, Setting};
use crate::kernel::message::CallId;

/// `/plan`, `/plan on`, `/plan off`.
pub(super) fn command(store: &mut Store, word: &str, out: &mut Vec<Effect>) {
    match word {
        "" => toggle(store, out),
        "on" | "off" => switch(store, word == "on", out),
        _ => store.notice(Level::Warning, "use /plan, /plan on or /plan off"),
    }
}

/// The other way round than it is.
pub(super) fn toggle(store: &mut Store, out: &mut Vec<Effect>) {
    let on = !store.status.planning;
    switch(store, on, out);
}

fn switch(store: &mut Store, on: bool, out: &mut Vec<Effect>) {
    let hint = if on { "planning: nothing is changed until you agree" } else { "planning is off" };
    store.status.hint(hint, store.now_ms);
    out.push(request(Command::Configure(Setting::Plan(on))));
}

/// The plan was agreed to: planning ends before its call goes on, so that what follows is judged by
/// the mode.
pub(super) fn agreed(id: CallId, edits: bool, out: &mut Vec<Effect>) {
    if edits {
        out.push(request(Command::Configure(Setting::Mode(Mode::AcceptEdits))));
    }
    out.push(request(Command::Configure(Setting::Plan(false))));
    out.push(request(Command::Answer { id, answer: Answer::Once }));
}
