//! Slash commands as a table, the menu over them and the nearest names for a wrong one.

use crate::app::service::{ListKind, SkillLine};

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlashKind {
    /// The help panel.
    Help,
    /// An empty session.
    New,
    /// Shows or changes the permission mode.
    Mode,
    /// Switches planning on or off.
    Plan,
    /// Shows or fixes the tier of requests.
    Route,
    /// Takes back the last turn.
    Discard,
    /// Back to an earlier turn, or forth again.
    Rewind,
    /// What is known of the session.
    Status,
    /// Where the tokens of the context go.
    Context,
    /// Sums the conversation up.
    Compact,
    /// The queue panel.
    Queue,
    /// A list to choose from.
    List(ListKind),
    /// What is remembered; or takes the last back, or remembers a line.
    Memory,
    /// A skill or a command of the user's: sent as it is written.
    Skill,
    /// The models, or another one by its name.
    Model,
    /// Shows or changes how hard the model thinks.
    Effort,
    /// The model's list of what is to be done.
    Todo,
    /// Where the money went.
    Cost,
    /// A key for a provider.
    Login,
    /// Forgets a key.
    Logout,
    /// Copies the last answer.
    Copy,
    /// Leaves.
    Quit,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct SlashRow<'a> {
    /// Without the slash.
    pub name: &'a str,
    /// How the rest is written, for people.
    pub args: &'a str,
    /// One line for people.
    pub help: &'a str,
    /// What it does.
    pub kind: SlashKind,
    /// Whether it has to wait for the end of a run.
    pub idle_only: bool,
}

const fn row(
    name: &'static str,
    args: &'static str,
    help: &'static str,
    kind: SlashKind,
    idle_only: bool,
) -> SlashRow<'static> {
    SlashRow { name, args, help, kind, idle_only }
}

/// All commands in the order of the menu.
pub const SLASH: &[SlashRow<'static>] = &[
    row("help", "", "keys and commands", SlashKind::Help, false),
    row("new", "", "end this session, start an empty one", SlashKind::New, true),
    row("mode", "[name]", "show or change the permission mode", SlashKind::Mode, false),
    row("plan", "[on|off]", "look only, until you agree to a plan", SlashKind::Plan, false),
    row(
        "permissions",
        "",
        "rules in force; revoke what you remembered",
        SlashKind::List(ListKind::Permissions),
        false,
    ),
    row("trust", "", "what this project asks for", SlashKind::List(ListKind::Trust), false),
    row("route", "[tier]", "show or fix how much a request may need", SlashKind::Route, false),
    row("discard", "", "take back the last turn", SlashKind::Discard, true),
    row("rewind", "[redo]", "go back to an earlier turn, files too", SlashKind::Rewind, true),
    row("status", "", "model, session, tokens, cost", SlashKind::Status, false),
    row("context", "", "where the tokens of the context go", SlashKind::Context, false),
    row("compact", "[what]", "sum the conversation up; undo goes back", SlashKind::Compact, false),
    row("queue", "", "edit messages that wait", SlashKind::Queue, false),
    row("tasks", "", "what runs in the background", SlashKind::List(ListKind::Tasks), false),
    row("model", "[name]", "choose another model; small … for side work", SlashKind::Model, false),
    row("effort", "[level]", "show or change how hard the model thinks", SlashKind::Effort, false),
    row("todo", "", "what the model has to do", SlashKind::Todo, false),
    row("cost", "", "what was spent on what", SlashKind::Cost, false),
    row("login", "[provider]", "add a provider's key", SlashKind::Login, false),
    row("logout", "[provider]", "forget a provider's key", SlashKind::Logout, false),
    row(
        "memory",
        "[undo]",
        "what is remembered; # and a line adds to it",
        SlashKind::Memory,
        false,
    ),
    row("skills", "", "skills and commands of yours", SlashKind::List(ListKind::Skills), false),
    row("copy", "", "copy the last answer", SlashKind::Copy, false),
    row("quit", "", "leave", SlashKind::Quit, false),
];

/// All commands as a Markdown table for the documentation.
pub fn markdown() -> String {
    let head = "| command | what it does | while a run is active |\n|---|---|---|\n";
    let line = |row: &SlashRow<'_>| {
        let name = format!("/{} {}", row.name, row.args);
        let busy = if row.idle_only { "waits for its end" } else { "at once" };
        format!("| `{}` | {} | {busy} |\n", name.trim_end(), row.help)
    };
    SLASH.iter().map(line).fold(head.to_owned(), |table, line| table + &line)
}

/// The menu above the composer.
#[derive(Clone, Debug, Default)]
pub struct Menu {
    selected: usize,
    dismissed: bool,
}

impl Menu {
    /// The rows for what is typed; none while dismissed.
    pub fn rows<'a>(&self, word: Option<&str>, skills: &'a [SkillLine]) -> Vec<SlashRow<'a>> {
        match word.and_then(|word| word.strip_prefix('/')) {
            Some(typed) if !self.dismissed => matching(typed, skills),
            _ => Vec::new(),
        }
    }

    /// The selected place among `rows`.
    pub fn selected(&self, rows: &[SlashRow<'_>]) -> usize {
        self.selected.min(rows.len().saturating_sub(1))
    }

    /// Moves the selection; false when no menu is open.
    pub fn step(&mut self, down: bool, word: Option<&str>, skills: &[SkillLine]) -> bool {
        let rows = self.rows(word, skills);
        if rows.is_empty() {
            return false;
        }
        let at = self.selected(&rows);
        self.selected =
            if down { (at + 1) % rows.len() } else { (at + rows.len() - 1) % rows.len() };
        true
    }

    /// The selected row.
    pub fn chosen<'a>(&self, word: Option<&str>, skills: &'a [SkillLine]) -> Option<SlashRow<'a>> {
        let rows = self.rows(word, skills);
        rows.get(self.selected(&rows)).copied()
    }

    /// Hides the menu until the text changes.
    pub fn dismiss(&mut self) {
        self.dismissed = true;
    }

    /// The text changed.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

/// Rows whose name starts with, or else contains in order, what was typed. Our own come first, and
/// a skill of the same name is not reached.
fn matching<'a>(typed: &str, skills: &'a [SkillLine]) -> Vec<SlashRow<'a>> {
    let more = skills.iter().filter(|skill| find(&skill.name).is_none()).map(of_skill);
    let all: Vec<SlashRow<'a>> = SLASH.iter().copied().chain(more).collect();
    let starts: Vec<_> = all.iter().filter(|row| row.name.starts_with(typed)).copied().collect();
    if !starts.is_empty() {
        return starts;
    }
    all.into_iter().filter(|row| is_subsequence(typed, row.name)).collect()
}

fn of_skill(skill: &SkillLine) -> SlashRow<'_> {
    let SkillLine { name, args, help } = skill;
    SlashRow { name, args, help, kind: SlashKind::Skill, idle_only: false }
}

fn is_subsequence(typed: &str, name: &str) -> bool {
    let mut rest = name.chars();
    typed.chars().all(|wanted| rest.any(|c| c == wanted))
}

/// Splits `/name rest`; `None` when the text is no command (a path, or plain words).
pub fn parse(text: &str) -> Option<(&str, &str)> {
    let line = text.strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    is_name.then_some((name, rest.trim()))
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static SlashRow<'static>> {
    SLASH.iter().find(|row| row.name == name)
}

/// Up to three names near `name`, nearest first.
pub fn nearest<'a>(name: &str, skills: &'a [SkillLine]) -> Vec<&'a str> {
    let known = SLASH.iter().map(|row| row.name);
    let mut near: Vec<(usize, &str)> = known
        .chain(skills.iter().map(|skill| skill.name.as_str()))
        .map(|known| (distance(name, known), known))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(3) / 2 + 1)
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Edits between two short words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = corner + usize::from(ca != *cb);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}
