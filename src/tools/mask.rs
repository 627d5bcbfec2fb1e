//! Hides known secret values in text that the model or the disk would see. It finds the values as
//! they are, not encoded or split over lines.

/// What stands in for a secret.
pub const REPLACEMENT: &str = "[secret]";

/// Shorter values would turn up by chance.
const SHORTEST: usize = 8;

/// The values to hide, longest first so that a value inside another one leaves nothing over.
#[derive(Default)]
pub struct Mask {
    values: Vec<String>,
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({} values)", self.values.len())
    }
}

impl Mask {
    /// Hides these values.
    pub fn new(values: Vec<String>) -> Self {
        let mut values: Vec<String> = values
            .into_iter()
            .map(|value| value.trim().to_owned())
            .filter(|value| value.len() >= SHORTEST)
            .collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self { values }
    }

    /// The text without secrets; `None` when it holds none.
    pub fn apply(&self, text: &str) -> Option<String> {
        let mut out: Option<String> = None;
        for value in &self.values {
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
        self.values.iter().filter_map(begins).max().unwrap_or(0)
    }
}
