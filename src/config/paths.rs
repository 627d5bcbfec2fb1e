//! Where things stand: the XDG places of the user, or what the environment puts in their stead.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use super::env::Env;
use super::error::ConfigError;

/// The places of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// `config.toml`, or the file named on the command line.
    pub config_file: PathBuf,
    /// Keys, themes, `AGENTS.md`.
    pub config_dir: PathBuf,
    /// Sessions, approvals, audit log.
    pub state_dir: PathBuf,
    /// What must not be lost.
    pub data_dir: PathBuf,
    /// What may be lost.
    pub cache_dir: PathBuf,
    /// Log files.
    pub log_dir: PathBuf,
    /// What was typed into the composer.
    pub history_file: PathBuf,
}

impl Paths {
    /// The user's places. `CODEBOT_CONFIG_DIR` and `CODEBOT_STATE_DIR` come before the XDG ones.
    ///
    /// # Errors
    /// When neither they nor a home directory are known.
    pub fn find(env: &Env) -> Result<Self, ConfigError> {
        let xdg = ProjectDirs::from("", "", "codebot");
        let place = |own: &str, of: fn(&ProjectDirs) -> PathBuf| {
            env.path(own).or_else(|| xdg.as_ref().map(of)).ok_or_else(|| {
                let message = format!("no home directory is known; set HOME or {own}");
                ConfigError::at("environment", message)
            })
        };
        let config_dir = place("CODEBOT_CONFIG_DIR", |xdg| xdg.config_dir().to_path_buf())?;
        let state_dir = place("CODEBOT_STATE_DIR", |xdg| {
            xdg.state_dir().map_or_else(|| xdg.data_dir().join("state"), Path::to_path_buf)
        })?;
        let of = |dir: fn(&ProjectDirs) -> &Path| xdg.as_ref().map(|xdg| dir(xdg).to_path_buf());
        Ok(Self {
            config_file: config_dir.join("config.toml"),
            log_dir: state_dir.join("log"),
            history_file: state_dir.join("history.jsonl"),
            // Whoever moves the state moves what is remembered too.
            data_dir: of(ProjectDirs::data_dir)
                .filter(|_| env.path("CODEBOT_STATE_DIR").is_none())
                .unwrap_or_else(|| state_dir.join("data")),
            cache_dir: of(ProjectDirs::cache_dir).unwrap_or_else(|| state_dir.join("cache")),
            config_dir,
            state_dir,
        })
    }

    /// The same with another config file.
    #[must_use]
    pub fn with_config_file(mut self, file: Option<PathBuf>) -> Self {
        if let Some(file) = file {
            self.config_file = file;
        }
        self
    }

    /// A project's settings that it shares.
    pub fn project_file(project: &Path) -> PathBuf {
        project.join(".codebot").join("config.toml")
    }

    /// A project's settings of this user, ignored by git.
    pub fn project_local_file(project: &Path) -> PathBuf {
        project.join(".codebot").join("config.local.toml")
    }
}
