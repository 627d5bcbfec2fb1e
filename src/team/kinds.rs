//! Kinds of agents: three built in, others from Markdown files. A file describes an agent, it
//! permits nothing: every call of its agent is judged like any other.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::front_matter::FrontMatter;

/// Tools that only look.
const LOOKING: [&str; 4] = ["read", "grep", "glob", "ls"];
/// The kind that is taken when none, or an unknown one, is named.
pub const DEFAULT: &str = "general";
/// Turns of an agent that a file describes.
const TURNS: u32 = 30;
/// Most bytes of a file.
const MAX_BYTES: u64 = 64 * 1024;
/// Most files that are taken.
const MAX_KINDS: usize = 64;

/// A kind of agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentKind {
    /// Its name.
    pub name: String,
    /// What it is for, one line.
    pub description: String,
    /// What it is told beside the usual prompt.
    pub prompt: String,
    /// Its tools by name; `None` for all of the session's.
    pub tools: Option<Vec<String>>,
    /// Whether it only looks: it can never ask for anything.
    pub read_only: bool,
    /// Whether the model for side work is good enough.
    pub small: bool,
    /// `provider/model` of its own.
    pub model: Option<String>,
    /// Model calls of one task; the last is spent on a report.
    pub turns: u32,
}

/// The kinds that are always there.
pub fn built_in() -> Vec<AgentKind> {
    let looking = || Some(LOOKING.map(str::to_owned).to_vec());
    vec![
        AgentKind {
            tools: looking(),
            read_only: true,
            small: true,
            turns: 20,
            ..kind(
                "explore",
                "finds and reads things, changes nothing; for searches and questions about code",
                include_str!("../../assets/prompts/agents/explore.md"),
            )
        },
        general(),
        AgentKind {
            tools: looking(),
            read_only: true,
            turns: 25,
            ..kind(
                "plan",
                "reads the code and writes a plan, changes nothing",
                include_str!("../../assets/prompts/agents/plan.md"),
            )
        },
    ]
}

fn kind(name: &str, description: &str, prompt: &str) -> AgentKind {
    AgentKind {
        name: name.to_owned(),
        description: description.to_owned(),
        prompt: prompt.trim().to_owned(),
        tools: None,
        read_only: false,
        small: false,
        model: None,
        turns: TURNS,
    }
}

fn general() -> AgentKind {
    let prompt = include_str!("../../assets/prompts/agents/general.md");
    kind(DEFAULT, "has all tools; for a piece of work of its own", prompt)
}

/// The kinds of a session, sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds {
    all: Vec<AgentKind>,
    fallback: AgentKind,
    /// What was left out and why, one line each.
    pub warnings: Vec<String>,
}

impl Kinds {
    /// The built-in kinds and those that the folders' `*.md` files describe. Blocking. An earlier
    /// folder wins over a later one, any folder over what is built in; in one folder a name may
    /// stand once.
    pub fn load(folders: &[PathBuf]) -> Self {
        let mut kinds = Self { all: Vec::new(), fallback: general(), warnings: Vec::new() };
        for folder in folders {
            let mut here: Vec<AgentKind> = Vec::new();
            for path in files(folder) {
                match read(&path) {
                    Ok(kind) if here.iter().any(|other| other.name == kind.name) => {
                        kinds.warn(&path, &format!("there is another agent {} here", kind.name));
                    }
                    Ok(kind) => here.push(kind),
                    Err(reason) => kinds.warn(&path, &reason),
                }
            }
            kinds.add(here);
        }
        kinds.all.truncate(MAX_KINDS);
        kinds.add(built_in());
        kinds.all.sort_by(|a, b| a.name.cmp(&b.name));
        kinds
    }

    fn add(&mut self, kinds: Vec<AgentKind>) {
        for kind in kinds {
            if self.find(&kind.name).is_none() {
                self.all.push(kind);
            }
        }
    }

    fn warn(&mut self, path: &Path, reason: &str) {
        self.warnings.push(format!("agent file {} is left out: {reason}", path.display()));
    }

    /// The kind of that name.
    pub fn find(&self, name: &str) -> Option<&AgentKind> {
        self.all.iter().find(|kind| kind.name == name)
    }

    /// The kind that is taken when none is named; a file may have replaced it.
    pub fn default_kind(&self) -> &AgentKind {
        self.find(DEFAULT).unwrap_or(&self.fallback)
    }

    /// All kinds, sorted by name.
    pub fn all(&self) -> &[AgentKind] {
        &self.all
    }
}

/// The Markdown files of a folder, sorted; none when there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let is_md = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "md") && path.is_file();
    let mut found: Vec<PathBuf> = paths.filter(is_md).collect();
    found.sort();
    found.truncate(MAX_KINDS);
    found
}

fn read(path: &Path) -> Result<AgentKind, String> {
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_BYTES {
        return Err(format!("it has more than {} KB", MAX_BYTES / 1024));
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    parse(&text, &path.file_stem().unwrap_or_default().to_string_lossy())
}

/// The agent that a file describes; `stem` is its name when it gives none.
///
/// # Errors
/// Why it describes none.
pub fn parse(text: &str, stem: &str) -> Result<AgentKind, String> {
    let file = FrontMatter::parse(text);
    let name = file.get("name").unwrap_or(stem).trim().to_lowercase();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(format!("`{name}` is no name for an agent (letters, digits, - and _)"));
    }
    if file.body.is_empty() {
        return Err("it says nothing below its head".to_owned());
    }
    let tools = file.list("tools").filter(|tools| !tools.iter().any(|tool| tool == "*"));
    let tools = tools.map(|tools| tools.iter().map(|tool| own_name(tool)).collect::<Vec<_>>());
    let looks = |tools: &Vec<String>| tools.iter().all(|tool| LOOKING.contains(&tool.as_str()));
    Ok(AgentKind {
        description: file.get("description").unwrap_or("an agent of this project").to_owned(),
        prompt: file.body.clone(),
        read_only: tools.as_ref().is_some_and(looks),
        tools,
        small: file.get("model") == Some("small"),
        model: file.get("model").filter(|model| model.contains('/')).map(str::to_owned),
        turns: TURNS,
        name,
    })
}

/// A tool's name as codebot has it; agent files of other programs write some differently.
fn own_name(tool: &str) -> String {
    match tool.trim().to_lowercase().as_str() {
        "multiedit" => "edit".to_owned(),
        "list" => "ls".to_owned(),
        "webfetch" => "web_fetch".to_owned(),
        "websearch" => "web_search".to_owned(),
        "task" | "agent" => "subagent".to_owned(),
        other => other.to_owned(),
    }
}
