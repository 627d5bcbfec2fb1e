//! Where and how the tools of a session work. Whoever opens the session fills it in.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::address::Exceptions;
use super::ask::Asks;
use super::compress::Compressor;
use super::confine::Confinement;
use super::delegate::Delegates;
use super::memory::Memories;
use super::skill::Shelf;
use super::web_search::SearchService;

/// Which files a search through many passes over, asked with absolute paths; see [`ToolsConfig`].
#[derive(Clone)]
pub struct Closed(Arc<dyn Fn(&Path) -> bool + Send + Sync>);

impl Closed {
    /// The files for which `closed` is true.
    pub fn new(closed: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(closed))
    }

    /// Whether this file is passed over.
    pub fn covers(&self, path: &Path) -> bool {
        (self.0)(path)
    }
}

impl Debug for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Closed")
    }
}

/// What of the web may be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Web {
    /// Private hosts that may be fetched from all the same.
    pub exceptions: Exceptions,
    /// Who searches; without, there is no tool for it.
    pub search: Option<SearchService>,
}

/// Where and how the tools work.
#[derive(Clone, Debug)]
pub struct ToolsConfig {
    /// The folder that relative paths start from and commands run in.
    pub workspace: PathBuf,
    /// Where long results are saved; created when first needed.
    pub spill_dir: PathBuf,
    /// Values that no result and no saved file may contain. Values under 8 bytes are ignored.
    pub secret_values: Vec<String>,
    /// Environment variables that commands do not get, beside the keys of known providers.
    pub secret_env: Vec<String>,
    /// Files that a search does not look into unless it is told their name: whoever allowed the
    /// search did not think of them. Default none.
    pub closed: Closed,
    /// The shell that runs command lines. Default `bash`.
    pub shell: PathBuf,
    /// How long a command may run when the call does not say. Default 120 s.
    pub timeout: Duration,
    /// What holds commands in; without it they run with the user's own rights. Default none.
    pub confinement: Option<Confinement>,
    /// What makes long output short; without it long output is cut. Default none.
    pub compressor: Option<Compressor>,
    /// What of the web may be reached. Default public pages, no search.
    pub web: Web,
    /// Who asks the user; without, there is no tool for it. Default none.
    pub asks: Option<Arc<dyn Asks>>,
    /// Who runs agents; without, there is no tool for it. Default none.
    pub team: Option<Arc<dyn Delegates>>,
    /// Who keeps things over sessions; without, there are no tools for it. Default none.
    pub memory: Option<Arc<dyn Memories>>,
    /// Who knows skills; without, there is no tool for them. Default none.
    pub skills: Option<Arc<dyn Shelf>>,
    /// The only tools there are, by name. Default all.
    pub only: Option<Vec<String>>,
}

impl ToolsConfig {
    /// The defaults for that workspace and that folder of saved results.
    pub fn new(workspace: impl Into<PathBuf>, spill_dir: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            spill_dir: spill_dir.into(),
            secret_values: Vec::new(),
            secret_env: Vec::new(),
            closed: Closed::new(|_| false),
            shell: PathBuf::from("bash"),
            timeout: Duration::from_mins(2),
            confinement: None,
            compressor: None,
            web: Web::default(),
            asks: None,
            team: None,
            memory: None,
            skills: None,
            only: None,
        }
    }
}
