//! One bounded GET: to addresses that were checked, with a limit of time and bytes, without following
//! anybody to another host. What the bytes mean is another room's business.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url};

use super::address::{self, Exceptions};
use crate::kernel::error::ToolError;
use crate::kernel::event::Progress;
use crate::kernel::ports::ProgressSink;

/// For everything together.
const LIMIT: Duration = Duration::from_secs(30);
/// For a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Most bytes of a body.
pub const MOST_BYTES: usize = 5 * 1024 * 1024;
/// Most hops within one host.
const HOPS: usize = 5;
const ACCEPTED: &str =
    "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1";

/// What came back.
#[derive(Debug)]
pub struct Downloaded {
    /// Where it came from in the end.
    pub url: Url,
    /// The status.
    pub status: u16,
    /// The content type with its parameters, lower case; empty when there was none.
    pub content_type: String,
    /// At most [`MOST_BYTES`].
    pub body: Vec<u8>,
    /// Whether there was more.
    pub cut: bool,
}

/// Where a page leads instead.
#[derive(Debug)]
pub enum Got {
    /// The page.
    Page(Downloaded),
    /// It is at another host, which nobody has been asked about.
    Elsewhere(Url),
}

/// Fetches a page.
///
/// # Errors
/// One line: what was refused, unreachable or too slow.
pub async fn get(
    url: Url,
    exceptions: &Exceptions,
    headers: HeaderMap,
    progress: &ProgressSink,
) -> Result<Got, ToolError> {
    let name = url.host_str().unwrap_or_default().to_owned();
    let got = tokio::time::timeout(LIMIT, follow(url, exceptions, headers, progress)).await;
    got.unwrap_or_else(|_| {
        let text = format!("{name} was not done within {} s", LIMIT.as_secs());
        Err(ToolError::new("Timeout", text))
    })
}

async fn follow(
    mut url: Url,
    exceptions: &Exceptions,
    headers: HeaderMap,
    progress: &ProgressSink,
) -> Result<Got, ToolError> {
    for _ in 0..=HOPS {
        let tail = format!("asking {}", url.host_str().unwrap_or_default());
        progress.send(Progress::Output { tail, bytes: 0 });
        let response = ask(&url, exceptions, headers.clone()).await?;
        let Some(next) = redirect(&url, &response) else {
            return read(url, response, progress).await.map(Got::Page);
        };
        let next = address::parse(next.as_str())?;
        if !is_same_host(&url, &next) {
            return Ok(Got::Elsewhere(next));
        }
        url = next;
    }
    Err(ToolError::new("Redirects", format!("more than {HOPS} redirects, the last to {url}")))
}

async fn ask(url: &Url, exceptions: &Exceptions, more: HeaderMap) -> Result<Response, ToolError> {
    let addresses = address::resolve(url, exceptions).await?;
    let host = url.host_str().unwrap_or_default().to_owned();
    let local = addresses.iter().all(|address| !address::is_public(address.ip()));
    let client = tokio::task::spawn_blocking(move || client(&host, &addresses, local));
    let client = client.await.map_err(|error| ToolError::new("Failed", error.to_string()))??;
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
    headers.extend(more);
    client.get(url.clone()).headers(headers).send().await.map_err(|error| failed(url, &error))
}

/// A client that knows one name only, by the addresses that were checked.
fn client(
    host: &str,
    addresses: &[std::net::SocketAddr],
    local: bool,
) -> Result<Client, ToolError> {
    // Fails when a provider is installed already, which is just as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .resolve_to_addrs(host, addresses)
        .user_agent(concat!("codebot/", env!("CARGO_PKG_VERSION")));
    if local {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| ToolError::new("Failed", error.to_string()))
}

fn failed(url: &Url, error: &reqwest::Error) -> ToolError {
    let host = url.host_str().unwrap_or_default();
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    ToolError::new("Unreachable", format!("{host}: {cause}"))
}

fn redirect(from: &Url, response: &Response) -> Option<Url> {
    if !response.status().is_redirection() {
        return None;
    }
    let to = response.headers().get(LOCATION)?.to_str().ok()?;
    from.join(to).ok()
}

/// With and without `www.` is the same place to people.
fn is_same_host(a: &Url, b: &Url) -> bool {
    let bare = |url: &Url| {
        let host = url.host_str().unwrap_or_default().to_lowercase();
        host.strip_prefix("www.").map_or_else(|| host.clone(), str::to_owned)
    };
    bare(a) == bare(b)
}

async fn read(
    url: Url,
    mut response: Response,
    progress: &ProgressSink,
) -> Result<Downloaded, ToolError> {
    let status = response.status().as_u16();
    let header = |name: HeaderName| response.headers().get(name).and_then(|v| v.to_str().ok());
    let content_type = header(CONTENT_TYPE).unwrap_or_default().to_lowercase();
    let mut body = Vec::new();
    let mut cut = false;
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&url, &error))? {
        let room = MOST_BYTES - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        let tail = format!("reading {}", url.host_str().unwrap_or_default());
        progress.send(Progress::Output { tail, bytes: body.len() as u64 });
        if chunk.len() > room {
            cut = true;
            break;
        }
    }
    Ok(Downloaded { url, status, content_type, body, cut })
}
