//! What the screen must know before its first frame: the settings of `[ui]`, the terminal's
//! variables and where the typed history is kept. Reads small files only; whatever is wrong with
//! them is reported by the start proper, here the defaults do.

use std::path::PathBuf;

use crate::config::env::Env;
use crate::config::load::{self, Flags};
use crate::config::paths::Paths;
use crate::config::schema::UiConfig;
use crate::session::place;

use super::branch;
use super::service::Launch;

/// Settings of the screen.
#[derive(Clone, Debug)]
pub struct Preferences {
    /// The `[ui]` section in force, environment included.
    pub ui: UiConfig,
    /// The file of earlier prompts of this folder; none in the demo.
    pub history: Option<PathBuf>,
    /// The editor's command line, from `VISUAL` or `EDITOR`.
    pub editor: Option<String>,
    env: Env,
}

impl Preferences {
    /// Reads them.
    pub fn read(launch: &Launch) -> Self {
        let env = Env::of_process();
        let paths = Paths::find(&env).ok();
        let cwd = launch.cwd.clone().or_else(|| std::env::current_dir().ok());
        let cwd = cwd.and_then(|cwd| cwd.canonicalize().ok());
        let home = env.home();
        let project = cwd.as_deref().map(|cwd| branch::workspace(cwd, home.as_deref()));
        let flags = Flags { config: launch.config.clone(), ..Flags::default() };
        let settings =
            paths.as_ref().and_then(|paths| load::load(paths, project, &env, &flags).ok());
        let history = match (&paths, &cwd) {
            (Some(paths), Some(cwd)) if !launch.demo => {
                let name = format!("{}.jsonl", place::project_name(cwd));
                Some(paths.state_dir.join("history").join(name))
            }
            _ => None,
        };
        Self {
            ui: settings.map(|settings| settings.config.ui).unwrap_or_default(),
            history,
            editor: env.var("VISUAL").or_else(|| env.var("EDITOR")),
            env,
        }
    }

    /// A variable of the environment, for the terminal's abilities.
    pub fn var(&self, name: &str) -> Option<String> {
        self.env.var(name)
    }
}
