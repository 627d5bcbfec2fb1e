//! A settings problem that must be solved before anything starts: names file, line and column and
//! shows the line.

use std::ops::Range;
use std::path::Path;

/// What is wrong with the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, or the environment variable.
    pub place: String,
    /// Line, counted from 1, when a place in a file is known.
    pub line: Option<usize>,
    /// Column in characters, counted from 1, when a place in a file is known.
    pub column: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// The line's text.
    pub excerpt: Option<String>,
}

impl ConfigError {
    /// A problem without a line.
    pub fn at(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            line: None,
            column: None,
            message: message.into(),
            excerpt: None,
        }
    }

    /// A problem with a file as a whole.
    pub fn in_file(path: &Path, message: impl Into<String>) -> Self {
        Self::at(path.display().to_string(), message)
    }

    /// A problem at a byte range of a file's text.
    pub fn in_text(path: &Path, text: &str, span: Option<Range<usize>>, message: &str) -> Self {
        let mut error = Self::in_file(path, message.trim());
        if let Some(span) = span {
            let start = text.floor_char_boundary(span.start);
            let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
            error.line = Some(text[..start].matches('\n').count() + 1);
            error.column = Some(text[begin..start].chars().count() + 1);
            error.excerpt = text[begin..].lines().next().map(str::to_owned);
        }
        error
    }
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Some(line), Some(column)) = (self.line, self.column) else {
            return write!(f, "{}: {}", self.place, self.message);
        };
        write!(f, "{}: line {line}, column {column}: {}", self.place, self.message)?;
        if let Some(excerpt) = self.excerpt.as_deref().filter(|text| !may_hold_secret(text)) {
            let number = line.to_string();
            let indent = " ".repeat(column - 1);
            write!(f, "\n  {number} | {excerpt}\n  {:w$} | {indent}^", "", w = number.len())?;
        }
        Ok(())
    }
}

/// A line that may hold a key is repeated neither on the screen nor in a log.
fn may_hold_secret(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["key", "token", "secret", "authorization", "bearer"].iter().any(|word| line.contains(word))
}

impl std::error::Error for ConfigError {}
