//! `read`: a file as numbered lines, a picture, or one line that says what it is.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::message::{Block, CallStatus, Detail};
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::{Bench, blocking};
use super::files::{self, Decoded, Encoding, Loaded};
use super::stamps::Stamps;
use super::{Job, Tool, closest, kind, notebook, output, picture};

/// Lines handed out at once.
const MAX_LINES: u64 = 2000;
/// Bytes handed out at once.
const MAX_BYTES: usize = 50 * 1024;

/// Reads a file.
#[derive(Debug)]
pub struct Read;

/// Arguments of `read`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The file, absolute or relative to the workspace.
    #[schemars(length(min = 1))]
    file_path: String,
    /// First line, counted from 1.
    offset: Option<u64>,
    /// Number of lines; at most 2000.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

impl Tool for Read {
    type Args = Args;

    fn access(bench: &Bench, args: &Args) -> Vec<Access> {
        vec![Access::Read(bench.absolute(&args.file_path))]
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let path = bench.absolute(&args.file_path);
        let shown = bench.shown(&path);
        let stamps = bench.stamps.clone();
        let work = blocking(move || read(&path, &shown, &args, &stamps));
        tokio::select! {
            biased;
            () = job.cancel.cancelled() => super::cancelled(),
            result = work => result.unwrap_or_else(|error| ToolOutcome::failed(&error)),
        }
    }
}

fn read(
    path: &Path,
    shown: &str,
    args: &Args,
    stamps: &Arc<Stamps>,
) -> Result<ToolOutcome, ToolError> {
    let loaded = files::load(path, shown).map_err(|error| with_hint(error, path))?;
    if let Some(media_type) = kind::picture(&loaded.bytes) {
        return Ok(picture(media_type, shown, &loaded));
    }
    let Some(Decoded { mut text, encoding }) = files::decode(&loaded.bytes) else {
        let size = output::size(loaded.bytes.len() as u64);
        return Ok(ToolOutcome::ok(format!("{shown}: {}, {size}", kind::name(&loaded.bytes))));
    };
    if notebook::is_notebook(path)
        && let Some(cells) = notebook::render(&text)
    {
        text = cells;
    }
    Ok(numbered(&text, encoding, args, &loaded, stamps))
}

/// What is near a missing file.
fn with_hint(mut error: ToolError, path: &Path) -> ToolError {
    if error.kind != "NotFound" {
        return error;
    }
    let names = closest::names(path);
    let folder = closest::deepest_folder(path);
    if !names.is_empty() {
        let _ = write!(error.message, "; near it: {}", names.join(", "));
    } else if Some(folder) != path.parent() {
        let folder = folder.display();
        let _ = write!(error.message, "; {folder} is the deepest folder that exists");
    }
    error
}

fn picture(media_type: &str, shown: &str, loaded: &Loaded) -> ToolOutcome {
    let size = output::size(loaded.bytes.len() as u64);
    let (line, picture) = match picture::fit(media_type, &loaded.bytes) {
        Ok(None) => {
            let data = STANDARD.encode(&loaded.bytes);
            (format!("{shown}: {media_type}, {size}"), (media_type, data))
        }
        Ok(Some(small)) => {
            let (wide, high) = small.size;
            let line = format!("{shown}: {media_type}, {size}, shown at {wide} × {high} pixels");
            (line, (small.media_type, STANDARD.encode(&small.bytes)))
        }
        Err(reason) => {
            return ToolOutcome::ok(format!("{shown}: {media_type}, {size}; not shown: {reason}"));
        }
    };
    let (media_type, data) = picture;
    let image = Block::Image { media_type: media_type.to_owned(), data };
    ToolOutcome::new(CallStatus::Ok, vec![Block::text(line), image])
}

fn numbered(
    text: &str,
    encoding: Encoding,
    args: &Args,
    loaded: &Loaded,
    stamps: &Stamps,
) -> ToolOutcome {
    let total = text.lines().count() as u64;
    let start = args.offset.unwrap_or(1).max(1) - 1;
    if start >= total && start > 0 {
        let lines = output::count(total, "line");
        let text = format!("the file has only {lines}; offset must be at most {}", total.max(1));
        return ToolOutcome::failed(&ToolError::new("InvalidArguments", text));
    }
    let limit = args.limit.unwrap_or(MAX_LINES).min(MAX_LINES);
    let page = Page::new(text, start, limit);
    if page.whole_lines && encoding != Encoding::Unknown {
        stamps.read(&loaded.path, loaded.hash, start, page.end, total);
    } else {
        stamps.glimpsed(&loaded.path, loaded.hash);
    }
    let mut out = page.text;
    match encoding {
        Encoding::Utf8 { .. } => {}
        Encoding::Utf16 => out.push_str("[decoded from UTF-16; edit will refuse this file]\n"),
        Encoding::Unknown => out.push_str(
            "[not UTF-8: other bytes are shown as \u{fffd}; edit will refuse this file]\n",
        ),
    }
    if total == 0 {
        out.push_str("(the file is empty)");
    } else if page.end < total {
        let (first, last) = (start + 1, page.end);
        let more = format!("[lines {first}-{last} of {total}; go on with offset {}]", last + 1);
        out.push_str(&more);
    }
    let detail = Detail::File { lines: page.end - start, total_lines: total };
    ToolOutcome::ok(out).with_detail(detail)
}

/// The lines of one call.
struct Page {
    text: String,
    /// The line after the last one, counted from 0.
    end: u64,
    /// Whether no line was cut.
    whole_lines: bool,
}

impl Page {
    fn new(text: &str, start: u64, limit: u64) -> Self {
        let mut page = Self { text: String::new(), end: start, whole_lines: true };
        for line in text.lines().skip(start as usize).take(limit as usize) {
            let kept = output::head(line, output::LINE_CHARS);
            let mut numbered = format!("{}→{kept}", page.end + 1);
            if kept.len() < line.len() {
                let rest = line[kept.len()..].chars().count() as u64;
                let _ = write!(numbered, " [… {} more]", output::count(rest, "character"));
            }
            if page.end > start && page.text.len() + numbered.len() > MAX_BYTES {
                break;
            }
            page.whole_lines &= kept.len() == line.len();
            page.text.push_str(&numbered);
            page.text.push('\n');
            page.end += 1;
        }
        page
    }
}
