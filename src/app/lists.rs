//! The lists of the application: makes the one that was asked for and carries out what was picked
//! from it. One arm a list; what a list is made of stays in its own room. To add a list: a variant
//! of [`ListKind`], an arm in both functions here, a row in the table of slash commands.

use super::build::Session;
use super::ground::Ground;
use super::models::{self, Role, notice};
use super::service::{EditId, Level, ListKind, Listing, Pick, Update, Verb};
use super::{jobs, login, remembered, rewind, rules, trust};

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
        ListKind::Memory => match session.knowledge.as_ref().and_then(|k| k.memory.as_ref()) {
            Some(memory) => remembered::listing(memory),
            None => Listing::new(kind, "Memory", MEMORY_IS_OFF),
        },
        ListKind::Skills => match &session.knowledge {
            Some(knowledge) => knowledge.skills.listing(),
            None => Listing::new(kind, "Skills", "the demo plays a script and has no skills"),
        },
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
        (ListKind::Memory, _) => {
            let memory = session.knowledge.as_ref().and_then(|k| k.memory.as_ref());
            memory.map(|memory| remembered::pick(memory, pick)).unwrap_or_default()
        }
        (ListKind::Skills, verb) => pick_skill(session, &pick.id, verb),
        (ListKind::Keys, _) => match login::forget(ground, &pick.id) {
            Ok(text) => vec![notice(Level::Info, &text)],
            Err(text) => vec![notice(Level::Warning, &text)],
        },
    };
    told.push(Update::List(make(ground, session, pick.kind)));
    told
}

/// What is said where there is no memory.
pub(super) const MEMORY_IS_OFF: &str =
    "there is no memory here; memory.enabled in the settings turns it on";

fn pick_skill(session: &Session, name: &str, verb: Verb) -> Vec<Update> {
    let Some(knowledge) = &session.knowledge else { return Vec::new() };
    let done = match verb {
        Verb::Choose => knowledge.skills.keep(name).map(|text| notice(Level::Info, &text)),
        Verb::Edit => skill_text(session, name).map(|text| {
            let id = EditId { kind: ListKind::Skills, entry: name.to_owned() };
            Update::Edit { id, text }
        }),
        Verb::Other | Verb::Remove | Verb::Less | Verb::More => return Vec::new(),
    };
    vec![done.unwrap_or_else(|reason| notice(Level::Warning, &reason))]
}

fn skill_text(session: &Session, name: &str) -> Result<String, String> {
    let file = session.knowledge.as_ref().and_then(|knowledge| knowledge.skills.file(name));
    let file = file.ok_or_else(|| {
        format!("{name} is built in; a file of that name in a folder of skills takes its place")
    })?;
    std::fs::read_to_string(&file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))
}

/// Takes what the user made of an entry in the editor. Blocking.
pub(super) fn edited(session: &Session, id: &EditId, text: &str) -> Update {
    let Some(knowledge) = &session.knowledge else { return notice(Level::Warning, MEMORY_IS_OFF) };
    match (id.kind, &knowledge.memory) {
        (ListKind::Memory, Some(memory)) => remembered::edited(memory, &id.entry, text),
        (ListKind::Skills, _) if !text.trim().is_empty() => {
            let Some(file) = knowledge.skills.file(&id.entry) else {
                return notice(Level::Warning, "the skill is gone meanwhile");
            };
            match crate::config::private::replace(
                &file,
                format!("{}\n", text.trim_end()).as_bytes(),
            ) {
                Ok(()) => notice(Level::Info, "saved"),
                Err(error) => {
                    notice(Level::Warning, &format!("cannot write {}: {error}", file.display()))
                }
            }
        }
        _ => notice(Level::Info, "nothing was changed"),
    }
}
