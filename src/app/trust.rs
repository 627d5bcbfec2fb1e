//! What the user agreed to of a project's settings, item by item. An item is known by a hash of its
//! content in this workspace: whatever is written differently later is a new item, and waits again.
//! The project's deny and ask rules need no trust.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::private;
use crate::config::rules::Offered;

use super::build::Session;
use super::ground::Ground;
use super::models::notice;
use super::rules::describes;
use super::service::{Entry, Level, ListKind, Listing, Offer, Pick, Update, Verb};

/// The file of agreed items, in the state folder: hashes by workspace.
const FILE: &str = "trusted.json";

#[derive(Debug, Default, Serialize, Deserialize)]
struct Agreed {
    workspaces: BTreeMap<String, Vec<String>>,
}

fn path(ground: &Ground) -> PathBuf {
    ground.paths.state_dir.join(FILE)
}

fn workspace(ground: &Ground) -> String {
    ground.workspace.to_string_lossy().into_owned()
}

/// A file that can't be read agrees to nothing.
fn agreed(ground: &Ground) -> Agreed {
    let bytes = std::fs::read(path(ground)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// What stands for an item: changes with every byte of it.
fn hash(offer: &Offered) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(offer.list.key().as_bytes());
    hasher.update(&[0]);
    hasher.update(offer.text.as_bytes());
    hasher.finalize().to_hex().to_string()
}

fn offers(ground: &Ground) -> Vec<(Offered, bool)> {
    let agreed = agreed(ground).workspaces.remove(&workspace(ground)).unwrap_or_default();
    let with = |offer: &Offered| (offer.clone(), agreed.contains(&hash(offer)));
    ground.settings.offered.iter().map(with).collect()
}

/// The items of the project's settings that the user agreed to.
pub(super) fn trusted(ground: &Ground) -> Vec<Offered> {
    offers(ground).into_iter().filter(|(_, agreed)| *agreed).map(|(offer, _)| offer).collect()
}

/// How many items nobody agreed to yet.
pub(super) fn waiting(ground: &Ground) -> usize {
    offers(ground).iter().filter(|(_, agreed)| !agreed).count()
}

/// The items, those agreed to marked.
pub(super) fn listing(ground: &Ground) -> Listing {
    let entry = |(offer, agreed): (Offered, bool)| {
        let state = if agreed { "trusted" } else { "off" };
        Entry::new(hash(&offer), offer.text.clone())
            .column(state)
            .column(describes(&offer))
            .note(format!("{} in {}", offer.list.key(), offer.place))
            .current(agreed)
    };
    let empty = "the project's settings ask for nothing that needs your trust";
    Listing {
        entries: offers(ground).into_iter().map(entry).collect(),
        offers: vec![
            Offer::new(Verb::Choose, "trusts it"),
            Offer::new(Verb::Remove, "takes trust back"),
        ],
        ..Listing::new(ListKind::Trust, "What this project asks for", empty)
    }
}

/// Agrees to one item or takes that back. Rules hold at once, folders from the next session on.
pub(super) fn pick(ground: &Ground, session: &Session, pick: &Pick) -> Vec<Update> {
    let all = offers(ground);
    let Some((offer, _)) = all.iter().find(|(offer, _)| hash(offer) == pick.id) else {
        return Vec::new();
    };
    let agree = pick.verb == Verb::Choose;
    if let Err(error) = save(ground, &pick.id, agree) {
        return vec![notice(Level::Warning, &format!("trust was not changed: {error}"))];
    }
    let text = match (offer.list, agree) {
        (crate::config::rules::List::Roots, _) => {
            format!("{}: counts from the next session on (/new)", offer.text)
        }
        (crate::config::rules::List::Allow, true) => match session.gate.trust(&offer.text) {
            Ok(()) => format!("trusted: {}", offer.text),
            Err(why) => return vec![notice(Level::Warning, &why)],
        },
        (crate::config::rules::List::Allow, false) => {
            session.gate.distrust(&offer.text);
            format!("off: {}", offer.text)
        }
    };
    vec![notice(Level::Info, &text)]
}

fn save(ground: &Ground, id: &str, agree: bool) -> std::io::Result<()> {
    let mut all = agreed(ground);
    let list = all.workspaces.entry(workspace(ground)).or_default();
    list.retain(|known| known != id);
    if agree {
        list.push(id.to_owned());
    }
    private::replace(&path(ground), &serde_json::to_vec_pretty(&all)?)
}
