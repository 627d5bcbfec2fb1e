//! The lines of a session file: a header, then the loop's records. Reading is tolerant (a kind
//! nobody knows is named, not refused); writing gives exactly one line per record.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kernel::message::Timestamp;
use crate::kernel::ports::Record;

/// The version of the file format that this program writes and opens.
pub const FORMAT: u32 = 1;

/// The `record` value of the header line.
const HEADER_KIND: &str = "session";

/// The record kinds of the loop; any other kind belongs to another version.
const LOOP_KINDS: [&str; 9] = [
    "message",
    "intent",
    "discarded",
    "taken_back",
    "compaction",
    "compaction_undone",
    "switched",
    "checkpoint",
    "rewind",
];

/// The first line of a session file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// Version of the format, see [`FORMAT`].
    pub format: u32,
    /// The session's id.
    pub id: String,
    /// Where it worked, as text; bytes that are not UTF-8 are shown by replacement marks.
    pub cwd: String,
    /// When it began.
    pub created: Timestamp,
    /// Version of the program that began it.
    pub app: String,
    /// `provider/model` it began with.
    pub model: String,
}

/// What a line turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// The header. Its `format` may be one that we don't know.
    Header(Header),
    /// A record of the loop.
    Record(Box<Record>),
    /// A well-formed record of a kind that this version does not know.
    Unknown(String),
}

/// The header as a line, line end included.
///
/// # Errors
/// Only when serialising fails, which for this type means a bug.
pub fn header_line(header: &Header) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(Serialize)]
    struct Tagged<'a> {
        record: &'static str,
        #[serde(flatten)]
        header: &'a Header,
    }
    line(&Tagged { record: HEADER_KIND, header })
}

/// A record as a line, line end included. Line ends inside texts are escaped by JSON.
pub fn record_line(record: &Record) -> Result<Vec<u8>, serde_json::Error> {
    line(record)
}

fn line(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads one line without its line end.
///
/// # Errors
/// A short reason when the line is no record: broken JSON, no `record` field, a missing field.
pub fn parse(bytes: &[u8]) -> Result<Line, String> {
    let value = value_of(bytes)?;
    let kind = value
        .get("record")
        .and_then(Value::as_str)
        .ok_or_else(|| "no `record` field".to_owned())?
        .to_owned();
    if kind == HEADER_KIND {
        return header(value);
    }
    if !LOOP_KINDS.contains(&kind.as_str()) {
        return Ok(Line::Unknown(kind));
    }
    serde_json::from_value(value).map(|r| Line::Record(Box::new(r))).map_err(|e| e.to_string())
}

/// A later version may have changed everything but the place of its number.
fn header(value: Value) -> Result<Line, String> {
    let format = value.get("format").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    match (serde_json::from_value(value), format) {
        (Ok(header), _) => Ok(Line::Header(header)),
        (Err(_), Some(format)) if format != FORMAT => {
            Ok(Line::Header(Header { format, ..Header::default() }))
        }
        (Err(error), _) => Err(error.to_string()),
    }
}

fn value_of(bytes: &[u8]) -> Result<Value, String> {
    match serde_json::from_slice(bytes) {
        Ok(value) => Ok(value),
        // Another writer may have left half a surrogate pair; the text around it is still good.
        Err(error) => std::str::from_utf8(bytes)
            .ok()
            .and_then(heal_surrogates)
            .and_then(|healed| serde_json::from_str(&healed).ok())
            .ok_or_else(|| error.to_string()),
    }
}

/// Replaces `\uD800`-style escapes that have no partner by the replacement mark; `None` when there
/// are none.
fn heal_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at, mut healed) = (0, 0, false);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let width = match (escape_at(bytes, at), escape_at(bytes, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str(&text[copied..at]);
                out.push_str("\\ufffd");
                copied = at + 6;
                healed = true;
                6
            }
            _ => 2,
        };
        at += width;
    }
    out.push_str(&text[copied..]);
    healed.then_some(out)
}

/// The value of the `\uXXXX` escape that starts at `at`.
fn escape_at(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}
