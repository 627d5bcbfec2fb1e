//! Checks of small languages inside arguments: sed and jq scripts, printf formats, `find` and
//! `test` expressions. Each accepts a plain subset and nothing else.

use super::flags::Touch;
use super::lex::Word;
use crate::permission::sensitive::Use;

/// Digits, a decimal point and a unit at the end.
pub fn number(text: &str) -> bool {
    let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// A format for `date`; anything else would set the clock.
pub fn date_format(text: &str) -> bool {
    text.starts_with('+')
}

/// The BSD letters of `ps` without `e`, which would show environments.
pub fn ps_letters(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| "auxfjlvwh".contains(c))
}

/// `go version`.
pub fn version_word(text: &str) -> bool {
    text == "version"
}

/// `rustup show active-toolchain` and `home`.
pub fn rustup_word(text: &str) -> bool {
    matches!(text, "active-toolchain" | "home" | "profile")
}

/// The word after `set -o`: options that change neither how folders nor how patterns are read.
pub fn set_word(text: &str) -> bool {
    matches!(text, "errexit" | "nounset" | "pipefail" | "xtrace")
}

/// A jq filter that reads neither the environment nor other files.
pub fn jq(filter: &str) -> bool {
    let lower = filter.to_lowercase();
    !["env", "import", "include", "input_filename", "$__", "debug", "halt"]
        .iter()
        .any(|word| lower.contains(word))
}

/// A printf format; `%n` and `%(…)T` are left out.
pub fn printf(format: &str) -> bool {
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        let kind = chars.by_ref().find(|c| !"0123456789.-+ #".contains(*c));
        if !kind.is_some_and(|k| "diouxXfeEgGcsbq%".contains(k)) {
            return false;
        }
    }
    !format.starts_with('-')
}

/// A sed script of addresses, `p`, `d`, `q`, `=` and plain `s`; no `w`, `e`, `r`.
pub fn sed(script: &str) -> bool {
    let mut rest = script.trim();
    if script.contains('\n') || rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let Some(next) = sed_command(rest) else { return false };
        rest = next.trim_start_matches([' ', ';']);
    }
    true
}

fn sed_command(text: &str) -> Option<&str> {
    let mut rest = sed_address(text)?;
    if let Some(second) = rest.strip_prefix(',') {
        rest = sed_address(second)?;
    }
    let rest = rest.trim_start_matches([' ', '!']);
    let mut chars = rest.chars();
    match chars.next()? {
        'p' | 'd' | 'q' | '=' | 'P' | 'D' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' => {
            ends(chars.as_str())
        }
        's' => {
            let mark = chars.next().filter(|c| "/|,#:@!_".contains(*c))?;
            let after = sed_until(sed_until(chars.as_str(), mark)?, mark)?;
            ends(after.trim_start_matches(|c: char| c.is_ascii_digit() || "gpIiM".contains(c)))
        }
        _ => None,
    }
}

fn ends(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(' ');
    (rest.is_empty() || rest.starts_with(';')).then_some(rest)
}

fn sed_address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    if let Some(rest) = text.strip_prefix('/') {
        return sed_until(rest, '/');
    }
    Some(text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~' || c == '+'))
}

/// What follows the next unescaped `mark`. Programs differ in whether a bracket set hides a mark or a
/// backslash, so only sets that every one of them reads alike pass.
fn sed_until(text: &str, mark: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next()?;
            }
            '[' => {
                let set = text[at + 1..].trim_start_matches('^');
                let (inner, _) = set.split_once(']')?;
                if inner.is_empty() || inner.contains([mark, '\\', '[']) {
                    return None;
                }
            }
            _ if c == mark => return Some(&text[at + c.len_utf8()..]),
            _ => {}
        }
    }
    None
}

/// Tests and actions of `find` without a value that only look.
const FIND_PLAIN: [&str; 26] = [
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-daystart",
    "-empty",
    "-true",
    "-false",
    "-readable",
    "-writable",
    "-executable",
    "-not",
    "-and",
    "-or",
    "-a",
    "-o",
    "!",
    "(",
    ")",
    ",",
    "-noleaf",
];

/// Tests of `find` with one value that only look.
const FIND_VALUED: [&str; 31] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-perm",
    "-user",
    "-group",
    "-links",
    "-inum",
    "-printf",
    "-lname",
    "-uid",
    "-gid",
    "-fstype",
    "-newermt",
];

/// The expression of `find` without anything that runs, writes or deletes.
///
/// # Errors
/// Why it is not known to be harmless.
pub fn find(args: &[Word]) -> Result<Vec<Touch<'_>>, &'static str> {
    let mut touches = Vec::new();
    let mut in_expression = false;
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.text.as_str();
        at += 1;
        in_expression |= text.starts_with('-') || matches!(text, "!" | "(");
        if !in_expression {
            if word
                .pattern
                .as_deref()
                .is_some_and(|p| p.starts_with([super::lex::STAR, super::lex::MARK]))
            {
                return Err("has a pattern that may turn into a flag");
            }
            touches.push((word, Use::Look));
            continue;
        }
        if word.pattern.is_some() {
            return Err("has a pattern that may turn into a flag");
        }
        if FIND_PLAIN.contains(&text) || (matches!(text, "-P" | "-H") && at == 1) {
            continue;
        }
        let value = args.get(at).filter(|w| w.pattern.is_none());
        match value {
            Some(value) if matches!(text, "-newer" | "-samefile") => {
                touches.push((value, Use::Look));
            }
            Some(_) if FIND_VALUED.contains(&text) => {}
            _ => return Err("has a part of find that is not known to be harmless"),
        }
        at += 1;
    }
    Ok(touches)
}

/// A `test` or `[` expression about files and texts; nothing that would be computed.
///
/// # Errors
/// Why it is not known to be harmless.
pub fn test<'a>(name: &str, args: &'a [Word]) -> Result<Vec<Touch<'a>>, &'static str> {
    const FILE: [&str; 14] =
        ["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-p", "-S", "-b", "-c", "-g"];
    const PLAIN: [&str; 8] = ["!", "=", "==", "!=", "-z", "-n", "-a", "-o"];
    let args = match (name, args.split_last()) {
        ("[", Some((last, rest))) if last.text == "]" => rest,
        ("[", _) => return Err("is not a finished test"),
        _ => args,
    };
    let mut touches = Vec::new();
    let mut file = false;
    for word in args {
        let text = word.text.as_str();
        if word.pattern.is_some() {
            return Err("has a pattern in a test");
        }
        if file {
            touches.push((word, Use::Look));
            file = false;
        } else if FILE.contains(&text) {
            file = true;
        } else if text.starts_with('-') && !PLAIN.contains(&text) {
            return Err("uses a test that is not known to be harmless");
        }
    }
    Ok(touches)
}
