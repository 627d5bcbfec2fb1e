//! The gate of a session as the settings and the user's trust make it, and the list of its rules.
//! What a rule means is the gate's business.

use crate::config::rules::{List, Offered};
use crate::kernel::command::Mode;
use crate::permission::GateConfig;
use crate::permission::known::{Known, Source};
use crate::permission::rules::Side;
use crate::session::place;

use super::build::{Session, results_dir};
use super::demo::TEST_COMMAND;
use super::ground::Ground;
use super::models::notice;
use super::service::{Entry, Launch, Level, ListKind, Listing, Offer, Pick, Update, Verb};
use super::trust;

/// What the gate of a session has to know.
pub(super) fn gate_config(ground: &Ground, launch: &Launch, mode: Mode, held: bool) -> GateConfig {
    let permissions = &ground.settings.config.permissions;
    let state_dir = &ground.paths.state_dir;
    let mut allow = permissions.allow.clone();
    if ground.demo.is_some() {
        // The tour asks once, for its edit; its own test run is known to be harmless.
        allow.push(format!("Bash(= {TEST_COMMAND})"));
    }
    let trusted = trust::trusted(ground);
    let mut roots = ground.roots();
    let mut rules = Vec::new();
    for offer in trusted {
        match offer.list {
            List::Allow => rules.push(offer.text),
            List::Roots => roots.push(ground.cwd.join(offer.text)),
        }
    }
    let plans = state_dir.join("plans").join(place::project_name(&ground.workspace));
    GateConfig {
        workspace: ground.workspace.clone(),
        roots,
        home: ground.env.home(),
        internal_read: vec![results_dir(ground)],
        plan_file: Some(plans.join("plan.md")),
        internal_write: vec![plans],
        own_config: vec![
            ground.paths.config_dir.clone(),
            ground.paths.config_file.clone(),
            state_dir.clone(),
            ground.paths.data_dir.clone(),
        ],
        mode,
        plan: launch.plan,
        allow,
        trusted: rules,
        ask: permissions.ask.clone(),
        deny: permissions.deny.clone(),
        sources: sources(ground),
        store: state_dir.join("approvals.json"),
        audit: state_dir.join("audit.jsonl"),
        path_env: ground.env.var("PATH").unwrap_or_default(),
        held,
    }
}

fn sources(ground: &Ground) -> Vec<Source> {
    let of = |written: &crate::config::rules::Written| Source {
        side: match written.list {
            crate::config::rules::RuleList::Allow => Side::Allow,
            crate::config::rules::RuleList::Ask => Side::Ask,
            crate::config::rules::RuleList::Deny => Side::Deny,
        },
        text: written.text.clone(),
        place: written.place.clone(),
    };
    ground.settings.rules.iter().map(of).collect()
}

/// A line when the project asks for more than it may have by itself.
pub(super) fn untrusted_notice(ground: &Ground) -> Option<String> {
    let waiting = trust::waiting(ground);
    let things = if waiting == 1 { "one thing" } else { "things" };
    (waiting > 0).then(|| {
        format!("the project's settings ask for {things} that you have to agree to: /trust")
    })
}

/// The rules in force; remembered ones can be revoked.
pub(super) fn listing(session: &Session) -> Listing {
    let entry = |rule: Known| {
        let does = match rule.side {
            Side::Allow => "runs",
            Side::Ask => "asks",
            Side::Deny => "refused",
        };
        let (place, note) = match rule.place {
            Some(place) => {
                let note = format!("{}.{} of {place}", "permissions", rule.side.name());
                (place, note)
            }
            None => {
                let note = "you answered \"always\"; holds in this workspace".to_owned();
                ("remembered".to_owned(), note)
            }
        };
        let id = format!("{} {}", if place == "remembered" { "r" } else { "s" }, rule.text);
        Entry::new(format!("{id} {}", rule.side.name()), rule.text)
            .column(does)
            .column(place)
            .note(note)
    };
    let empty = "there are no rules: the mode decides. \"Always\" in a question adds one here";
    Listing {
        entries: session.gate.rules().into_iter().map(entry).collect(),
        offers: vec![Offer::new(Verb::Remove, "revokes it").confirmed()],
        ..Listing::new(ListKind::Permissions, "Permission rules", empty)
    }
}

/// Revokes a remembered rule; those of files are changed there.
pub(super) fn pick(session: &Session, pick: &Pick) -> Vec<Update> {
    let Some(rule) = pick.id.strip_prefix("r ").and_then(|id| id.strip_suffix(" allow")) else {
        let text = "this rule stands in a settings file; take it out there and start again";
        return vec![notice(Level::Warning, text)];
    };
    match session.gate.revoke(rule) {
        Ok(()) => vec![notice(Level::Info, &format!("revoked: {rule}"))],
        Err(error) => vec![notice(Level::Warning, &error.to_string())],
    }
}

/// Whether an offer of the project may be taken as it is.
pub(super) fn describes(offer: &Offered) -> &'static str {
    match offer.list {
        List::Allow => "runs unasked",
        List::Roots => "counts as workspace",
    }
}
