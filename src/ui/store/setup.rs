//! The panel for a machine without a usable model: the demo, local servers, a pasted key.

use crossterm::event::KeyCode;

use super::line::Line;
use crate::app::service::{Setup, SetupChoice};
use crate::ui::keymap::Chord;
use crate::ui::text::sanitize;

/// One line that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What it says.
    pub label: String,
    /// What it does.
    pub kind: OfferKind,
}

/// What an offer does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferKind {
    /// The scripted demo.
    Demo,
    /// This model of a local server.
    Model(String),
    /// A key for this provider (config name).
    Key(String),
}

/// The panel's state.
#[derive(Clone, Debug, Default)]
pub struct SetupPanel {
    reason: String,
    offers: Vec<Offer>,
    selected: usize,
    key: Option<Line>,
    sent: bool,
    /// A session is open behind it, so it can be closed.
    closes: bool,
}

impl SetupPanel {
    /// An empty panel; `closes` when there is something to go back to.
    pub fn new(closes: bool) -> Self {
        Self { closes, ..Self::default() }
    }

    /// Whether Esc closes it.
    pub fn closes(&self) -> bool {
        self.closes
    }

    /// The panel for these offers. A later set of offers keeps what was selected and typed.
    pub fn update(&mut self, setup: &Setup) {
        let chosen = self.offers.get(self.selected).map(|offer| offer.kind.clone());
        self.reason = sanitize::clean(&setup.reason).into_owned();
        self.offers = offers(setup);
        let place = chosen.and_then(|kind| self.offers.iter().position(|o| o.kind == kind));
        self.selected = place.unwrap_or(0);
        if place.is_none() {
            self.key = None;
        }
        self.sent = setup.busy;
    }

    /// Why there is no model.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What can be chosen.
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// The selected offer.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// The key being typed; it is shown as dots.
    pub fn key_line(&self) -> Option<&Line> {
        self.key.as_ref()
    }

    /// Whether a choice was sent and the answer is awaited.
    pub fn is_sent(&self) -> bool {
        self.sent
    }

    /// Takes pasted text as a key; true when it was taken.
    pub fn paste(&mut self, text: &str) -> bool {
        match &mut self.key {
            Some(line) => {
                line.insert(text.trim());
                true
            }
            None => false,
        }
    }

    /// Handles a key; a choice is sent once.
    pub fn press(&mut self, chord: Chord) -> Option<SetupChoice> {
        if self.sent {
            // What is asked of a service may take a while.
            return (chord.code == KeyCode::Esc).then_some(SetupChoice::Cancel);
        }
        if self.key.is_some() {
            return self.press_in_key(chord);
        }
        match chord.code {
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down => {
                self.selected = (self.selected + 1).min(self.offers.len().saturating_sub(1));
            }
            KeyCode::Enter => return self.choose(),
            KeyCode::Esc if self.closes => return Some(SetupChoice::Cancel),
            KeyCode::Char(c) => {
                let place = c.to_digit(10).and_then(|digit| (digit as usize).checked_sub(1));
                if let Some(place) = place.filter(|place| *place < self.offers.len()) {
                    self.selected = place;
                    return self.choose();
                }
            }
            _ => {}
        }
        None
    }

    fn press_in_key(&mut self, chord: Chord) -> Option<SetupChoice> {
        let line = self.key.as_mut()?;
        match chord.code {
            KeyCode::Esc => self.key = None,
            KeyCode::Enter => {
                let key = line.text().trim().to_owned();
                let Some(Offer { kind: OfferKind::Key(provider), .. }) =
                    self.offers.get(self.selected)
                else {
                    return None;
                };
                if !key.is_empty() {
                    let provider = provider.clone();
                    self.key = None;
                    self.sent = true;
                    return Some(SetupChoice::Key { provider, key });
                }
            }
            _ => {
                line.key(chord);
            }
        }
        None
    }

    fn choose(&mut self) -> Option<SetupChoice> {
        let choice = match &self.offers.get(self.selected)?.kind {
            OfferKind::Demo => SetupChoice::Demo,
            OfferKind::Model(model) => SetupChoice::Model(model.clone()),
            OfferKind::Key(_) => {
                self.key = Some(Line::default());
                return None;
            }
        };
        self.sent = true;
        Some(choice)
    }
}

fn offers(setup: &Setup) -> Vec<Offer> {
    let of_model = |model: &String| Offer {
        label: sanitize::clean(model).into_owned(),
        kind: OfferKind::Model(model.clone()),
    };
    if !setup.models.is_empty() {
        return setup.models.iter().map(of_model).collect();
    }
    let mut offers = Vec::new();
    if setup.demo {
        offers.push(Offer {
            label: "Try the demo: a scripted model in a sample project, no key, no network"
                .to_owned(),
            kind: OfferKind::Demo,
        });
    }
    for server in &setup.servers {
        let name = sanitize::clean(&server.label);
        for model in &server.models {
            let label = format!("{name}: {}", sanitize::clean(model));
            offers.push(Offer { label, kind: OfferKind::Model(model.clone()) });
        }
    }
    for provider in &setup.providers {
        let mut label = format!("{}: paste an API key", sanitize::clean(&provider.label));
        if !provider.key_env.is_empty() {
            label = format!("{label} (or set {})", sanitize::clean(&provider.key_env));
        }
        offers.push(Offer { label, kind: OfferKind::Key(provider.name.clone()) });
    }
    offers
}
