//! From a key press to an [`Action`]: the names in the action table, parsed once.

use std::collections::HashMap;
use std::sync::LazyLock;

use crossterm::event::{KeyCode, KeyModifiers};

use super::action::{ACTIONS, Action, Scope};

/// A key with its modifiers, in one normal form: letters are lower case with `shift` only where
/// the letter itself does not say it, back-tab is shift+tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    /// The key.
    pub code: KeyCode,
    /// What was held.
    pub mods: KeyModifiers,
}

impl Chord {
    /// The normal form of what the terminal reported.
    pub fn new(code: KeyCode, mods: KeyModifiers) -> Self {
        let kept = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let mods = mods & kept;
        match code {
            KeyCode::BackTab => Self { code: KeyCode::Tab, mods: mods | KeyModifiers::SHIFT },
            // A shifted character already is another character.
            KeyCode::Char(c) if mods.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                let lower = c.to_lowercase().next().unwrap_or(c);
                Self { code: KeyCode::Char(lower), mods: mods - KeyModifiers::SHIFT }
            }
            KeyCode::Char(_) => Self { code, mods: mods - KeyModifiers::SHIFT },
            _ => Self { code, mods },
        }
    }

    /// The character it types, if it types one.
    pub fn printable(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.mods.is_empty() && !c.is_control() => Some(c),
            _ => None,
        }
    }

    /// The chord of a name such as `ctrl+j` or `shift+enter`.
    pub fn parse(name: &str) -> Option<Self> {
        let mut mods = KeyModifiers::NONE;
        let mut rest = name;
        loop {
            let held = [
                ("ctrl+", KeyModifiers::CONTROL),
                ("alt+", KeyModifiers::ALT),
                ("shift+", KeyModifiers::SHIFT),
            ];
            let Some((prefix, held)) = held.iter().find(|(prefix, _)| rest.starts_with(prefix))
            else {
                break;
            };
            mods |= *held;
            rest = &rest[prefix.len()..];
        }
        Some(Self { code: code(rest)?, mods })
    }
}

fn code(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(KeyCode::Char(c));
    }
    Some(match name {
        "enter" => KeyCode::Enter,
        "tab" => KeyCode::Tab,
        "esc" => KeyCode::Esc,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        _ => return None,
    })
}

static MAP: LazyLock<HashMap<Chord, (Action, Scope)>> = LazyLock::new(|| {
    let mut map = HashMap::new();
    for row in ACTIONS {
        for chord in row.keys.iter().filter_map(|key| Chord::parse(key)) {
            map.entry(chord).or_insert((row.action, row.scope));
        }
    }
    map
});

/// The meaning of a key. `empty` says whether the composer is: some printable keys are actions
/// only then.
pub fn lookup(chord: Chord, empty: bool) -> Option<Action> {
    let (action, scope) = MAP.get(&chord)?;
    match scope {
        Scope::EmptyComposer if !empty => None,
        Scope::Anywhere | Scope::Composer | Scope::EmptyComposer => Some(*action),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_key_name_parses_and_no_key_has_two_meanings() {
        let mut seen = HashSet::new();
        for row in ACTIONS {
            for key in row.keys {
                let chord = Chord::parse(key).unwrap_or_else(|| panic!("{key} does not parse"));
                assert!(seen.insert(chord), "{key} is given twice");
            }
        }
    }

    #[test]
    fn back_tab_and_capital_control_letters_have_one_form() {
        let back = Chord::new(KeyCode::BackTab, KeyModifiers::SHIFT);
        assert_eq!(lookup(back, true), Some(Action::NextMode));
        let capital = Chord::new(KeyCode::Char('C'), KeyModifiers::CONTROL | KeyModifiers::SHIFT);
        assert_eq!(lookup(capital, true), Some(Action::Interrupt));
    }
}
