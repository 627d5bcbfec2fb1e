//! Reads Rust text just well enough for the rules: blanks out comments and literals, expands the
//! paths of `use` groups, and finds where functions begin and end.

/// A file of the project.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Relative to the project, with `/`.
    pub(crate) path: String,
    /// As it is.
    pub(crate) text: String,
    /// Comments and literals blanked out, lines kept.
    pub(crate) code: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), code: code_of(text) }
    }

    /// The module path inside the crate: `src/ui/text/wrap.rs` is `ui`, `text`, `wrap`.
    pub(crate) fn module(&self) -> Vec<&str> {
        let inside = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        inside.split('/').filter(|part| !matches!(*part, "mod" | "lib" | "main")).collect()
    }

    pub(crate) fn line_at(&self, byte: usize) -> usize {
        self.code[..byte].matches('\n').count() + 1
    }
}

/// Keeps code and line ends; everything inside comments and literals becomes blank.
pub(crate) fn code_of(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = skip(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
            continue;
        }
        out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    out
}

/// The end of the comment or literal that begins at `at`, or `at` itself.
fn skip(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => {
            at + chars[at..].iter().position(|c| *c == '\n').unwrap_or(chars.len() - at)
        }
        '/' if next == Some('*') => block_comment(chars, at),
        '"' => quoted(chars, at + 1, '"'),
        'r' if !in_word(chars, at) => raw_string(chars, at),
        '\'' if next == Some('\\') || chars.get(at + 2) == Some(&'\'') => {
            quoted(chars, at + 1, '\'')
        }
        _ => at,
    }
}

fn in_word(chars: &[char], at: usize) -> bool {
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_') && chars[at - 1] != 'b'
}

fn block_comment(chars: &[char], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0_usize);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn quoted(chars: &[char], mut at: usize, quote: char) -> usize {
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn raw_string(chars: &[char], at: usize) -> usize {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let open = at + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return at;
    }
    let closes = |from: usize| {
        chars[from] == '"'
            && chars[from + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    (open + 1..chars.len()).find(|from| closes(*from)).map_or(chars.len(), |end| end + 1 + hashes)
}

/// Every path in the code that begins with `root::`, groups expanded, as (byte, segments).
/// `root` itself is not among the segments.
pub(crate) fn paths(code: &str, root: &str) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for (at, word) in words(code) {
        let follows = code[at + word.len()..].trim_start();
        let inner = code[..at].trim_end().ends_with("::");
        if word == root && follows.starts_with("::") && !inner {
            let mut expanded = Vec::new();
            let tail = &follows[2..];
            expand(tail, &[], &mut expanded);
            found.extend(expanded.into_iter().map(|path| (at, path)));
        }
    }
    found
}

/// Reads `a::b::{c, d::e}` and adds every path; returns what is left of the text.
fn expand<'a>(text: &'a str, before: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        while !rest.trim_start().is_empty() && !rest.trim_start().starts_with('}') {
            let left = expand(rest, before, found).trim_start();
            rest = left.strip_prefix(',').unwrap_or(left);
            if left.len() == rest.len() && !left.starts_with('}') {
                break;
            }
        }
        return rest.trim_start().strip_prefix('}').unwrap_or("");
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let mut path = before.to_vec();
    path.push(text[..end].to_owned());
    if let Some(tail) = text[end..].trim_start().strip_prefix("::") {
        return expand(tail, &path, found);
    }
    found.push(path);
    skip_alias(&text[end..])
}

fn skip_alias(text: &str) -> &str {
    let Some(alias) = text.trim_start().strip_prefix("as ") else { return text };
    alias.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
}

/// Identifiers and keywords with their place.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + code[at..].find(is_word)?;
        let end = code[start..].find(|c| !is_word(c)).map_or(code.len(), |length| start + length);
        at = end;
        Some((start, &code[start..end]))
    })
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) byte: usize,
    /// From the line of `fn` to the closing brace.
    pub(crate) lines: usize,
}

pub(crate) fn functions(code: &str) -> Vec<Function> {
    let found: Vec<(usize, &str)> = words(code).collect();
    found
        .windows(2)
        .filter(|pair| pair[0].1 == "fn" && code[pair[0].0 + 2..pair[1].0].trim().is_empty())
        .filter_map(|pair| {
            let end = body_end(code, pair[1].0)?;
            let lines = code[pair[0].0..end].matches('\n').count() + 1;
            Some(Function { name: pair[1].1.to_owned(), byte: pair[0].0, lines })
        })
        .collect()
}

/// The byte after the body; `None` for a function without one.
fn body_end(code: &str, from: usize) -> Option<usize> {
    let (mut round, mut curly) = (0_i32, 0_i32);
    for (at, c) in code[from..].char_indices() {
        match c {
            '(' | '[' => round += 1,
            ')' | ']' => round -= 1,
            ';' if round == 0 && curly == 0 => return None,
            '{' => curly += 1,
            '}' => {
                curly -= 1;
                if curly == 0 && round == 0 {
                    return Some(from + at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
