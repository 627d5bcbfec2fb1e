//! From a model reference, the environment and the config to one [`Connection`]. Pure: the
//! environment comes in as a function, nothing is opened here.

use std::collections::BTreeMap;

use crate::config::schema::{ModelConfig, ProviderConfig};

use super::catalog;
use super::connection::{Connection, Secret, is_loopback, normalise_base_url, ollama_url};
use super::providers::{Kind, PROVIDERS, ProviderRow, row};

/// Reads one environment variable.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Why there is no model to talk to; each is one line that names the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Neither a reference nor any key.
    #[error("no model is set up: set a key such as ANTHROPIC_API_KEY, or name one with --model")]
    NoModel,
    /// The provider needs a key and there is none.
    #[error("{provider} needs a key: set {env}, or paste one in the set-up panel of codebot")]
    NoKey {
        /// Config name of the provider.
        provider: String,
        /// The variable that would hold the key.
        env: String,
    },
    /// Neither a table row nor a config section.
    #[error("unknown provider {name}{}", nearest_hint(.nearest.as_deref(), .name))]
    UnknownProvider {
        /// What was written.
        name: String,
        /// A known name that looks like it.
        nearest: Option<String>,
    },
    /// The config section's `kind` is missing or unknown.
    #[error("provider {provider}: unknown kind {kind:?}; use {}", kinds())]
    UnknownKind {
        /// Config name of the provider.
        provider: String,
        /// What was written; empty when missing.
        kind: String,
    },
    /// A custom provider without an address.
    #[error("provider {provider} has no base_url; add one under [providers.{provider}]")]
    NoBaseUrl {
        /// Config name of the provider.
        provider: String,
    },
    /// The address is no web address.
    #[error("base_url of {provider} is no web address: {url}")]
    BadBaseUrl {
        /// Config name of the provider.
        provider: String,
        /// What was written.
        url: String,
    },
    /// Only a provider was named and it has no default model.
    #[error("which model of {provider}? write {provider}/<model>")]
    NoDefaultModel {
        /// Config name of the provider.
        provider: String,
    },
}

/// The kinds of services, for people.
fn kinds() -> String {
    let services = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Demo);
    let names: Vec<String> = services.map(|kind| format!("{:?}", kind.name())).collect();
    names.join(", ")
}

fn nearest_hint(nearest: Option<&str>, name: &str) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean {nearest}?"),
        None => format!("; add [providers.{name}] to the config file or use a known one"),
    }
}

/// What resolution looks at.
#[derive(Clone, Copy)]
struct Sources<'a> {
    env: Env<'a>,
    providers: &'a BTreeMap<String, ProviderConfig>,
    models: &'a BTreeMap<String, ModelConfig>,
}

/// Finds the model to talk to. Without a reference the provider that has a key is taken; with
/// several keys the first in the order of [`PROVIDERS`], then the config's own sections by name.
pub fn resolve(
    reference: Option<&str>,
    env: Env<'_>,
    providers: &BTreeMap<String, ProviderConfig>,
    models: &BTreeMap<String, ModelConfig>,
) -> Result<Connection, ResolveError> {
    let sources = Sources { env, providers, models };
    let Some(reference) = reference.map(str::trim).filter(|text| !text.is_empty()) else {
        let name = keyed(&sources).into_iter().next().ok_or(ResolveError::NoModel)?;
        return sources.connection(&name, "");
    };
    let (head, tail) = reference.split_once('/').unwrap_or((reference, ""));
    if sources.is_known(head) {
        return sources.connection(head, tail.trim());
    }
    if reference.contains('/') {
        let nearest = nearest(head, &sources);
        return Err(ResolveError::UnknownProvider { name: head.to_owned(), nearest });
    }
    // A bare model name: the provider that the catalogue lists it under, if that one has a key.
    let keyed = keyed(&sources);
    let listed = keyed.iter().find(|name| catalog::lists(name, reference));
    match listed.or(keyed.first()) {
        Some(name) => sources.connection(name, reference),
        None => match nearest(reference, &sources) {
            Some(found) => Err(ResolveError::UnknownProvider {
                name: reference.to_owned(),
                nearest: Some(found),
            }),
            None => Err(ResolveError::NoModel),
        },
    }
}

/// Names of all providers that have a key, preferred ones first.
pub fn with_keys(env: Env<'_>, providers: &BTreeMap<String, ProviderConfig>) -> Vec<String> {
    keyed(&Sources { env, providers, models: &BTreeMap::new() })
}

/// Names of all providers with a key, in the order in which they are preferred.
fn keyed(sources: &Sources<'_>) -> Vec<String> {
    let rows = PROVIDERS.iter().map(|row| row.name.to_owned());
    let custom = sources.providers.keys().filter(|name| row(name).is_none()).cloned();
    rows.chain(custom).filter(|name| sources.key(name).is_some()).collect()
}

impl Sources<'_> {
    fn is_known(&self, name: &str) -> bool {
        row(name).is_some() || self.providers.contains_key(name)
    }

    fn var(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.trim().is_empty())
    }

    /// The key and whether it is a bearer token.
    fn key(&self, name: &str) -> Option<(Secret, bool)> {
        if let Some(config) = self.providers.get(name) {
            let given = config.api_key.clone().filter(|key| !key.trim().is_empty());
            let from_env = || config.api_key_env.as_deref().and_then(|env| self.var(env));
            if let Some(key) = given.or_else(from_env) {
                return Some((Secret::new(key), false));
            }
        }
        let row = row(name)?;
        let find = |names: &[&str]| names.iter().find_map(|name| self.var(name)).map(Secret::new);
        let key = find(row.key_env).map(|key| (key, false));
        key.or_else(|| find(row.bearer_env).map(|key| (key, true)))
    }

    /// The variable that holds the key, else the one that would.
    fn key_env(&self, config: Option<&ProviderConfig>, row: Option<&ProviderRow>) -> String {
        if let Some(own) = config.and_then(|config| config.api_key_env.clone()) {
            return own;
        }
        let known = |row: &ProviderRow| {
            let mut all = row.key_env.iter().chain(row.bearer_env);
            let set = all.find(|env| self.var(env).is_some());
            set.or(row.key_env.first()).map(|env| (*env).to_owned())
        };
        row.and_then(known).unwrap_or_default()
    }

    fn connection(&self, name: &str, model: &str) -> Result<Connection, ResolveError> {
        let provider = name.to_owned();
        let row = row(name);
        let config = self.providers.get(name);
        let kind = kind_of(name, config, row)?;
        let model = match (model, row.map_or("", |row| row.default_model)) {
            ("", "") => return Err(ResolveError::NoDefaultModel { provider }),
            ("", default) => default.to_owned(),
            (model, _) => model.to_owned(),
        };
        let base_url = self.base_url(name, kind, config, row)?;
        let key_env = self.key_env(config, row);
        let key = self.key(name);
        let needs_key = match (config.and_then(|config| config.api_key_env.as_ref()), row) {
            (Some(_), _) => true,
            (None, Some(row)) => row.needs_key && !is_loopback(&base_url),
            (None, None) => false,
        };
        if key.is_none() && needs_key && kind != Kind::Demo {
            return Err(ResolveError::NoKey { provider, env: key_env });
        }
        let (key, bearer) = key.map_or((None, false), |(key, bearer)| (Some(key), bearer));
        let replay = config.and_then(|config| config.reasoning_replay);
        Ok(Connection {
            overrides: self.models.get(&format!("{name}/{model}")).cloned().unwrap_or_default(),
            headers: config.map(|c| c.headers.clone().into_iter().collect()).unwrap_or_default(),
            reasoning_replay: replay.unwrap_or(row.is_some_and(|row| row.reasoning_replay)),
            provider,
            kind,
            base_url,
            key,
            bearer,
            key_env,
            model,
        })
    }

    fn base_url(
        &self,
        name: &str,
        kind: Kind,
        config: Option<&ProviderConfig>,
        row: Option<&ProviderRow>,
    ) -> Result<String, ResolveError> {
        if kind == Kind::Demo {
            return Ok(String::new());
        }
        let from_env = || {
            let (env, value) =
                row?.base_env.iter().find_map(|env| self.var(env).map(|value| (*env, value)))?;
            Some(if env == "OLLAMA_HOST" { ollama_url(&value) } else { value })
        };
        let url = config
            .and_then(|config| config.base_url.clone())
            .filter(|url| !url.trim().is_empty())
            .or_else(from_env)
            .or_else(|| row.map(|row| row.base_url.to_owned()))
            .ok_or_else(|| ResolveError::NoBaseUrl { provider: name.to_owned() })?;
        normalise_base_url(&url, kind)
            .ok_or_else(|| ResolveError::BadBaseUrl { provider: name.to_owned(), url })
    }
}

fn kind_of(
    name: &str,
    config: Option<&ProviderConfig>,
    row: Option<&ProviderRow>,
) -> Result<Kind, ResolveError> {
    let written = config.and_then(|config| config.kind.as_deref()).unwrap_or_default();
    if let (true, Some(row)) = (written.is_empty(), row) {
        return Ok(row.kind);
    }
    let unknown =
        || ResolveError::UnknownKind { provider: name.to_owned(), kind: written.to_owned() };
    Kind::from_name(written).ok_or_else(unknown)
}

/// The known name with the fewest differing letters, if they are few.
fn nearest(name: &str, sources: &Sources<'_>) -> Option<String> {
    let name = name.to_lowercase();
    let known = PROVIDERS.iter().map(|row| row.name).chain(sources.providers.keys().map(|k| &**k));
    let scored = known.map(|candidate| (distance(&name, candidate), candidate));
    let (score, best) = scored.min()?;
    (score <= 2 || best.starts_with(&name) && name.len() >= 3).then(|| best.to_owned())
}

/// Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, cb) in b.iter().enumerate() {
            let substitution = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}
