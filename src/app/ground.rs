//! What a session stands on: folder, places, settings and, for the demo, the sample workspace.
//! Gathered once per start; a problem here is a [`Failure`] with the remedy.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::config::env::Env;
use crate::config::error::ConfigError;
use crate::config::load::{self, Flags, Loaded};
use crate::config::paths::Paths;
use crate::model::connection::Connection;
use crate::model::resolve::{self, ResolveError};

use super::branch;
use super::demo::SampleWorkspace;
use super::service::{Failure, Launch};

/// Exit code for settings and arguments that can't be used.
const USAGE: u8 = 2;

/// The ground of all sessions of this start.
#[derive(Debug)]
pub struct Ground {
    /// Where relative paths start and commands run; canonical.
    pub cwd: PathBuf,
    /// What counts as the project: see [`branch::workspace`].
    pub workspace: PathBuf,
    /// The user's places.
    pub paths: Paths,
    /// The environment.
    pub env: Env,
    /// Settings in force.
    pub settings: Loaded,
    /// The demo's folders; removed when this is dropped.
    pub demo: Option<Demo>,
}

/// What the demo works on: nothing of it stays behind, its session and answers included.
#[derive(Debug)]
pub struct Demo {
    sample: SampleWorkspace,
    state: TempDir,
}

impl Demo {
    fn create() -> Result<Self, Failure> {
        let create = || -> std::io::Result<Self> {
            let state = tempfile::Builder::new().prefix("codebot-demo-state-").tempdir()?;
            Ok(Self { sample: SampleWorkspace::create()?, state })
        };
        create().map_err(|error| {
            failure(1, format!("cannot create the demo's sample workspace: {error}"))
        })
    }
}

impl Ground {
    /// Gathers everything. Blocking, a few small files.
    ///
    /// # Errors
    /// When the folder can't be used or a settings file is broken.
    pub fn gather(launch: &Launch) -> Result<Self, Failure> {
        let env = Env::of_process();
        let mut paths = Paths::find(&env).map_err(|error| settings_failure(&error))?;
        let demo = launch.demo.then(Demo::create).transpose()?;
        if let Some(demo) = &demo {
            paths.state_dir = demo.state.path().to_path_buf();
        }
        let cwd = match &demo {
            Some(demo) => demo.sample.path().to_path_buf(),
            None => working_folder(launch.cwd.as_deref())?,
        };
        let workspace = branch::workspace(&cwd, env.home().as_deref()).to_path_buf();
        let settings = load::load(&paths, Some(&workspace), &env, &flags(launch))
            .map_err(|error| settings_failure(&error))?;
        let paths = paths.with_config_file(launch.config.clone());
        Ok(Self { cwd, workspace, paths, env, settings, demo })
    }

    /// The working folder as people write it, the home folder as `~`.
    pub fn shown_cwd(&self) -> String {
        if self.demo.is_some() {
            return "sample workspace".to_owned();
        }
        match self
            .env
            .home()
            .and_then(|home| self.cwd.strip_prefix(home).ok().map(Path::to_path_buf))
        {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => self.cwd.display().to_string(),
        }
    }

    /// How the model of that reference is reached; without one, the model that is set up.
    ///
    /// # Errors
    /// When none is, or the reference means nothing here.
    pub fn resolve(&self, reference: Option<&str>) -> Result<Connection, ResolveError> {
        let config = &self.settings.config;
        let env = |name: &str| self.env.var(name);
        resolve::resolve(reference, &env, &config.providers, &config.models)
    }

    /// Further folders that count as workspace, absolute.
    pub fn roots(&self) -> Vec<PathBuf> {
        let roots = &self.settings.config.permissions.roots;
        roots.iter().map(|root| self.cwd.join(root)).collect()
    }
}

fn flags(launch: &Launch) -> Flags {
    Flags {
        model: launch.model.clone(),
        permission_mode: launch.mode,
        max_turns: launch.max_turns,
        add_dirs: launch.add_dirs.clone(),
        config: launch.config.clone(),
        ..Flags::default()
    }
}

/// The canonical folder to work in; it must exist and be readable.
fn working_folder(asked: Option<&Path>) -> Result<PathBuf, Failure> {
    let named = match asked {
        Some(folder) => folder.to_path_buf(),
        None => std::env::current_dir().map_err(|error| {
            let message = format!(
                "the current directory cannot be used ({error}); it may have been removed: \
                 change to another one and start again"
            );
            failure(1, message)
        })?,
    };
    let refused = |error: std::io::Error| {
        failure(1, format!("cannot use the directory {}: {error}", named.display()))
    };
    let folder = named.canonicalize().map_err(refused)?;
    std::fs::read_dir(&folder).map_err(refused)?;
    Ok(folder)
}

fn settings_failure(error: &ConfigError) -> Failure {
    failure(USAGE, error.to_string())
}

fn failure(exit_code: u8, message: String) -> Failure {
    Failure { message, exit_code }
}
