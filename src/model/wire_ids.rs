//! Ids and names as services accept them. Legal ids pass unchanged; others get a short form that
//! depends only on what came before it in the history, so that cached prefixes stay valid.

use std::collections::HashSet;

/// What a service takes as the id of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdStyle {
    /// Letters, digits, `_` and `-`, at most 64 (Anthropic).
    Word64,
    /// Visible ASCII, at most 40 (`OpenAI` and most compatible services).
    Ascii40,
    /// Exactly nine letters and digits (Mistral).
    Nine,
}

impl IdStyle {
    fn takes(self, id: &str) -> bool {
        match self {
            Self::Word64 => (1..=64).contains(&id.len()) && id.bytes().all(is_word),
            Self::Ascii40 => {
                (1..=40).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic())
            }
            Self::Nine => id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()),
        }
    }

    /// The `n`th substitute for an id.
    fn substitute(self, id: &str, n: usize) -> String {
        let length = match self {
            Self::Nine => return nine(id, n),
            Self::Word64 => 56,
            Self::Ascii40 => 32,
        };
        let mut short: String = word(id).chars().take(length).collect();
        if short.is_empty() {
            short.push_str("call");
        }
        if n > 0 { format!("{short}_{n}") } else { short }
    }
}

/// The id under which a call of an answer goes into the history: the service's own, else one by its
/// place, with a suffix when it was used before. It is added to `used`.
pub fn distinct(given: Option<String>, place: usize, used: &mut Vec<String>) -> String {
    let base = given.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{place}"));
    let mut id = base.clone();
    let mut n = 2;
    while used.contains(&id) {
        id = format!("{base}_{n}");
        n += 1;
    }
    used.push(id.clone());
    id
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn word(text: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.chars().map(|c| if legal(c) { c } else { '_' }).collect()
}

/// Nine letters and digits from a hash (FNV-1a) of the id.
fn nine(id: &str, n: usize) -> String {
    let salt = n.to_le_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in id.bytes().chain(salt) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (0..9)
        .map(|_| {
            let digit = (hash % 36) as u32;
            hash /= 36;
            char::from_digit(digit, 36).unwrap_or('0')
        })
        .collect()
}

/// Hands out ids that are legal and distinct within one request.
#[derive(Debug)]
pub struct WireIds {
    style: IdStyle,
    used: HashSet<String>,
}

impl WireIds {
    /// None handed out yet.
    pub fn new(style: IdStyle) -> Self {
        Self { style, used: HashSet::new() }
    }

    /// The wire id of the next call.
    pub fn assign(&mut self, id: &str) -> String {
        if self.style.takes(id) && self.used.insert(id.to_owned()) {
            return id.to_owned();
        }
        let mut n = usize::from(self.style.takes(id));
        loop {
            let substitute = self.style.substitute(id, n);
            if self.used.insert(substitute.clone()) {
                return substitute;
            }
            n += 1;
        }
    }
}

/// A tool name that every service takes: letters, digits, `_`, `-`, at most 64.
pub fn tool_name(name: &str) -> String {
    let short: String = word(name).chars().take(64).collect();
    if short.is_empty() { "unknown".to_owned() } else { short }
}
