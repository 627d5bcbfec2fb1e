//! The user's profile: a Markdown page with fixed headings that the user may edit by hand. Points are
//! added under a heading, or take the place of one on the same matter; every other line stays as it is.

use std::io::ErrorKind;
use std::path::Path;

use super::facts::one_line;
use super::shelf::lock_beside;
use super::words;
use crate::config::private;

/// The headings, in the order of the page.
pub const HEADINGS: [&str; 4] = ["About", "Preferences", "Working style", "Environment"];
/// Most characters of it in a prompt.
pub const MOST_CHARS: usize = 4000;

/// An empty page.
pub fn template() -> String {
    let parts = HEADINGS.iter().map(|heading| format!("\n## {heading}\n"));
    format!("# User profile\n{}", parts.collect::<String>())
}

/// What the page says: headings with nothing below them are left out; `None` when nothing is said.
pub fn told(page: &str) -> Option<String> {
    let mut out: Vec<&str> = Vec::new();
    let mut heading = None;
    for line in page.lines() {
        if line.starts_with("# ") || line.trim().is_empty() {
            continue;
        }
        if line.starts_with("## ") {
            heading = Some(line);
            continue;
        }
        out.extend(heading.take());
        out.push(line);
    }
    let text = out.join("\n");
    let cut = text.char_indices().nth(MOST_CHARS).map_or(text.len(), |(at, _)| at);
    (!text.trim().is_empty()).then(|| text[..cut].to_owned())
}

/// The page with a point under a heading. A point on the same matter is replaced.
///
/// # Errors
/// When there is no such heading.
pub fn merge(page: &str, heading: &str, point: &str) -> Result<String, String> {
    let known = HEADINGS.iter().find(|known| known.eq_ignore_ascii_case(heading.trim()));
    let Some(heading) = known else {
        let all = HEADINGS.join(", ");
        return Err(format!("the profile has no heading {heading}; there are {all}"));
    };
    let page = if page.trim().is_empty() { template() } else { page.to_owned() };
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    let title = format!("## {heading}");
    let there = lines.iter().position(|line| line.trim_end() == title);
    let start = there.map_or_else(|| lines.len() + 2, |at| at + 1);
    if there.is_none() {
        lines.extend([String::new(), title]);
    }
    let rest = lines[start..].iter().position(|line| line.starts_with('#'));
    let end = rest.map_or(lines.len(), |rest| start + rest);
    let point = format!("- {}", one_line(point));
    let similar = |line: &String| {
        line.strip_prefix("- ").is_some_and(|known| words::replaces(&point[2..], known))
    };
    if let Some(at) = lines[start..end].iter().position(similar) {
        lines[start + at] = point;
    } else {
        let last = lines[start..end].iter().rposition(|line| !line.trim().is_empty());
        lines.insert(last.map_or(start, |last| start + last + 1), point);
    }
    Ok(format!("{}\n", lines.join("\n").trim_end()))
}

/// Reads the page; empty when there is none. Blocking.
///
/// # Errors
/// One line, when it can't be read.
pub fn read(path: &Path) -> Result<String, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// Adds a point to the page. Blocking.
///
/// # Errors
/// One line, when there is no such heading or the page can't be read or written.
pub fn add(path: &Path, heading: &str, point: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let _lock = lock_beside(path).map_err(failed)?;
    let page = merge(&read(path)?, heading, point)?;
    private::replace(path, page.as_bytes()).map_err(failed)
}
