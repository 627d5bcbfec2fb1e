//! The ways on when there is no usable model: what the set-up panel offers.

use crate::model::probe;
use crate::model::providers::{PROVIDERS, ProviderRow};

use super::ground::Ground;
use super::service::{LocalServer, ProviderOffer, Setup};

/// The offers that need no look at the network.
pub fn offers(reason: String) -> Setup {
    // One offer for a key: a second row with the same one is another way to the same service.
    let first = |row: &&ProviderRow| {
        let same = PROVIDERS.iter().find(|other| other.key_env == row.key_env);
        same.is_some_and(|same| same.name == row.name)
    };
    let providers =
        PROVIDERS.iter().filter(|row| row.needs_key && !row.default_model.is_empty()).filter(first);
    Setup {
        reason,
        demo: true,
        providers: providers
            .map(|row| ProviderOffer {
                name: row.name.to_owned(),
                label: row.label.to_owned(),
                key_env: row.key_env.first().copied().unwrap_or_default().to_owned(),
                default_model: format!("{}/{}", row.name, row.default_model),
            })
            .collect(),
        ..Setup::default()
    }
}

/// The offer of a provider that only the config file knows.
pub fn offer_of_own(name: &str) -> ProviderOffer {
    ProviderOffer { name: name.to_owned(), label: name.to_owned(), ..ProviderOffer::default() }
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
