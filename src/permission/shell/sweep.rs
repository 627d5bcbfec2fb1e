//! Commands that read whole folders: which ones, and what of a folder they look into. What lies there
//! is looked up by the gate, which knows what must not be read.

use std::path::PathBuf;

use super::lex::Word;

/// A folder whose files a command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The folder.
    pub folder: PathBuf,
    /// How it is read.
    pub reach: Reach,
}

/// Which files of a folder are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Whether hidden ones are.
    pub hidden: bool,
    /// Name patterns; when there are any, only files that fit one.
    pub only: Vec<String>,
    /// Whether the start directory is meant when no folder is named.
    pub here: bool,
}

/// How the command reads folders, or `None` when it does not.
pub fn reach(name: &str, args: &[Word]) -> Option<Reach> {
    let texts: Vec<&str> =
        args.iter().map(|w| w.text.as_str()).take_while(|t| *t != "--").collect();
    let short = |letter: char| {
        texts.iter().any(|t| t.starts_with('-') && !t.starts_with("--") && t.contains(letter))
    };
    match name {
        "grep" | "egrep" | "fgrep" => {
            let recursive =
                short('r') || texts.contains(&"--recursive") || texts.contains(&"recurse");
            let only = values(&texts, &["--include"]);
            recursive.then_some(Reach { hidden: true, only, here: true })
        }
        "rg" => {
            let hidden = short('u')
                || texts.iter().any(|t| {
                    ["--hidden", "--unrestricted", "--no-ignore"].iter().any(|f| t.starts_with(f))
                });
            let globs = values(&texts, &["-g", "--glob", "--iglob"]);
            let only = globs.into_iter().filter(|glob| !glob.starts_with('!')).collect();
            Some(Reach { hidden, only, here: true })
        }
        "diff" => Some(Reach { hidden: true, ..Reach::default() }),
        _ => None,
    }
}

/// The values of these flags, in the next word or behind `=` or the letter.
fn values(texts: &[&str], flags: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        for flag in flags {
            match text.strip_prefix(flag) {
                Some("") => out.extend(texts.get(at + 1).map(|t| (*t).to_owned())),
                Some(rest) if flag.len() == 2 => out.push(rest.to_owned()),
                Some(rest) => out.extend(rest.strip_prefix('=').map(str::to_owned)),
                None => {}
            }
        }
    }
    out
}
