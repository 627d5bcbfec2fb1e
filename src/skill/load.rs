//! Reads skills from folders: `<name>/SKILL.md` and single `<name>.md` files, with a head. What is
//! broken is left out with one line; an earlier folder wins over a later one.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::config::front_matter::FrontMatter;

/// Most bytes of a file.
const MAX_BYTES: u64 = 64 * 1024;
/// Most skills in all.
const MAX_SKILLS: usize = 200;
/// Most entries of one folder that are looked at.
const MAX_ENTRIES: usize = 500;
/// Longest description, in characters.
const DESCRIPTION: usize = 300;

/// The skills that are always there, by name.
const BUNDLED: [(&str, &str); 4] = [
    ("debug", include_str!("../../assets/skills/debug/SKILL.md")),
    ("init", include_str!("../../assets/skills/init/SKILL.md")),
    ("refactor", include_str!("../../assets/skills/refactor/SKILL.md")),
    ("review", include_str!("../../assets/skills/review/SKILL.md")),
];

/// Who wrote a skill, the most specific first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Whoever wrote the project: not trusted.
    Project,
    /// The user.
    User,
    /// We.
    Bundled,
}

impl Source {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Bundled => "bundled",
        }
    }

    /// Whether what it says may widen what happens without asking.
    pub fn is_trusted(self) -> bool {
        self != Self::Project
    }
}

/// What lies in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// Skills, which the model may take by itself.
    Skills,
    /// Commands, which only the user calls.
    Commands,
}

/// A folder to read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Folder {
    /// Where.
    pub path: PathBuf,
    /// Whose.
    pub source: Source,
    /// What.
    pub holds: Holds,
}

/// A skill or command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a line of the head")]
pub struct Skill {
    /// Its name: a slash command too.
    pub name: String,
    /// What it is for, one line.
    pub description: String,
    /// What may follow its name, for people.
    pub hint: String,
    /// Words of the user that call for it.
    pub triggers: Vec<String>,
    /// Whether such words are a quick look.
    pub fast: bool,
    /// Rules of what it may do without asking, where it is trusted.
    pub allowed: Vec<String>,
    /// `provider/model` of its own, for one that runs apart.
    pub model: Option<String>,
    /// Whether it runs as an agent of its own.
    pub fork: bool,
    /// Whether the user may call it.
    pub by_user: bool,
    /// Whether the model may take it.
    pub by_model: bool,
    /// Whether it waits to be kept: nobody is told of it before.
    pub draft: bool,
    /// What it says.
    pub body: String,
    /// Where it was read; the bundled ones have no file.
    pub path: Option<PathBuf>,
    /// Whose it is.
    pub source: Source,
}

/// All skills of a session, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skills {
    all: Vec<Skill>,
    /// What was left out and why, one line each.
    pub warnings: Vec<String>,
}

impl Skills {
    /// The skills of these folders and the bundled ones. Blocking.
    pub fn load(folders: &[Folder]) -> Self {
        let mut skills = Self::default();
        let mut names: HashSet<String> = HashSet::new();
        for folder in folders {
            let mut here = HashSet::new();
            for path in files(folder) {
                match read(&path, folder) {
                    Ok(skill) if here.contains(&skill.name) => {
                        skills.warn(&path, &format!("there is another {} here", skill.name));
                    }
                    Ok(skill) => {
                        here.insert(skill.name.clone());
                        if skills.all.len() < MAX_SKILLS && names.insert(skill.name.clone()) {
                            skills.all.push(skill);
                        }
                    }
                    Err(reason) => skills.warn(&path, &reason),
                }
            }
        }
        for (name, text) in BUNDLED {
            if names.contains(name) {
                continue;
            }
            let source = (None, Source::Bundled, Holds::Skills);
            match parse(text, name, source) {
                Ok(skill) => skills.all.push(skill),
                Err(reason) => skills.warn(Path::new(name), &reason),
            }
        }
        skills.all.sort_by(|a, b| a.name.cmp(&b.name));
        skills
    }

    fn warn(&mut self, path: &Path, reason: &str) {
        self.warnings.push(format!("skill {} is left out: {reason}", path.display()));
    }

    /// All, drafts included.
    pub fn all(&self) -> &[Skill] {
        &self.all
    }

    /// Those in force.
    pub fn kept(&self) -> impl Iterator<Item = &Skill> {
        self.all.iter().filter(|skill| !skill.draft)
    }

    /// The skill in force of that name.
    pub fn find(&self, name: &str) -> Option<&Skill> {
        self.kept().find(|skill| skill.name == name)
    }
}

/// What tells whether anything in the folders has changed: the time of each folder and file.
/// Blocking; as many look-ups as there are files.
pub fn stamp(folders: &[Folder]) -> Vec<(PathBuf, SystemTime, u64)> {
    let time = |path: PathBuf| {
        let found = fs::metadata(&path).ok()?;
        Some((path, found.modified().ok()?, found.len()))
    };
    let all = folders.iter().flat_map(|folder| {
        let mut paths = vec![folder.path.clone()];
        paths.extend(files(folder));
        paths
    });
    all.filter_map(time).collect()
}

/// The files of a folder, sorted; none when there is no such folder.
fn files(folder: &Folder) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(&folder.path) else { return Vec::new() };
    let file = |path: PathBuf| {
        if path.is_dir() {
            let inner = path.join("SKILL.md");
            return (folder.holds == Holds::Skills && inner.is_file()).then_some(inner);
        }
        let is_md = path.extension().is_some_and(|ext| ext == "md") && path.is_file();
        is_md.then_some(path)
    };
    let entries = entries.take(MAX_ENTRIES).filter_map(Result::ok);
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| file(entry.path())).collect();
    found.sort();
    found
}

fn read(path: &Path, folder: &Folder) -> Result<Skill, String> {
    if folder.source == Source::Project && !is_inside(path, folder) {
        return Err("it leads out of the project".to_owned());
    }
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_BYTES {
        return Err(format!("it has more than {} KB", MAX_BYTES / 1024));
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let is_skill_file = path.file_name().is_some_and(|name| name == "SKILL.md");
    let named = if is_skill_file { path.parent().unwrap_or(path) } else { path };
    let stem = named.file_stem().unwrap_or_default().to_string_lossy();
    parse(&text, &stem, (Some(path.to_owned()), folder.source, folder.holds))
}

/// Whether the file really lies in the place that the folder belongs to: nobody's link makes us read
/// something else.
fn is_inside(path: &Path, folder: &Folder) -> bool {
    let root = folder.path.parent().and_then(Path::parent).unwrap_or(&folder.path);
    match (fs::canonicalize(path), fs::canonicalize(root)) {
        (Ok(path), Ok(root)) => path.starts_with(root),
        _ => false,
    }
}

/// The skill that a file describes; `stem` is its name when it gives none.
///
/// # Errors
/// Why it describes none.
pub fn parse(
    text: &str,
    stem: &str,
    (path, source, holds): (Option<PathBuf>, Source, Holds),
) -> Result<Skill, String> {
    let head = FrontMatter::parse(text);
    let command = holds == Holds::Commands;
    // A command is called by its file's name.
    let given = head.get("name").filter(|_| !command);
    let name = given.unwrap_or(stem).trim().to_lowercase();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(format!("`{name}` is no name for a skill (letters, digits, - and _)"));
    }
    if head.body.is_empty() {
        return Err("it says nothing below its head".to_owned());
    }
    let flag = |key: &str, default: bool| match head.get(key) {
        None => Ok(default),
        Some("true" | "yes") => Ok(true),
        Some("false" | "no") => Ok(false),
        Some(other) => Err(format!("{key} is `{other}`, it must be true or false")),
    };
    let fork = match head.get("context") {
        None | Some("inline") => false,
        Some("fork") => true,
        Some(other) => return Err(format!("context is `{other}`, it must be inline or fork")),
    };
    if flag("generated", false)? && BUNDLED.iter().any(|(bundled, _)| *bundled == name) {
        return Err(format!("{name} is the name of a bundled skill"));
    }
    let first = || head.body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let description = head.get("description").unwrap_or_else(first);
    let described = head.get("description").is_some();
    if !described && !command {
        return Err("its head has no description".to_owned());
    }
    let list = |key: &str| head.list(key).unwrap_or_default();
    let mut triggers = list("triggers");
    triggers.extend(list("trigger"));
    Ok(Skill {
        description: one_line(description.trim_start_matches('#').trim(), DESCRIPTION),
        hint: one_line(head.get("argument-hint").unwrap_or_default(), 40),
        triggers,
        fast: flag("fast_path", false)?,
        allowed: tools(head.get("allowed-tools").unwrap_or_default()),
        model: head.get("model").filter(|model| model.contains('/')).map(str::to_owned),
        fork,
        by_user: flag("user-invocable", true)?,
        by_model: !command && !flag("disable-model-invocation", false)?,
        draft: flag("draft", false)?,
        body: head.body.clone(),
        name,
        path,
        source,
    })
}

/// `Bash(git log *), Read` apart: a comma inside brackets separates nothing.
fn tools(text: &str) -> Vec<String> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    let (mut out, mut depth, mut item) = (Vec::new(), 0_usize, String::new());
    for c in text.chars().chain([',']) {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ',' && depth == 0 {
            let name = item.trim().trim_matches(['"', '\'']).to_owned();
            item.clear();
            if !name.is_empty() {
                out.push(name);
            }
        } else {
            item.push(c);
        }
    }
    out
}

fn one_line(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
