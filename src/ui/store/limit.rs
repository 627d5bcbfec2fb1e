//! The panel after a run that reached one of its caps: raise the cap and go on, go on with the same
//! once more, or leave it. A cap is one of a run, so whatever goes on begins to count anew.

use crossterm::event::KeyCode;

use super::approvals::GUARD_MS;
use super::line::Line;
use crate::kernel::budget::{Cap, Reached};
use crate::ui::keymap::Chord;

const LAST: usize = 2;

/// The panel's state.
#[derive(Clone, Debug)]
pub struct LimitPanel {
    reached: Reached,
    /// The model made its report: it has spoken last.
    reported: bool,
    selected: usize,
    /// What the cap would be raised to.
    raised: f64,
    edit: Option<Line>,
    shown_ms: u64,
    armed: bool,
}

/// What a key in the panel led to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// Nothing but a change of the panel.
    Stay,
    /// Leave it.
    Stop,
    /// Another run under the same cap.
    GoOn,
    /// Another run under a higher cap.
    Raise {
        /// The cap.
        cap: Cap,
        /// Its new value.
        value: f64,
    },
}

impl LimitPanel {
    /// A panel for this cap. `reported` says that the run ended with a report.
    pub fn new(reached: Reached, reported: bool, now_ms: u64) -> Self {
        let raised = reached.value * 2.0;
        Self { reached, reported, selected: 0, raised, edit: None, shown_ms: now_ms, armed: false }
    }

    /// Whether the run ended with a report.
    pub fn is_reported(&self) -> bool {
        self.reported
    }

    /// The selected option, from 0.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// The amount being written.
    pub fn edit(&self) -> Option<&Line> {
        self.edit.as_ref()
    }

    /// What stands before the amount being written.
    pub fn label(&self) -> &'static str {
        match self.reached.cap {
            Cap::Turns => "turns: ",
            Cap::Tokens => "tokens (k and m count): ",
            Cap::Cost => "US dollars: ",
            Cap::Seconds => "minutes: ",
        }
    }

    /// The title line.
    pub fn title(&self) -> String {
        format!("The run reached its limit of {}", amount(self.reached.cap, self.reached.value))
    }

    /// The options, as shown.
    pub fn options(&self) -> [String; LAST + 1] {
        let Reached { cap, value } = self.reached;
        [
            format!("Raise it to {} and go on", amount(cap, self.raised)),
            format!("Go on with another {}", amount(cap, value)),
            "Stop here".to_owned(),
        ]
    }

    /// Whether the panel takes this key. Once it was left alone for a moment it takes all.
    pub fn takes_key(&mut self, now_ms: u64, last_key_ms: Option<u64>) -> bool {
        let quiet_since = last_key_ms.unwrap_or(0).max(self.shown_ms);
        self.armed |= now_ms.saturating_sub(quiet_since) >= GUARD_MS;
        self.armed
    }

    /// Adds pasted text to the amount being written.
    pub fn paste(&mut self, text: &str) -> bool {
        self.edit.as_mut().map(|line| line.insert(text)).is_some()
    }

    /// Handles a key.
    pub fn key(&mut self, chord: Chord) -> Outcome {
        if self.edit.is_some() {
            return self.edit_key(chord);
        }
        match chord.code {
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down => self.selected = (self.selected + 1).min(LAST),
            KeyCode::Char(c @ '1'..='3') => self.selected = c as usize - '1' as usize,
            KeyCode::Char('e') => {
                self.selected = 0;
                self.edit = Some(Line::default());
            }
            KeyCode::Esc => return Outcome::Stop,
            KeyCode::Enter => {
                return match self.selected {
                    0 => self.raise(),
                    1 => Outcome::GoOn,
                    _ => Outcome::Stop,
                };
            }
            _ => {}
        }
        Outcome::Stay
    }

    fn edit_key(&mut self, chord: Chord) -> Outcome {
        let Some(line) = &mut self.edit else { return Outcome::Stay };
        match chord.code {
            KeyCode::Esc => self.edit = None,
            KeyCode::Enter => {
                // What is no amount stays to be mended.
                if let Some(value) = parse(self.reached.cap, line.text()) {
                    self.raised = value;
                    self.edit = None;
                    return self.raise();
                }
            }
            _ => {
                line.key(chord);
            }
        }
        Outcome::Stay
    }

    fn raise(&self) -> Outcome {
        Outcome::Raise { cap: self.reached.cap, value: self.raised }
    }
}

/// An amount for people.
fn amount(cap: Cap, value: f64) -> String {
    match cap {
        Cap::Turns => format!("{value:.0} turn{}", if value < 2.0 { "" } else { "s" }),
        Cap::Tokens => format!("{} tokens", grouped(value)),
        Cap::Cost => format!("${value:.2}"),
        Cap::Seconds if value % 60.0 == 0.0 => format!("{:.0} min", value / 60.0),
        Cap::Seconds => format!("{value:.0} s"),
    }
}

/// Digits in groups of three.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// The amount that was written, in the cap's own unit.
fn parse(cap: Cap, text: &str) -> Option<f64> {
    let text: String = text.trim().to_lowercase().replace([' ', '_', ',', '$'], "");
    let (digits, factor) = match text.char_indices().next_back()? {
        (at, 'k') if cap == Cap::Tokens => (&text[..at], 1e3),
        (at, 'm') if cap == Cap::Tokens => (&text[..at], 1e6),
        _ if cap == Cap::Seconds => (text.as_str(), 60.0),
        _ => (text.as_str(), 1.0),
    };
    let is_number = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let value = digits.parse::<f64>().ok().filter(|_| is_number)? * factor;
    let least = if cap == Cap::Turns || cap == Cap::Tokens { 1.0 } else { 0.01 };
    (value.is_finite() && value >= least).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (cap, text, value) in [
            (Cap::Tokens, "1.5m", Some(1_500_000.0)),
            (Cap::Tokens, "200 000", Some(200_000.0)),
            (Cap::Tokens, "40K", Some(40_000.0)),
            (Cap::Cost, "$2.50", Some(2.5)),
            (Cap::Seconds, "10", Some(600.0)),
            (Cap::Turns, "300", Some(300.0)),
            (Cap::Turns, "0", None),
            (Cap::Turns, "-3", None),
            (Cap::Cost, "much", None),
            (Cap::Cost, "inf", None),
            (Cap::Cost, "", None),
        ] {
            assert_eq!(parse(cap, text), value, "{text}");
        }
    }

    #[test]
    fn amounts_are_written_for_people() {
        assert_eq!(amount(Cap::Tokens, 1_250_000.0), "1 250 000 tokens");
        assert_eq!(amount(Cap::Seconds, 90.0), "90 s");
        assert_eq!(amount(Cap::Seconds, 600.0), "10 min");
        assert_eq!(amount(Cap::Turns, 1.0), "1 turn");
    }
}
