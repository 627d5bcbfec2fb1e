//! Everything a key can mean, as one table: id, default keys, where it applies and the help line.
//! The key map, the help panel and `docs/keys.md` are made from it, so they can't disagree.

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Send the text, or steer while a run is active.
    Send,
    /// Queue the text for after the run; completes while a menu is open.
    FollowUp,
    /// New line in the composer.
    Newline,
    /// Close what is open, or stop the run.
    Cancel,
    /// Clear, stop, quit.
    Interrupt,
    /// Quit when the composer is empty, else delete forward.
    EndOfInput,
    /// Next permission mode.
    NextMode,
    /// Planning on or off.
    Plan,
    /// The list of models.
    Model,
    /// Fold or open all cells.
    FoldAll,
    /// Transcript one page up.
    PageUp,
    /// Transcript one page down.
    PageDown,
    /// Start of the transcript.
    Top,
    /// Newest line of the transcript.
    Bottom,
    /// The user's turn before.
    PreviousTurn,
    /// The user's turn after.
    NextTurn,
    /// Draw everything again.
    Redraw,
    /// Stop the program until `fg`.
    Suspend,
    /// Write in `$EDITOR`.
    Editor,
    /// Key help.
    Help,
    /// Let the running command go on in the background.
    Background,
    /// End the wait before a retry.
    RetryNow,
    /// Caret or selection up; history or queue on an empty composer.
    Up,
    /// Caret or selection down.
    Down,
    /// Caret left.
    Left,
    /// Caret right.
    Right,
    /// Caret a word left.
    WordLeft,
    /// Caret a word right.
    WordRight,
    /// Caret to the start of the line.
    LineStart,
    /// Caret to the end of the line.
    LineEnd,
    /// Delete the character before.
    Backspace,
    /// Delete the character after.
    Delete,
    /// Delete the word before.
    DeleteWord,
    /// Delete to the start of the line.
    DeleteToStart,
    /// Delete to the end of the line.
    DeleteToEnd,
    /// Put back what was deleted last.
    Yank,
    /// Take back an edit.
    Undo,
    /// Do it again.
    Redo,
}

/// Where a row of the table applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everywhere, over panels too.
    Anywhere,
    /// In the composer.
    Composer,
    /// In the composer while it is empty: printable keys that would else be text.
    EmptyComposer,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct ActionRow {
    /// What it means.
    pub action: Action,
    /// Its name in a key file.
    pub id: &'static str,
    /// Keys that mean it, the first one is shown.
    pub keys: &'static [&'static str],
    /// Where.
    pub scope: Scope,
    /// One line for people.
    pub help: &'static str,
}

const fn row(
    action: Action,
    id: &'static str,
    keys: &'static [&'static str],
    scope: Scope,
    help: &'static str,
) -> ActionRow {
    ActionRow { action, id, keys, scope, help }
}

use Action as A;
use Scope::{Anywhere, Composer, EmptyComposer};

/// All actions in the order of the help panel.
pub const ACTIONS: &[ActionRow] = &[
    row(A::Send, "send", &["enter"], Composer, "send; while a run is active: steer it"),
    row(
        A::FollowUp,
        "follow-up",
        &["tab"],
        Composer,
        "busy: queue for after the run; menu: complete",
    ),
    row(
        A::Newline,
        "newline",
        &["shift+enter", "alt+enter", "ctrl+j"],
        Composer,
        "new line (also \\ then enter)",
    ),
    row(
        A::Cancel,
        "cancel",
        &["esc"],
        Anywhere,
        "close a panel; stop the run and take the queue back",
    ),
    row(
        A::Interrupt,
        "interrupt",
        &["ctrl+c"],
        Anywhere,
        "clear the draft, stop the run; twice quits",
    ),
    row(A::EndOfInput, "end-of-input", &["ctrl+d"], Composer, "quit when nothing is typed"),
    row(A::NextMode, "next-mode", &["shift+tab"], Composer, "next permission mode"),
    row(A::Plan, "plan", &["alt+p"], Composer, "look only, until you agree to a plan"),
    row(A::Model, "model", &["alt+m"], Composer, "choose another model"),
    row(A::FoldAll, "fold-all", &["ctrl+o"], Anywhere, "open all results, or fold them again"),
    row(A::PageUp, "page-up", &["pgup"], Anywhere, "scroll the conversation up"),
    row(A::PageDown, "page-down", &["pgdn"], Anywhere, "scroll the conversation down"),
    row(A::Top, "top", &["ctrl+home"], Anywhere, "start of the conversation"),
    row(A::Bottom, "bottom", &["ctrl+end"], Anywhere, "newest line"),
    row(A::PreviousTurn, "previous-turn", &["alt+up"], Anywhere, "your message before"),
    row(A::NextTurn, "next-turn", &["alt+down"], Anywhere, "your message after"),
    row(
        A::Up,
        "up",
        &["up", "ctrl+p"],
        Composer,
        "empty: earlier prompts, or the queue while busy",
    ),
    row(A::Down, "down", &["down", "ctrl+n"], Composer, "later prompts"),
    row(A::Help, "help", &["?"], EmptyComposer, "keys and commands, when nothing is typed"),
    row(A::RetryNow, "retry-now", &["r"], EmptyComposer, "try again now, while a retry waits"),
    row(
        A::Background,
        "background",
        &["ctrl+b"],
        Anywhere,
        "let the running command go on in the background",
    ),
    row(A::Editor, "editor", &["ctrl+g"], Composer, "write in your editor"),
    row(A::Redraw, "redraw", &["ctrl+l"], Anywhere, "draw the screen again"),
    row(A::Suspend, "suspend", &["ctrl+z"], Anywhere, "suspend; fg comes back"),
    row(A::Undo, "undo", &["ctrl+_", "ctrl+7", "ctrl+/"], Composer, "undo"),
    row(A::Redo, "redo", &["alt+_", "alt+/"], Composer, "redo"),
    row(A::Left, "left", &["left"], Composer, ""),
    row(A::Right, "right", &["right", "ctrl+f"], Composer, ""),
    row(A::WordLeft, "word-left", &["ctrl+left", "alt+left", "alt+b"], Composer, "word left"),
    row(A::WordRight, "word-right", &["ctrl+right", "alt+right", "alt+f"], Composer, "word right"),
    row(A::LineStart, "line-start", &["home", "ctrl+a"], Composer, "start of the line"),
    row(A::LineEnd, "line-end", &["end", "ctrl+e"], Composer, "end of the line"),
    row(A::Backspace, "backspace", &["backspace", "ctrl+h", "shift+backspace"], Composer, ""),
    row(A::Delete, "delete", &["delete"], Composer, ""),
    row(
        A::DeleteWord,
        "delete-word",
        &["ctrl+w", "alt+backspace"],
        Composer,
        "delete the word before",
    ),
    row(
        A::DeleteToStart,
        "delete-to-start",
        &["ctrl+u"],
        Composer,
        "delete to the start of the line",
    ),
    row(A::DeleteToEnd, "delete-to-end", &["ctrl+k"], Composer, "delete to the end of the line"),
    row(A::Yank, "yank", &["ctrl+y"], Composer, "put back what was deleted"),
];

/// All actions as a Markdown table for the documentation.
pub fn markdown() -> String {
    let head = "| key | where | what it does |\n|---|---|---|\n";
    ACTIONS.iter().map(table_row).fold(head.to_owned(), |table, row| table + &row)
}

fn table_row(row: &ActionRow) -> String {
    let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
    let place = match row.scope {
        Anywhere => "everywhere",
        Composer => "composer",
        EmptyComposer => "empty composer",
    };
    // The caret's own keys need no words on the page of keys.
    let help = if row.help.is_empty() { row.id } else { row.help };
    format!("| {} | {place} | {} |\n", keys.join(", "), help.replace('|', "\\|"))
}
