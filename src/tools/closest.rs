//! Helpful guesses: file names near a missing one, and the place in a text that is nearest to what
//! was not found. Guesses are only ever shown, never acted on.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use super::output;

/// Entries of a folder that are compared.
const ENTRIES: usize = 5000;
/// Names that are proposed.
const NAMES: usize = 3;
/// Below this a guess would mislead.
const NEAR: f64 = 0.5;
/// Lines of a text that are compared.
const LINES: usize = 20_000;
/// Characters of one line that are compared and shown.
const CHARS: usize = 200;
/// Lines of a place that are shown.
const SHOWN: usize = 6;

/// How alike two texts are, from 0 to 1: the share of pairs of neighbouring characters they have in
/// common. Works for words and for scripts without spaces.
pub fn likeness(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let pairs =
        |text: &str| -> Vec<(char, char)> { text.chars().zip(text.chars().skip(1)).collect() };
    let (a, b) = (pairs(a), pairs(b));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let mut counts: HashMap<(char, char), usize> = HashMap::new();
    for pair in &a {
        *counts.entry(*pair).or_default() += 1;
    }
    let mut common = 0;
    for pair in &b {
        if let Some(count) = counts.get_mut(pair).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    2.0 * f64::from(common) / (a.len() + b.len()) as f64
}

/// Up to three names in the same folder that are near the missing one, best first.
pub fn names(missing: &Path) -> Vec<String> {
    let (Some(folder), Some(name)) = (missing.parent(), missing.file_name()) else {
        return Vec::new();
    };
    let wanted = name.to_string_lossy().to_lowercase();
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut near: Vec<(f64, String)> = entries
        .take(ENTRIES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .map(|name| (likeness(&name.to_lowercase(), &wanted), name))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.truncate(NAMES);
    near.into_iter().map(|(_, name)| spelled(name)).collect()
}

/// Names that look alike but are composed differently are spelled out.
fn spelled(name: String) -> String {
    let is_mark =
        |c: char| matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{feff}');
    if !name.contains(is_mark) {
        return name;
    }
    let escape = |c: char| if is_mark(c) { c.escape_unicode().to_string() } else { c.to_string() };
    let spelled: String = name.chars().map(escape).collect();
    format!("{name} (spelled {spelled})")
}

/// The deepest folder of the path that exists.
pub fn deepest_folder(path: &Path) -> &Path {
    let exists = |folder: &&Path| folder.is_dir();
    path.ancestors().skip(1).find(exists).unwrap_or(Path::new("/"))
}

/// A numbered excerpt of the place that is nearest to `wanted`, when one is near enough.
pub fn place(text: &str, wanted: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(LINES).collect();
    let wanted: Vec<&str> =
        wanted.trim().lines().map(|line| clip(line.trim())).take(SHOWN).collect();
    let first = wanted.first()?;
    let score = |start: usize| -> f64 {
        let first = likeness(clip(lines[start].trim()), first);
        if first < NEAR / 2.0 || wanted.len() == 1 {
            return first;
        }
        let rest = wanted.iter().zip(&lines[start..]).skip(1);
        let rest: f64 = rest.map(|(wanted, line)| likeness(clip(line.trim()), wanted)).sum();
        (first + rest) / wanted.len() as f64
    };
    let best = (0..lines.len()).map(|start| (score(start), start));
    let best = best.fold((0.0, 0), |best, next| if next.0 > best.0 { next } else { best });
    let (likeness, start) = best;
    if likeness < NEAR {
        return None;
    }
    let end = (start + wanted.len()).min(lines.len());
    let mut shown = String::new();
    for (line, number) in lines[start..end].iter().zip(start + 1..) {
        let _ = writeln!(shown, "{number}→{}", clip(line));
    }
    Some(shown)
}

fn clip(line: &str) -> &str {
    output::head(line, CHARS)
}
