//! What "always" may remember of a command line: a narrow prefix for the build and test tools of
//! daily work, the whole command for other plain ones, nothing for whatever runs arbitrary code.

use super::walk::Part;

/// A remembered command: its words, and whether more may follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The words.
    pub words: Vec<String>,
    /// Whether further arguments may follow.
    pub open: bool,
}

/// Tools whose first words say what they do: the tool and the sub-commands that may be remembered
/// with further arguments (see [`super::tail`]). A tool whose arguments can hold programs in too
/// many ways (mvn, gradle, dotnet …) is not here: of those the whole command is remembered.
const PREFIXES: [(&str, &[&str]); 8] = [
    ("cargo", &["test", "build", "check", "clippy", "fmt", "doc", "bench", "nextest"]),
    ("go", &["test", "build", "vet", "fmt"]),
    ("npm", &["test", "ci"]),
    ("pnpm", &["test"]),
    ("yarn", &["test"]),
    ("bun", &["test"]),
    ("git", &["add", "commit", "switch"]),
    ("terraform", &["fmt", "validate"]),
];

/// Tools that run a named target of the project.
const TARGETS: [(&str, &[&str]); 7] = [
    ("npm", &["run", "run-script"]),
    ("pnpm", &["run"]),
    ("yarn", &["run"]),
    ("bun", &["run"]),
    ("make", &[]),
    ("just", &[]),
    ("task", &[]),
];

/// Checkers whose name alone says what they do.
const CHECKERS: [&str; 12] = [
    "pytest", "ruff", "mypy", "tsc", "eslint", "prettier", "jest", "vitest", "gofmt", "rustfmt",
    "black", "rspec",
];

/// Commands that run what they are given, reach far, or destroy: never remembered.
const NEVER: [&str; 62] = [
    "python",
    "python2",
    "python3",
    "node",
    "deno",
    "perl",
    "ruby",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "osascript",
    "npx",
    "uvx",
    "bunx",
    "pipx",
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "eval",
    "exec",
    "source",
    ".",
    "env",
    "xargs",
    "parallel",
    "find",
    "fd",
    "sudo",
    "doas",
    "su",
    "ssh",
    "scp",
    "rsync",
    "curl",
    "wget",
    "nc",
    "ncat",
    "socat",
    "rm",
    "dd",
    "tee",
    "chmod",
    "chown",
    "ln",
    "crontab",
    "nohup",
    "setsid",
    "timeout",
    "time",
    "nice",
    "command",
    "builtin",
    "trap",
    "alias",
    "hash",
    "kill",
    "docker",
];

/// The keys of all commands that are not known to only look; `None` when one of them can't be
/// remembered, when any command of the line writes a file (no rule speaks for such a line, so
/// "always" would be an empty promise), or when there are none.
pub fn keys(parts: &[Part]) -> Option<Vec<Key>> {
    if parts.iter().any(|part| part.writes) {
        return None;
    }
    let mut out: Vec<Key> = Vec::new();
    for part in parts.iter().filter(|part| !part.read_only) {
        let key = key(part)?;
        if !out.contains(&key) {
            out.push(key);
        }
    }
    (!out.is_empty()).then_some(out)
}

/// Whether a command runs what its arguments hold, so that these can't be judged as files.
pub fn runs_code(name: &str) -> bool {
    NEVER.contains(&name)
}

fn key(part: &Part) -> Option<Key> {
    let words: Vec<&str> = part.words.iter().map(String::as_str).collect();
    let name = *words.first()?;
    let first = words.get(1).copied().unwrap_or("");
    if part.writes || NEVER.contains(&name) || name.starts_with('-') {
        return None;
    }
    if !super::tail::is_tame(name, &part.words[1..]) {
        return None;
    }
    if PREFIXES.iter().any(|(tool, subs)| *tool == name && subs.contains(&first)) {
        return open(&words[..2]);
    }
    if CHECKERS.contains(&name) {
        return open(&words[..1]);
    }
    let target = TARGETS
        .iter()
        .find(|(tool, subs)| *tool == name && (subs.is_empty() || subs.contains(&first)));
    if let Some((_, subs)) = target {
        let at = usize::from(!subs.is_empty()) + 1;
        let named = words.get(at).is_some_and(|w| !w.starts_with('-') && !w.contains('='));
        if named {
            return open(&words[..=at]);
        }
    }
    if name == "git" && first.starts_with('-') {
        return None;
    }
    whole(part)
}

fn open(words: &[&str]) -> Option<Key> {
    words.iter().all(|w| is_plain(w)).then(|| Key { words: owned(words), open: true })
}

/// The whole command, as long as its text reads back as the same words and nothing is on its input:
/// what comes in there is not remembered, and may be a program.
fn whole(part: &Part) -> Option<Key> {
    let words = &part.words;
    let plain = words.iter().all(|w| is_plain(w)) && words.len() <= 12 && !part.fed;
    plain.then(|| Key { words: words.clone(), open: false })
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:@+,=%".contains(c))
}
