//! What all tools of a session share: where they work, what must stay secret, which files were
//! seen, which processes are theirs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::kernel::error::ToolError;

use super::ask::Asks;
use super::confine::Confinement;
use super::delegate::Delegates;
use super::environment::Environment;
use super::jobs::Jobs;
use super::mask::Mask;
use super::memory::Memories;
use super::paths;
use super::process::Processes;
use super::skill::Shelf;
use super::stamps::Stamps;
use super::{Closed, ToolsConfig, Web};

/// The shared place of work.
#[derive(Debug)]
pub struct Bench {
    /// Where relative paths start.
    pub workspace: PathBuf,
    /// Where long results are saved.
    pub spill_dir: PathBuf,
    /// Hides secret values.
    pub mask: Arc<Mask>,
    /// What commands find in their environment.
    pub environment: Environment,
    /// What a search passes over.
    pub closed: Closed,
    /// The shell of `bash`.
    pub shell: PathBuf,
    /// What holds commands in.
    pub confinement: Option<Confinement>,
    /// The default time limit of a command.
    pub timeout: Duration,
    /// Which files were seen in which state.
    pub stamps: Arc<Stamps>,
    /// What was started and may still run.
    pub processes: Arc<Processes>,
    /// What goes on in the background.
    pub jobs: Arc<Jobs>,
    /// What of the web may be reached.
    pub web: Web,
    /// Who asks the user.
    pub asks: Option<Arc<dyn Asks>>,
    /// Who runs agents.
    pub team: Option<Arc<dyn Delegates>>,
    /// Who keeps things over sessions.
    pub memory: Option<Arc<dyn Memories>>,
    /// Who knows skills.
    pub skills: Option<Arc<dyn Shelf>>,
}

impl Bench {
    /// The place that `config` describes.
    pub fn new(config: ToolsConfig) -> Self {
        Self {
            workspace: paths::clean(&config.workspace),
            spill_dir: config.spill_dir,
            mask: Arc::new(Mask::new(config.secret_values)),
            environment: Environment::new(config.secret_env),
            closed: config.closed,
            shell: config.shell,
            confinement: config.confinement,
            timeout: config.timeout,
            stamps: Arc::default(),
            processes: Arc::default(),
            jobs: Arc::default(),
            web: config.web,
            asks: config.asks,
            team: config.team,
            memory: config.memory,
            skills: config.skills,
        }
    }

    /// The absolute path of an argument.
    pub fn absolute(&self, path: &str) -> PathBuf {
        paths::absolute(&self.workspace, path)
    }

    /// The absolute path of an optional argument; the workspace when it is absent or empty.
    pub fn absolute_or_workspace(&self, path: Option<&str>) -> PathBuf {
        path.map_or_else(|| self.workspace.clone(), |path| self.absolute(path))
    }

    /// The path as shown to people.
    pub fn shown(&self, path: &Path) -> String {
        paths::shown(&self.workspace, path)
    }
}

/// Runs blocking work off the async threads. A panic in it goes on in the caller.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ToolError::new("Cancelled", "the program is ending")),
        },
    }
}
