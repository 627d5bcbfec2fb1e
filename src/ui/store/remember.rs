//! `#` and a line in the composer: remembered at once, not sent.

use super::{Effect, Store};
use crate::app::service::Request;

/// What stands above the composer while such a line is written.
pub const HINT: &str = "enter remembers this line for later sessions; it is not sent";

/// The line to remember, when the text is one: a single line that begins with one `#`.
pub fn line(text: &str) -> Option<&str> {
    let rest = text.trim().strip_prefix('#')?;
    (!rest.starts_with('#') && !rest.contains('\n')).then_some(rest.trim())
}

/// Whether such a line is being written.
pub fn is_written(store: &Store) -> bool {
    matches!(store.composer.lines(), [only] if line(only).is_some())
}

/// Sends the line to the memory; false when the text is none.
pub(super) fn submit(store: &mut Store, text: &str, out: &mut Vec<Effect>) -> bool {
    let Some(line) = line(text) else { return false };
    if line.is_empty() {
        store.status.hint("write what to remember after the #", store.now_ms);
        return true;
    }
    out.push(Effect::Request(Request::Remember(line.to_owned())));
    store.history.push(text);
    store.composer.take();
    store.menu.reset();
    true
}
