//! The head of a Markdown file that describes something (an agent, a skill): `key: value` lines
//! between two lines of dashes. It is data from wherever the file came from; whoever reads it
//! decides what it may change.

use std::collections::BTreeMap;

/// A file's head and the text below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    fields: BTreeMap<String, String>,
    /// The text below the head, trimmed; the whole file when there is no head.
    pub body: String,
}

impl FrontMatter {
    /// Takes a file apart. Never fails: lines of the head that are no `key: value` are passed over,
    /// `- item` lines belong to the key above them.
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines();
        if lines.next().map(str::trim_end) != Some("---") {
            return Self { fields: BTreeMap::new(), body: text.trim().to_owned() };
        }
        let mut fields: BTreeMap<String, String> = BTreeMap::new();
        let mut key = String::new();
        let mut closed = false;
        for line in lines.by_ref() {
            if matches!(line.trim_end(), "---" | "...") {
                closed = true;
                break;
            }
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                let list = fields.entry(key.clone()).or_default();
                if !list.is_empty() {
                    list.push_str(", ");
                }
                list.push_str(unquoted(item));
            } else if let Some((name, value)) = line.split_once(':')
                && !line.starts_with([' ', '\t', '#'])
            {
                key = name.trim().to_lowercase();
                fields.insert(key.clone(), unquoted(value).to_owned());
            }
        }
        if !closed {
            return Self { fields: BTreeMap::new(), body: text.trim().to_owned() };
        }
        let body = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
        Self { fields, body }
    }

    /// The value of a key; `None` when it is absent or empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of a key as a list: separated by commas, in brackets, or one item a line.
    pub fn list(&self, key: &str) -> Option<Vec<String>> {
        let value = self.get(key)?;
        let value = value.strip_prefix('[').and_then(|v| v.strip_suffix(']')).unwrap_or(value);
        let items = value.split(',').map(|item| unquoted(item).to_owned());
        Some(items.filter(|item| !item.is_empty()).collect())
    }
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}
