//! The lists of the application: makes the one that was asked for and carries out what was picked
//! from it. One arm a list; what a list is made of stays in its own room. To add a list: a variant
//! of [`ListKind`], an arm in both functions here, a row in the table of slash commands.

use super::build::Session;
use super::jobs;
use super::service::{ListKind, Listing, Pick, Update};

/// The list as it is now.
pub(super) fn make(session: &Session, kind: ListKind) -> Listing {
    match kind {
        ListKind::Tasks => jobs::listing(&session.tools),
    }
}

/// Carries out what was picked; returns what the front end is to hear, mostly the list as it is
/// then. An entry that is gone is no error: the list says so.
pub(super) async fn pick(session: &Session, pick: &Pick) -> Vec<Update> {
    match pick.kind {
        ListKind::Tasks => jobs::pick(session, pick).await,
    }
    vec![Update::List(make(session, pick.kind))]
}
