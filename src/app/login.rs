//! Keys of providers: what was pasted is tried at the service before it is saved, and forgotten
//! again by `/logout`. Nothing here shows a key to anybody.

use crate::config::edit::{self, KeyPlace};
use crate::config::schema::ProviderConfig;
use crate::model::connection::Connection;
use crate::model::http::Limits;
use crate::model::offered::{KeyCheck, check_key};
use crate::model::providers::{PROVIDERS, ProviderRow, row};
use crate::model::resolve;

use super::ground::Ground;
use super::service::{Entry, ListKind, Listing, Offer, Setup, Verb};
use super::setup;

/// Most models that are offered after a key was taken; `/model` shows all.
const MODELS: usize = 40;

/// What the user gave.
#[derive(Clone, PartialEq, Eq)]
pub enum Given {
    /// A key.
    Key(String),
    /// The name of a variable that holds one.
    Env(String),
}

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // A key never reaches a log.
            Self::Key(_) => f.write_str("Key"),
            Self::Env(name) => write!(f, "Env({name})"),
        }
    }
}

impl Given {
    /// Reads what was pasted: blanks, quotes and an `export NAME=` around it are a slip of the
    /// clipboard; the name of a variable that is set means its value.
    pub fn read(text: &str, is_set: impl Fn(&str) -> bool) -> Self {
        let text = text.trim().trim_end_matches(';');
        let text = text.strip_prefix("export ").unwrap_or(text);
        let value = match text.split_once('=') {
            Some((name, value)) if is_name(name) && !value.is_empty() => value,
            _ => text,
        };
        let bare = value.trim().trim_matches(['"', '\'', '`']).trim();
        let name = bare.trim_start_matches('$').trim_matches(['{', '}']);
        if is_name(name) && is_set(name) {
            return Self::Env(name.to_owned());
        }
        Self::Key(bare.to_owned())
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// What became of a key.
#[derive(Debug)]
pub struct Tried {
    /// Config name of the provider.
    pub provider: String,
    /// What was given.
    pub given: Given,
    /// What the service said.
    pub check: KeyCheck,
}

/// Tries a key at its service; some 15 s at most.
pub fn attempt(
    ground: &Ground,
    provider: &str,
    text: &str,
) -> impl Future<Output = Tried> + Send + use<> {
    let given = Given::read(text, |name| ground.env.var(name).is_some());
    let connection = connection(ground, provider, &given);
    let provider = provider.to_owned();
    async move {
        let check = match connection {
            Ok(connection) => check_key(&connection, Limits::default()).await,
            Err(error) => KeyCheck::Unknown(error),
        };
        Tried { provider, given, check }
    }
}

/// The provider with the given key in the place of whatever was set.
fn connection(ground: &Ground, provider: &str, given: &Given) -> Result<Connection, String> {
    let config = &ground.settings.config;
    let mut providers = config.providers.clone();
    let own: &mut ProviderConfig = providers.entry(provider.to_owned()).or_default();
    match given {
        Given::Key(key) => own.api_key = Some(key.clone()),
        Given::Env(name) => {
            own.api_key = None;
            own.api_key_env = Some(name.clone());
        }
    }
    let env = |name: &str| ground.env.var(name);
    // A provider without a model of its own is asked about models all the same.
    let model = row(provider).map_or("", |row| row.default_model);
    let reference = format!("{provider}/{}", if model.is_empty() { "any" } else { model });
    resolve::resolve(Some(&reference), &env, &providers, &config.models)
        .map_err(|error| error.to_string())
}

/// Saves a key that was not refused. Blocking.
///
/// # Errors
/// One line, when the user's file can't be written.
pub fn save(ground: &Ground, tried: &Tried) -> Result<(), String> {
    let place = match &tried.given {
        Given::Key(key) => KeyPlace::Key(key),
        Given::Env(name) => KeyPlace::Env(name),
    };
    let default = row(&tried.provider).map(|row| row.default_model).filter(|name| !name.is_empty());
    let default = default.map(|name| format!("{}/{name}", tried.provider));
    edit::save_key_place(&ground.paths, &tried.provider, place, default.as_deref())
        .map_err(|error| error.to_string())
}

/// The question which model to use, after a key was taken: the provider's usual one first, then
/// those that are known, then the rest.
pub fn models(tried: &Tried) -> Option<Setup> {
    let KeyCheck::Good(offered) = &tried.check else { return None };
    let provider = &tried.provider;
    let mut names: Vec<&str> = offered.iter().map(|model| model.name.as_str()).collect();
    let default = row(provider).map_or("", |row| row.default_model);
    let rank = |name: &&str| {
        let known = crate::model::catalog::lists(provider, name);
        (u8::from(**name != *default), u8::from(!known))
    };
    names.sort_by_key(rank);
    names.truncate(MODELS);
    if names.is_empty() {
        return None;
    }
    let label = row(provider).map_or(provider.as_str(), |row| row.label);
    let count = offered.len();
    Some(Setup {
        reason: format!("{label} took the key and offers {count} models; which one is to answer?"),
        models: names.into_iter().map(|name| format!("{provider}/{name}")).collect(),
        ..Setup::default()
    })
}

/// The offers of `/login`, for one provider or for all.
pub fn offers(ground: &Ground, provider: Option<&str>) -> Setup {
    let mut setup =
        setup::offers("Log in to a provider: its key is tried before it is saved".into());
    if let Some(wanted) = provider {
        let own = ground.settings.config.providers.contains_key(wanted);
        setup.providers.retain(|offer| offer.name == wanted);
        if setup.providers.is_empty() && own {
            setup.providers = vec![setup::offer_of_own(wanted)];
        }
    }
    setup.demo = false;
    setup
}

/// The providers that have a key, with where it comes from.
pub fn list(ground: &Ground) -> Listing {
    let empty = "no key is set; /login adds one";
    let mut listing = Listing::new(ListKind::Keys, "Keys of providers", empty);
    let configured = &ground.settings.config.providers;
    for (name, config) in configured {
        if config.api_key.is_some() {
            listing.entries.push(Entry::new(name, name).column("in your config file"));
        } else if let Some(env) = &config.api_key_env {
            let text = format!("in {env}, named by your config file");
            listing.entries.push(Entry::new(name, name).column(text));
        }
    }
    let set = |row: &&ProviderRow| {
        let kept =
            |config: &ProviderConfig| config.api_key.is_some() || config.api_key_env.is_some();
        !configured.get(row.name).is_some_and(kept)
    };
    for row in PROVIDERS.iter().filter(set) {
        let mut names = row.key_env.iter().chain(row.bearer_env);
        if let Some(env) = names.find(|env| ground.env.var(env).is_some()) {
            let text = format!("in the environment: {env}");
            let note = format!("unset {env} where it is set to be without it");
            listing.entries.push(Entry::new(row.name, row.name).column(text).note(note));
        }
    }
    listing.offers = vec![Offer::new(Verb::Remove, "forgets it").confirmed()];
    listing
}

/// Forgets the key of a provider; says what there is to say.
pub fn forget(ground: &Ground, provider: &str) -> Result<String, String> {
    match edit::remove_provider_key(&ground.paths, provider) {
        Ok(true) => Ok(format!("the key of {provider} is no longer in your config file")),
        Ok(false) => {
            let mut names = row(provider).into_iter().flat_map(|row| row.key_env);
            match names.find(|env| ground.env.var(env).is_some()) {
                Some(env) => {
                    Err(format!("the key of {provider} comes from {env}; unset it where it is set"))
                }
                None => Err(format!("there is no key of {provider} in your config file")),
            }
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_clipboard_puts_around_a_key_is_cut() {
        let read = |text: &str| Given::read(text, |name| name == "MY_KEY");
        for text in [
            "sk-1",
            " sk-1\n",
            "\"sk-1\"",
            "'sk-1' ",
            "export OPENAI_API_KEY=sk-1",
            "OPENAI_API_KEY=\"sk-1\";",
        ] {
            assert_eq!(read(text), Given::Key("sk-1".to_owned()), "{text}");
        }
        for text in ["MY_KEY", "$MY_KEY", "${MY_KEY}", "export OPENAI_API_KEY=$MY_KEY"] {
            assert_eq!(read(text), Given::Env("MY_KEY".to_owned()), "{text}");
        }
        // A key may look like a name, and have a sign of equality at its end.
        assert_eq!(read("ABCDEF0123"), Given::Key("ABCDEF0123".to_owned()));
        assert_eq!(read("c2VjcmV0="), Given::Key("c2VjcmV0=".to_owned()));
    }
}
