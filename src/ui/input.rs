//! What the terminal reports, made simple: presses only, pastes cleaned, mouse reduced to wheel
//! and click. Also heals pastes that carried their own end marker: what follows such a paste in
//! the same read is text, never commands.

use crossterm::event::{
    Event as TermEvent, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};

use super::keymap::Chord;

/// One thing the user or the terminal did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key press.
    Key(Chord),
    /// Pasted text: `\n` line ends, no escape codes.
    Paste(String),
    /// The wheel, in lines; negative is up.
    Wheel(isize),
    /// A click on this cell of the screen.
    Click {
        /// Column, from 0.
        column: u16,
        /// Row, from 0.
        row: u16,
    },
    /// The new size.
    Resize(u16, u16),
    /// The window got or lost the focus.
    Focus(bool),
}

/// Lines per notch of the wheel.
const WHEEL_LINES: isize = 3;

/// Turns everything one read brought into inputs.
pub fn translate(batch: Vec<TermEvent>) -> Vec<Input> {
    let mut inputs = Vec::with_capacity(batch.len());
    let mut events = batch.into_iter().peekable();
    while let Some(event) = events.next() {
        match event {
            TermEvent::Paste(text) => {
                let rest: Vec<TermEvent> = events.by_ref().collect();
                paste(text, rest, &mut inputs);
            }
            TermEvent::Key(key) => inputs.extend(chord(key).map(Input::Key)),
            TermEvent::Mouse(mouse) => inputs.extend(match mouse.kind {
                MouseEventKind::ScrollUp => Some(Input::Wheel(-WHEEL_LINES)),
                MouseEventKind::ScrollDown => Some(Input::Wheel(WHEEL_LINES)),
                MouseEventKind::Down(MouseButton::Left) => {
                    Some(Input::Click { column: mouse.column, row: mouse.row })
                }
                _ => None,
            }),
            TermEvent::Resize(columns, rows) => inputs.push(Input::Resize(columns, rows)),
            TermEvent::FocusGained => inputs.push(Input::Focus(true)),
            TermEvent::FocusLost => inputs.push(Input::Focus(false)),
        }
    }
    inputs
}

/// A paste and what came with it in the same read. Text before an Enter can't have been typed that
/// fast: the paste held an end marker. A lone Enter can, and sends.
fn paste(text: String, rest: Vec<TermEvent>, inputs: &mut Vec<Input>) {
    let mut text = text;
    let mut rest = rest.into_iter().peekable();
    if matches!(rest.peek(), Some(TermEvent::Key(key)) if typed(*key).is_some_and(|c| c != '\n')) {
        while let Some(TermEvent::Key(key)) = rest.peek() {
            let key = *key;
            match typed(key) {
                Some(c) => text.push(c),
                None if chord(key).is_none() => {}
                None => break,
            }
            rest.next();
        }
    }
    inputs.push(Input::Paste(clean_paste(&text)));
    inputs.extend(translate(rest.collect()));
}

fn chord(key: KeyEvent) -> Option<Chord> {
    match key.kind {
        KeyEventKind::Press | KeyEventKind::Repeat => Some(Chord::new(key.code, key.modifiers)),
        KeyEventKind::Release => None,
    }
}

/// The character a key stands for inside a paste.
fn typed(key: KeyEvent) -> Option<char> {
    let chord = chord(key)?;
    match chord.code {
        KeyCode::Enter => Some('\n'),
        KeyCode::Tab if chord.mods.is_empty() => Some('\t'),
        // A line feed arrives as ctrl+j.
        KeyCode::Char('j') if chord.mods == KeyModifiers::CONTROL => Some('\n'),
        _ => chord.printable(),
    }
}

/// Line ends become `\n`; escape sequences and other controls go, tabs stay.
pub fn clean_paste(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() == Some(&'\n') {
                    chars.next();
                }
                out.push('\n');
            }
            '\n' | '\t' => out.push(c),
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_csi(&mut chars),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_csi(chars);
        }
        // OSC, DCS, SOS, PM, APC: up to BEL or ST, on the same line only, so that a lone
        // introducer does not swallow the rest.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            while let Some(&c) = chars.peek() {
                if c == '\n' || c == '\r' {
                    break;
                }
                chars.next();
                if c == '\u{7}' {
                    break;
                }
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    break;
                }
            }
        }
        Some(' '..='~') => {
            chars.next();
        }
        _ => {}
    }
}

fn skip_csi(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
    chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
}
