//! Looks for model servers on this machine, all at once and only briefly. A server that does not
//! answer in time is not there; nothing is started and nothing leaves the machine.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::connection::{is_loopback, normalise_base_url, ollama_url};
use super::http;
use super::providers::{Kind, row};
use super::resolve::Env;

/// Time for everything that is asked of one server.
const LIMIT: Duration = Duration::from_millis(150);

/// Models whose context length is asked for, at most; servers may have hundreds on disk.
const ASKED: usize = 8;

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// For people.
    pub label: String,
    /// Config name of the provider.
    pub provider: String,
    /// Base URL, normalised.
    pub base_url: String,
    /// Names of the models it serves, without the provider.
    pub models: Vec<String>,
    /// Tokens of context that it really serves, where it tells: the smallest over its models.
    pub context_window: Option<u64>,
}

/// A place to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Config name of the provider; decides how the server is asked.
    pub provider: String,
    /// For people.
    pub label: String,
    /// Base URL, normalised.
    pub base_url: String,
}

/// The places where local servers listen. `OLLAMA_HOST` moves one of them.
pub fn targets(env: Env<'_>) -> Vec<Target> {
    let rows = ["ollama", "llamacpp", "lmstudio", "vllm"].into_iter().filter_map(row);
    let mut targets = Vec::new();
    for row in rows {
        let moved = row.base_env.iter().find_map(|name| env(name)).map(|host| ollama_url(&host));
        let url = moved.unwrap_or_else(|| row.base_url.to_owned());
        if let Some(base_url) =
            normalise_base_url(&url, Kind::OpenAiChat).filter(|u| is_loopback(u))
        {
            let (provider, label) = (row.name.to_owned(), row.label.to_owned());
            targets.push(Target { provider, label, base_url });
        }
    }
    targets
}

/// The local servers that answer, in the order of the table. Takes at most about 150 ms.
pub fn probe_local(env: Env<'_>) -> impl Future<Output = Vec<Served>> + use<> {
    probe(targets(env), LIMIT)
}

/// Asks the given places in parallel, each within `limit`.
pub async fn probe(targets: Vec<Target>, limit: Duration) -> Vec<Served> {
    let Ok(Ok(client)) = tokio::task::spawn_blocking(|| http::client(true)).await else {
        return Vec::new();
    };
    let asked = targets.into_iter().map(|target| ask(client, target, limit));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn ask(client: &reqwest::Client, target: Target, limit: Duration) -> Option<Served> {
    let deadline = tokio::time::Instant::now() + limit;
    let root = target.base_url.trim_end_matches("/v1").to_owned();
    let models = tokio::time::timeout_at(deadline, models(client, &target, &root)).await.ok()??;
    if models.is_empty() {
        return None;
    }
    let names: Vec<String> = models.iter().map(|(name, _)| name.clone()).collect();
    let told = models.iter().filter_map(|(_, window)| *window).min();
    let asked = async {
        match target.provider.as_str() {
            "ollama" => ollama_window(client, &root, &names).await,
            "llamacpp" => llamacpp_window(client, &root).await,
            _ => None,
        }
    };
    let context_window = tokio::time::timeout_at(deadline, asked).await.ok().flatten().or(told);
    let Target { provider, label, base_url } = target;
    Some(Served { label, provider, base_url, models: names, context_window })
}

/// Tokens of context with which a server runs one model, where it tells; nothing is started for it.
pub async fn window_of(provider: &str, base_url: &str, model: &str) -> Option<u64> {
    let client = tokio::task::spawn_blocking(|| http::client(true)).await.ok()?.ok()?;
    let root = base_url.trim_end_matches("/v1");
    match provider {
        "ollama" => match ollama_running(client, root, model).await {
            Some(window) => Some(window),
            None => ollama_set(client, root, model).await,
        },
        "llamacpp" => llamacpp_window(client, root).await,
        "lmstudio" => lmstudio_window(client, root, model).await,
        _ => {
            let list = get(client, &format!("{base_url}/models")).await?;
            let found = list["data"].as_array()?.iter().find(|one| one["id"] == model)?;
            listed_window(found)
        }
    }
}

/// What a loaded model runs with. One that is not loaded yet will get the server's default, which
/// the server tells nobody.
async fn ollama_running(client: &reqwest::Client, root: &str, model: &str) -> Option<u64> {
    let running = get(client, &format!("{root}/api/ps")).await?;
    let is_it = |one: &&Value| {
        let name = one["name"].as_str().unwrap_or_default();
        name == model || name.strip_suffix(":latest") == Some(model)
    };
    running["models"].as_array()?.iter().find(is_it)?["context_length"].as_u64()
}

/// What the model itself sets.
async fn ollama_set(client: &reqwest::Client, root: &str, model: &str) -> Option<u64> {
    let request = client.post(format!("{root}/api/show")).json(&json!({"model": model}));
    let shown: Value = request.send().await.ok()?.json().await.ok()?;
    set_window(&shown)
}

fn set_window(shown: &Value) -> Option<u64> {
    let mut lines = shown["parameters"].as_str()?.lines();
    lines.find_map(|line| line.trim().strip_prefix("num_ctx"))?.trim().parse().ok()
}

async fn lmstudio_window(client: &reqwest::Client, root: &str, model: &str) -> Option<u64> {
    let list = get(client, &format!("{root}/api/v0/models")).await?;
    let found = list["data"].as_array()?.iter().find(|one| one["id"] == model)?;
    found["loaded_context_length"].as_u64()
}

fn listed_window(model: &Value) -> Option<u64> {
    let keys = ["max_model_len", "max_context_length", "context_length", "context_window"];
    keys.iter().find_map(|key| model[*key].as_u64())
}

/// Names of the served models with the context length where the list tells it.
async fn models(
    client: &reqwest::Client,
    target: &Target,
    root: &str,
) -> Option<Vec<(String, Option<u64>)>> {
    if target.provider == "ollama" {
        let tags = get(client, &format!("{root}/api/tags")).await?;
        let names = tags["models"].as_array()?.iter().filter_map(|model| model["name"].as_str());
        return Some(names.map(|name| (name.to_owned(), None)).collect());
    }
    let list = get(client, &format!("{}/models", target.base_url)).await?;
    let model = |model: &Value| Some((model["id"].as_str()?.to_owned(), listed_window(model)));
    Some(list["data"].as_array()?.iter().filter_map(model).collect())
}

/// The length a model is run with, not the one it was trained for: a set parameter wins.
async fn ollama_window(client: &reqwest::Client, root: &str, names: &[String]) -> Option<u64> {
    let asked = names.iter().take(ASKED).map(|name| async move {
        let request = client.post(format!("{root}/api/show")).json(&json!({"model": name}));
        let shown: Value = request.send().await.ok()?.json().await.ok()?;
        let set = set_window(&shown);
        let trained = || {
            let facts = shown["model_info"].as_object()?;
            facts.iter().find(|(key, _)| key.ends_with(".context_length"))?.1.as_u64()
        };
        set.or_else(trained)
    });
    join_all(asked).await.into_iter().flatten().min()
}

async fn llamacpp_window(client: &reqwest::Client, root: &str) -> Option<u64> {
    let props = get(client, &format!("{root}/props")).await?;
    props.pointer("/default_generation_settings/n_ctx").or_else(|| props.get("n_ctx"))?.as_u64()
}

async fn get(client: &reqwest::Client, url: &str) -> Option<Value> {
    let response = client.get(url).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    response.json().await.ok()
}
