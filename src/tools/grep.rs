//! `grep`: lines that match a regular expression, grouped by file, clipped around the match.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher};
use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::kernel::error::ToolError;
use crate::kernel::message::Detail;
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::{Bench, blocking};
use super::walk::{self, Search};
use super::{Closed, Job, Tool, glob, output, paths};

/// Matching lines that are shown.
const HITS: u64 = 100;
/// Of one file, when there may be others.
const HITS_PER_FILE: u64 = 40;
/// Files that are shown with `files_only`.
const FILES: u64 = 200;
/// Characters of a line that are shown before and from the match.
const BEFORE: usize = 100;
const AFTER: usize = 300;
/// Memory for one line; a file with a longer one is passed over.
const HEAP: usize = 64 * 1024 * 1024;

/// Searches file contents.
#[derive(Debug)]
pub struct Grep;

/// Arguments of `grep`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The regular expression.
    #[schemars(length(min = 1))]
    pattern: String,
    /// File or folder to search. Default: the workspace.
    path: Option<String>,
    /// Which files to search, by name, for example `*.rs`.
    glob: Option<String>,
    /// Whether upper and lower case are the same.
    ignore_case: Option<bool>,
    /// Lines to show around each match; at most 20.
    #[schemars(range(max = 20))]
    context: Option<u64>,
    /// List the files only.
    files_only: Option<bool>,
}

impl Tool for Grep {
    type Args = Args;

    fn access(bench: &Bench, args: &Args) -> Vec<Access> {
        vec![Access::Read(bench.absolute_or_workspace(args.path.as_deref()))]
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let root = bench.absolute_or_workspace(args.path.as_deref());
        let search = Search {
            workspace: bench.workspace.clone(),
            root,
            hidden: false,
            cancel: job.cancel.clone(),
        };
        let closed = bench.closed.clone();
        let work = blocking(move || grep(&args, &search, &closed));
        tokio::select! {
            biased;
            () = job.cancel.cancelled() => super::cancelled(),
            result = work => result.unwrap_or_else(|error| ToolOutcome::failed(&error)),
        }
    }
}

fn grep(args: &Args, search: &Search, closed: &Closed) -> Result<ToolOutcome, ToolError> {
    let shown = paths::shown(&search.workspace, &search.root);
    let found = walk::check_root(&search.root, &shown)?;
    let spans_lines = args.pattern.contains("\\n") || args.pattern.contains('\n');
    let matcher = matcher(args, spans_lines)?;
    let filter = args.glob.as_deref().map(filter).transpose()?;
    let mut searcher = searcher(args, spans_lines);
    let mut hits = Hits::new(args, matcher, search);
    // Who names a closed folder has been asked about it.
    let is_named = closed.covers(&search.root);
    let halt = if found.is_dir() {
        search.files(|path| {
            let below = path.strip_prefix(&search.root).unwrap_or(path);
            if filter.as_ref().is_some_and(|filter| !filter.is_match(below)) {
                return;
            }
            if !is_named && closed.covers(path) {
                hits.passed_over += 1;
            } else {
                hits.search(&mut searcher, path);
            }
        })
    } else {
        if !found.is_file() {
            let text = format!("{shown} is a device, pipe or socket and is not searched");
            return Err(ToolError::new("NotAFile", text));
        }
        hits.per_file = HITS;
        hits.search(&mut searcher, &search.root);
        None
    };
    Ok(hits.outcome(walk::halted(halt)))
}

fn matcher(args: &Args, spans_lines: bool) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(args.ignore_case.unwrap_or(false)).multi_line(true);
    if !spans_lines {
        builder.line_terminator(Some(b'\n')).crlf(true);
    }
    builder.build(&args.pattern).map_err(|error| {
        let text = format!("the pattern is not a valid regular expression: {error}");
        ToolError::new("InvalidArguments", text)
    })
}

/// A name pattern without a slash counts for every folder.
fn filter(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let pattern = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    glob::compile(pattern.trim_start_matches('/')).map(|glob: Glob| glob.compile_matcher())
}

fn searcher(args: &Args, spans_lines: bool) -> Searcher {
    let context = args.context.unwrap_or(0) as usize;
    let terminator = if spans_lines { LineTerminator::byte(b'\n') } else { LineTerminator::crlf() };
    SearcherBuilder::new()
        .line_terminator(terminator)
        .multi_line(spans_lines)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(HEAP))
        .before_context(context)
        .after_context(context)
        .build()
}

/// What was found so far.
struct Hits {
    matcher: RegexMatcher,
    workspace: PathBuf,
    cancel: CancellationToken,
    files_only: bool,
    per_file: u64,
    text: String,
    files_searched: u64,
    files: u64,
    total: u64,
    shown: u64,
    in_file: u64,
    shown_in_file: u64,
    name: String,
    headed: bool,
    unread: Vec<String>,
    passed_over: u64,
}

impl Hits {
    fn new(args: &Args, matcher: RegexMatcher, search: &Search) -> Self {
        Self {
            matcher,
            workspace: search.workspace.clone(),
            cancel: search.cancel.clone(),
            files_only: args.files_only.unwrap_or(false),
            per_file: HITS_PER_FILE,
            text: String::new(),
            files_searched: 0,
            files: 0,
            total: 0,
            shown: 0,
            in_file: 0,
            shown_in_file: 0,
            name: String::new(),
            headed: false,
            unread: Vec::new(),
            passed_over: 0,
        }
    }

    fn search(&mut self, searcher: &mut Searcher, path: &Path) {
        self.name = paths::shown(&self.workspace, path);
        self.files_searched += 1;
        self.in_file = 0;
        self.shown_in_file = 0;
        self.headed = false;
        let matcher = self.matcher.clone();
        let cancel = self.cancel.clone();
        let result = File::open(path).and_then(|file| {
            searcher.search_reader(&matcher, Stoppable { file, cancel }, &mut *self)
        });
        if let Err(error) = result {
            self.unread.push(format!("{}: {error}", self.name));
        }
        if self.in_file == 0 {
            return;
        }
        self.files += 1;
        self.total += self.in_file;
        if self.files_only && self.files <= FILES {
            let _ = writeln!(self.text, "{}", self.name);
        }
        if self.shown_in_file > 0 && self.shown_in_file < self.in_file {
            let (shown, all) = (self.shown_in_file, self.in_file);
            let _ = writeln!(self.text, "[{shown} of {all} matches in this file]");
        }
    }

    fn is_full(&self) -> bool {
        self.shown >= HITS || self.shown_in_file >= self.per_file
    }

    /// Writes the name of the file once, before its first line.
    fn header(&mut self) {
        if !std::mem::replace(&mut self.headed, true) {
            self.text.push_str(&self.name);
            self.text.push('\n');
        }
    }

    fn line(&mut self, number: Option<u64>, mark: char, text: &str) {
        let number = number.unwrap_or_default();
        let _ = writeln!(self.text, "{number}{mark} {text}");
    }

    fn outcome(self, halted: &str) -> ToolOutcome {
        let (total, shown) = if self.files_only {
            (self.files, self.files.min(FILES))
        } else {
            (self.total, self.shown)
        };
        let files = output::count(self.files, "file");
        let mut text = match total {
            0 => format!("no matches in {}\n", output::count(self.files_searched, "searched file")),
            1 if !self.files_only => format!("1 match in {files}\n"),
            _ if self.files_only => format!("{files} with matches\n"),
            _ => format!("{total} matches in {files}\n"),
        };
        if shown < total {
            let line = format!(
                "the first {shown} follow; narrow the pattern, path or glob to see others\n"
            );
            text.push_str(&line);
        }
        text.push_str(&self.text);
        text.push_str(halted);
        for line in self.unread.iter().take(3) {
            let _ = writeln!(text, "[not searched: {line}]");
        }
        if self.passed_over > 0 {
            let files = output::count(self.passed_over, "file");
            let _ = writeln!(
                text,
                "[{files} that may hold credentials or are denied were passed over; name one as path to search it]"
            );
        }
        ToolOutcome::ok(text.trim_end()).with_detail(Detail::Hits { total, shown })
    }
}

impl Sink for &mut Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.cancel.is_cancelled() {
            return Ok(false);
        }
        self.in_file += 1;
        if self.files_only {
            return Ok(false);
        }
        if self.is_full() {
            return Ok(true);
        }
        self.header();
        self.shown += 1;
        self.shown_in_file += 1;
        for (line, offset) in found.lines().zip(0..) {
            let at = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
            let text = around(line, at);
            self.line(found.line_number().map(|first| first + offset), ':', &text);
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.is_full() || self.files_only {
            return Ok(true);
        }
        self.header();
        let text = around(found.bytes(), 0);
        self.line(found.line_number(), '-', &text);
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if !self.is_full() && self.shown_in_file > 0 {
            self.text.push_str("--\n");
        }
        Ok(true)
    }
}

/// A file whose reading ends when the search is cancelled.
struct Stoppable {
    file: File,
    cancel: CancellationToken,
}

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() { Ok(0) } else { self.file.read(buffer) }
    }
}

/// A line without its end, or the part of a long one around the match.
fn around(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let at = at.min(line.len());
    // A character has four bytes at most, and a cluster of several fits beside.
    let start = at.saturating_sub(BEFORE * 8);
    let end = line.len().min(at + AFTER * 8);
    let is_inner = |byte: u8| byte & 0xc0 == 0x80;
    let start = (start..at).find(|i| !is_inner(line[*i])).unwrap_or(at);
    let end = (at..=end).rev().find(|i| line.get(*i).is_none_or(|b| !is_inner(*b))).unwrap_or(end);
    let (before, after) =
        (String::from_utf8_lossy(&line[start..at]), String::from_utf8_lossy(&line[at..end]));
    let (before_kept, after_kept) = (output::tail(&before, BEFORE), output::head(&after, AFTER));
    let left = if start == 0 && before_kept.len() == before.len() { "" } else { "…" };
    let right = if end == line.len() && after_kept.len() == after.len() { "" } else { "…" };
    format!("{left}{before_kept}{after_kept}{right}")
}
