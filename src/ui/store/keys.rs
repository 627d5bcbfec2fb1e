//! What keys, pastes and the wheel do. The order of the questions is the rule: what scrolls or
//! redraws works everywhere; then the panel that has the focus; then the composer.

use crossterm::event::KeyCode;

use super::approvals::Outcome;
use super::composer::{Go, Kill};
use super::focus::{Focus, beneath, focus};
use super::limit;
use super::overlay::{self, Overlay};
use super::picker;
use super::plan;
use super::question;
use super::queue;
use super::rewind;
use super::send::{
    answer_trust, command, go_on_after, next_mode, open_list, open_queue, stop, submit, take_back,
};
use super::{Effect, Exit, Phase, Store, close};
use crate::app::service::{ListKind, Request, SetupChoice};
use crate::kernel::command::{Command, Setting};
use crate::kernel::event::QueueKind;
use crate::ui::action::Action;
use crate::ui::input::Input;
use crate::ui::keymap::{Chord, lookup};

/// A second Ctrl+C within this time quits, in milliseconds.
pub const DOUBLE_MS: u64 = 1000;

/// Cells left of the composer's text: its mark.
pub const MARK: u16 = 2;

pub(super) fn input(store: &mut Store, input: Input, out: &mut Vec<Effect>) {
    match input {
        Input::Key(chord) => {
            let last = store.last_key_ms.replace(store.now_ms);
            key(store, chord, last, out);
        }
        Input::Paste(text) => paste(store, &text),
        Input::Wheel(lines) => store.scroll.lines(lines),
        // The loop turns clicks on cells into their own message.
        Input::Click { .. } => {}
        Input::Resize(columns, rows) => store.size = (columns, rows),
        Input::Focus(focused) => store.focused = focused,
    }
}

fn key(store: &mut Store, chord: Chord, last_key_ms: Option<u64>, out: &mut Vec<Effect>) {
    let action = lookup(chord, store.composer.is_empty());
    if action == Some(Action::Interrupt) {
        return interrupt(store, out);
    }
    if store.closing_since().is_some() || anywhere(store, action, out) {
        return;
    }
    let now_ms = store.now_ms;
    if focus(store) == Focus::Approval {
        if chord.code == KeyCode::Esc && store.approvals.is_second_escape(now_ms) {
            return stop(store, out);
        }
        if store.approvals.takes_key(now_ms, last_key_ms) {
            return approval(store, chord, out);
        }
    }
    let asked = store.question.as_mut().is_some_and(|panel| panel.takes_key(now_ms, last_key_ms));
    let taken = store.overlay.as_mut().is_some_and(|panel| panel.takes_key(now_ms, last_key_ms));
    match beneath(store) {
        Focus::Setup => setup(store, chord, out),
        Focus::Question if asked => question(store, chord, out),
        Focus::Overlay if taken => overlay(store, chord, out),
        Focus::Overlay | Focus::Question | Focus::Composer | Focus::Approval | Focus::Closing => {
            composer(store, chord, action, out);
        }
    }
}

/// Actions that mean the same wherever the focus is; true when `action` was one.
fn anywhere(store: &mut Store, action: Option<Action>, out: &mut Vec<Effect>) -> bool {
    let page = store.page_rows;
    match action {
        Some(Action::PageUp) => store.scroll.pages(-1, page),
        Some(Action::PageDown) => store.scroll.pages(1, page),
        Some(Action::Top) => store.scroll.home(&store.transcript),
        Some(Action::Bottom) => store.scroll.end(),
        Some(Action::PreviousTurn) => store.scroll.turn(false, &store.transcript),
        Some(Action::NextTurn) => store.scroll.turn(true, &store.transcript),
        Some(Action::FoldAll) => store.transcript.fold_all(),
        Some(Action::Background) => background(store, out),
        Some(Action::Redraw) => out.push(Effect::Redraw),
        Some(Action::Suspend) => out.push(Effect::Suspend),
        _ => return false,
    }
    true
}

/// Ctrl+B: the command that runs goes on in the background. Without one it is the caret's key.
fn background(store: &mut Store, out: &mut Vec<Effect>) {
    match store.activity.shell().cloned() {
        Some(id) => out.push(command(Command::Background { id })),
        None if focus(store) == Focus::Composer => store.composer.left(),
        None => {}
    }
}

fn paste(store: &mut Store, text: &str) {
    store.last_key_ms = Some(store.now_ms);
    if store.closing_since().is_some() {
        return;
    }
    if store.approvals.takes_paste() {
        store.approvals.paste(text);
        return;
    }
    if let Some(panel) = &mut store.question
        && panel.paste(text)
    {
        return;
    }
    if let Some(panel) = &mut store.setup
        && panel.paste(text)
    {
        return;
    }
    if let Some(Overlay::Queue(panel)) = &mut store.overlay
        && panel.paste(text)
    {
        return;
    }
    if let Some(Overlay::Limit(panel)) = &mut store.overlay
        && panel.paste(text)
    {
        return;
    }
    if let Some(Overlay::List(panel)) = &mut store.overlay {
        return panel.paste(text);
    }
    store.composer.paste(text);
    store.menu.reset();
}

/// Ctrl+C: clears, stops, and twice within a second quits; while closing it ends at once.
fn interrupt(store: &mut Store, out: &mut Vec<Effect>) {
    if store.closing_since().is_some() {
        out.push(Effect::Leave(Exit { code: 130, error: None }));
        return;
    }
    let before = store.interrupted_ms.replace(store.now_ms);
    if before.is_some_and(|at| store.now_ms - at <= DOUBLE_MS) {
        close(store, 0, out);
        return;
    }
    let asking = store.is_asked();
    if !asking && !store.composer.is_empty() {
        let draft = store.composer.take();
        store.history.push(&draft);
        store.menu.reset();
        store.status.hint("cleared; ↑ brings it back", store.now_ms);
    } else if store.activity.is_busy() {
        stop(store, out);
    } else {
        store.overlay = None;
        store.status.hint("ctrl+c again quits", store.now_ms);
    }
}

fn approval(store: &mut Store, chord: Chord, out: &mut Vec<Effect>) {
    let width = store.size.0.saturating_sub(4);
    match store.approvals.key(chord, width, store.now_ms) {
        Outcome::Stay => {}
        Outcome::Agreed { id, edits } => plan::agreed(id, edits, out),
        Outcome::Answered(id, answer) => out.push(command(Command::Answer { id, answer })),
        Outcome::Abort => stop(store, out),
    }
}

fn question(store: &mut Store, chord: Chord, out: &mut Vec<Effect>) {
    let Some(panel) = &mut store.question else { return };
    if let question::Outcome::Done(replies) = panel.key(chord) {
        let id = panel.id().clone();
        store.question = None;
        out.push(Effect::Request(Request::Reply { id, replies }));
    }
}

fn setup(store: &mut Store, chord: Chord, out: &mut Vec<Effect>) {
    if let Some(choice) = store.setup.as_mut().and_then(|panel| panel.press(chord)) {
        if choice == SetupChoice::Cancel {
            store.setup.take_if(|panel| panel.closes());
        }
        out.push(Effect::Request(Request::Setup(choice)));
    }
}

fn overlay(store: &mut Store, chord: Chord, out: &mut Vec<Effect>) {
    match &mut store.overlay {
        Some(Overlay::Context(panel)) => {
            let open = panel.key(chord, store.size.1);
            if !open {
                store.overlay = None;
            }
        }
        Some(Overlay::Text(panel)) => {
            let open = panel.key(chord, store.size);
            if !open {
                store.overlay = None;
            }
        }
        Some(Overlay::Queue(panel)) => match panel.key(chord, &store.queue) {
            queue::Outcome::Stay => {}
            queue::Outcome::Close => store.overlay = None,
            queue::Outcome::Edit(edits) => {
                out.extend(edits.into_iter().map(|edit| command(Command::Queue(edit))));
            }
        },
        Some(Overlay::List(panel)) => {
            let outcome = panel.key(chord);
            if matches!(outcome, picker::Outcome::Close | picker::Outcome::Last(_)) {
                store.overlay = None;
            }
            if let picker::Outcome::Pick(pick) | picker::Outcome::Last(pick) = outcome {
                out.push(Effect::Request(Request::Pick(pick)));
            }
        }
        Some(Overlay::Limit(panel)) => {
            let (outcome, reached) = (panel.key(chord), panel.is_reported());
            at_limit(store, outcome, reached, out);
        }
        Some(Overlay::Trust { yes }) => match chord.code {
            KeyCode::Up | KeyCode::Down => *yes = !*yes,
            KeyCode::Char('1' | 'y') => *yes = true,
            KeyCode::Char('2' | 'n') => *yes = false,
            KeyCode::Enter => {
                let yes = *yes;
                answer_trust(store, yes, out);
            }
            KeyCode::Esc => answer_trust(store, false, out),
            _ => {}
        },
        None => {}
    }
}

fn at_limit(store: &mut Store, outcome: limit::Outcome, reported: bool, out: &mut Vec<Effect>) {
    match outcome {
        limit::Outcome::Stay => return,
        limit::Outcome::Stop => {}
        limit::Outcome::GoOn => go_on_after(store, reported, out),
        limit::Outcome::Raise { cap, value } => {
            out.push(command(Command::Configure(Setting::Limit { cap, value })));
            go_on_after(store, reported, out);
        }
    }
    store.overlay = None;
}

fn composer(store: &mut Store, chord: Chord, action: Option<Action>, out: &mut Vec<Effect>) {
    match action {
        Some(Action::Send) => enter(store, out),
        Some(Action::FollowUp) => tab(store, out),
        Some(Action::Cancel) => escape(store, out),
        Some(Action::EndOfInput) if store.composer.is_empty() => close(store, 0, out),
        Some(Action::NextMode) => next_mode(store, out),
        Some(Action::Editor) => out.push(Effect::Editor(store.composer.text())),
        Some(Action::Plan) => plan::toggle(store, out),
        Some(Action::Model) => open_list(store, ListKind::Models, out),
        Some(Action::Help) => store.overlay = Some(Overlay::Text(overlay::help())),
        Some(Action::RetryNow) if store.activity.retry().is_some() => {
            out.push(command(Command::RetryNow));
        }
        Some(Action::Up) => up(store),
        Some(Action::Down) => down(store),
        _ => edit(store, chord, action),
    }
}

fn enter(store: &mut Store, out: &mut Vec<Effect>) {
    if store.composer.continues() {
        store.composer.backspace();
        store.composer.newline();
        return;
    }
    submit(store, QueueKind::Steer, out);
}

fn tab(store: &mut Store, out: &mut Vec<Effect>) {
    if let Some(row) = store.menu.chosen(store.composer.slash_word(), &store.skills) {
        let space = if row.args.is_empty() { "" } else { " " };
        store.composer.set(&format!("/{}{space}", row.name));
    } else if store.activity.is_busy() || store.phase == Phase::Starting {
        submit(store, QueueKind::FollowUp, out);
    }
}

fn escape(store: &mut Store, out: &mut Vec<Effect>) {
    if !store.menu.rows(store.composer.slash_word(), &store.skills).is_empty() {
        store.menu.dismiss();
    } else if store.activity.is_busy() {
        stop(store, out);
    } else if !store.pending.is_empty() {
        let pending = std::mem::take(&mut store.pending);
        take_back(store, &pending);
    } else {
        store.scroll.end();
        rewind::escaped(store, out);
    }
}

fn up(store: &mut Store) {
    if store.menu.step(false, store.composer.slash_word(), &store.skills) {
        return;
    }
    if store.composer.is_empty() && store.activity.is_busy() && !store.queue.is_empty() {
        open_queue(store);
        return;
    }
    let text = store.composer.text();
    if (text.is_empty() || store.history.is_browsing(&text))
        && let Some(older) = store.history.older(&text).map(str::to_owned)
    {
        store.composer.set(&older);
        store.menu.dismiss();
        return;
    }
    store.composer.vertical(false, composer_width(store));
}

fn down(store: &mut Store) {
    if store.menu.step(true, store.composer.slash_word(), &store.skills) {
        return;
    }
    let text = store.composer.text();
    if let Some(newer) = store.history.newer(&text).map(str::to_owned) {
        store.composer.set(&newer);
        store.menu.dismiss();
        return;
    }
    store.composer.vertical(true, composer_width(store));
}

fn composer_width(store: &Store) -> u16 {
    store.size.0.saturating_sub(MARK)
}

fn edit(store: &mut Store, chord: Chord, action: Option<Action>) {
    let composer = &mut store.composer;
    match action {
        Some(Action::Newline) => composer.newline(),
        Some(Action::Left) => return composer.left(),
        Some(Action::Right) => return composer.right(),
        Some(Action::WordLeft) => return composer.go(Go::WordLeft),
        Some(Action::WordRight) => return composer.go(Go::WordRight),
        Some(Action::LineStart) => return composer.go(Go::LineStart),
        Some(Action::LineEnd) => return composer.go(Go::LineEnd),
        Some(Action::Backspace) => composer.backspace(),
        Some(Action::Delete | Action::EndOfInput) => composer.delete(),
        Some(Action::DeleteWord) => composer.kill(Kill::Word),
        Some(Action::DeleteToStart) => composer.kill(Kill::ToStart),
        Some(Action::DeleteToEnd) => composer.kill(Kill::ToEnd),
        Some(Action::Yank) => composer.yank(),
        Some(Action::Undo) => composer.undo(),
        Some(Action::Redo) => composer.redo(),
        _ => match chord.printable() {
            Some(c) => composer.insert_char(c),
            None => return,
        },
    }
    store.menu.reset();
}
