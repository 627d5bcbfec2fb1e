//! The panel of any list to choose from: models, tasks, rules. It filters, selects and says what
//! was picked; what an entry means is the application's business.
//!
//! It opens at once, empty, and is filled when the list comes. A list that comes while no panel
//! waits for one opens nothing. While the panel is open a further list takes the place of the first:
//! the same kind keeps filter and selection, another kind begins anew.

use crossterm::event::{KeyCode, KeyModifiers};

use super::line::Line;
use crate::app::service::{Entry, ListKind, Listing, Offer, Pick, Verb};
use crate::ui::keymap::Chord;

/// Entries that page keys of the list pass over; the list's height is the view's business.
const STRIDE: usize = 8;

/// The panel.
#[derive(Clone, Debug)]
pub struct Picker {
    kind: ListKind,
    /// Nothing until the list came.
    listing: Option<Listing>,
    filter: Line,
    /// Place among the entries that are shown.
    selected: usize,
    /// What was asked for once and has to be asked for again: entry and verb.
    asked: Option<(String, Verb)>,
    /// The next list may be another one: it was just opened, or something was picked.
    expects: bool,
}

/// What a key led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The panel took it.
    Stay,
    /// The panel closes.
    Close,
    /// Something was picked; the panel stays.
    Pick(Pick),
    /// Something was picked, and the panel closes.
    Last(Pick),
}

impl Picker {
    /// A panel that waits for its list.
    pub fn new(kind: ListKind) -> Self {
        Self {
            kind,
            listing: None,
            filter: Line::default(),
            selected: 0,
            asked: None,
            expects: true,
        }
    }

    /// The list it shows or waits for.
    pub fn kind(&self) -> ListKind {
        self.kind
    }

    /// The list, when it came.
    pub fn listing(&self) -> Option<&Listing> {
        self.listing.as_ref()
    }

    /// What is typed to filter.
    pub fn filter(&self) -> &Line {
        &self.filter
    }

    /// Takes the list; another one than it shows only when it waits for one. The entry that was selected stays selected wherever it is now; of a new
    /// list the one in force is.
    pub fn update(&mut self, listing: Listing) {
        if self.kind != listing.kind && !self.expects {
            return;
        }
        self.expects = false;
        let known = self.listing.is_some() && self.kind == listing.kind;
        let before = self.current().filter(|_| known).map(|entry| entry.id.clone());
        if !known {
            self.filter = Line::default();
            self.selected = 0;
        }
        self.kind = listing.kind;
        self.listing = Some(listing);
        self.asked = None;
        let shown = self.shown();
        let at = match before {
            Some(id) => shown.iter().position(|entry| entry.id == id),
            None => shown.iter().position(|entry| entry.current),
        };
        let last = shown.len().saturating_sub(1);
        self.selected = at.unwrap_or(self.selected).min(last);
    }

    /// The entries that fit what is typed: each of its words stands somewhere in the entry; where
    /// no entry has them all, the characters stand in its name in that order.
    pub fn shown(&self) -> Vec<&Entry> {
        let Some(listing) = &self.listing else { return Vec::new() };
        let typed = self.filter.text().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let fits = |entry: &&Entry| {
            let text = searched(entry);
            words.iter().all(|word| text.contains(word))
        };
        let found: Vec<&Entry> = listing.entries.iter().filter(fits).collect();
        if !found.is_empty() || words.is_empty() {
            return found;
        }
        let typed = words.concat();
        let in_order = |entry: &&Entry| stands_in_order(&typed, &entry.title.to_lowercase());
        listing.entries.iter().filter(in_order).collect()
    }

    /// Place of the selected entry among those that are shown.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// The selected entry.
    pub fn current(&self) -> Option<&Entry> {
        self.shown().get(self.selected).copied()
    }

    /// The question that has to be answered by the same key again.
    pub fn question(&self) -> Option<String> {
        let (id, verb) = self.asked.as_ref()?;
        let label = &self.offer(*verb)?.label;
        let entry = self.current().filter(|entry| entry.id == *id)?;
        Some(format!("{} again {label}: {}", key_name(*verb), entry.title))
    }

    /// The line of keys, the most important first.
    pub fn hints(&self) -> Vec<String> {
        let mut hints = Vec::new();
        if !self.shown().is_empty() {
            let offers = self.listing.iter().flat_map(|listing| &listing.offers);
            hints.extend(offers.map(|offer| format!("{} {}", key_name(offer.verb), offer.label)));
        }
        let esc = if self.filter.is_empty() { "esc closes" } else { "esc shows all" };
        hints.insert(hints.len().min(1), esc.to_owned());
        hints
    }

    /// Handles a key.
    pub fn key(&mut self, chord: Chord) -> Outcome {
        let asked = self.asked.take();
        if chord.code == KeyCode::Esc {
            if self.filter.is_empty() {
                return Outcome::Close;
            }
            self.filter.take();
            self.selected = 0;
            return Outcome::Stay;
        }
        if self.step(chord) {
            return Outcome::Stay;
        }
        if let Some(offer) = verb_of(chord).and_then(|verb| self.offer(verb)).cloned() {
            return self.pick(&offer, asked.as_ref());
        }
        if !self.listing.as_ref().is_some_and(|listing| listing.filter) {
            return self.digit(chord);
        }
        self.filtered(|filter| {
            let _other_key = filter.key(chord);
        });
        Outcome::Stay
    }

    /// Takes a paste into the filter.
    pub fn paste(&mut self, text: &str) {
        if self.listing.as_ref().is_some_and(|listing| listing.filter) {
            self.filtered(|filter| filter.insert(text.trim()));
        }
    }

    /// Changes what is typed; another filter selects its first entry.
    fn filtered(&mut self, change: impl FnOnce(&mut Line)) {
        let before = self.filter.text().to_owned();
        change(&mut self.filter);
        if self.filter.text() != before {
            self.selected = 0;
        }
    }

    /// Moves the selection; false when the key does not.
    fn step(&mut self, chord: Chord) -> bool {
        let last = self.shown().len().saturating_sub(1);
        let at = self.selected;
        let control = chord.mods == KeyModifiers::CONTROL;
        self.selected = match chord.code {
            KeyCode::Up if at == 0 => last,
            KeyCode::Up => at - 1,
            KeyCode::Down if at >= last => 0,
            KeyCode::Down => at + 1,
            KeyCode::Char('p') if control => at.saturating_sub(1),
            KeyCode::Char('n') if control => (at + 1).min(last),
            KeyCode::Home if self.filter.is_empty() => 0,
            KeyCode::End if self.filter.is_empty() => last,
            KeyCode::Char('u') if control && self.filter.is_empty() => at.saturating_sub(STRIDE),
            KeyCode::Char('d') if control => (at + STRIDE).min(last),
            _ => return false,
        };
        true
    }

    fn offer(&self, verb: Verb) -> Option<&Offer> {
        self.listing.as_ref()?.offers.iter().find(|offer| offer.verb == verb)
    }

    fn pick(&mut self, offer: &Offer, asked: Option<&(String, Verb)>) -> Outcome {
        let Some(id) = self.current().map(|entry| entry.id.clone()) else { return Outcome::Stay };
        let this = (id.clone(), offer.verb);
        if offer.confirm && asked != Some(&this) {
            self.asked = Some(this);
            return Outcome::Stay;
        }
        let pick = Pick { kind: self.kind, id, verb: offer.verb };
        self.expects = true;
        if offer.closes { Outcome::Last(pick) } else { Outcome::Pick(pick) }
    }

    /// A digit chooses from a numbered list.
    fn digit(&mut self, chord: Chord) -> Outcome {
        let place = chord.printable().and_then(|c| c.to_digit(10)).map(|digit| digit as usize);
        let Some(at) = place.filter(|place| (1..=self.shown().len()).contains(place)) else {
            return Outcome::Stay;
        };
        self.selected = at - 1;
        match self.offer(Verb::Choose).cloned() {
            Some(offer) => self.pick(&offer, None),
            None => Outcome::Stay,
        }
    }
}

/// The verb of a key.
fn verb_of(chord: Chord) -> Option<Verb> {
    match (chord.code, chord.mods) {
        (KeyCode::Enter, _) => Some(Verb::Choose),
        (KeyCode::Tab, _) => Some(Verb::Other),
        (KeyCode::Delete, _) | (KeyCode::Char('x'), KeyModifiers::CONTROL) => Some(Verb::Remove),
        (KeyCode::Char('g'), KeyModifiers::CONTROL) => Some(Verb::Edit),
        (KeyCode::Left, _) => Some(Verb::Less),
        (KeyCode::Right, _) => Some(Verb::More),
        _ => None,
    }
}

/// The key of a verb, for the line of keys.
fn key_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Choose => "enter",
        Verb::Other => "tab",
        Verb::Remove => "del",
        Verb::Edit => "ctrl+g",
        Verb::Less => "←",
        Verb::More => "→",
    }
}

fn searched(entry: &Entry) -> String {
    let mut text = entry.title.to_lowercase();
    for part in entry.columns.iter().chain([&entry.note]) {
        text.push('\n');
        text.push_str(&part.to_lowercase());
    }
    text
}

fn stands_in_order(typed: &str, name: &str) -> bool {
    let mut rest = name.chars();
    typed.chars().all(|wanted| rest.any(|c| c == wanted))
}
