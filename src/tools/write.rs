//! `write`: a whole file. What exists is overwritten only in the state in which it was read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::command::HunkChoice;
use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::{CallId, Detail, FileDiff};
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::{Bench, blocking};
use super::files::{self, io_error};
use super::stamps::{Known, Seen, Stamps};
use super::{Job, Tool, diff, hunks, output, paths, replace};

/// Writes a file.
#[derive(Debug)]
pub struct Write;

/// Arguments of `write`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The file, absolute or relative to the workspace.
    #[schemars(length(min = 1))]
    file_path: String,
    /// All of its new content.
    content: String,
}

impl Tool for Write {
    type Args = Args;

    fn access(bench: &Bench, args: &Args) -> Vec<Access> {
        vec![Access::Write(bench.absolute(&args.file_path))]
    }

    async fn preview(bench: &Bench, id: &CallId, args: Args) -> Result<Option<Preview>, ToolError> {
        let target = Target::of(bench, &args.file_path);
        let (id, stamps) = (id.clone(), bench.stamps.clone());
        blocking(move || {
            let plan = Plan::make(&target, &args.content, &stamps, None)?;
            stamps.previewed(&id, Seen { path: plan.path, hash: plan.old });
            Ok(Some(Preview::Diff(plan.diff)))
        })
        .await
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let target = Target::of(bench, &args.file_path);
        let stamps = bench.stamps.clone();
        let done = blocking(move || write(&target, &args.content, &stamps, &job.id)).await;
        done.unwrap_or_else(|error| ToolOutcome::failed(&error))
    }
}

/// The file a call names.
#[derive(Debug)]
pub struct Target {
    /// The absolute path.
    pub path: PathBuf,
    /// As people see it.
    pub shown: String,
}

impl Target {
    /// The file of that argument.
    pub fn of(bench: &Bench, path: &str) -> Self {
        let path = bench.absolute(path);
        let shown = bench.shown(&path);
        Self { path, shown }
    }

    /// Refuses when the file is not the one, or not in the state, that the preview showed.
    pub fn check_preview(
        &self,
        stamps: &Stamps,
        id: &CallId,
        path: &Path,
        hash: Option<u64>,
    ) -> Result<(), ToolError> {
        match stamps.take_preview(id) {
            Some(seen) if seen.path != path => {
                let now = path.display();
                let text = format!("{} now leads to {now}; nothing was written", self.shown);
                Err(ToolError::new("Changed", text))
            }
            Some(seen) if seen.hash != hash => Err(replace::changed(&self.shown)),
            _ => Ok(()),
        }
    }
}

/// What is about to be written.
struct Plan {
    path: PathBuf,
    old: Option<u64>,
    bytes: Vec<u8>,
    diff: FileDiff,
    /// What the user changed about it, for the model.
    notes: Vec<String>,
}

impl Plan {
    fn make(
        target: &Target,
        content: &str,
        stamps: &Stamps,
        choice: Option<&[HunkChoice]>,
    ) -> Result<Self, ToolError> {
        let shown = target.shown.as_str();
        let path = paths::real(&target.path).map_err(|e| io_error("write", shown, &e))?;
        if path.symlink_metadata().is_err() {
            let (content, notes) = chosen("", content, choice);
            let diff = diff::of(shown, None, &content);
            return Ok(Self { path, old: None, bytes: content.into_bytes(), diff, notes });
        }
        let loaded = files::load(&path, shown)?;
        let (old, bom) = files::editable(&loaded.bytes, shown)?;
        check_known(stamps.known(&loaded.path, loaded.hash), shown, loaded.bytes.is_empty())?;
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let keep_crlf = files::is_crlf(&old) && !content.contains("\r\n");
        let content = if keep_crlf { files::to_crlf(content) } else { content.to_owned() };
        let (content, notes) = chosen(&old, &content, choice);
        let diff = diff::of(shown, Some(&old), &content);
        Ok(Self { path, old: Some(loaded.hash), bytes: with_bom(content, bom), diff, notes })
    }
}

/// The bytes of a text, after a byte order mark when it had one.
pub fn with_bom(text: String, bom: bool) -> Vec<u8> {
    if bom { [b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat() } else { text.into_bytes() }
}

/// What is left of a change after the user's choice.
fn chosen(old: &str, new: &str, choice: Option<&[HunkChoice]>) -> (String, Vec<String>) {
    match choice {
        Some(choice) => hunks::choose(old, new, choice),
        None => (new.to_owned(), Vec::new()),
    }
}

/// An empty file holds nothing that could be lost.
fn check_known(known: Known, shown: &str, empty: bool) -> Result<(), ToolError> {
    match known {
        Known::Fully => Ok(()),
        Known::Nothing if empty => Ok(()),
        Known::Nothing => Err(ToolError::new(
            "NotRead",
            format!("{shown} exists and was not read; read it before overwriting it, or use edit"),
        )),
        Known::Partly => Err(ToolError::new(
            "NotRead",
            format!(
                "{shown} was read only in part; read the rest before overwriting it, or use edit"
            ),
        )),
        Known::Changed => Err(replace::changed(shown)),
    }
}

fn write(
    target: &Target,
    content: &str,
    stamps: &Arc<Stamps>,
    id: &CallId,
) -> Result<ToolOutcome, ToolError> {
    let choice = stamps.take_choice(id);
    let plan = Plan::make(target, content, stamps, choice.as_deref());
    let shown = target.shown.as_str();
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => {
            stamps.take_preview(id);
            return Err(error);
        }
    };
    target.check_preview(stamps, id, &plan.path, plan.old)?;
    if plan.old.is_none()
        && let Some(parent) = plan.path.parent()
    {
        std::fs::create_dir_all(parent).map_err(|e| io_error("create the folder of", shown, &e))?;
    }
    replace::replace(&plan.path, shown, &plan.bytes, plan.old)?;
    stamps.wrote(&plan.path, files::hash(&plan.bytes));
    let written = String::from_utf8_lossy(&plan.bytes).lines().count();
    let lines = output::count(written as u64, "line");
    let mut text = if plan.diff.created {
        format!("created {shown}, {lines}")
    } else {
        format!("wrote {shown}, {lines} (+{} -{})", plan.diff.added, plan.diff.removed)
    };
    for note in &plan.notes {
        text.push('\n');
        text.push_str(note);
    }
    Ok(ToolOutcome::ok(text).with_detail(Detail::Diff(plan.diff)))
}
