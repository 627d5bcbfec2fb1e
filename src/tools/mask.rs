//! Hides known secret values in text that the model or the disk would see. It finds the values as
//! they are, not encoded or split over lines.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// What stands in for a secret.
pub const REPLACEMENT: &str = "[secret]";

/// Shorter values would turn up by chance.
const SHORTEST: usize = 8;

/// The values to hide, longest first so that a value inside another one leaves nothing over.
#[derive(Default)]
pub struct Mask {
    values: RwLock<Vec<String>>,
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({} values)", self.values().len())
    }
}

impl Mask {
    /// Hides these values.
    pub fn new(values: Vec<String>) -> Self {
        let mask = Self::default();
        mask.learn(values);
        mask
    }

    /// Hides these values too.
    pub fn learn(&self, more: Vec<String>) {
        let more = more.into_iter().map(|value| value.trim().to_owned());
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        values.extend(more.filter(|value| value.len() >= SHORTEST));
        values.sort_unstable_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
        values.dedup();
    }

    fn values(&self) -> RwLockReadGuard<'_, Vec<String>> {
        self.values.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text without secrets; `None` when it holds none.
    pub fn apply(&self, text: &str) -> Option<String> {
        let mut out: Option<String> = None;
        for value in self.values().iter() {
            let current = out.as_deref().unwrap_or(text);
            if current.contains(value.as_str()) {
                out = Some(current.replace(value.as_str(), REPLACEMENT));
            }
        }
        out
    }

    /// Takes the secrets out of `text`.
    pub fn hide(&self, text: &mut String) {
        if let Some(masked) = self.apply(text) {
            *text = masked;
        }
    }

    /// How much of the end of `text` could be the beginning of a secret.
    pub fn open_end(&self, text: &str) -> usize {
        let begins = |value: &String| {
            let most = value.len().saturating_sub(1).min(text.len());
            (1..=most).rev().find(|&n| {
                value.is_char_boundary(n) && text.as_bytes().ends_with(&value.as_bytes()[..n])
            })
        };
        self.values().iter().filter_map(begins).max().unwrap_or(0)
    }
}
