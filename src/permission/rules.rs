//! Rules as people write them: `Bash(git status *)`, `Edit(src/**)`, `Read(docs/**)`,
//! `WebFetch(*.example.org)`, `mcp__name__*`. Allow rules are matched narrowly, deny and ask rules
//! widely.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::shell::loose::{Loose, base_name};
use super::shell::{Class, Judgement, Key, Part, tail};

/// What a rule is for; decides how widely it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Lets through; matched narrowly.
    Allow,
    /// Wants a question; matched widely.
    Ask,
    /// Refuses; matched widely.
    Deny,
}

impl Side {
    /// The list in the settings that holds such rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Bash { words: Vec<String>, exact: bool },
    Read(Vec<GlobMatcher>),
    Edit(Vec<GlobMatcher>),
    Network(Hosts),
    Tool(String),
}

/// Hosts that a rule speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    All,
    One(String),
    /// All below a domain; with the domain itself where a rule closes.
    Below {
        domain: String,
        itself: bool,
    },
}

/// Where relative and `~` patterns start.
#[derive(Clone, Copy, Debug)]
pub struct Anchor<'a> {
    /// The workspace, links resolved.
    pub workspace: &'a Path,
    /// The home directory.
    pub home: Option<&'a Path>,
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// What is wrong with it and what would be right.
    pub fn parse(text: &str, side: Side, anchor: Anchor<'_>) -> Result<Self, String> {
        let trimmed = text.trim();
        let wrong = |why: String| format!("permission rule `{trimmed}` {why}");
        let (name, pattern) = match trimmed.split_once('(') {
            Some((name, rest)) => {
                let Some(inner) = rest.strip_suffix(')') else {
                    return Err(wrong(format!(
                        "lacks its closing parenthesis; write `{trimmed})`"
                    )));
                };
                (name.trim_end(), Some(inner.trim()))
            }
            None => (trimmed, None),
        };
        if pattern == Some("") {
            let all = format!("is empty between its parentheses; `{name}` alone means all");
            return Err(wrong(all));
        }
        let globs = || path_globs(pattern.unwrap_or("/**"), side, anchor).map_err(&wrong);
        let kind = match name {
            "Bash" => bash(pattern.unwrap_or("*")),
            "Read" => Kind::Read(globs()?),
            "Edit" | "Write" => Kind::Edit(globs()?),
            "WebFetch" | "Network" => {
                Kind::Network(hosts(pattern.unwrap_or("*"), side).map_err(&wrong)?)
            }
            _ if pattern.is_none() && is_tool_name(name) => match slip(name) {
                Some(kind) => {
                    return Err(wrong(format!("has a wrong name; did you mean `{kind}`?")));
                }
                None => Kind::Tool(name.to_owned()),
            },
            _ => {
                let near = nearest(name).map(|kind| match pattern {
                    Some(pattern) => format!("; did you mean `{kind}({pattern})`?"),
                    None => format!("; did you mean `{kind}`?"),
                });
                let known = "; use Bash, Read, Edit, WebFetch or the name of a tool".to_owned();
                return Err(wrong(format!("has an unknown kind{}", near.unwrap_or(known))));
            }
        };
        Ok(Self { text: trimmed.to_owned(), kind })
    }

    /// The rule as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it speaks of reading this resolved path.
    pub fn covers_read(&self, path: &Path) -> bool {
        matches!(&self.kind, Kind::Read(globs) if globs.iter().any(|g| g.is_match(path)))
    }

    /// Whether it speaks of changing this resolved path.
    pub fn covers_edit(&self, path: &Path) -> bool {
        matches!(&self.kind, Kind::Edit(globs) if globs.iter().any(|g| g.is_match(path)))
    }

    /// Whether it speaks of this address.
    pub fn covers_network(&self, address: &str) -> bool {
        let Kind::Network(hosts) = &self.kind else { return false };
        let host = host_of(address);
        match hosts {
            Hosts::All => true,
            Hosts::One(wanted) => *wanted == host,
            Hosts::Below { domain, itself } => {
                let before = host.strip_suffix(domain.as_str());
                before.is_some_and(|sub| sub.ends_with('.') || (*itself && sub.is_empty()))
            }
        }
    }

    /// Whether it speaks of this tool.
    pub fn covers_tool(&self, name: &str) -> bool {
        matches!(&self.kind, Kind::Tool(pattern) if wildcard(pattern, name))
    }

    /// Whether it lets this command of a line through. What an exact rule names runs with nothing
    /// on its input; what the `*` of another one stands for must not bring programs along.
    pub(super) fn lets_through(&self, part: &Part) -> bool {
        let Kind::Bash { words, exact } = &self.kind else { return false };
        let name = part.words.first().map_or("", String::as_str);
        let rest = part.words.get(words.len()..).unwrap_or(&[]);
        // `Bash(*)` means what it says.
        let fits = if *exact { !part.fed } else { words.is_empty() || tail::is_tame(name, rest) };
        fits && self.covers_command(&part.words)
    }

    /// Whether it speaks of a simple command with exactly these words.
    pub fn covers_command(&self, words: &[String]) -> bool {
        let Kind::Bash { words: pattern, exact } = &self.kind else { return false };
        let fits = if *exact { words.len() == pattern.len() } else { words.len() >= pattern.len() };
        fits && pattern.iter().zip(words).all(|(p, w)| if *exact { p == w } else { wildcard(p, w) })
    }

    /// Whether it forbids a command, however that command is spelled.
    pub fn forbids(&self, command: &Loose) -> bool {
        let mut words = command.words.clone();
        if self.covers_command(&words) {
            return true;
        }
        if let Some(first) = words.first_mut() {
            *first = base_name(first).to_owned();
        }
        self.covers_command(&words)
    }
}

/// Whether the rules speak for every command of a line that is not known to only look. Lines with
/// substitutions, file redirections, background jobs or several lines are never spoken for.
pub fn allow_line<'r>(rules: &[&'r Rule], line: &Judgement) -> Option<&'r Rule> {
    if !line.simple || line.class != Class::Other || line.commands.iter().any(|part| part.writes) {
        return None;
    }
    let mut first = None;
    for part in line.commands.iter().filter(|part| !part.read_only) {
        let rule = rules.iter().find(|rule| rule.lets_through(part))?;
        first = first.or(Some(*rule));
    }
    first
}

/// The rule text that remembers these keys.
pub fn text_of_keys(keys: &[Key]) -> String {
    let one = |key: &Key| {
        let words = key.words.join(" ");
        if key.open { format!("Bash({words} *)") } else { format!("Bash(= {words})") }
    };
    keys.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Splits a list of rules as [`text_of_keys`] writes it.
pub fn split_list(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("), ") {
        out.push(&rest[..=at]);
        rest = &rest[at + 3..];
    }
    out.push(rest);
    out
}

/// The rule that allows edits beside `file` (resolved) and below.
pub fn text_of_edit(file: &Path, anchor: Anchor<'_>) -> Option<String> {
    let folder = file.parent()?;
    let shown = match folder.strip_prefix(anchor.workspace) {
        Ok(inside) if inside.as_os_str().is_empty() => return Some("Edit(*)".to_owned()),
        Ok(inside) => inside,
        Err(_) => folder,
    };
    let shown = shown.to_str()?;
    // A folder name that would read as something else is not worth a rule.
    let odd = shown.contains(['(', ')', '\n', ',', '\\']) || shown.starts_with('~');
    (!odd).then(|| format!("Edit({}/**)", globset::escape(shown)))
}

/// Host of an address with or without scheme, user, port and path; lower case.
pub fn host_of(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(v6),
        None => host.split(':').next().unwrap_or(host),
    };
    host.trim_end_matches('.').to_lowercase()
}

fn bash(pattern: &str) -> Kind {
    if let Some(exact) = pattern.strip_prefix('=') {
        return Kind::Bash { words: words_of(exact), exact: true };
    }
    let mut words = words_of(pattern);
    if words.last().is_some_and(|w| w == "*") {
        words.pop();
    }
    Kind::Bash { words, exact: false }
}

/// A host, `*` for all of them, or `*.` before a domain for what is below it, label by label.
fn hosts(pattern: &str, side: Side) -> Result<Hosts, String> {
    // People copy addresses; their host is what counts.
    let host = host_of(pattern.strip_prefix("domain:").unwrap_or(pattern));
    if pattern == "*" {
        return Ok(Hosts::All);
    }
    let (domain, below) = match host.strip_prefix("*.") {
        Some(domain) => (domain, true),
        None => (host.as_str(), false),
    };
    let plain = |c: char| c.is_alphanumeric() || "-.:_".contains(c);
    if domain.is_empty() || domain.starts_with('.') || !domain.chars().all(plain) {
        return Err("names no host; write `WebFetch(docs.rs)` or `WebFetch(*.docs.rs)`".to_owned());
    }
    let domain = domain.to_owned();
    Ok(match below {
        true => Hosts::Below { domain, itself: side != Side::Allow },
        false => Hosts::One(domain),
    })
}

/// The kinds of rules and what else people call them.
const KINDS: [(&str, &[&str]); 4] = [
    ("Bash", &["bash", "shell", "sh", "command", "run", "exec"]),
    ("Read", &["read", "view", "cat", "grep", "glob", "ls"]),
    ("Edit", &["edit", "write", "multiedit", "notebookedit", "change"]),
    ("WebFetch", &["webfetch", "web_fetch", "fetch", "web", "network", "http", "websearch"]),
];

/// The kind that was meant by a wrong name with parentheses.
fn nearest(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let called = |names: &[&str]| names.iter().any(|other| one_slip(other, &lower));
    KINDS.iter().find(|(_, names)| called(names)).map(|(kind, _)| *kind)
}

/// The kind that a name without parentheses misspells; names of tools are in lower case.
fn slip(name: &str) -> Option<&'static str> {
    let begins_upper = name.starts_with(|c: char| c.is_ascii_uppercase());
    begins_upper.then(|| nearest(name)).flatten()
}

/// Whether two words are the same but for one letter that is missing, added, wrong or swapped.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (left, right) = (&a[same..], &b[same..]);
    let swapped = left.len() > 1
        && right.len() > 1
        && left[0] == right[1]
        && left[1] == right[0]
        && left[2..] == right[2..];
    // Two letters are too few for a guess.
    let skip = |list: &[char]| list.get(1..).map(<[char]>::to_vec).unwrap_or_default();
    a == b
        || (a.len().min(b.len()) > 2
            && (swapped || skip(left) == skip(right) || skip(left) == right || left == skip(right)))
}

fn words_of(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn is_tool_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-*.".contains(c))
}

fn path_globs(pattern: &str, side: Side, anchor: Anchor<'_>) -> Result<Vec<GlobMatcher>, String> {
    let root = globset::escape(&anchor.workspace.to_string_lossy());
    let relative = pattern.trim_start_matches("./");
    let full = match (pattern.strip_prefix("~/"), anchor.home) {
        (Some(rest), Some(home)) => format!("{}/{rest}", globset::escape(&home.to_string_lossy())),
        (Some(_), None) => return Err("the home directory is not known".to_owned()),
        (None, _) if pattern.starts_with('/') => pattern.to_owned(),
        (None, _) => format!("{root}/{relative}"),
    };
    let mut all = vec![full.clone()];
    if side != Side::Allow {
        // A name stands for that name anywhere, a folder for all it holds.
        if !pattern.contains('/') {
            all.push(format!("{root}/**/{relative}"));
        }
        let inside: Vec<String> =
            all.iter().map(|p| format!("{}/**", p.trim_end_matches('/'))).collect();
        all.extend(inside);
    }
    all.iter().map(|glob| compile(glob)).collect()
}

fn compile(glob: &str) -> Result<GlobMatcher, String> {
    let built = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    built.map(|g| g.compile_matcher()).map_err(|error| error.kind().to_string())
}

/// Matches `*` (anything within one word).
fn wildcard(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    let middle: Vec<&str> = pieces.collect();
    for (at, piece) in middle.iter().enumerate() {
        if at + 1 == middle.len() {
            last = Some(*piece);
        } else if let Some(found) = rest.find(piece) {
            rest = &rest[found + piece.len()..];
        } else {
            return false;
        }
    }
    last.map_or(rest.is_empty(), |end| rest.ends_with(end))
}

/// The resolved form of a path for matching; the path itself when it can't be resolved.
pub fn resolved(path: &Path) -> PathBuf {
    super::paths::resolve(path).unwrap_or_else(|| path.to_path_buf())
}
