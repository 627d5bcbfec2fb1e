//! Going back to an earlier turn: the list of turns, what each choice would do, and the doing. Files
//! are `rewind`'s business; here conversation, files, journal and what the tools remember are kept in
//! step. Nothing is done while a run is active.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::build::Session;
use super::ground::Ground;
use super::models::notice;
use super::service::{Entry, Level, ListKind, Listing, Offer, Pick, Update, Verb};
use crate::kernel::agent::taken_from;
use crate::kernel::checkpoint::{Change, FileState};
use crate::kernel::message::{Message, MessageId, text_of};
use crate::kernel::ports::{Durability, Journal as _, Record};
use crate::permission::PermissionGate;
use crate::rewind::keeper::Keeper;
use crate::rewind::look::{keep, look};
use crate::rewind::plan::Plan;
use crate::rewind::restore::restore;
use crate::rewind::store::Store;
use crate::session::place;

/// Bytes of copies that a project may hold.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// Files that a preview names.
const NAMED: usize = 8;
/// Characters of a prompt in the list.
const TITLE_CHARS: usize = 80;

/// What the user is about, and what can be undone.
#[derive(Debug, Default)]
pub struct Rewinding {
    /// The turn that was picked.
    asked: Option<MessageId>,
    redo: Option<Redo>,
}

/// How the last rewind is undone.
#[derive(Debug)]
struct Redo {
    before: Arc<Vec<Arc<Message>>>,
    after: Vec<MessageId>,
    taken: Vec<MessageId>,
    changes: Vec<Change>,
}

/// What is to be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scope {
    conversation: bool,
    files: bool,
    /// Also files that somebody else has changed since.
    all: bool,
}

/// A file on its way.
#[derive(Clone, Debug)]
struct Move {
    path: PathBuf,
    found: FileState,
    target: FileState,
}

/// The keeper of a session. Copies belong to the project, so that a session that goes on later finds
/// them.
pub(super) fn keeper(ground: &Ground, gate: &Arc<PermissionGate>) -> Keeper {
    let name = place::project_name(&ground.workspace);
    let dir = ground.paths.state_dir.join("checkpoints").join(name);
    let gate = Arc::clone(gate);
    let only_looks = move |line: &str, workdir: &Path| gate.only_looks(line, workdir);
    let home = ground.env.home().and_then(|home| home.canonicalize().ok());
    let roots = std::iter::once(ground.workspace.clone()).chain(ground.roots());
    let roots: Vec<PathBuf> = roots
        .filter_map(|root| root.canonicalize().ok())
        // A home folder is no project; nor is what holds it.
        .filter(|root| !home.as_ref().is_some_and(|home| home.starts_with(root)))
        .collect();
    Keeper::new(Store::open(dir, MOST_BYTES), roots, Arc::new(only_looks))
}

/// The turns of the user, newest first.
pub(super) fn turns(session: &Session) -> Listing {
    let kind = ListKind::Turns;
    let mut listing = Listing::new(kind, "Rewind to before", "nothing was said yet");
    listing.offers = vec![Offer::new(Verb::Choose, "looks at it")];
    let log = session.keeper.log();
    for message in session.agent.snapshot().history.iter().rev() {
        let Message::User(user) = message.as_ref() else { continue };
        if !user.origin.is_user_written() {
            continue;
        }
        let entry = Entry::new(user.id.to_string(), title(&text_of(&user.blocks)));
        let files = log.count_since(&user.id);
        listing.entries.push(match files {
            0 => entry.column("no files since"),
            1 => entry.column("1 file since"),
            count => entry.column(format!("{count} files since")),
        });
    }
    listing
}

fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(TITLE_CHARS).collect()
}

/// The choices for the turn that was picked, under a preview of what they would do.
pub(super) fn choices(ground: &Ground, session: &Session) -> Listing {
    let mut listing = Listing::menu(ListKind::Rewind, "Rewind");
    let Some(turn) = &session.rewinding.asked else { return listing };
    let history = session.agent.snapshot().history;
    let Some(at) = history.iter().position(|message| message.id() == turn) else {
        listing.preface.push("this turn is no part of the conversation any more".to_owned());
        return listing;
    };
    let plan = tokio::task::block_in_place(|| session.keeper.plan(turn));
    let gone = taken_from(&history, at).len();
    let turns = history[at..].iter().filter(|message| is_turn(message)).count();
    listing.title = format!("Rewind to before “{}”", prompt_of(&history[at]));
    listing.preface = preview(ground, session, &plan, (turns, gone));
    listing.offers = vec![Offer::new(Verb::Choose, "does it").closing()];
    let choice = |id: &str, title: &str| Entry::new(id, title);
    let foreign = plan.items.iter().filter(|item| item.changed_since).count();
    if plan.items.len() > foreign {
        listing.entries.push(choice("both", "conversation and files"));
        listing.entries.push(choice("files", "files only"));
    }
    listing.entries.push(choice("conversation", "conversation only, files stay"));
    if foreign > 0 {
        let what = count(foreign, "file that was changed", "files that were changed");
        let note = format!("also {what} since, not by codebot; redo brings it back");
        let both = choice("both!", "overwriting: conversation and files");
        listing.entries.push(both.note(&note));
        listing.entries.push(choice("files!", "overwriting: files only").note(&note));
    }
    listing
}

fn is_turn(message: &Message) -> bool {
    matches!(message, Message::User(user) if user.origin.is_user_written())
}

fn prompt_of(message: &Message) -> String {
    match message {
        Message::User(user) => title(&text_of(&user.blocks)),
        _ => String::new(),
    }
}

fn preview(
    ground: &Ground,
    session: &Session,
    plan: &Plan,
    (turns, gone): (usize, usize),
) -> Vec<String> {
    let turns = count(turns, "turn", "turns");
    let mut lines =
        vec![format!("conversation: {turns} go, {}", count(gone, "message", "messages"))];
    let shown =
        |path: &Path| path.strip_prefix(&ground.workspace).unwrap_or(path).display().to_string();
    lines.push(match plan.items.len() {
        0 => "files: none changed since".to_owned(),
        found => format!("files: {}", count(found, "file changes back", "files change back")),
    });
    for item in plan.items.iter().take(NAMED) {
        let mark = if item.changed_since { "!" } else { " " };
        let mut line = format!("{mark} {}", shown(&item.path));
        match (&item.target, &item.found, item.lines) {
            (FileState::Absent, _, _) => line.push_str("  goes, it was not there"),
            (_, FileState::Absent, _) => line.push_str("  comes back"),
            (_, _, Some((added, removed))) if added + removed > 0 => {
                // Writing into a string can't fail.
                let _ = write!(line, "  +{added} −{removed}");
            }
            _ => line.push_str("  as it was"),
        }
        if item.changed_since {
            line.push_str("  changed since, not by codebot");
        }
        lines.push(line);
    }
    if plan.items.len() > NAMED {
        lines.push(format!("  … and {} more", plan.items.len() - NAMED));
    }
    for (path, reason) in plan.lost.iter().take(NAMED) {
        lines.push(format!("  {} stays: it {reason}", shown(path)));
    }
    lines.extend(session.keeper.cut().map(|cut| format!("not covered: {cut}")));
    if session.keeper.store().dropped() > 0 {
        let most = MOST_BYTES / 1024 / 1024;
        lines.push(format!("the oldest copies were dropped to stay below {most} MB"));
    }
    lines
}

fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// A turn was picked: its choices. A choice was picked: does it.
pub(super) async fn pick(ground: &Ground, session: &mut Session, pick: &Pick) -> Vec<Update> {
    if pick.kind == ListKind::Turns {
        session.rewinding.asked = Some(MessageId(pick.id.clone()));
        return vec![Update::List(choices(ground, session))];
    }
    let scope = Scope {
        conversation: pick.id != "files" && pick.id != "files!",
        files: pick.id != "conversation",
        all: pick.id.ends_with('!'),
    };
    match go_back(session, scope).await {
        Ok(told) => told,
        Err(reason) => vec![notice(Level::Warning, &format!("nothing was rewound: {reason}"))],
    }
}

async fn go_back(session: &mut Session, scope: Scope) -> Result<Vec<Update>, String> {
    let turn = session.rewinding.asked.take().ok_or("choose a turn first")?;
    if session.agent.snapshot().busy {
        return Err("a run is active; stop it first".to_owned());
    }
    let hold = session.agent.hold().await;
    let before = session.agent.snapshot().history;
    let at = before.iter().position(|message| *message.id() == turn);
    let at = at.ok_or("this turn is no part of the conversation any more")?;
    let draft = match before[at].as_ref() {
        Message::User(user) if scope.conversation => text_of(&user.blocks),
        _ => String::new(),
    };
    let taken = if scope.conversation { taken_from(&before, at) } else { Vec::new() };
    let (moves, left) = moves(session, &turn, scope);
    let done = carry_out(session, &taken, &[], moves).await?;
    if scope.conversation {
        let gone: HashSet<&MessageId> = taken.iter().collect();
        let kept = before.iter().filter(|message| !gone.contains(message.id())).cloned();
        let kept: Vec<Arc<Message>> = kept.collect();
        session.agent.replace(kept).map_err(|refused| refused.to_string())?;
        session.tools.forget_reads();
    }
    drop(hold);
    let after = session.agent.snapshot().history;
    let mut text = told(&before[at..], scope, done.changes.len());
    text.push_str("; /rewind redo goes forth again");
    let after = after.iter().map(|message| message.id().clone()).collect();
    session.rewinding.redo = Some(Redo { before, after, taken, changes: done.changes });
    let mut updates = Vec::new();
    if scope.conversation {
        updates.push(rewound(session, draft));
    }
    updates.push(notice(Level::Info, &text));
    updates.extend(warning("left as they are, changed since and not by codebot", &left));
    updates.extend(warning("not put back", &done.failed));
    Ok(updates)
}

/// What was done, for people.
fn told(gone: &[Arc<Message>], scope: Scope, files: usize) -> String {
    let turns = gone.iter().filter(|message| is_turn(message)).count();
    let mut parts = Vec::new();
    if scope.conversation {
        parts.push(format!("{} taken back", count(turns, "turn", "turns")));
    }
    if scope.files {
        parts.push(format!("{} put back", count(files, "file", "files")));
    }
    parts.join(", ")
}

fn warning(what: &str, names: &[String]) -> Option<Update> {
    (!names.is_empty()).then(|| notice(Level::Warning, &format!("{what}: {}", names.join(", "))))
}

fn rewound(session: &Session, draft: String) -> Update {
    let history = session.agent.snapshot().history;
    let history = history.iter().map(|message| message.as_ref().clone()).collect();
    Update::Rewound { history, draft }
}

/// What is to be moved, and the files that are left to whoever changed them.
fn moves(session: &Session, turn: &MessageId, scope: Scope) -> (Vec<Move>, Vec<String>) {
    if !scope.files {
        return (Vec::new(), Vec::new());
    }
    let plan = tokio::task::block_in_place(|| session.keeper.plan(turn));
    let (taken, left): (Vec<_>, Vec<_>) =
        plan.items.into_iter().partition(|item| scope.all || !item.changed_since);
    let moves = taken.into_iter().map(|item| Move {
        path: item.path,
        found: item.found,
        target: item.target,
    });
    (moves.collect(), left.into_iter().map(|item| item.path.display().to_string()).collect())
}

/// What came of it.
#[derive(Debug, Default)]
struct Done {
    changes: Vec<Change>,
    failed: Vec<String>,
}

/// Writes to the journal what is about to happen, then puts the files back.
async fn carry_out(
    session: &Session,
    taken: &[MessageId],
    given: &[MessageId],
    moves: Vec<Move>,
) -> Result<Done, String> {
    let keeper = session.keeper.clone();
    let mut done = Done::default();
    // A copy of what is there now is the way forth again.
    let (moves, failed) = tokio::task::block_in_place(|| copied(&keeper, moves));
    done.failed = failed;
    let changes: Vec<Change> = moves.iter().map(change).collect();
    let record =
        Record::Rewind { taken: taken.to_vec(), given: given.to_vec(), changes: changes.clone() };
    let written = session.journal.append(&record, Durability::Flush).await;
    written.map_err(|error| error.to_string())?;
    keeper.log().push(changes);
    let mut corrected = Vec::new();
    for step in moves {
        let restored = tokio::task::block_in_place(|| {
            restore(&step.path, &step.found, &step.target, keeper.store())
        });
        match restored {
            Ok(()) => done.changes.push(change(&step)),
            Err(reason) => {
                let (path, was) = (step.path, step.target);
                done.failed.push(format!("{} ({reason})", path.display()));
                let now = look(&path).state;
                corrected.push(Change { path, was, now });
            }
        }
    }
    if !corrected.is_empty() {
        let record = Record::Checkpoint { changes: corrected.clone() };
        if let Err(error) = session.journal.append(&record, Durability::Buffered).await {
            done.failed.push(error.to_string());
        }
        keeper.log().push(corrected);
    }
    Ok(done)
}

fn change(step: &Move) -> Change {
    Change { path: step.path.clone(), was: step.found.clone(), now: step.target.clone() }
}

/// Copies what is there now; what can't be copied, or is not what was seen, is not touched.
fn copied(keeper: &Keeper, moves: Vec<Move>) -> (Vec<Move>, Vec<String>) {
    let mut failed = Vec::new();
    let fit = |step: &Move| {
        let now = keep(&step.path, keeper.store());
        if now != step.found {
            failed.push(format!("{} (it has changed just now)", step.path.display()));
        }
        now == step.found
    };
    let moves = moves.into_iter().filter(fit).collect();
    (moves, failed)
}

/// Undoes the last rewind, as long as nothing was said since.
pub(super) async fn redo(session: &mut Session) -> Vec<Update> {
    match go_forth(session).await {
        Ok(told) => told,
        Err(reason) => vec![notice(Level::Warning, &reason)],
    }
}

async fn go_forth(session: &mut Session) -> Result<Vec<Update>, String> {
    if session.agent.snapshot().busy {
        return Err("/rewind redo has to wait for the end of the run; esc stops it".to_owned());
    }
    let redo = session.rewinding.redo.take().ok_or("there is no rewind to undo in this session")?;
    let hold = session.agent.hold().await;
    let history = session.agent.snapshot().history;
    let same = history.iter().map(|message| message.id()).eq(redo.after.iter());
    if !same {
        return Err("something was said since: there is no way forth any more".to_owned());
    }
    let moves = redo.changes.iter().rev().map(|change| Move {
        path: change.path.clone(),
        found: change.now.clone(),
        target: change.was.clone(),
    });
    let done = carry_out(session, &[], &redo.taken, moves.collect()).await?;
    let mut updates = Vec::new();
    if !redo.taken.is_empty() {
        let before = redo.before.iter().cloned();
        session.agent.replace(before).map_err(|refused| refused.to_string())?;
        session.tools.forget_reads();
        updates.push(rewound(session, String::new()));
    }
    drop(hold);
    let files = count(done.changes.len(), "file", "files");
    updates.push(notice(Level::Info, &format!("the rewind was undone, {files} put back")));
    updates.extend(warning("not put back", &done.failed));
    Ok(updates)
}
