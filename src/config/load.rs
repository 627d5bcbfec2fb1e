//! Puts the layers together: built in, user, project, project local, environment, flags; the later
//! wins, deny rules add up. What a project may not decide is dropped with a warning.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use super::env::Env;
use super::error::ConfigError;
use super::keys::{self, Scope};
use super::layer::{self, Layer, Parsed};
use super::paths::Paths;
use super::rules::{self, Offered, Written};
use super::schema::Config;
use crate::kernel::command::Mode;

/// Largest settings file, in bytes; a larger one is a mistake.
const MAX_BYTES: u64 = 1024 * 1024;

/// What the command line sets.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--model`.
    pub model: Option<String>,
    /// `--permission-mode`.
    pub permission_mode: Option<Mode>,
    /// `--max-turns`.
    pub max_turns: Option<u32>,
    /// `--add-dir`, once each.
    pub add_dirs: Vec<PathBuf>,
    /// `--no-mouse` gives false.
    pub mouse: Option<bool>,
    /// `--no-alt-screen` gives false.
    pub alt_screen: Option<bool>,
    /// `--config`: instead of the user's file; must exist.
    pub config: Option<PathBuf>,
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The user's file.
    User,
    /// The project's shared file.
    Project,
    /// The project's file of this user.
    ProjectLocal,
    /// An environment variable.
    Environment,
    /// The command line.
    Flag,
}

/// The settings in force.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// One line each for people.
    pub warnings: Vec<String>,
    /// Who set a key; keys without an entry are built in.
    pub origins: BTreeMap<String, Source>,
    /// The permission rules of all files with their places.
    pub rules: Vec<Written>,
    /// What project files ask for and only the user may give.
    pub offered: Vec<Offered>,
}

/// Reads and layers everything. `project` is the workspace's root.
///
/// # Errors
/// A file that can't be read or understood, or a bad value in the environment; absent files are
/// fine, except the one that the command line names.
pub fn load(
    paths: &Paths,
    project: Option<&Path>,
    env: &Env,
    flags: &Flags,
) -> Result<Loaded, ConfigError> {
    let mut loaded = Loaded::default();
    let user = flags.config.as_ref().unwrap_or(&paths.config_file);
    if flags.config.is_some() && !user.exists() {
        return Err(ConfigError::in_file(user, "there is no such file; check --config"));
    }
    loaded.file(user, Source::User)?;
    if let Some(project) = project {
        loaded.file(&Paths::project_file(project), Source::Project)?;
        loaded.file(&Paths::project_local_file(project), Source::ProjectLocal)?;
    }
    loaded.apply(of_env(env)?, Source::Environment);
    loaded.apply(of_flags(flags)?, Source::Flag);
    Ok(loaded)
}

impl Loaded {
    fn file(&mut self, path: &Path, source: Source) -> Result<(), ConfigError> {
        let Some(text) = read(path)? else { return Ok(()) };
        let mut parsed = layer::parse(path, &text)?;
        self.warnings.append(&mut parsed.warnings);
        if source != Source::User {
            self.tame(path, &mut parsed);
        }
        let (mut written, mut offered) = rules::read(path, &text, source != Source::User);
        self.rules.append(&mut written);
        self.offered.append(&mut offered);
        self.apply(parsed, source);
        Ok(())
    }

    /// Takes out of a project's layer what only the user may decide: a checkout is written by
    /// others and must neither redirect keys nor widen what runs unasked.
    fn tame(&mut self, path: &Path, parsed: &mut Parsed) {
        let layer = &mut parsed.layer;
        layer.providers.clear();
        layer.models.clear();
        layer.permissions.allow = None;
        layer.permissions.roots = None;
        layer.log = None;
        let looser =
            layer.permission_mode.is_some_and(|m| rank(m) > rank(self.config.permission_mode));
        if looser {
            layer.permission_mode = None;
        }
        let place = path.display();
        let warnings = &mut self.warnings;
        parsed.set.retain(|name| {
            let names: Vec<&str> = name.split('.').collect();
            match keys::find(&names).map(|doc| doc.scope) {
                Some(Scope::Any) => true,
                Some(Scope::Trusted) => false,
                Some(Scope::Stricter) if !looser => true,
                Some(Scope::Stricter) => {
                    warnings.push(format!(
                        "{place}: `{name}` is ignored: a project may only make it stricter"
                    ));
                    false
                }
                _ => {
                    warnings.push(format!(
                        "{place}: `{name}` is ignored: only your own config file may set it"
                    ));
                    false
                }
            }
        });
    }

    fn apply(&mut self, parsed: Parsed, source: Source) {
        self.config.apply(parsed.layer);
        self.origins.extend(parsed.set.into_iter().map(|name| (name, source)));
    }
}

/// How much a mode lets happen, strictest first.
fn rank(mode: Mode) -> usize {
    Mode::ALL.iter().position(|m| *m == mode).unwrap_or_default()
}

impl Config {
    /// Lays a layer over these values.
    fn apply(&mut self, layer: Layer) {
        let Layer {
            permissions,
            limits,
            route,
            retry,
            tools,
            sandbox,
            web,
            context,
            prompt,
            memory,
            background,
            ui,
            ..
        } = layer;
        over_some(&mut self.model, layer.model);
        over_some(&mut self.small_model, layer.small_model);
        over_some(&mut self.effort, layer.effort);
        over_some(&mut self.log, layer.log);
        over(&mut self.permission_mode, layer.permission_mode);
        self.providers.extend(layer.providers);
        self.models.extend(layer.models);
        over(&mut self.permissions.allow, permissions.allow);
        self.permissions.ask.extend(permissions.ask.into_iter().flatten());
        self.permissions.deny.extend(permissions.deny.into_iter().flatten());
        self.permissions.roots.extend(permissions.roots.into_iter().flatten());
        over(&mut self.limits.max_turns, limits.max_turns.map(NonZeroU32::get));
        over(&mut self.limits.wrap_at_cap, limits.wrap_at_cap);
        over_some(&mut self.limits.max_tokens, limits.max_tokens);
        over_some(&mut self.limits.max_cost, limits.max_cost);
        over_some(&mut self.limits.max_minutes, limits.max_minutes.map(NonZeroU32::get));
        over(&mut self.route.escalate, route.escalate);
        over(&mut self.route.medium, route.medium.map(NonZeroU32::get));
        over(&mut self.route.full, route.full.map(NonZeroU32::get));
        over(&mut self.route.fast, route.fast);
        over(&mut self.retry.max_retries, retry.max_retries);
        over(&mut self.retry.continue_partial, retry.continue_partial);
        over(&mut self.tools.start, tools.start);
        over(&mut self.tools.max_concurrency, tools.max_concurrency.map(NonZeroU32::get));
        over(&mut self.tools.bash_timeout_s, tools.bash_timeout_s.map(NonZeroU32::get));
        over(&mut self.sandbox.mode, sandbox.mode);
        over(&mut self.sandbox.auto_allow, sandbox.auto_allow);
        over(&mut self.sandbox.network, sandbox.network);
        over(&mut self.sandbox.write, sandbox.write);
        over(&mut self.web.allow_hosts, web.allow_hosts);
        over_some(&mut self.web.search_url, web.search_url);
        over_some(&mut self.web.search_key_env, web.search_key_env);
        over_some(&mut self.web.search_header, web.search_header);
        over(&mut self.context.result_tokens, context.result_tokens.map(NonZeroU32::get));
        over(&mut self.context.results_tokens, context.results_tokens.map(NonZeroU32::get));
        over(&mut self.prompt.dynamic, prompt.dynamic);
        over(&mut self.memory.enabled, memory.enabled);
        over(&mut self.memory.extract, memory.extract);
        over(&mut self.background.wake, background.wake);
        over(&mut self.ui.theme, ui.theme);
        over(&mut self.ui.mouse, ui.mouse);
        over(&mut self.ui.alt_screen, ui.alt_screen);
        over(&mut self.ui.reduced_motion, ui.reduced_motion);
    }
}

fn over<T>(value: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *value = new;
    }
}

fn over_some<T>(value: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *value = new;
    }
}

/// A file's text; `None` when there is no file.
fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let failed =
        |error: std::io::Error| ConfigError::in_file(path, format!("can't be read: {error}"));
    let meta = match std::fs::metadata(path) {
        Err(error) if is_absent(&error) => return Ok(None),
        other => other.map_err(failed)?,
    };
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return Err(ConfigError::in_file(path, "is no settings file (not a file, or above 1 MB)"));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let bytes = error.as_bytes();
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(bytes);
        ConfigError::in_text(path, &text, Some(good..good), "not UTF-8 from here on")
    })?;
    Ok(Some(text))
}

/// `NotADirectory`: a file stands where `.codebot` would be.
fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn of_env(env: &Env) -> Result<Parsed, ConfigError> {
    let mut parsed = Parsed::default();
    let layer = &mut parsed.layer;
    let mut set = |key: &str| parsed.set.push(key.to_owned());
    if let Some(model) = env.var("CODEBOT_MODEL") {
        layer.model = Some(model);
        set("model");
    }
    if let Some(name) = env.var("CODEBOT_PERMISSION_MODE") {
        let mode = Mode::from_name(&name).ok_or_else(|| {
            let known = Mode::ALL.map(Mode::name).join(", ");
            let message = format!("unknown permission mode `{name}`; use one of {known}");
            ConfigError::at("CODEBOT_PERMISSION_MODE", message)
        })?;
        layer.permission_mode = Some(mode);
        set("permission_mode");
    }
    if let Some(filter) = env.var("CODEBOT_LOG") {
        layer.log = Some(filter);
        set("log");
    }
    if env.flag("CODEBOT_NO_ALT_SCREEN") {
        layer.ui.alt_screen = Some(false);
        set("ui.alt_screen");
    }
    if env.flag("CODEBOT_NO_MOUSE") {
        layer.ui.mouse = Some(false);
        set("ui.mouse");
    }
    Ok(parsed)
}

fn of_flags(flags: &Flags) -> Result<Parsed, ConfigError> {
    let mut parsed = Parsed::default();
    let max_turns = match flags.max_turns {
        Some(turns) => Some(
            NonZeroU32::new(turns)
                .ok_or_else(|| ConfigError::at("--max-turns", "must be 1 or more"))?,
        ),
        None => None,
    };
    let layer = &mut parsed.layer;
    layer.model.clone_from(&flags.model);
    layer.permission_mode = flags.permission_mode;
    layer.limits.max_turns = max_turns;
    layer.ui.mouse = flags.mouse;
    layer.ui.alt_screen = flags.alt_screen;
    layer.permissions.roots = (!flags.add_dirs.is_empty()).then(|| flags.add_dirs.clone());
    let set = [
        ("model", layer.model.is_some()),
        ("permission_mode", layer.permission_mode.is_some()),
        ("limits.max_turns", layer.limits.max_turns.is_some()),
        ("ui.mouse", layer.ui.mouse.is_some()),
        ("ui.alt_screen", layer.ui.alt_screen.is_some()),
        ("permissions.roots", layer.permissions.roots.is_some()),
    ];
    parsed.set =
        set.iter().filter(|(_, is_set)| *is_set).map(|(key, _)| (*key).to_owned()).collect();
    Ok(parsed)
}
