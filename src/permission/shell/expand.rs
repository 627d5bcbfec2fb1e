//! A word → the files it names, as the shell would see them now: home directory and the patterns
//! `*` and `?` filled in.

use std::path::{Path, PathBuf};

use super::lex::{MARK, STAR, Word};

/// Directory entries looked at for one word before giving up.
const MAX_ENTRIES: usize = 4096;

/// The absolute paths a word names from each of the `bases`.
///
/// # Errors
/// Why they can't be told, as a phrase for people.
pub fn paths(
    word: &Word,
    bases: &[PathBuf],
    home: Option<&Path>,
) -> Result<Vec<PathBuf>, &'static str> {
    let text = word.pattern.as_deref().unwrap_or(&word.text);
    let mut out = Vec::new();
    let mut budget = MAX_ENTRIES;
    for base in bases {
        let full = if word.tilde {
            let home = home.ok_or("names a home directory that is not known")?;
            join(home, text.trim_start_matches('~').trim_start_matches('/'))
        } else {
            join(base, text)
        };
        if word.pattern.is_some() {
            expand(&full, &mut out, &mut budget)?;
        }
        out.push(PathBuf::from(full.replace(STAR, "*").replace(MARK, "?")));
    }
    Ok(out)
}

/// Like `Path::join`, but keeps `.`/`..` and the pattern marks as text.
fn join(base: &Path, text: &str) -> String {
    if text.starts_with('/') {
        return text.to_owned();
    }
    format!("{}/{text}", base.display())
}

fn expand(full: &str, out: &mut Vec<PathBuf>, budget: &mut usize) -> Result<(), &'static str> {
    let mut found = vec![PathBuf::from("/")];
    for part in full.split('/').filter(|part| !part.is_empty()) {
        if !part.contains([STAR, MARK]) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let mut next = Vec::new();
        for dir in found {
            let Ok(entries) = std::fs::read_dir(&dir) else { continue };
            for entry in entries.flatten() {
                *budget = budget.checked_sub(1).ok_or("matches too many files to check")?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if part_matches(part, &name) {
                    next.push(dir.join(&*name));
                }
            }
        }
        found = next;
    }
    out.extend(found);
    Ok(())
}

fn part_matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(&STAR) => {
                back = Some((p, n));
                p += 1;
            }
            Some(&c) if c == MARK || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match back {
                Some((star, from)) => {
                    p = star + 1;
                    n = from + 1;
                    back = Some((star, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == STAR)
}
