//! `glob`: files by name pattern, in path order.

use std::path::{Path, PathBuf};

use globset::{Glob as Pattern, GlobBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::message::Detail;
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::{Bench, blocking};
use super::walk::{self, Search};
use super::{Job, Tool, output, paths};

/// Files that are shown.
const HITS: usize = 200;

/// Finds files.
#[derive(Debug)]
pub struct Glob;

/// Arguments of `glob`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The pattern, for example `**/*.rs`.
    #[schemars(length(min = 1))]
    pattern: String,
    /// Folder to start in. Default: the workspace.
    path: Option<String>,
}

impl Tool for Glob {
    type Args = Args;

    fn access(bench: &Bench, args: &Args) -> Vec<Access> {
        vec![Access::Read(Target::of(bench, args).root)]
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let Target { root, pattern } = Target::of(bench, &args);
        let search = Search {
            workspace: bench.workspace.clone(),
            root,
            hidden: names_hidden(&pattern),
            cancel: job.cancel.clone(),
        };
        let work = blocking(move || glob(&pattern, &search));
        tokio::select! {
            biased;
            () = job.cancel.cancelled() => super::cancelled(),
            result = work => result.unwrap_or_else(|error| ToolOutcome::failed(&error)),
        }
    }
}

/// Where a pattern really starts, and what is left of it there.
struct Target {
    root: PathBuf,
    pattern: String,
}

impl Target {
    /// Parts without a wildcard at the beginning of the pattern belong to the folder.
    fn of(bench: &Bench, args: &Args) -> Self {
        let start = bench.absolute_or_workspace(args.path.as_deref());
        let pattern = args.pattern.as_str();
        if !pattern.contains('/') {
            return Self { root: start, pattern: format!("**/{pattern}") };
        }
        let is_wild = |part: &str| part.contains(['*', '?', '[', '{', '\\']);
        let mut literal = 0;
        for (at, _) in pattern.match_indices('/') {
            if is_wild(&pattern[..at]) {
                break;
            }
            literal = at + 1;
        }
        let root = paths::clean(&start.join(&pattern[..literal]));
        Self { root, pattern: pattern[literal..].to_owned() }
    }
}

fn names_hidden(pattern: &str) -> bool {
    pattern.split(['/', '{', ',']).any(|part| part.starts_with('.') && part.len() > 1)
}

/// A pattern in which a star does not cross folders.
pub fn compile(pattern: &str) -> Result<Pattern, ToolError> {
    GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        let text = format!("the pattern is not valid: {error}");
        ToolError::new("InvalidArguments", text)
    })
}

fn glob(pattern: &str, search: &Search) -> Result<ToolOutcome, ToolError> {
    let shown = paths::shown(&search.workspace, &search.root);
    let found = walk::check_root(&search.root, &shown)?;
    if !found.is_dir() {
        let text = format!("{shown} is a file; give a folder as path");
        return Err(ToolError::new("InvalidArguments", text));
    }
    let matcher = compile(pattern)?.compile_matcher();
    let mut files: Vec<PathBuf> = Vec::new();
    let halt = search.files(|path| {
        let below = path.strip_prefix(&search.root).unwrap_or(path);
        if matcher.is_match(below) {
            files.push(path.to_owned());
        }
    });
    files.sort();
    Ok(outcome(&files, &search.workspace, walk::halted(halt)))
}

fn outcome(files: &[PathBuf], workspace: &Path, halted: &str) -> ToolOutcome {
    let total = files.len() as u64;
    let shown = files.len().min(HITS) as u64;
    let mut text = match total {
        0 => "no files match\n".to_owned(),
        _ if shown < total => {
            format!(
                "{total} files match, the first {shown} follow; narrow the pattern to see others\n"
            )
        }
        _ => format!("{}\n", output::count(total, "file")),
    };
    for file in files.iter().take(HITS) {
        text.push_str(&paths::shown(workspace, file));
        text.push('\n');
    }
    text.push_str(halted);
    ToolOutcome::ok(text.trim_end()).with_detail(Detail::Hits { total, shown })
}
