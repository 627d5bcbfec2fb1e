//! `edit`: replaces pieces of a text file, all or none. Everything that no piece names keeps its
//! bytes: line ends, byte order mark, final newline, mode bits.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::command::HunkChoice;
use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::{CallId, Detail, FileDiff};
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::{Bench, blocking};
use super::files::{self, Loaded};
use super::matching::{self, Found, Miss};
use super::stamps::{Known, Seen, Stamps};
use super::write::{Target, with_bom};
use super::{Job, Tool, closest, diff, hunks, notebook, replace};

/// Places that are named when a text is not unique.
const PLACES: usize = 10;

/// Edits a file.
#[derive(Debug)]
pub struct Edit;

/// Arguments of `edit`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The file, absolute or relative to the workspace.
    #[schemars(length(min = 1))]
    file_path: String,
    /// What to replace, in order; each sees the result of the one before.
    #[schemars(length(min = 1))]
    edits: Vec<Piece>,
}

/// One replacement.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Piece {
    /// The text as it stands in the file, not blank.
    #[schemars(length(min = 1))]
    old: String,
    /// What takes its place, literally.
    new: String,
    /// Replace every occurrence instead of the only one.
    replace_all: Option<bool>,
}

impl Tool for Edit {
    type Args = Args;

    fn access(bench: &Bench, args: &Args) -> Vec<Access> {
        vec![Access::Write(bench.absolute(&args.file_path))]
    }

    async fn preview(bench: &Bench, id: &CallId, args: Args) -> Result<Option<Preview>, ToolError> {
        let target = Target::of(bench, &args.file_path);
        let (id, stamps) = (id.clone(), bench.stamps.clone());
        blocking(move || {
            let plan = Plan::make(&target, &args.edits, &stamps, None)?;
            let seen = Seen { path: plan.loaded.path, hash: Some(plan.loaded.hash) };
            stamps.previewed(&id, seen);
            Ok(Some(Preview::Diff(plan.diff)))
        })
        .await
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let target = Target::of(bench, &args.file_path);
        let stamps = bench.stamps.clone();
        let done = blocking(move || edit(&target, &args.edits, &stamps, &job.id)).await;
        done.unwrap_or_else(|error| ToolOutcome::failed(&error))
    }
}

/// What is about to change.
struct Plan {
    loaded: Loaded,
    bytes: Vec<u8>,
    diff: FileDiff,
    notes: Vec<String>,
}

impl Plan {
    fn make(
        target: &Target,
        edits: &[Piece],
        stamps: &Stamps,
        choice: Option<&[HunkChoice]>,
    ) -> Result<Self, ToolError> {
        let shown = target.shown.as_str();
        let loaded = files::load(&target.path, shown)?;
        if stamps.known(&loaded.path, loaded.hash) == Known::Changed {
            return Err(replace::changed(shown));
        }
        let (old, bom) = files::editable(&loaded.bytes, shown)?;
        let is_notebook = notebook::is_notebook(&loaded.path) && notebook::is_json(&old);
        let mut text = old.clone();
        let mut notes = Vec::new();
        for (index, piece) in edits.iter().enumerate() {
            let name =
                if edits.len() == 1 { String::new() } else { format!("edit {}: ", index + 1) };
            let failed = |error: ToolError| {
                let message = format!("{name}{}; {shown} was not changed", error.message);
                ToolError::new(error.kind, message)
            };
            let found = find(&text, piece, is_notebook).map_err(failed)?;
            if let Some(note) = note(&text, &found) {
                notes.push(format!("{name}{note}"));
            }
            text = applied(&text, &found);
        }
        if let Some(choice) = choice {
            let (chosen, told) = hunks::choose(&old, &text, choice);
            text = chosen;
            notes.extend(told);
        }
        if is_notebook && !notebook::is_json(&text) {
            let text = format!("{shown} would no longer be a valid notebook; it was not changed");
            return Err(ToolError::new("InvalidEdit", text));
        }
        let diff = diff::of(shown, Some(&old), &text);
        Ok(Self { loaded, bytes: with_bom(text, bom), diff, notes })
    }
}

fn find(text: &str, piece: &Piece, is_notebook: bool) -> Result<Found, ToolError> {
    let invalid = |text: &str| Err(ToolError::new("InvalidArguments", text));
    let (old, new) = (without_bom(&piece.old), without_bom(&piece.new));
    if old.trim().is_empty() {
        return invalid("`old` is blank; name the text to replace, or use write for a whole file");
    }
    if old == new {
        return invalid("`old` and `new` are the same");
    }
    let all = piece.replace_all.unwrap_or(false);
    let found = if is_notebook {
        // A source line stands in a JSON string; only if it is not there was the raw text meant.
        let (old_json, new_json) = (notebook::escaped(old), notebook::escaped(new));
        matching::find(text, &old_json, &new_json, all).or_else(|miss| match miss {
            Miss::Nowhere => matching::find(text, old, new, all),
            Miss::Several(_) => Err(miss),
        })
    } else {
        matching::find(text, old, new, all)
    };
    found.map_err(|miss| describe(&miss, text, old, is_notebook))
}

fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn describe(miss: &Miss, text: &str, old: &str, is_notebook: bool) -> ToolError {
    match miss {
        Miss::Several(starts) => {
            let lines: Vec<String> =
                starts.iter().take(PLACES).map(|at| line_of(text, *at).to_string()).collect();
            let more = if starts.len() > PLACES { ", …" } else { "" };
            let (count, lines) = (starts.len(), lines.join(", "));
            let text = format!(
                "`old` occurs {count} times, at lines {lines}{more}; add lines around it or set replace_all"
            );
            ToolError::new("NotUnique", text)
        }
        Miss::Nowhere if is_notebook => ToolError::new(
            "NotFound",
            "`old` is not in the notebook; name one whole or partial source line per entry",
        ),
        Miss::Nowhere => {
            let hint = closest::place(text, old).map_or_else(
                || "nothing near it either; read the file".to_owned(),
                |place| format!("the nearest place is\n{place}copy the text from there"),
            );
            ToolError::new("NotFound", format!("`old` is not in the file; {hint}"))
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|b| *b == b'\n').count() + 1
}

fn note(text: &str, found: &Found) -> Option<String> {
    let first = found.places.first()?;
    let line = line_of(text, first.start);
    match found.tolerance {
        Some(how) => Some(format!("used the place at line {line}, where {how}")),
        None if found.places.len() > 1 => Some(format!("replaced {} places", found.places.len())),
        None => None,
    }
}

fn applied(text: &str, found: &Found) -> String {
    let mut out = String::with_capacity(text.len() + found.new.len());
    let mut from = 0;
    for place in &found.places {
        out.push_str(&text[from..place.start]);
        out.push_str(&found.new);
        from = place.end;
    }
    out.push_str(&text[from..]);
    out
}

fn edit(
    target: &Target,
    edits: &[Piece],
    stamps: &Arc<Stamps>,
    id: &CallId,
) -> Result<ToolOutcome, ToolError> {
    let plan = match Plan::make(target, edits, stamps, stamps.take_choice(id).as_deref()) {
        Ok(plan) => plan,
        Err(error) => {
            stamps.take_preview(id);
            return Err(error);
        }
    };
    let Plan { loaded, bytes, diff, notes } = plan;
    target.check_preview(stamps, id, &loaded.path, Some(loaded.hash))?;
    replace::replace(&loaded.path, &target.shown, &bytes, Some(loaded.hash))?;
    stamps.edited(&loaded.path, loaded.hash, files::hash(&bytes));
    let mut text = format!("edited {} (+{} -{})\n", target.shown, diff.added, diff.removed);
    for note in notes {
        text.push_str(&note);
        text.push('\n');
    }
    text.push_str(&diff::text(&diff));
    Ok(ToolOutcome::ok(text.trim_end()).with_detail(Detail::Diff(diff)))
}
