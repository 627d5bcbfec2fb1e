//! Files as bytes and as text: opened without ever blocking on something that is no file, bounded,
//! hashed, and decoded so that what was not text is never taken for it.

use std::fs::{File, Metadata, OpenOptions};
use std::hash::Hasher;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::kernel::error::ToolError;

use super::output;

/// Bytes of the largest file that is opened whole.
pub const MAX_BYTES: u64 = 50 * 1024 * 1024;
/// How much of a file decides whether it is text.
const PROBE: usize = 8000;

/// A file as it was at one moment.
#[derive(Debug)]
pub struct Loaded {
    /// Where it really is.
    pub path: PathBuf,
    /// All of it.
    pub bytes: Vec<u8>,
    /// The hash of `bytes`.
    pub hash: u64,
}

/// Opens and reads a whole file. `shown` is its name in errors.
pub fn load(path: &Path, shown: &str) -> Result<Loaded, ToolError> {
    let failed = |error: io::Error| io_error("read", shown, &error);
    let real = std::fs::canonicalize(path).map_err(failed)?;
    let (file, found) = open(&real).map_err(failed)?;
    check_kind(&found, shown)?;
    if found.len() > MAX_BYTES {
        return Err(too_large(shown, found.len()));
    }
    let bytes = read_all(file, found.len()).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large(shown, bytes.len() as u64));
    }
    let hash = hash(&bytes);
    Ok(Loaded { path: real, bytes, hash })
}

/// Opens without waiting for the other end of a pipe or for a device.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    Ok((file, found))
}

/// Reads to the end whatever the size says: files of the system report none.
pub fn read_all(file: File, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size.min(MAX_BYTES) as usize + 1);
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check_kind(found: &Metadata, shown: &str) -> Result<(), ToolError> {
    if found.is_dir() {
        let text = format!("{shown} is a folder; list it with ls");
        return Err(ToolError::new("IsFolder", text));
    }
    if !found.is_file() {
        let text = format!("{shown} is a device, pipe or socket and is not opened");
        return Err(ToolError::new("NotAFile", text));
    }
    Ok(())
}

fn too_large(shown: &str, bytes: u64) -> ToolError {
    let (size, most) = (output::size(bytes), output::size(MAX_BYTES));
    let text = format!(
        "{shown} has {size}, more than the {most} that are opened; search it with grep or cut it with bash"
    );
    ToolError::new("TooLarge", text)
}

/// A hash that is stable within the process.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// A failure of the system with the remedy where there is one.
pub fn io_error(doing: &str, shown: &str, error: &io::Error) -> ToolError {
    let (kind, text) = match error.kind() {
        ErrorKind::NotFound => ("NotFound", "there is no such file".to_owned()),
        ErrorKind::PermissionDenied => ("PermissionDenied", "permission denied".to_owned()),
        ErrorKind::ReadOnlyFilesystem => {
            ("PermissionDenied", "the file system is read-only".to_owned())
        }
        ErrorKind::IsADirectory => ("IsFolder", "it is a folder".to_owned()),
        ErrorKind::NotADirectory => {
            ("NotFound", "a part of the path is a file, not a folder".to_owned())
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            ("NoSpace", format!("{error}; the file is as it was, free some space and try again"))
        }
        _ => ("Io", error.to_string()),
    };
    ToolError::new(kind, format!("cannot {doing} {shown}: {text}"))
}

/// How a text was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8 {
        /// Whether the mark is there.
        bom: bool,
    },
    /// UTF-16 with a byte order mark.
    Utf16,
    /// Some other encoding; what is not UTF-8 was replaced.
    Unknown,
}

/// A decoded text, without its byte order mark.
#[derive(Debug)]
pub struct Decoded {
    /// The text.
    pub text: String,
    /// How it was stored.
    pub encoding: Encoding,
}

/// The bytes as text, or `None` for what is no text.
pub fn decode(bytes: &[u8]) -> Option<Decoded> {
    let utf8 =
        |text: &str, bom| Decoded { text: text.to_owned(), encoding: Encoding::Utf8 { bom } };
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        if let Ok(text) = std::str::from_utf8(rest) {
            return Some(utf8(text, true));
        }
    } else if !bytes.starts_with(b"\xff\xfe\0\0")
        && let Some(text) = decode_utf16(bytes)
    {
        return Some(Decoded { text, encoding: Encoding::Utf16 });
    }
    let probe = &bytes[..bytes.len().min(PROBE)];
    if probe.contains(&0) {
        return None;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(utf8(text, false));
    }
    let is_odd = |b: &&u8| **b < 0x20 && !matches!(**b, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    if probe.iter().filter(is_odd).count() * 20 > probe.len() {
        return None;
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    Some(Decoded { text, encoding: Encoding::Unknown })
}

fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let (rest, little) = match bytes {
        [0xff, 0xfe, rest @ ..] => (rest, true),
        [0xfe, 0xff, rest @ ..] => (rest, false),
        _ => return None,
    };
    let unit = |pair: &[u8; 2]| {
        if little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) }
    };
    let units = rest.as_chunks::<2>().0.iter().map(unit);
    let lossy = |c: Result<char, _>| c.unwrap_or(char::REPLACEMENT_CHARACTER);
    Some(char::decode_utf16(units).map(lossy).collect())
}

/// The text of a file that may be changed: UTF-8 only, everything else would not survive.
pub fn editable(bytes: &[u8], shown: &str) -> Result<(String, bool), ToolError> {
    let why = match decode(bytes) {
        Some(Decoded { text, encoding: Encoding::Utf8 { bom } }) => return Ok((text, bom)),
        Some(Decoded { encoding: Encoding::Utf16, .. }) => "is UTF-16 text",
        Some(_) => "is text in an encoding other than UTF-8",
        None => "is not a text file",
    };
    let text = format!(
        "{shown} {why} and would be damaged by this tool; it was left as it is, convert or change it with bash"
    );
    Err(ToolError::new("NotUtf8", text))
}

/// Whether most lines of the text end with CR LF.
pub fn is_crlf(text: &str) -> bool {
    let both = text.matches("\r\n").count();
    both > 0 && both * 2 >= text.bytes().filter(|b| *b == b'\n').count()
}

/// The text with every line end as CR LF.
pub fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}
