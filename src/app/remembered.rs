//! The panel of what is remembered: facts, rules, the profile and the notes on this project, to look
//! at, edit and forget.

use super::memory::Memory;
use super::models::notice;
use super::service::{EditId, Entry, Level, ListKind, Listing, Offer, Pick, Update, Verb};
use crate::memory::facts::Fact;
use crate::memory::profile;
use crate::memory::project::MAIN;

/// The entry of the profile.
const PROFILE: &str = "profile";
/// How entries of notes begin.
const NOTE: &str = "note:";
/// Characters of an entry's name; the whole text stands below the list.
const NAME: usize = 80;

/// The list. Blocking.
pub(super) fn listing(memory: &Memory) -> Listing {
    let empty = "nothing is remembered; # and a line in the composer remembers it";
    let mut listing = Listing::new(ListKind::Memory, "Memory", empty);
    let (facts, rules) = (memory.facts.read(), memory.rules.read());
    listing.preface.extend(facts.warning.into_iter().chain(rules.warning));
    let told = facts.value.active(memory.now());
    listing.entries.extend(told.iter().map(|fact| of_fact(fact)));
    for rule in rules.value.sorted() {
        let entry = Entry::new(rule.id.clone(), short(&rule.line()));
        listing.entries.push(entry.column("rule").note(rule.line()));
    }
    if profile::read(&memory.profile).is_ok_and(|page| profile::told(&page).is_some()) {
        let entry = Entry::new(PROFILE, "your profile").column("profile");
        listing.entries.push(entry.note(memory.profile.display().to_string()));
    }
    let main = memory.notes.head().map(|_| MAIN.to_owned());
    for topic in main.into_iter().chain(memory.notes.topics()) {
        let place = memory.notes.dir().join(format!("{topic}.md"));
        let entry = Entry::new(format!("{NOTE}{topic}"), topic).column("note on this project");
        listing.entries.push(entry.note(place.display().to_string()));
    }
    let put_away = facts.value.facts.iter().filter(|fact| fact.superseded_by.is_some());
    for fact in put_away {
        let by = fact.superseded_by.as_deref().unwrap_or_default();
        let how = if by == "age" { "faded".to_owned() } else { format!("replaced by {by}") };
        let note = format!("not told any more: {}", fact.content);
        let entry = Entry::new(fact.id.clone(), short(&fact.content)).column(how);
        listing.entries.push(entry.note(note));
    }
    listing.offers = vec![
        Offer::new(Verb::Edit, "edits it"),
        Offer::new(Verb::Remove, "forgets it").confirmed(),
    ];
    listing
}

fn of_fact(fact: &Fact) -> Entry {
    let day = crate::prompt::assemble::day_of(fact.created);
    let note = format!("{} · {} from {} since {day}", fact.content, fact.id, fact.source);
    Entry::new(fact.id.clone(), short(&fact.content))
        .column(fact.category.name())
        .column(format!("{:.0} %", fact.confidence * 100.0))
        .note(note)
}

fn short(text: &str) -> String {
    match text.char_indices().nth(NAME) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Does what was picked; returns what the front end is to hear beside the list. Blocking.
pub(super) fn pick(memory: &Memory, pick: &Pick) -> Vec<Update> {
    match pick.verb {
        Verb::Edit => {
            let id = EditId { kind: ListKind::Memory, entry: pick.id.clone() };
            match text_of(memory, &pick.id) {
                Ok(text) => vec![Update::Edit { id, text }],
                Err(reason) => vec![notice(Level::Warning, &reason)],
            }
        }
        Verb::Remove => {
            let done = match pick.id.strip_prefix(NOTE) {
                Some(topic) => {
                    memory.notes.remove(topic).map(|()| format!("forgotten: the note {topic}"))
                }
                None if pick.id == PROFILE => write_profile(memory, &profile::template())
                    .map(|()| "forgotten: your profile".to_owned()),
                None => memory.forget(&pick.id),
            };
            vec![match done {
                Ok(text) => notice(Level::Info, &text),
                Err(reason) => notice(Level::Warning, &reason),
            }]
        }
        Verb::Choose | Verb::Other | Verb::Less | Verb::More => Vec::new(),
    }
}

fn text_of(memory: &Memory, id: &str) -> Result<String, String> {
    if id == PROFILE {
        return profile::read(&memory.profile);
    }
    if let Some(topic) = id.strip_prefix(NOTE) {
        return memory.notes.read(Some(topic));
    }
    let gone = || format!("nothing is remembered as {id}");
    if id.starts_with('p') {
        let rules = memory.rules.read().value;
        return rules
            .rules
            .iter()
            .find(|rule| rule.id == id)
            .map(|r| r.rule.clone())
            .ok_or_else(gone);
    }
    let facts = memory.facts.read().value;
    facts.facts.iter().find(|fact| fact.id == id).map(|f| f.content.clone()).ok_or_else(gone)
}

fn write_profile(memory: &Memory, text: &str) -> Result<(), String> {
    crate::config::private::replace(&memory.profile, text.as_bytes())
        .map_err(|error| format!("cannot write {}: {error}", memory.profile.display()))
}

/// Takes what the user made of an entry in the editor. Nothing left means nothing is changed.
/// Blocking.
pub(super) fn edited(memory: &Memory, id: &str, text: &str) -> Update {
    if text.trim().is_empty() {
        return notice(Level::Info, "nothing was changed; del in the list forgets an entry");
    }
    let now = memory.now();
    let gone = |there: bool| if there { Ok(()) } else { Err(format!("{id} is gone meanwhile")) };
    let done = if id == PROFILE {
        write_profile(memory, &format!("{}\n", text.trim_end()))
    } else if let Some(topic) = id.strip_prefix(NOTE) {
        memory.notes.write(Some(topic), text, false).map(|_| ())
    } else if id.starts_with('p') {
        memory.rules.change(|rules| rules.reword(id, text)).and_then(|taken| gone(taken.value))
    } else {
        memory.facts.change(|facts| facts.reword(id, text, now)).and_then(|taken| gone(taken.value))
    };
    match done {
        Ok(()) => notice(Level::Info, "saved"),
        Err(reason) => notice(Level::Warning, &reason),
    }
}
