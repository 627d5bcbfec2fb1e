//! The lists of the application: makes the one that was asked for and carries out what was picked
//! from it. One arm a list; what a list is made of stays in its own room. To add a list: a variant
//! of [`ListKind`], an arm in both functions here, a row in the table of slash commands.

use super::build::Session;
use super::ground::Ground;
use super::models::{self, Role, notice};
use super::service::{Level, ListKind, Listing, Pick, Update, Verb};
use super::{jobs, login, rewind, rules, trust};

/// The list as it is now.
pub(super) fn make(ground: &Ground, session: &Session, kind: ListKind) -> Listing {
    match kind {
        ListKind::Tasks => jobs::listing(&session.tools),
        ListKind::Models => session.model_list(ground, Role::Main),
        ListKind::SmallModels => session.model_list(ground, Role::Small),
        ListKind::Keys => login::list(ground),
        ListKind::Turns => rewind::turns(session),
        ListKind::Rewind => rewind::choices(ground, session),
        ListKind::Permissions => rules::listing(session),
        ListKind::Trust => trust::listing(ground),
    }
}

/// Carries out what was picked; returns what the front end is to hear, mostly the list as it is
/// then. An entry that is gone is no error: the list says so.
pub(super) async fn pick(ground: &Ground, session: &mut Session, pick: &Pick) -> Vec<Update> {
    let mut told = match (pick.kind, pick.verb) {
        (ListKind::Tasks, _) => {
            jobs::pick(session, pick).await;
            Vec::new()
        }
        (ListKind::Models, Verb::Less | Verb::More) => {
            let effort = models::step(session.models.main.effort(), pick.verb == Verb::More);
            session.set_effort(effort)
        }
        (ListKind::Models, verb) => {
            return session.choose(ground, Role::Main, &pick.id, verb == Verb::Other);
        }
        (ListKind::SmallModels, verb) => {
            return session.choose(ground, Role::Small, &pick.id, verb == Verb::Other);
        }
        (ListKind::Turns | ListKind::Rewind, _) => {
            return rewind::pick(ground, session, pick).await;
        }
        (ListKind::Permissions, _) => rules::pick(session, pick),
        (ListKind::Trust, _) => trust::pick(ground, session, pick),
        (ListKind::Keys, _) => match login::forget(ground, &pick.id) {
            Ok(text) => vec![notice(Level::Info, &text)],
            Err(text) => vec![notice(Level::Warning, &text)],
        },
    };
    told.push(Update::List(make(ground, session, pick.kind)));
    told
}
