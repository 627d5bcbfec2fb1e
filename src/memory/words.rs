//! What two texts are about: their words, Han text in pairs of characters, without the words that
//! every sentence has. Pure; no index and no language model.

use std::collections::BTreeSet;

/// Words that say nothing about the matter.
const EMPTY: [&str; 40] = [
    "the", "and", "for", "with", "that", "this", "from", "into", "are", "was", "were", "has",
    "have", "had", "not", "but", "his", "her", "its", "their", "your", "our", "you", "they",
    "them", "is", "be", "to", "of", "in", "on", "at", "it", "an", "as", "by", "or", "user",
    "users", "when",
];
/// Words that announce a change of mind. They are no part of the matter either.
const UPDATES: [&str; 12] = [
    "longer", "instead", "now", "anymore", "changed", "switched", "stopped", "replaced", "moved",
    "rather", "no", "updated",
];
/// The same in Chinese, where they stand inside a sentence.
const UPDATES_HAN: [&str; 8] = ["不再", "改为", "改成", "现在", "而不是", "换成", "已经不", "更新"];

fn is_han(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// The terms of a text: words of two letters or more in lower case, and pairs of Han characters.
pub fn terms(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let lower = text.to_lowercase();
    for piece in lower.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let chars: Vec<char> = piece.chars().collect();
        let mut at = 0;
        while at < chars.len() {
            let han = is_han(chars[at]);
            let run = chars[at..].iter().take_while(|c| is_han(**c) == han).count();
            let part = &chars[at..at + run];
            at += run;
            if !han {
                let word: String = part.iter().collect();
                let says = !EMPTY.contains(&word.as_str()) && !UPDATES.contains(&word.as_str());
                if part.len() > 1 && says {
                    found.insert(word);
                }
            } else if part.len() == 1 {
                found.insert(part.iter().collect());
            } else {
                found.extend(part.windows(2).map(|pair| pair.iter().collect::<String>()));
            }
        }
    }
    found
}

/// The share of the smaller text's terms that the other one has too: 0 to 1.
pub fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let least = a.len().min(b.len());
    if least == 0 {
        return 0.0;
    }
    a.intersection(b).count() as f64 / least as f64
}

/// Whether a text announces a change of mind.
pub fn is_update(text: &str) -> bool {
    let lower = text.to_lowercase();
    let word = |word: &str| UPDATES.contains(&word);
    lower.split(|c: char| !c.is_alphanumeric()).any(word)
        || UPDATES_HAN.iter().any(|word| lower.contains(word))
}

/// Whether a later text on the same matter takes the place of an earlier one: more than 0.6 of the
/// terms in common, or more than 0.5 when it announces a change.
pub fn replaces(later: &str, earlier: &str) -> bool {
    let shared = overlap(&terms(later), &terms(earlier));
    shared > 0.6 || shared > 0.5 && is_update(later)
}
