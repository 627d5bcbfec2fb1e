//! Permission rules as the files hold them: each with its file and line, so that a mistake can be
//! found, and what a project asks for without being allowed to decide it.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

/// A list of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleList {
    /// `permissions.allow`.
    Allow,
    /// `permissions.ask`.
    Ask,
    /// `permissions.deny`.
    Deny,
}

/// A rule with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The list it stands in.
    pub list: RuleList,
    /// The rule.
    pub text: String,
    /// `file:line`.
    pub place: String,
}

/// What of a project's settings needs the user's trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `permissions.allow`.
    Allow,
    /// `permissions.roots`.
    Roots,
}

impl List {
    /// The key in the file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Allow => "permissions.allow",
            Self::Roots => "permissions.roots",
        }
    }
}

/// One item of a project's settings that is off until the user agrees to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// What it would be.
    pub list: List,
    /// The rule or folder.
    pub text: String,
    /// `file:line`.
    pub place: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    permissions: Lists,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Lists {
    allow: Vec<Spanned<String>>,
    ask: Vec<Spanned<String>>,
    deny: Vec<Spanned<String>>,
    roots: Vec<Spanned<String>>,
}

/// The rules of a file with their places; nothing of one that does not parse, which was said before.
/// From a project's file what needs trust is in the second list instead.
pub fn read(path: &Path, text: &str, project: bool) -> (Vec<Written>, Vec<Offered>) {
    let lists = toml::from_str::<File>(text).unwrap_or_default().permissions;
    let place = |span: Range<usize>| {
        let line = text.get(..span.start).map_or(0, |before| before.matches('\n').count()) + 1;
        format!("{}:{line}", path.display())
    };
    let mut written = Vec::new();
    for (list, rules) in [
        (RuleList::Allow, &lists.allow),
        (RuleList::Ask, &lists.ask),
        (RuleList::Deny, &lists.deny),
    ] {
        written.extend(rules.iter().map(|rule| Written {
            list,
            text: rule.get_ref().clone(),
            place: place(rule.span()),
        }));
    }
    let mut offered = Vec::new();
    if project {
        for (list, items) in [(List::Allow, &lists.allow), (List::Roots, &lists.roots)] {
            offered.extend(items.iter().map(|item| Offered {
                list,
                text: item.get_ref().clone(),
                place: place(item.span()),
            }));
        }
    }
    (written, offered)
}
