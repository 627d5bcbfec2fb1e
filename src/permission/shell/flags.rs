//! Matching arguments against a list of allowed flags. A flag that is not listed fails the match;
//! abbreviations are not resolved, so they fail too.

use super::lex::Word;
use crate::permission::sensitive::Use;

/// One row of the tables: a command that only looks when called like this.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The command or sub-command.
    pub name: &'static str,
    /// Allowed flags, separated by blanks: `-abc` letters without value, `-n=` a letter with a
    /// value, `--long`, `--long=` with a value, `--long?` with a value only after `=`, `-#` a
    /// number such as `-20`.
    pub flags: &'static str,
    /// What its operands are.
    pub operands: Operands,
    /// Whether no flag at all could do harm, so that a pattern may stand where a flag could.
    pub harmless: bool,
}

/// What operands mean.
#[derive(Clone, Copy, Debug)]
pub enum Operands {
    /// None allowed.
    None,
    /// Words without a meaning for files.
    Text,
    /// Files that are looked at from outside.
    Look,
    /// Files that are read.
    Read,
    /// At most this many files that are read.
    AtMost(usize),
    /// A pattern (unless `-e` gave one), then files that are read.
    PatternRead,
    /// A pattern, then folders.
    PatternLook,
    /// Text first, then files that are read (jq, sed); the text is checked by a function.
    ScriptRead(fn(&str) -> bool),
    /// Texts that all pass a check.
    Checked(fn(&str) -> bool),
    /// Revisions and paths of git.
    Git,
    /// None, and at least one flag: without any the command would read a program from its input.
    Version,
    /// At least one listing flag when there are operands.
    ListOnly(&'static [&'static str]),
}

/// A word and what is done with the file it names.
pub type Touch<'a> = (&'a Word, Use);

/// Matches `args` (without the command name).
///
/// # Errors
/// Why the call is not known to be harmless, as a phrase for people.
pub fn matches<'a>(spec: &Spec, args: &'a [Word]) -> Result<Vec<Touch<'a>>, &'static str> {
    let mut operands = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut at = 0;
    let mut only = false;
    while let Some(word) = args.get(at) {
        at += 1;
        let text = word.text.as_str();
        if word.pattern.is_some() && !spec.harmless && !only && starts_open(word) {
            return Err("has a pattern that may turn into a flag");
        }
        if only || !text.starts_with('-') || text == "-" {
            operands.push(word);
        } else if text == "--" {
            only = true;
        } else {
            let takes_next =
                flag(spec.flags, text).ok_or("uses a flag that is not known to be harmless")?;
            seen.push(text);
            if takes_next {
                let value = args.get(at).ok_or("has a flag without its value")?;
                if value.pattern.is_some() {
                    return Err("has a pattern for the value of a flag");
                }
                at += 1;
            }
        }
    }
    assign(spec, &operands, &seen)
}

fn starts_open(word: &Word) -> bool {
    word.pattern.as_deref().is_some_and(|p| p.starts_with([super::lex::STAR, super::lex::MARK]))
}

/// Whether the flag is allowed, and if so whether the next word is its value.
fn flag(allowed: &str, text: &str) -> Option<bool> {
    if let Some(long) = text.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, _)) => (name, true),
            None => (long, false),
        };
        return allowed.split_whitespace().filter_map(|f| f.strip_prefix("--")).find_map(|f| {
            let kind = f.strip_prefix(name)?;
            match (kind, value) {
                ("", false) | ("?", _) | ("=", true) => Some(false),
                ("=", false) => Some(true),
                _ => None,
            }
        });
    }
    let cluster = &text[1..];
    if cluster.chars().all(|c| c.is_ascii_digit()) && allowed.split_whitespace().any(|f| f == "-#")
    {
        return Some(false);
    }
    let shorts = || allowed.split_whitespace().filter(|f| !f.starts_with("--"));
    let mut letters = cluster.chars();
    while let Some(c) = letters.next() {
        let valued = shorts().any(|f| f.ends_with('=') && f.chars().nth(1) == Some(c));
        if valued {
            return Some(letters.as_str().is_empty());
        }
        if !shorts().any(|f| !f.ends_with('=') && f != "-#" && f[1..].contains(c)) {
            return None;
        }
    }
    Some(false)
}

fn assign<'a>(
    spec: &Spec,
    operands: &[&'a Word],
    seen: &[&str],
) -> Result<Vec<Touch<'a>>, &'static str> {
    let all = |usage: Use| Ok(operands.iter().map(|w| (*w, usage)).collect());
    let given =
        |flags: &[&str]| seen.iter().any(|s| flags.iter().any(|f| s == f || is_clustered(s, f)));
    match spec.operands {
        Operands::None if operands.is_empty() => Ok(Vec::new()),
        Operands::Version if operands.is_empty() && !seen.is_empty() => Ok(Vec::new()),
        Operands::None | Operands::Version => {
            Err("has an argument that is not known to be harmless")
        }
        Operands::Text => Ok(text_only(operands)),
        Operands::Look => all(Use::Look),
        Operands::Read | Operands::Git => all(Use::Read),
        Operands::AtMost(most) if operands.len() <= most => all(Use::Read),
        Operands::AtMost(_) => Err("names a file that it would write"),
        Operands::PatternRead => {
            // A pattern of the shell in the first place may turn into several words, of which
            // all but the first are files.
            let first = operands.first().is_some_and(|w| w.pattern.is_none());
            let skip = usize::from(first && !given(&["-e", "--regexp", "--files"]));
            Ok(operands.iter().skip(skip).map(|w| (*w, Use::Read)).collect())
        }
        Operands::PatternLook if operands.first().is_some_and(|w| w.pattern.is_some()) => {
            Err("has a pattern that may turn into several words")
        }
        Operands::PatternLook => Ok(operands.iter().skip(1).map(|w| (*w, Use::Look)).collect()),
        Operands::ScriptRead(check) => match operands.split_first() {
            Some((script, files)) if script.pattern.is_none() && check(&script.text) => {
                Ok(files.iter().map(|w| (*w, Use::Read)).collect())
            }
            _ => Err("runs a script that is not known to be harmless"),
        },
        Operands::Checked(check) => {
            if operands.iter().all(|w| w.pattern.is_none() && check(&w.text)) {
                Ok(Vec::new())
            } else {
                Err("has an argument that is not known to be harmless")
            }
        }
        Operands::ListOnly(flags) if operands.is_empty() || given(flags) => Ok(text_only(operands)),
        Operands::ListOnly(_) => Err("has an argument that is not known to be harmless"),
    }
}

/// Text operands touch no file, but a pattern among them lists one.
fn text_only<'a>(operands: &[&'a Word]) -> Vec<Touch<'a>> {
    operands.iter().filter(|w| w.pattern.is_some()).map(|w| (*w, Use::Look)).collect()
}

fn is_clustered(seen: &str, flag: &str) -> bool {
    match (flag.strip_prefix("--"), flag.strip_prefix('-')) {
        (Some(_), _) => seen.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')),
        (None, Some(letter)) => !seen.starts_with("--") && seen[1..].contains(letter),
        _ => false,
    }
}
