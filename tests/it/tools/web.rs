//! `web_fetch` and `web_search` against a real server on this machine.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use codebot::kernel::message::{CallStatus, text_of};
use codebot::kernel::ports::{Access, Toolbox};
use codebot::tools::Web;
use codebot::tools::address::Exceptions;
use codebot::tools::readable;
use codebot::tools::web_search::SearchService;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Desk, call, context};

/// Answers by path; remembers what was asked.
struct Site {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

fn page(status: &str, kind: &str, body: &[u8], more: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n{more}connection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

impl Site {
    fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (heard, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for mut socket in listener.incoming().flatten() {
                let (heard, answer) = (Arc::clone(&heard), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    let read = socket.read(&mut bytes).unwrap_or(0);
                    let request = String::from_utf8_lossy(&bytes[..read]).into_owned();
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    heard.lock().unwrap().push(request);
                    let _closed = socket.write_all(&answer(&path));
                });
            }
        });
        Self { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn desk(&self) -> Desk {
        let host = format!("127.0.0.1:{}", self.port);
        Desk::with(|config| config.web.exceptions = Exceptions::new(&[host]))
    }
}

const PAGE: &str = "<!doctype html><html><head><title>The  Birds &amp; Bees</title>\
    <style>p{color:red}</style></head><body><nav><a href=/x>menu</a></nav><main><h1>Birds</h1>\
    <p>They <b>sing</b> in <a href=\"/trees\">trees</a>.</p><ul><li>one<li>two</ul>\
    <pre><code>let a = 1;</code></pre></main><script>alert('no')</script><footer>legal</footer>";

#[tokio::test]
async fn a_page_becomes_readable_text() {
    let site = Site::start(|path| match path {
        "/page" => page("200 OK", "text/html; charset=utf-8", PAGE.as_bytes(), ""),
        "/latin" => page("200 OK", "text/html", b"<meta charset=iso-8859-1><p>caf\xe9</p>", ""),
        "/json" => page("200 OK", "application/json", b"{\"a\": 1}\n", ""),
        "/png" => page("200 OK", "image/png", b"\x89PNG\r\n\x1a\n\0\0\0", ""),
        "/empty" => page("200 OK", "text/html", b"<script>x</script>", ""),
        "/hop" => page("302 Found", "text/html", b"", "location: /page\r\n"),
        "/loop" => page("302 Found", "text/html", b"", "location: /loop\r\n"),
        "/away" => page("302 Found", "text/html", b"", "location: https://example.org/y\r\n"),
        "/file" => page("302 Found", "text/html", b"", "location: file:///etc/passwd\r\n"),
        _ => page("404 Not Found", "text/plain", b"no such page", ""),
    });
    let desk = site.desk();
    let fetch = |path: &str| json!({"url": site.url(path)});
    for path in ["/page", "/hop"] {
        let text = desk.ok("web_fetch", fetch(path)).await;
        assert!(
            text.starts_with(&format!("{}\n# The Birds & Bees\n\n# Birds", site.url("/page"))),
            "{text}"
        );
        for part in ["They **sing** in [trees](/trees).", "one", "two", "let a = 1;"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        for part in ["menu", "alert", "legal", "color"] {
            assert!(!text.contains(part), "{part} is in {text}");
        }
    }
    assert!(desk.ok("web_fetch", fetch("/latin")).await.ends_with("café"));
    assert!(desk.ok("web_fetch", fetch("/json")).await.ends_with("{\"a\": 1}"));
    assert!(desk.ok("web_fetch", fetch("/png")).await.contains("11 bytes: not text"));
    assert!(desk.ok("web_fetch", fetch("/empty")).await.contains("[the page has no text]"));
    let away = desk.ok("web_fetch", fetch("/away")).await;
    assert!(away.contains("leads to another host: https://example.org/y"), "{away}");
    for (path, said) in [
        ("/none", "answered 404: no such page"),
        ("/loop", "more than 5 redirects"),
        ("/file", "only http and https"),
    ] {
        let error = desk.fails("web_fetch", fetch(path)).await;
        assert!(error.contains(said), "{error}");
    }
}

#[tokio::test]
async fn private_addresses_are_refused_whatever_they_are_called() {
    let site = Site::start(|_| page("200 OK", "text/plain", b"secret", ""));
    let desk = Desk::new();
    let port = site.port;
    for url in [
        site.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://127.1:{port}/"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        "http://printer.local/".to_owned(),
    ] {
        let error = desk.fails("web_fetch", json!({"url": url})).await;
        assert!(error.contains("private network") && error.contains("web.allow_hosts"), "{error}");
    }
    assert!(site.asked.lock().unwrap().is_empty(), "nobody was asked");
    for url in ["ftp://x.org/a", "https://me:secret@x.org/"] {
        let bad = call("web_fetch", json!({"url": url}));
        assert!(desk.tools.preview(&bad).await.is_err(), "{url}");
    }
    let access = desk.tools.access(&call("web_fetch", json!({"url": "Docs.RS/serde"})));
    assert_eq!(access, [Access::Network("https://docs.rs/serde".to_owned())]);
}

#[tokio::test]
async fn size_and_time_are_limited_and_a_stop_is_at_once() {
    let site = Site::start(|path| {
        if path == "/huge" {
            return page("200 OK", "text/plain", &vec![b'x'; 6 * 1024 * 1024], "");
        }
        std::thread::sleep(Duration::from_secs(20));
        Vec::new()
    });
    let desk = site.desk();
    let outcome = desk.call("web_fetch", json!({"url": site.url("/huge")})).await;
    let text = text_of(&outcome.blocks);
    assert_eq!(outcome.status, CallStatus::Ok);
    assert!(text.len() < 4000, "{} bytes reach the model", text.len());
    assert!(text.contains("the page is longer than 5.0 MB"), "{text}");
    assert!(text.contains("web_fetch"), "the whole is in a file: {text}");
    let (stop, mut waits) = (CancellationToken::new(), context());
    waits.cancel = stop.clone();
    let started = Instant::now();
    let fetching = desk.tools.run(call("web_fetch", json!({"url": site.url("/slow")})), waits);
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        stop.cancel();
    };
    let (outcome, ()) = tokio::join!(fetching, stopping);
    assert_eq!(outcome.status, CallStatus::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(3));
}

/// What can't be unfolded is read all the same, and nothing overflows.
#[test]
fn hostile_pages_are_read() {
    let deep = format!("{}deep{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
    assert_eq!(readable::read("text/html", deep.as_bytes()).text, "deep");
    let many = "<p>x".repeat(20_000);
    assert!(readable::read("text/html", many.as_bytes()).text.contains('x'));
    for body in ["<", "<script", "<title>", "</", "<!--", "<a href=\"", "\u{feff}<p>\0</p>", ""] {
        let _no_panic = readable::read("text/html; charset=nonsense", body.as_bytes());
    }
    assert!(readable::read("application/octet-stream", b"plain words").text.contains("plain"));
    assert!(readable::read("", b"\xff\xfe\x00\x01").text.contains("not text"));
}

#[tokio::test]
async fn the_search_service_of_the_user_is_asked() {
    let searx = json!({"results": [
        {"title": "One\n page", "url": "https://a.example/1", "content": "words  of it"},
        {"title": "Two", "url": "https://b.example/2"}, {"title": "no address"}]});
    let brave = json!({"web": {"results": [
        {"title": "B", "url": "https://b.example", "description": "brave"}]}});
    let google = json!({"items": [{"title": "G", "link": "https://g.example", "snippet": "g"}]});
    let site = Site::start(move |path| match path.split(['?', '&']).next().unwrap() {
        "/searx" => page("200 OK", "application/json", searx.to_string().as_bytes(), ""),
        "/brave" => page("200 OK", "application/json", brave.to_string().as_bytes(), ""),
        "/google" => page("200 OK", "application/json", google.to_string().as_bytes(), ""),
        "/none" => page("200 OK", "application/json", b"{\"results\": []}", ""),
        "/page" => page("200 OK", "text/html", b"<html>", ""),
        _ => page("401 Unauthorized", "text/plain", b"who are you?", ""),
    });
    let desk = |path: &str, header: &str| {
        let service = SearchService {
            url: site.url(&format!("{path}?q={{query}}&format=json")),
            key: Some("secret-search-key".into()),
            header: header.into(),
        };
        Desk::with(|config| config.web = Web { search: Some(service), ..Web::default() })
    };
    let query = json!({"query": "rust & birds?"});
    let found = desk("/searx", "").ok("web_search", query.clone()).await;
    assert_eq!(
        found,
        "1. One page\n   https://a.example/1\n   words of it\n2. Two\n   https://b.example/2"
    );
    let asked = site.asked.lock().unwrap()[0].clone();
    assert!(asked.starts_with("GET /searx?q=rust%20%26%20birds%3F&format=json "), "{asked}");
    assert!(asked.to_lowercase().contains("authorization: bearer secret-search-key"), "{asked}");
    let found = desk("/brave", "X-Subscription-Token").ok("web_search", query.clone()).await;
    assert!(found.contains("brave"), "{found}");
    let asked = site.asked.lock().unwrap()[1].to_lowercase();
    assert!(asked.contains("x-subscription-token: secret-search-key"), "{asked}");
    assert!(
        desk("/google", "").ok("web_search", query.clone()).await.contains("https://g.example")
    );
    assert!(desk("/none", "").ok("web_search", query.clone()).await.contains("nothing was found"));
    for (path, said) in [("/page", "did not answer in JSON"), ("/x", "answered 401: who are you?")]
    {
        let error = desk(path, "").fails("web_search", query.clone()).await;
        assert!(error.contains(said) && !error.contains("secret-search-key"), "{error}");
    }
    let without = Desk::new();
    assert!(!without.tools.specs().iter().any(|spec| spec.name == "web_search"));
}
