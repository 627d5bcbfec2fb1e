//! What people would read of a page: HTML as Markdown without scripts, menus and forms; other text as
//! it is; of anything else its kind and size.

use encoding_rs::{Encoding, UTF_8};
use htmd::HtmlToMarkdown;

use super::{kind, output};

/// Parts of a page that say nothing.
const SKIPPED: [&str; 17] = [
    "script", "style", "noscript", "template", "svg", "iframe", "canvas", "head", "nav", "footer",
    "aside", "form", "button", "input", "select", "textarea", "dialog",
];
/// Pages nested deeper than this are read without their structure: turning them into Markdown needs
/// a stack as deep.
const DEPTH: usize = 1000;
/// The stack of the thread that converts, with much to spare for that depth.
const STACK: usize = 32 * 1024 * 1024;
/// Bytes in which a page says what its bytes mean.
const HEAD: usize = 2048;

/// The text of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readable {
    /// The page's title, when it has one.
    pub title: Option<String>,
    /// Text, or one line about what it is.
    pub text: String,
}

/// Makes a body readable. Blocking. `content_type` is lower case, with its parameters.
pub fn read(content_type: &str, body: &[u8]) -> Readable {
    let mime = content_type.split(';').next().unwrap_or_default().trim();
    let html = matches!(mime, "text/html" | "application/xhtml+xml")
        || (mime.is_empty() && looks_like_html(body));
    if !html && !is_text(mime, body) {
        let text = format!("[{}, {}: not text]", kind::name(body), output::size(body.len() as u64));
        return Readable { title: None, text };
    }
    let text = decode(content_type, body);
    if !html {
        return Readable { title: None, text: text.trim_end().to_owned() };
    }
    Readable { title: title(&text), text: markdown(text) }
}

fn looks_like_html(body: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&body[..body.len().min(HEAD)]).to_lowercase();
    ["<!doctype html", "<html", "<body"].iter().any(|tag| head.contains(tag))
}

fn is_text(mime: &str, body: &[u8]) -> bool {
    let said = mime.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml", "x-sh"]
            .iter()
            .any(|word| mime.contains(word));
    let unsaid = mime.is_empty() || mime == "application/octet-stream";
    said || (unsaid && !body.contains(&0) && std::str::from_utf8(body).is_ok())
}

/// By the header, else a byte order mark, else what the page says itself, else as UTF-8.
fn decode(content_type: &str, body: &[u8]) -> String {
    let named = content_type.split("charset=").nth(1).map(|rest| label(rest).to_owned());
    let head = String::from_utf8_lossy(&body[..body.len().min(HEAD)]).to_lowercase();
    let inside = || head.split("charset=").nth(1).map(|rest| label(rest).to_owned());
    let encoding = named.or_else(inside).and_then(|name| Encoding::for_label(name.as_bytes()));
    let (text, _, _) = encoding.unwrap_or(UTF_8).decode(body);
    text.into_owned()
}

fn label(text: &str) -> &str {
    let text = text.trim_start_matches(['"', '\'', ' ']);
    text.split(['"', '\'', ';', ' ', '>', '/']).next().unwrap_or_default()
}

fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let text = HtmlToMarkdown::new().convert(&html[start..end]).ok()?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| output::head(&text, 200).to_owned())
}

fn markdown(html: String) -> String {
    if depth(&html) > DEPTH {
        return tidy(&stripped(&html));
    }
    let convert = move || {
        let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
        converter.convert(&html).unwrap_or_else(|_| stripped(&html))
    };
    let thread = std::thread::Builder::new().name("html".to_owned()).stack_size(STACK);
    match thread.spawn(convert).map(std::thread::JoinHandle::join) {
        Ok(Ok(text)) => tidy(&text),
        _ => "[the page could not be read]".to_owned(),
    }
}

/// How deep elements stand inside each other at most; rather too much than too little.
fn depth(html: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    let bytes = html.as_bytes();
    for (at, _) in html.match_indices('<') {
        match bytes.get(at + 1) {
            Some(b'/') => now = now.saturating_sub(1),
            Some(byte) if byte.is_ascii_alphabetic() => {
                let name: String = html[at + 1..]
                    .chars()
                    .take_while(char::is_ascii_alphanumeric)
                    .take(12)
                    .collect::<String>()
                    .to_ascii_lowercase();
                let void =
                    ["br", "hr", "img", "input", "meta", "link", "wbr", "source", "col", "area"];
                if !void.contains(&name.as_str()) {
                    now += 1;
                    most = most.max(now);
                }
            }
            _ => {}
        }
    }
    most
}

/// The text between the tags.
fn stripped(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push(' ');
        let tag = &rest[at..];
        let lower: String = tag.chars().take(8).collect::<String>().to_ascii_lowercase();
        let close = ["script", "style"].iter().find(|name| lower[1..].starts_with(**name));
        let end = match close {
            Some(name) => tag.to_ascii_lowercase().find(&format!("</{name}")),
            None => Some(0),
        };
        let Some(end) = end else { return text };
        let Some(gt) = tag[end..].find('>') else { return text };
        rest = &tag[end + gt + 1..];
    }
    text.push_str(rest);
    text
}

/// No more than one empty line in a row, no blanks at line ends.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim().to_owned()
}
