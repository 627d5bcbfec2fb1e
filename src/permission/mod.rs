//! The permission gate: decides for every call whether it runs, asks or is refused. Order of a
//! decision: hard denials, deny rules, the plan overlay, ask rules, our own files, remembered
//! answers, allow rules, the mode.
//! What nobody understands asks; destructive commands, credentials and places outside the
//! workspace are never remembered.

pub mod audit;
pub mod below;
mod decide;
mod explain;
pub mod known;
pub mod mode;
pub mod paths;
pub mod plan;
pub mod rules;
pub mod sensitive;
pub mod shell;
pub mod store;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use futures_util::future::BoxFuture;

use crate::kernel::command::Mode;
use crate::kernel::error::GateError;
use crate::kernel::event::Approval;
use crate::kernel::message::ToolCall;
use crate::kernel::ports::{Gate, GateRequest, Verdict};
use audit::{Audit, Entry};
use known::Source;
use paths::Places;
use rules::{Anchor, Rule, Side};
use store::Store;

/// Everything the gate has to know; paths are absolute.
#[derive(Clone, Debug, Default)]
pub struct GateConfig {
    /// The workspace: git root or start directory.
    pub workspace: PathBuf,
    /// Further folders that count as workspace.
    pub roots: Vec<PathBuf>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// Our own folders that may be read without asking; writing there is refused.
    pub internal_read: Vec<PathBuf>,
    /// Our own folders that may be read and written without asking.
    pub internal_write: Vec<PathBuf>,
    /// Our own settings: always ask.
    pub own_config: Vec<PathBuf>,
    /// The mode to start in.
    pub mode: Mode,
    /// Allow rules.
    pub allow: Vec<String>,
    /// Allow rules of the project that the user agreed to.
    pub trusted: Vec<String>,
    /// Rules that ask each time.
    pub ask: Vec<String>,
    /// Deny rules.
    pub deny: Vec<String>,
    /// Where rules were written.
    pub sources: Vec<Source>,
    /// Whether the plan overlay is on from the start.
    pub plan: bool,
    /// The file that may be written while planning; it lies in a folder of `internal_write`.
    pub plan_file: Option<PathBuf>,
    /// The file of remembered answers.
    pub store: PathBuf,
    /// The audit log.
    pub audit: PathBuf,
    /// `PATH` of the commands that will run.
    pub path_env: String,
    /// A sandbox really holds all commands in, and accept-edits need not ask for those that stay in
    /// the workspace.
    pub held: bool,
}

/// The gate of a session.
#[derive(Debug)]
pub struct PermissionGate {
    places: Places,
    suspect_path: Vec<PathBuf>,
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    deny: Vec<Rule>,
    sources: Vec<Source>,
    planning: AtomicBool,
    plan_file: Option<PathBuf>,
    /// A deny or ask rule could not be read, so nothing runs unasked but looking.
    careful: bool,
    held: bool,
    mode: RwLock<Mode>,
    remembered: Mutex<Remembered>,
    audit: Arc<Audit>,
    warnings: Vec<String>,
}

#[derive(Debug)]
struct Remembered {
    store: Store,
    rules: Vec<Rule>,
    /// Rules of the project that the user agreed to.
    trusted: Vec<Rule>,
    /// Rules that hold for one request only; not saved.
    granted: Vec<Rule>,
}

impl Remembered {
    /// What the user let through, in questions, by trust or for this request.
    fn all(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(&self.trusted).chain(&self.granted)
    }
}

impl PermissionGate {
    /// Builds the gate and reads the remembered answers. Problems never fail it; see
    /// [`Self::warnings`].
    pub fn new(config: GateConfig) -> Self {
        let mut roots = vec![config.workspace];
        roots.extend(config.roots);
        let home = config.home.as_deref();
        let places = Places::new(
            &roots,
            home,
            &config.internal_read,
            &config.internal_write,
            &config.own_config,
        );
        let anchor = Anchor { workspace: places.workspace(), home };
        let mut warnings = Vec::new();
        let sources = config.sources;
        let mut read =
            |texts: &[String], side| known::read(texts, side, anchor, &sources, &mut warnings);
        let allow = read(&config.allow, Side::Allow);
        let before = warnings.len();
        let mut read =
            |texts: &[String], side| known::read(texts, side, anchor, &sources, &mut warnings);
        let ask = read(&config.ask, Side::Ask);
        let deny = read(&config.deny, Side::Deny);
        let careful = warnings.len() > before;
        let (store, warning) = Store::open(&config.store, places.workspace());
        warnings.extend(warning);
        let rules = known::read(store.rules(), Side::Allow, anchor, &[], &mut warnings);
        let trusted = known::read(&config.trusted, Side::Allow, anchor, &sources, &mut warnings);
        Self {
            suspect_path: suspects(&config.path_env, &places),
            allow,
            ask,
            deny,
            sources,
            planning: AtomicBool::new(config.plan),
            plan_file: config.plan_file,
            careful,
            held: config.held,
            mode: RwLock::new(config.mode),
            remembered: Mutex::new(Remembered { store, rules, trusted, granted: Vec::new() }),
            audit: Arc::new(Audit::new(config.audit)),
            warnings,
            places,
        }
    }

    /// What went wrong while rules and remembered answers were read, for the user.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The remembered rules of the workspace, oldest first.
    pub fn remembered(&self) -> Vec<String> {
        self.memory().store.rules().to_vec()
    }

    /// Forgets a remembered rule, in memory and in the file.
    ///
    /// # Errors
    /// When the file can't be written; the rule is gone for this session all the same.
    pub fn revoke(&self, rule: &str) -> Result<(), GateError> {
        let store = {
            let mut memory = self.memory();
            memory.store.remove(rule);
            memory.rules.retain(|known| known.text() != rule);
            memory.store.clone()
        };
        store.save(&[], &[rule.to_owned()]).map_err(GateError)
    }

    /// Lets these rules run unasked until [`Self::withdraw`]: those of a skill that is being
    /// followed. Everything that is stronger than an allow rule stays stronger. Returns a line for
    /// each that can't be read.
    pub fn grant(&self, rules: &[String]) -> Vec<String> {
        let mut warnings = Vec::new();
        let parsed = known::read(rules, Side::Allow, self.anchor(), &[], &mut warnings);
        self.memory().granted.extend(parsed);
        warnings
    }

    /// Takes back what was granted.
    pub fn withdraw(&self) {
        self.memory().granted.clear();
    }

    fn anchor(&self) -> Anchor<'_> {
        Anchor { workspace: self.places.workspace(), home: self.places.home() }
    }

    fn memory(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the rules of an approval into memory; returns what the file still has to learn.
    fn learn(&self, text: &str) -> Result<(Store, Vec<String>), GateError> {
        let list: Vec<String> = rules::split_list(text).into_iter().map(str::to_owned).collect();
        let parsed: Result<Vec<Rule>, String> =
            list.iter().map(|rule| Rule::parse(rule, Side::Allow, self.anchor())).collect();
        let parsed = parsed.map_err(GateError)?;
        let mut memory = self.memory();
        for rule in parsed {
            if memory.store.add(rule.text()) {
                memory.rules.push(rule);
            }
        }
        Ok((memory.store.clone(), list))
    }
}

impl Gate for PermissionGate {
    fn judge<'a>(&'a self, request: GateRequest<'a>) -> BoxFuture<'a, Result<Verdict, GateError>> {
        // A few look-ups in the file system; some thousand when a command reads a whole tree, which
        // then takes much longer itself. Not worth another thread.
        Box::pin(async move { Ok(self.decide(request)) })
    }

    fn remember<'a>(&'a self, approval: &'a Approval) -> BoxFuture<'a, Result<(), GateError>> {
        Box::pin(async move {
            let Some(text) = approval.rule.as_deref().filter(|_| !approval.danger) else {
                return Err(GateError("this approval can't be remembered".to_owned()));
            };
            let (store, list) = self.learn(text)?;
            let saved = tokio::task::spawn_blocking(move || store.save(&list, &[])).await;
            match saved {
                Ok(result) => result.map_err(GateError),
                Err(error) => Err(GateError(format!("cannot save permissions: {error}"))),
            }
        })
    }

    fn record(&self, call: &ToolCall, allowed: bool, by: &str) {
        let what = serde_json::to_string(&call.args).unwrap_or_default();
        self.audit.write(Entry {
            tool: &call.name,
            verdict: if allowed { "allowed" } else { "denied" },
            by,
            mode: self.mode().name(),
            what: &what,
        });
    }

    fn set_mode(&self, mode: Mode) {
        *self.mode.write().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    fn set_plan(&self, on: bool) {
        self.plan(on);
    }

    fn planning(&self) -> bool {
        self.is_planning()
    }

    fn reminder(&self) -> Option<String> {
        self.is_planning().then(|| self.plan_reminder())
    }

    fn mode(&self) -> Mode {
        *self.mode.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folders of `PATH` that a project could put programs into.
fn suspects(path_env: &str, places: &Places) -> Vec<PathBuf> {
    let folders = path_env.split(':').map(PathBuf::from);
    folders
        .filter(|dir| {
            !dir.is_absolute() || paths::resolve(dir).is_none_or(|real| places.in_roots(&real))
        })
        .collect()
}
