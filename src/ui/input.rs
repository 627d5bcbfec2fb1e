//! What the terminal reports, made simple: presses only, pastes cleaned, mouse reduced to wheel
//! and click. Also heals pastes that carried their own end marker: what follows such a paste at
//! once is text, never commands.

use crossterm::event::{
    Event as TermEvent, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent,
    MouseEventKind,
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

/// After a paste, keys that follow within this time belong to it, in milliseconds: nobody types that
/// fast, but a paste that held an end marker goes on as keys.
const BURST_MS: u64 = 10;

/// Turns what the terminal reports into inputs; remembers only whether a paste was just going on.
#[derive(Debug, Default)]
pub struct Translator {
    paste: Option<LastPaste>,
}

#[derive(Clone, Copy, Debug)]
struct LastPaste {
    at_ms: u64,
    /// Whether keys already followed it as text.
    went_on: bool,
}

type Events = std::iter::Peekable<std::vec::IntoIter<TermEvent>>;

impl Translator {
    /// The inputs of everything one read brought at `now_ms`.
    pub fn translate(&mut self, batch: Vec<TermEvent>, now_ms: u64) -> Vec<Input> {
        let mut inputs = Vec::with_capacity(batch.len());
        let mut events = batch.into_iter().peekable();
        if let Some(last) = self.paste.take()
            && now_ms.saturating_sub(last.at_ms) <= BURST_MS
        {
            let text = self.rest_of_paste(&mut events, last.went_on, now_ms);
            if !text.is_empty() {
                inputs.push(Input::Paste(clean_paste(&text)));
            }
        }
        while let Some(event) = events.next() {
            match event {
                TermEvent::Paste(mut text) => {
                    self.paste = Some(LastPaste { at_ms: now_ms, went_on: false });
                    text.push_str(&self.rest_of_paste(&mut events, false, now_ms));
                    inputs.push(Input::Paste(clean_paste(&text)));
                }
                TermEvent::Key(key) => inputs.extend(chord(key).map(Input::Key)),
                TermEvent::Mouse(mouse) => inputs.extend(mouse_input(mouse)),
                TermEvent::Resize(columns, rows) => inputs.push(Input::Resize(columns, rows)),
                TermEvent::FocusGained => inputs.push(Input::Focus(true)),
                TermEvent::FocusLost => inputs.push(Input::Focus(false)),
            }
        }
        inputs
    }

    /// Takes keys that are the rest of a paste with an end marker inside. A lone Enter is no such
    /// rest: it can be pressed right after a paste, and sends.
    fn rest_of_paste(&mut self, events: &mut Events, went_on: bool, now_ms: u64) -> String {
        let mut text = String::new();
        while let Some(TermEvent::Key(key)) = events.peek() {
            let key = *key;
            match typed(key) {
                Some('\n') if text.is_empty() && !went_on => break,
                Some(c) => text.push(c),
                None if chord(key).is_none() => {}
                None => break,
            }
            events.next();
        }
        if went_on || !text.is_empty() {
            self.paste = Some(LastPaste { at_ms: now_ms, went_on: true });
        }
        text
    }
}

fn mouse_input(mouse: MouseEvent) -> Option<Input> {
    match mouse.kind {
        MouseEventKind::ScrollUp => Some(Input::Wheel(-WHEEL_LINES)),
        MouseEventKind::ScrollDown => Some(Input::Wheel(WHEEL_LINES)),
        MouseEventKind::Down(MouseButton::Left) => {
            Some(Input::Click { column: mouse.column, row: mouse.row })
        }
        _ => None,
    }
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
