//! `web_fetch`: one page as readable text.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::{Block, CallId, CallStatus};
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::{Bench, blocking};
use super::download::{self, Downloaded, Got};
use super::{Job, Tool, address, output, readable};

/// Characters of a failed answer's body that are shown.
const ERROR_CHARS: usize = 500;

/// Fetches a page.
#[derive(Debug)]
pub struct WebFetch;

/// Arguments of `web_fetch`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The address, http or https.
    #[schemars(length(min = 1))]
    url: String,
}

impl Tool for WebFetch {
    type Args = Args;

    fn access(_: &Bench, args: &Args) -> Vec<Access> {
        let url = address::parse(&args.url).map(String::from);
        vec![Access::Network(url.unwrap_or_else(|_| args.url.clone()))]
    }

    async fn preview(_: &Bench, _: &CallId, args: Args) -> Result<Option<Preview>, ToolError> {
        address::parse(&args.url).map(|_| None)
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let fetched = tokio::select! {
            biased;
            () = job.cancel.cancelled() => {
                return ToolOutcome::new(CallStatus::Cancelled, vec![Block::text("[cancelled]")]);
            }
            fetched = fetch(bench, &args, &job) => fetched,
        };
        match fetched {
            Ok(mut text) => {
                bench.mask.hide(&mut text);
                ToolOutcome::ok(text)
            }
            Err(error) => {
                let status =
                    if error.kind == "Timeout" { CallStatus::TimedOut } else { CallStatus::Error };
                ToolOutcome { status, ..ToolOutcome::failed(&error) }
            }
        }
    }
}

async fn fetch(bench: &Bench, args: &Args, job: &Job) -> Result<String, ToolError> {
    let url = address::parse(&args.url)?;
    let headers = reqwest::header::HeaderMap::new();
    match download::get(url.clone(), &bench.web.exceptions, headers, &job.progress).await? {
        Got::Elsewhere(next) => {
            Ok(format!("{url} leads to another host: {next}\nFetch that if it is what you want."))
        }
        Got::Page(page) => show(page).await,
    }
}

async fn show(page: Downloaded) -> Result<String, ToolError> {
    blocking(move || {
        let Downloaded { url, status, content_type, body, cut } = page;
        let read = readable::read(&content_type, &body);
        if !(200..300).contains(&status) {
            let said = output::head(&read.text, ERROR_CHARS).trim();
            return Err(ToolError::new("Http", format!("{url} answered {status}: {said}")));
        }
        let title = read.title.map(|title| format!("\n# {title}")).unwrap_or_default();
        let note = if cut {
            let most = output::size(download::MOST_BYTES as u64);
            format!("\n[the page is longer than {most}; this is its beginning]")
        } else {
            String::new()
        };
        let text = if read.text.is_empty() { "[the page has no text]" } else { &read.text };
        Ok(format!("{url}{title}\n\n{text}{note}"))
    })
    .await
}
