//! The mode table: what each mode does with each kind of access. This table is the only place
//! where modes differ; every decision looks its row up here.

use crate::kernel::command::Mode;

/// A kind of access, one row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Row {
    /// Looks at something in the workspace.
    ReadWorkspace,
    /// Touches only codebot's own state.
    Internal,
    /// A command line that was proven to only look.
    ReadOnlyShell,
    /// Changes a file in the workspace.
    WriteWorkspace,
    /// Any other command line.
    OtherShell,
    /// Talks to another machine, or what it does is unknown.
    Network,
    /// Leaves the workspace.
    Outside,
    /// Credentials, files that make programs run later, our own settings, the inside of `.git`.
    Sensitive,
    /// A command line that destroys much but has a bounded reach (recursive rm, forced push …).
    DangerousShell,
    /// A command line that could destroy the machine or the home directory.
    CatastrophicShell,
}

/// What a mode does with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Runs.
    Allow,
    /// Asks the user.
    Ask,
    /// Refuses.
    Deny,
}

use Effect::{Allow, Ask, Deny};

/// The table; columns in the order of [`Mode::ALL`]: strict, balanced, accept-edits, trust.
pub const TABLE: [(Row, [Effect; 4]); 10] = [
    (Row::ReadWorkspace, [Allow, Allow, Allow, Allow]),
    (Row::Internal, [Allow, Allow, Allow, Allow]),
    (Row::ReadOnlyShell, [Allow, Allow, Allow, Allow]),
    (Row::WriteWorkspace, [Ask, Ask, Allow, Allow]),
    (Row::OtherShell, [Deny, Ask, Ask, Allow]),
    (Row::Network, [Deny, Ask, Ask, Allow]),
    (Row::Outside, [Ask, Ask, Ask, Ask]),
    (Row::Sensitive, [Ask, Ask, Ask, Ask]),
    (Row::DangerousShell, [Deny, Ask, Ask, Allow]),
    (Row::CatastrophicShell, [Deny, Ask, Ask, Ask]),
];

/// What `mode` does with `row`. A row missing from the table asks.
pub fn effect(row: Row, mode: Mode) -> Effect {
    let column = Mode::ALL.iter().position(|m| *m == mode);
    let cells = TABLE.iter().find(|(r, _)| *r == row).map(|(_, cells)| cells);
    match (cells, column) {
        (Some(cells), Some(column)) => cells.get(column).copied().unwrap_or(Ask),
        _ => Ask,
    }
}

impl Row {
    /// What the row is about, for people.
    pub fn about(self) -> &'static str {
        match self {
            Self::ReadWorkspace => "look at something in the workspace",
            Self::Internal => "touch codebot's own state only",
            Self::ReadOnlyShell => "a command line that was proven to only look",
            Self::WriteWorkspace => "change a file in the workspace",
            Self::OtherShell => "any other command line",
            Self::Network => "talk to another machine, or do something that cannot be judged",
            Self::Outside => "leave the workspace",
            Self::Sensitive => {
                "credentials, files that make programs run later, settings of codebot, `.git`"
            }
            Self::DangerousShell => "a command line that destroys much, but not without bounds",
            Self::CatastrophicShell => {
                "a command line that could destroy the machine or the home directory"
            }
        }
    }
}

impl Effect {
    /// The effect in one word.
    pub fn word(self) -> &'static str {
        match self {
            Allow => "run",
            Ask => "ask",
            Deny => "refuse",
        }
    }
}

/// The table in Markdown, for the documentation.
pub fn markdown() -> String {
    let names = Mode::ALL.map(Mode::name).join(" | ");
    let head = format!("| what a call does | {names} |\n|---|---|---|---|---|\n");
    let line = |(row, cells): (Row, [Effect; 4])| {
        format!("| {} | {} |\n", row.about(), cells.map(Effect::word).join(" | "))
    };
    TABLE.into_iter().map(line).fold(head, |table, line| table + &line)
}
