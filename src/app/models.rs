//! The models of a session: the places they speak from, the lists to choose from, and the choice.
//! A choice holds from the next request on, is recorded in the journal, and changes what depends on
//! the model: its window, its price, its name in the system prompt.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::build::{Chosen, Session};
use super::ground::Ground;
use super::recent;
use super::served;
use super::service::{Entry, Level, ListKind, Listing, Offer, Update, Verb};
use super::system::SystemClock;
use crate::config::edit;
use crate::kernel::message::ModelRef;
use crate::kernel::ports::{
    Clock as _, Durability, Effort, Journal as _, Model, ModelInfo, Record,
};
use crate::model::connection::Connection;
use crate::model::offered::Offered;
use crate::model::probe::Served;
use crate::model::switch::Switch;
use crate::model::{catalog, resolve};
use crate::prompt::assemble;

/// The models of a session.
#[derive(Clone, Debug)]
pub struct Models {
    /// Where the model of the conversation speaks from.
    pub main: Arc<Switch>,
    /// Where the one for side work does; there may be nobody.
    pub small: Arc<Switch>,
    /// How the main one is reached.
    pub connection: Option<Connection>,
    /// What services have said they offer, by provider.
    pub offered: BTreeMap<String, Vec<Offered>>,
    /// Local servers that answered.
    pub served: Vec<Served>,
}

/// Which of the two models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one of the conversation.
    Main,
    /// The one for side work.
    Small,
}

impl Models {
    /// The models that a session begins with. A small model that can't be used is left out with a
    /// line about it: everything works without, only longer.
    pub fn new(chosen: &Chosen, ground: &Ground, notices: &mut Vec<String>) -> Self {
        let config = &ground.settings.config;
        let wanted = config.small_model.as_deref().filter(|_| !chosen.demo);
        let small = wanted.and_then(|wanted| match ground.resolve(Some(wanted)) {
            Ok(connection) => Some(crate::model::connect(connection)),
            Err(error) => {
                notices.push(format!("small_model {wanted} can't be used: {error}"));
                None
            }
        });
        Self {
            main: Arc::new(Switch::new(Some(Arc::clone(&chosen.model)), config.effort)),
            small: Arc::new(Switch::new(small, None)),
            connection: chosen.connection.clone(),
            offered: BTreeMap::new(),
            served: Vec::new(),
        }
    }

    /// Both places, main first.
    pub fn places(&self) -> (Arc<dyn Model>, Arc<dyn Model>) {
        (Arc::clone(&self.main) as _, Arc::clone(&self.small) as _)
    }
}

impl Session {
    /// Goes on with the model of a session that was resumed. One that can't be used any more is
    /// left, with a line about it.
    pub(super) fn go_on_with(&mut self, ground: &Ground, wanted: &str, effort: Option<Effort>) {
        self.models.main.set_effort(effort);
        self.ready.effort = effort;
        if self.ready.model.model.to_string() == wanted {
            return;
        }
        match ground.resolve(Some(wanted)) {
            Ok(connection) => self.speak_with(connection),
            Err(error) => self.notices.push(format!(
                "this session was left with {wanted}, which can't be used: {error}; it goes on \
                 with {}",
                self.ready.model.model
            )),
        }
    }

    /// Puts another model into the place of the main one.
    pub(super) fn speak_with(&mut self, connection: Connection) {
        let model = crate::model::connect(connection.clone());
        let info = model.info();
        self.models.main.set_model(Some(model));
        self.models.connection = Some(connection);
        let named = info.model != self.ready.model.model;
        self.ready.model = info;
        if named {
            self.prompt.session.model = self.ready.model.model.to_string();
            let (whole, fast) =
                (assemble::system_blocks(&self.prompt), assemble::fast_blocks(&self.prompt));
            self.context.set_system(whole, fast);
        }
    }

    /// What front ends are told after a change.
    pub(super) fn model_update(&self) -> Update {
        let (info, effort) = (self.ready.model.clone(), self.models.main.effort());
        Update::Model { info: Box::new(info), effort }
    }

    /// Writes to the journal who answers from here on. In the background: the record is no
    /// condition for going on.
    fn record_switch(&self) {
        let (journal, model) = (self.journal.clone(), self.ready.model.model.clone());
        let record =
            Record::Switched { at: SystemClock.now(), model, effort: self.models.main.effort() };
        tokio::spawn(async move {
            if let Err(error) = journal.append(&record, Durability::Buffered).await {
                tracing::warn!(%error, "the choice of a model was not recorded");
            }
        });
    }

    /// Another effort from the next request on.
    pub(super) fn set_effort(&mut self, effort: Option<Effort>) -> Vec<Update> {
        self.models.main.set_effort(effort);
        self.record_switch();
        vec![self.model_update()]
    }

    /// Chooses a model by its reference; `lasting` makes it the one of new sessions too.
    pub(super) fn choose(
        &mut self,
        ground: &Ground,
        role: Role,
        reference: &str,
        lasting: bool,
    ) -> Vec<Update> {
        if self.ready.demo {
            return vec![notice(
                Level::Warning,
                "the demo plays a script and has no other model; start codebot without --demo",
            )];
        }
        if role == Role::Small && matches!(reference, "" | "none") {
            self.models.small.set_model(None);
            return self.chosen(ground, role, "", lasting);
        }
        let connection = match ground.resolve(Some(reference)) {
            Ok(connection) => connection,
            Err(error) => return vec![notice(Level::Warning, &error.to_string())],
        };
        let name = connection.model_ref().to_string();
        match role {
            Role::Main => {
                self.speak_with(connection);
                self.record_switch();
            }
            Role::Small => self.models.small.set_model(Some(crate::model::connect(connection))),
        }
        self.chosen(ground, role, &name, lasting)
    }

    fn chosen(&self, ground: &Ground, role: Role, name: &str, lasting: bool) -> Vec<Update> {
        let key = match role {
            Role::Main => "model",
            Role::Small => "small_model",
        };
        let mut updates = vec![self.model_update()];
        let told = match (role, name.is_empty()) {
            (Role::Main, _) => format!("{name} answers from the next request on"),
            (Role::Small, false) => format!("{name} does the side work from now on"),
            (Role::Small, true) => "no small model does side work from now on".to_owned(),
        };
        if lasting {
            match edit::save_text(&ground.paths, key, name) {
                Ok(()) => {
                    updates.push(notice(Level::Info, &format!("{told}, in new sessions too")));
                }
                Err(error) => {
                    updates.push(notice(Level::Info, &told));
                    updates.push(notice(Level::Warning, &error.to_string()));
                }
            }
        } else {
            updates.push(notice(Level::Info, &told));
        }
        if !name.is_empty()
            && let Err(error) = recent::add(&ground.paths.state_dir, name)
        {
            tracing::warn!(%error, "recent models are not remembered");
        }
        updates
    }

    /// The list of models for one of the two places.
    pub(super) fn model_list(&self, ground: &Ground, role: Role) -> Listing {
        let in_use = match role {
            Role::Main => Some(self.ready.model.model.to_string()),
            Role::Small => self.models.small.model().map(|model| model.info().model.to_string()),
        };
        let (kind, title) = match role {
            Role::Main => (ListKind::Models, format!("Model · effort {}", self.effort_name())),
            Role::Small => (ListKind::SmallModels, "Model for side work".to_owned()),
        };
        let empty = "no provider has a key; /login adds one";
        let mut listing = Listing::new(kind, &title, empty);
        if role == Role::Small {
            let none = Entry::new("", "none").note("the main model does the side work, or nobody");
            listing.entries.push(none.current(in_use.is_none()));
        }
        let found = self.found(ground);
        listing.entries.extend(found.iter().map(|(reference, window)| {
            let info = self.info(ground, reference, *window);
            entry(&info).current(in_use.as_ref() == Some(reference))
        }));
        listing.offers = vec![
            Offer::new(Verb::Choose, "uses it").closing(),
            Offer::new(Verb::Other, "uses it in new sessions too").closing(),
        ];
        if role == Role::Main {
            listing.offers.push(Offer::new(Verb::Less, "less effort"));
            listing.offers.push(Offer::new(Verb::More, "more effort"));
        }
        listing
    }

    fn effort_name(&self) -> &'static str {
        self.models.main.effort().map_or("auto", Effort::name)
    }

    /// References of all models that can be chosen, the last used first, with the window where a
    /// service has told it.
    fn found(&self, ground: &Ground) -> Vec<(String, Option<u64>)> {
        let env = |name: &str| ground.env.var(name);
        let with_keys = resolve::with_keys(&env, &ground.settings.config.providers);
        let mut all: Vec<(String, Option<u64>)> = Vec::new();
        let mut add = |reference: String, window: Option<u64>| match all
            .iter_mut()
            .find(|(known, _)| *known == reference)
        {
            Some((_, known)) => *known = known.or(window),
            None => all.push((reference, window)),
        };
        let usable = |reference: &str| ground.resolve(Some(reference)).is_ok();
        add(self.ready.model.model.to_string(), None);
        recent::read(&ground.paths.state_dir)
            .into_iter()
            .filter(|reference| usable(reference))
            .for_each(|reference| add(reference, None));
        for served in &self.models.served {
            for model in &served.models {
                add(format!("{}/{model}", served.provider), served.context_window);
            }
        }
        for provider in &with_keys {
            let of = |name: &&str| name.split('/').next() == Some(provider);
            catalog::names().filter(of).for_each(|name| add(name.to_owned(), None));
            for model in self.models.offered.get(provider).into_iter().flatten() {
                add(format!("{provider}/{}", model.name), model.context_window);
            }
        }
        all
    }

    fn info(&self, ground: &Ground, reference: &str, window: Option<u64>) -> ModelInfo {
        if reference == self.ready.model.model.to_string() {
            return self.ready.model.clone();
        }
        let (provider, model) = reference.split_once('/').unwrap_or((reference, ""));
        let model = ModelRef { provider: provider.to_owned(), model: model.to_owned() };
        let mut overrides =
            ground.settings.config.models.get(reference).cloned().unwrap_or_default();
        if !catalog::lists(&model.provider, &model.model) {
            overrides.context_window = overrides.context_window.or(window);
        }
        let local = self.models.served.iter().any(|served| served.provider == model.provider);
        catalog::info(&model, local, &overrides)
    }
}

/// The efforts in the order of the keys; first the model's own.
const EFFORTS: [Option<Effort>; 6] = [
    None,
    Some(Effort::Off),
    Some(Effort::Low),
    Some(Effort::Medium),
    Some(Effort::High),
    Some(Effort::Max),
];

/// The effort beside that one.
pub(super) fn step(effort: Option<Effort>, more: bool) -> Option<Effort> {
    let at = EFFORTS.iter().position(|known| *known == effort).unwrap_or(0);
    let next = if more { (at + 1).min(EFFORTS.len() - 1) } else { at.saturating_sub(1) };
    EFFORTS[next]
}

/// A line of the list.
fn entry(info: &ModelInfo) -> Entry {
    let (price, cached) = match info.price {
        Some(price) if price.input == 0.0 && price.output == 0.0 => {
            ("free".to_owned(), String::new())
        }
        Some(price) => (
            format!("{} in  {} out", dollars(price.input), dollars(price.output)),
            format!(" · {} cached", dollars(price.cache_read)),
        ),
        None => ("price not known".to_owned(), String::new()),
    };
    let sees = if info.vision { " · sees images" } else { "" };
    let note = format!("answers of up to {} tokens{cached}{sees}", tokens(info.max_output));
    let note = if info.price.is_some_and(|price| price.input > 0.0) {
        format!("{note} · prices per million tokens")
    } else {
        note
    };
    let name = info.model.to_string();
    Entry::new(name.clone(), name).column(tokens(info.context_window)).column(price).note(note)
}

fn dollars(price: f64) -> String {
    format!("${price:.2}")
}

/// For example `200k` or `1M`.
fn tokens(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}k", count / 1000),
        _ if count % 1_000_000 < 100_000 => format!("{}M", count / 1_000_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// A line for people.
pub(super) fn notice(level: Level, text: &str) -> Update {
    Update::Notice { level, text: text.to_owned() }
}

/// What a local server has told of its window: the model gets it, and people a word when it is
/// little.
pub(super) fn take_window(session: &mut Session, model: &ModelRef, window: u64) -> Vec<Update> {
    let Some(connection) = session.models.connection.clone() else { return Vec::new() };
    // Another one was chosen meanwhile.
    if connection.model_ref() != *model || session.ready.model.context_window == window {
        return Vec::new();
    }
    let warning = served::warning(&connection, window);
    session.speak_with(served::with_window(connection, window));
    let told = warning.map(|text| notice(Level::Warning, &text));
    [Some(session.model_update()), told].into_iter().flatten().collect()
}
