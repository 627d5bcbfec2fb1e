//! `ls`: one folder.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::message::Detail;
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::{Bench, blocking};
use super::files::io_error;
use super::{Job, Tool, output, walk};

/// Entries that are shown.
const ENTRIES: usize = 200;

/// Lists a folder.
#[derive(Debug)]
pub struct List;

/// Arguments of `ls`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The folder. Default: the workspace.
    path: Option<String>,
}

impl Tool for List {
    type Args = Args;

    fn access(bench: &Bench, args: &Args) -> Vec<Access> {
        vec![Access::Read(bench.absolute_or_workspace(args.path.as_deref()))]
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let path = bench.absolute_or_workspace(args.path.as_deref());
        let shown = bench.shown(&path);
        let work = blocking(move || list(&path, &shown));
        tokio::select! {
            biased;
            () = job.cancel.cancelled() => super::cancelled(),
            result = work => result.unwrap_or_else(|error| ToolOutcome::failed(&error)),
        }
    }
}

fn list(path: &Path, shown: &str) -> Result<ToolOutcome, ToolError> {
    if !walk::check_root(path, shown)?.is_dir() {
        let text = format!("{shown} is a file; look into it with read");
        return Err(ToolError::new("InvalidArguments", text));
    }
    let entries = std::fs::read_dir(path).map_err(|error| io_error("list", shown, &error))?;
    let mut folders = Vec::new();
    let mut others = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.metadata() {
            Ok(found) if found.is_dir() => folders.push(format!("{name}/")),
            Ok(found) if found.is_symlink() => {
                let target = std::fs::read_link(entry.path()).unwrap_or_default();
                others.push(format!("{name} -> {}", target.display()));
            }
            Ok(found) => others.push(format!("{name}  {}", output::size(found.len()))),
            Err(_) => others.push(name),
        }
    }
    folders.sort();
    others.sort();
    folders.append(&mut others);
    Ok(outcome(&folders, shown))
}

fn outcome(entries: &[String], shown_as: &str) -> ToolOutcome {
    let total = entries.len() as u64;
    let shown = entries.len().min(ENTRIES) as u64;
    let mut text = match total {
        0 => format!("{shown_as} is empty"),
        1 => format!("{shown_as}: 1 entry"),
        _ if shown < total => format!("{shown_as}: {total} entries, the first {shown} follow"),
        _ => format!("{shown_as}: {total} entries"),
    };
    for entry in entries.iter().take(ENTRIES) {
        text.push('\n');
        text.push_str(entry);
    }
    ToolOutcome::ok(text).with_detail(Detail::Hits { total, shown })
}
