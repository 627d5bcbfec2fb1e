//! Going back to an earlier turn, as far as the screen is concerned: how it is asked for, and what
//! becomes of transcript and composer. The lists themselves are in [`super::picker`].

use super::send::{open_list, take_back};
use super::todos::Todos;
use super::transcript::Transcript;
use super::{Effect, Store};
use crate::app::service::{Level, ListKind, Request};
use crate::kernel::message::Message;

/// A second Esc within this time asks for it, in milliseconds.
const DOUBLE_MS: u64 = 1000;

/// Esc, and there was nothing else to do for it.
pub(super) fn escaped(store: &mut Store, out: &mut Vec<Effect>) {
    let before = store.escaped_ms.replace(store.now_ms);
    if before.is_some_and(|at| store.now_ms - at <= DOUBLE_MS) {
        store.escaped_ms = None;
        open_list(store, ListKind::Turns, out);
    }
}

/// `/rewind`.
pub(super) fn command(store: &mut Store, rest: &str, out: &mut Vec<Effect>) {
    match rest {
        "" => open_list(store, ListKind::Turns, out),
        "redo" => out.push(Effect::Request(Request::Redo)),
        other => {
            let text = format!(
                "/rewind {other} is not known; /rewind shows the turns, /rewind redo goes forth again"
            );
            store.notice(Level::Warning, &text);
        }
    }
}

/// The conversation is another one; the words that began what is gone come back to the composer.
pub(super) fn rewound(store: &mut Store, history: &[Message], draft: &str) {
    store.session += 1;
    store.transcript = Transcript::default();
    store.transcript.load(history);
    store.todos = Todos::load(history);
    store.scroll.end();
    if !draft.is_empty() {
        take_back(store, &[draft.to_owned()]);
    }
}
