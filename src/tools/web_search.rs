//! `web_search`: asks the search service that the user has set up; without one there is no such tool.
//! The shape of the answer is found by its fields, as services differ in little else.

use std::fmt::Write as _;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::kernel::error::ToolError;
use crate::kernel::message::{Block, CallStatus};
use crate::kernel::ports::{Access, ToolOutcome};

use super::address::Exceptions;
use super::bench::Bench;
use super::download::{self, Got};
use super::{Job, Tool, address, output};

/// Most hits that are shown.
const HITS: usize = 10;
/// Characters of a hit's text.
const SNIPPET: usize = 300;

/// Searches the web.
#[derive(Debug)]
pub struct WebSearch;

/// Arguments of `web_search`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// What to look for.
    #[schemars(length(min = 1, max = 400))]
    query: String,
}

/// A search service.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SearchService {
    /// The address, with `{query}` where the query goes.
    pub url: String,
    /// The key, when it needs one.
    pub key: Option<String>,
    /// The header of the key; `Authorization: Bearer` when empty.
    pub header: String,
}

impl std::fmt::Debug for SearchService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A key never reaches a log.
        f.debug_struct("SearchService").field("url", &self.url).finish_non_exhaustive()
    }
}

impl SearchService {
    /// The address of a query.
    fn url(&self, query: &str) -> Result<Url, ToolError> {
        let mut escaped = String::new();
        for byte in query.trim().bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                escaped.push(char::from(byte));
            } else {
                // Writing to a string can't fail.
                let _infallible = write!(escaped, "%{byte:02X}");
            }
        }
        address::parse(&self.url.replace("{query}", &escaped))
    }

    fn headers(&self) -> Result<HeaderMap, ToolError> {
        let Some(key) = &self.key else { return Ok(HeaderMap::new()) };
        let wrong = || ToolError::new("Failed", "the key or header of the search can't be sent");
        let (name, value) = if self.header.is_empty() {
            (AUTHORIZATION, format!("Bearer {key}"))
        } else {
            let name =
                HeaderName::from_bytes(self.header.trim().as_bytes()).map_err(|_| wrong())?;
            (name, key.clone())
        };
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok(HeaderMap::from_iter([(name, value)]))
    }
}

impl Tool for WebSearch {
    type Args = Args;

    fn access(bench: &Bench, args: &Args) -> Vec<Access> {
        let service = bench.web.search.as_ref();
        let url = service.and_then(|service| service.url(&args.query).ok());
        vec![Access::Network(url.map(String::from).unwrap_or_default())]
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let found = tokio::select! {
            biased;
            () = job.cancel.cancelled() => {
                return ToolOutcome::new(CallStatus::Cancelled, vec![Block::text("[cancelled]")]);
            }
            found = search(bench, &args.query, &job) => found,
        };
        match found {
            Ok(mut text) => {
                bench.mask.hide(&mut text);
                ToolOutcome::ok(text)
            }
            Err(error) => ToolOutcome::failed(&error),
        }
    }
}

async fn search(bench: &Bench, query: &str, job: &Job) -> Result<String, ToolError> {
    let Some(service) = &bench.web.search else {
        return Err(ToolError::new("Unavailable", "no search service is set up"));
    };
    let url = service.url(query)?;
    // The user chose the service; it may well run next door.
    let host = url.host_str().unwrap_or_default().to_owned();
    let own = Exceptions::new(&[host.trim_matches(['[', ']']).to_owned()]);
    let got = download::get(url, &own, service.headers()?, &job.progress).await?;
    let Got::Page(page) = got else {
        return Err(ToolError::new("Failed", format!("{host} leads to another host")));
    };
    let text = String::from_utf8_lossy(&page.body);
    if !(200..300).contains(&page.status) {
        let said = output::head(text.trim(), SNIPPET);
        return Err(ToolError::new("Http", format!("{host} answered {}: {said}", page.status)));
    }
    let answer: Value = serde_json::from_str(&text).map_err(|_| {
        let text = format!("{host} did not answer in JSON; see web.search_url in the config file");
        ToolError::new("Failed", text)
    })?;
    Ok(list(query, &hits(&answer)))
}

/// A hit.
struct Hit<'a> {
    title: &'a str,
    url: &'a str,
    text: &'a str,
}

/// The first list of things that have an address.
fn hits(answer: &Value) -> Vec<Hit<'_>> {
    let places = [
        "/results",
        "/web/results",
        "/items",
        "/organic",
        "/organic_results",
        "/data",
        "/webPages/value",
        "",
    ];
    let lists = places.iter().filter_map(|place| answer.pointer(place)?.as_array());
    let hit = |item| {
        let first = |keys: &[&str]| {
            keys.iter().find_map(|key| Value::get(item, *key)?.as_str()).unwrap_or_default()
        };
        let url = first(&["url", "link", "href"]);
        (!url.is_empty()).then(|| Hit {
            title: first(&["title", "name"]),
            url,
            text: first(&["content", "snippet", "description", "text"]),
        })
    };
    let mut found = lists.map(|list| list.iter().filter_map(hit).collect::<Vec<_>>());
    found.find(|hits| !hits.is_empty()).unwrap_or_default()
}

fn list(query: &str, hits: &[Hit<'_>]) -> String {
    if hits.is_empty() {
        return format!("nothing was found for {query:?}");
    }
    let mut text = String::new();
    for (at, hit) in hits.iter().take(HITS).enumerate() {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let snippet = one_line(hit.text);
        let snippet = output::head(&snippet, SNIPPET);
        // Writing to a string can't fail.
        let _infallible = write!(text, "{}. {}\n   {}\n", at + 1, one_line(hit.title), hit.url);
        if !snippet.is_empty() {
            let _infallible = writeln!(text, "   {snippet}");
        }
    }
    if hits.len() > HITS {
        let _infallible = writeln!(text, "[{} more]", hits.len() - HITS);
    }
    text.trim_end().to_owned()
}
