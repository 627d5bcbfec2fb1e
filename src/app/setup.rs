//! The ways on when there is no usable model: what the set-up panel offers and what becomes of a
//! choice.

use crate::config::edit;
use crate::model::probe;
use crate::model::providers::PROVIDERS;

use super::ground::Ground;
use super::service::{Failure, Launch, LocalServer, ProviderOffer, Setup, SetupChoice};

/// The offers that need no look at the network.
pub fn offers(reason: String) -> Setup {
    let providers = PROVIDERS.iter().filter(|row| row.needs_key && !row.default_model.is_empty());
    Setup {
        reason,
        servers: Vec::new(),
        providers: providers
            .map(|row| ProviderOffer {
                name: row.name.to_owned(),
                label: row.label.to_owned(),
                key_env: row.key_env.first().copied().unwrap_or_default().to_owned(),
                default_model: format!("{}/{}", row.name, row.default_model),
            })
            .collect(),
    }
}

/// Local model servers that answer now; takes at most some 150 ms.
pub async fn servers(ground: &Ground) -> Vec<LocalServer> {
    // The look at the environment ends before the wait begins.
    let probing = probe::probe_local(&|name: &str| ground.env.var(name));
    let found = probing.await;
    found
        .into_iter()
        .filter(|served| !served.models.is_empty())
        .map(|served| LocalServer {
            models: served.models.iter().map(|m| format!("{}/{m}", served.provider)).collect(),
            label: served.label.clone(),
            base_url: served.base_url.clone(),
        })
        .collect()
}

/// Puts a choice into force: the launch to start again with. Blocking for a key.
///
/// # Errors
/// When the key can't be saved.
pub fn apply(ground: &Ground, launch: &Launch, choice: SetupChoice) -> Result<Launch, Failure> {
    let mut next = launch.clone();
    match choice {
        SetupChoice::Demo => next.demo = true,
        SetupChoice::Model(reference) => next.model = Some(reference),
        SetupChoice::Key { provider, key } => {
            let offer = offers(String::new()).providers.into_iter().find(|o| o.name == provider);
            let default = offer.map(|offer| offer.default_model);
            edit::save_provider_key(&ground.paths, &provider, key.trim(), default.as_deref())
                .map_err(|error| Failure { message: error.to_string(), exit_code: 1 })?;
            // A model named earlier may belong to the provider without a key.
            let named = next.model.take();
            next.model =
                named.filter(|model| model.starts_with(&format!("{provider}/"))).or(default);
        }
    }
    Ok(next)
}
