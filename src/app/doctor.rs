//! `codebot doctor`: what was found out about config, keys, terminal, sandbox and programs, as a
//! text for people with a remedy beside everything that is wrong. Rendering is pure; what other
//! rooms know comes in as fields, the environment as a function. A key itself is never shown.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::service::LocalServer;
use crate::config::private;

/// Everything the report says.
#[derive(Clone, Debug, Default)]
pub struct DoctorFacts {
    /// The program's version.
    pub version: String,
    /// The config files looked at, in order of precedence.
    pub configs: Vec<ConfigFact>,
    /// The model that would be used, or why there is none.
    pub model: Option<Result<String, String>>,
    /// Known providers.
    pub providers: Vec<ProviderFact>,
    /// Local model servers that answered.
    pub servers: Vec<LocalServer>,
    /// The terminal.
    pub terminal: TerminalFact,
    /// What the sandbox does here, in its own words.
    pub sandbox: SandboxFact,
    /// Where sessions are kept.
    pub sessions: FolderFact,
    /// Programs that tools or the screen call.
    pub programs: Vec<ProgramFact>,
}

/// One config file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFact {
    /// As shown to people.
    pub path: String,
    /// What is there.
    pub state: ConfigState,
}

/// What a config file's place holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigState {
    /// Nothing; defaults apply.
    Absent,
    /// A readable file.
    Read,
    /// A file with warnings, for example unknown keys.
    Warnings(Vec<String>),
    /// A file that can't be used, with line and column where known.
    Broken(String),
}

/// One provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderFact {
    /// Config name.
    pub name: String,
    /// Environment variable that would hold its key; empty when it needs none.
    pub key_env: String,
    /// Whether a key was found, wherever.
    pub has_key: bool,
}

/// The terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalFact {
    /// `TERM`.
    pub term: Option<String>,
    /// `COLORTERM`.
    pub colorterm: Option<String>,
    /// `tmux`, `screen` or `zellij` around it.
    pub multiplexer: Option<&'static str>,
    /// Whether the session came over SSH.
    pub ssh: bool,
    /// Whether `NO_COLOR` asks for no colours.
    pub no_color: bool,
    /// Columns and rows, when stdout is a terminal.
    pub size: Option<(u16, u16)>,
    /// Whether stdin and stdout are terminals.
    pub is_terminal: bool,
    /// The locale in force for characters.
    pub locale: Option<String>,
}

/// The sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxFact {
    /// Whether commands are confined at all.
    pub active: bool,
    /// One line: what is confined, or why nothing is.
    pub text: String,
}

/// A folder that must be writable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderFact {
    /// As shown to people.
    pub path: String,
    /// Why it can't be written, when it can't.
    pub problem: Option<String>,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFact {
    /// Its name.
    pub name: &'static str,
    /// Where it is.
    pub path: Option<PathBuf>,
    /// What does not work without it.
    pub used_for: &'static str,
    /// Whether codebot is of little use without it.
    pub required: bool,
}

/// Looks a variable of the environment up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl TerminalFact {
    /// What the environment tells of the terminal.
    pub fn gather(env: Lookup<'_>, size: Option<(u16, u16)>, is_terminal: bool) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        let around = [("TMUX", "tmux"), ("STY", "screen"), ("ZELLIJ", "zellij")];
        Self {
            term: set("TERM"),
            colorterm: set("COLORTERM"),
            multiplexer: around.iter().find(|(name, _)| set(name).is_some()).map(|(_, name)| *name),
            ssh: set("SSH_CONNECTION").is_some() || set("SSH_TTY").is_some(),
            no_color: set("NO_COLOR").is_some(),
            size,
            is_terminal,
            // The order in which the C library asks.
            locale: ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| set(name)),
        }
    }

    /// Whether the locale says UTF-8.
    pub fn is_utf8(&self) -> bool {
        let locale = self.locale.as_deref().unwrap_or_default().to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    }
}

/// The programs codebot calls, looked up in a `PATH`.
pub fn programs(path: Option<&OsStr>) -> Vec<ProgramFact> {
    let fact = |name, used_for, required| ProgramFact {
        name,
        path: find_program(name, path),
        used_for,
        required,
    };
    vec![
        fact("bash", "running commands", true),
        fact("git", "branch name and repository root", false),
    ]
}

/// The first file of that name in a `PATH` that may be executed.
pub fn find_program(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let folders = std::env::split_paths(path?);
    folders
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Whether files can be made in `folder`; it is created when missing. `shown` is its name for
/// people.
pub fn probe_folder(folder: &Path, shown: impl Into<String>) -> FolderFact {
    let attempt = private::make_dir(folder)
        .and_then(|()| tempfile::Builder::new().prefix(".doctor-").tempfile_in(folder).map(drop));
    FolderFact { path: shown.into(), problem: attempt.err().map(|error| error.to_string()) }
}

/// How much a line matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Ok,
    Note,
    Warn,
    Fail,
}

impl Mark {
    /// Words, not signs: the report must be readable where the locale is the problem.
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok  ",
            Self::Note => "-   ",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }
}

#[derive(Default)]
struct Page {
    text: String,
    warnings: usize,
    failures: usize,
}

impl Page {
    fn section(&mut self, title: &str) {
        let _infallible = writeln!(self.text, "\n{title}");
    }

    fn line(&mut self, mark: Mark, text: &str) {
        self.warnings += usize::from(mark == Mark::Warn);
        self.failures += usize::from(mark == Mark::Fail);
        let _infallible = writeln!(self.text, "  {}  {text}", mark.word());
    }
}

/// Whether the report found something that keeps codebot from working.
pub fn has_failures(facts: &DoctorFacts) -> bool {
    page(facts).failures > 0
}

/// The report, ending with a line end.
pub fn report(facts: &DoctorFacts) -> String {
    let page = page(facts);
    let verdict = match (page.failures, page.warnings) {
        (0, 0) => "everything is in order".to_owned(),
        (0, warnings) => format!("it works; {warnings} to look at"),
        (failures, warnings) => format!("{failures} to repair, {warnings} to look at"),
    };
    format!("codebot {}\n{}\n{verdict}\n", facts.version, page.text)
}

fn page(facts: &DoctorFacts) -> Page {
    let mut page = Page::default();
    configs(&mut page, &facts.configs);
    models(&mut page, facts);
    terminal(&mut page, &facts.terminal);
    page.section("sandbox");
    page.line(if facts.sandbox.active { Mark::Ok } else { Mark::Warn }, &facts.sandbox.text);
    folders(&mut page, &facts.sessions);
    tools(&mut page, &facts.programs);
    page
}

fn configs(page: &mut Page, configs: &[ConfigFact]) {
    page.section("config");
    for ConfigFact { path, state } in configs {
        match state {
            ConfigState::Absent => page.line(Mark::Note, &format!("{path}: none, defaults apply")),
            ConfigState::Read => page.line(Mark::Ok, path),
            ConfigState::Warnings(warnings) => {
                for warning in warnings {
                    page.line(Mark::Warn, &format!("{path}: {warning}"));
                }
            }
            ConfigState::Broken(problem) => page.line(Mark::Fail, &format!("{path}: {problem}")),
        }
    }
}

fn models(page: &mut Page, facts: &DoctorFacts) {
    page.section("model");
    match &facts.model {
        Some(Ok(model)) => page.line(Mark::Ok, &format!("{model} would be used")),
        Some(Err(problem)) => page.line(Mark::Fail, problem),
        None => page.line(Mark::Fail, "none configured; set a key, or try codebot --demo"),
    }
    for ProviderFact { name, key_env, has_key } in &facts.providers {
        match (has_key, key_env.as_str()) {
            (true, _) => page.line(Mark::Ok, &format!("{name}: key found")),
            (false, "") => page.line(Mark::Ok, &format!("{name}: needs no key")),
            (false, env) => page.line(Mark::Note, &format!("{name}: no key; set {env}")),
        }
    }
    for LocalServer { label, base_url, models } in &facts.servers {
        let count = models.len();
        page.line(Mark::Ok, &format!("{label} answers at {base_url} with {count} models"));
    }
}

fn terminal(page: &mut Page, terminal: &TerminalFact) {
    page.section("terminal");
    match terminal.term.as_deref() {
        None => page.line(Mark::Warn, "TERM is not set; set it to what your terminal is"),
        Some("dumb") => page.line(Mark::Warn, "TERM is dumb; use codebot -p here"),
        Some(term) => page.line(Mark::Ok, &format!("TERM {term}")),
    }
    page.line(Mark::Note, &colours(terminal));
    match terminal.size {
        Some((columns, rows)) if columns < 40 || rows < 10 => {
            page.line(Mark::Warn, &format!("{columns}x{rows} is narrow; 80x24 shows everything"));
        }
        Some((columns, rows)) => page.line(Mark::Ok, &format!("size {columns}x{rows}")),
        None => page.line(Mark::Note, "size unknown"),
    }
    if !terminal.is_terminal {
        page.line(Mark::Note, "stdin or stdout is not a terminal; the screen needs both");
    }
    match &terminal.locale {
        Some(locale) if terminal.is_utf8() => page.line(Mark::Ok, &format!("locale {locale}")),
        Some(locale) => {
            page.line(Mark::Warn, &format!("locale {locale} is not UTF-8; try LANG=C.UTF-8"));
        }
        None => page.line(Mark::Warn, "no locale set; try LANG=C.UTF-8"),
    }
    if let Some(name) = terminal.multiplexer {
        page.line(Mark::Note, &format!("inside {name}"));
    }
    if terminal.ssh {
        page.line(Mark::Note, "over SSH: copying uses the terminal's own clipboard (OSC 52)");
    }
}

fn colours(terminal: &TerminalFact) -> String {
    let term = terminal.term.as_deref().unwrap_or_default();
    if terminal.no_color {
        return "no colours (NO_COLOR is set)".to_owned();
    }
    match terminal.colorterm.as_deref() {
        Some("truecolor" | "24bit") => "16 million colours".to_owned(),
        _ if term.contains("direct") => "16 million colours".to_owned(),
        _ if term.contains("256") => "256 colours".to_owned(),
        _ => "16 colours; set COLORTERM=truecolor where the terminal has more".to_owned(),
    }
}

fn folders(page: &mut Page, sessions: &FolderFact) {
    page.section("sessions");
    match &sessions.problem {
        None => page.line(Mark::Ok, &format!("{} is writable", sessions.path)),
        Some(problem) => {
            let remedy = "make it writable or set CODEBOT_STATE_DIR";
            page.line(Mark::Fail, &format!("{}: {problem}; {remedy}", sessions.path));
        }
    }
}

fn tools(page: &mut Page, programs: &[ProgramFact]) {
    page.section("programs");
    for ProgramFact { name, path, used_for, required } in programs {
        if let Some(path) = path {
            page.line(Mark::Ok, &format!("{name}: {}", path.display()));
        } else {
            let mark = if *required { Mark::Fail } else { Mark::Warn };
            page.line(mark, &format!("{name}: not found in PATH; it is for {used_for}"));
        }
    }
}
