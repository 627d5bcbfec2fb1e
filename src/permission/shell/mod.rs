//! Judges a command line: what its simple commands are, whether they are known to only look, which
//! files they touch and whether they could destroy. Two readers must agree on every word (our own
//! in [`lex`]/[`parse`], tree-sitter in [`grammar`]); whatever is not understood is never "only
//! looks". Pure apart from looking at links and directory entries.

pub mod danger;
pub mod expand;
pub mod flags;
pub mod git;
pub mod grammar;
pub mod keys;
pub mod lex;
pub mod loose;
pub mod parse;
pub mod repo;
pub mod scripts;
pub mod sweep;
pub mod table;
pub mod tail;
pub mod walk;

use std::path::{Path, PathBuf};

pub use danger::Danger;
use danger::Ground;
pub use keys::Key;
use loose::Loose;
pub use walk::{Part, Setting};

use super::paths::Place;
use super::sensitive::{self, Use};

/// Bytes of a line that are still judged.
const MAX_LINE: usize = 8 * 1024;
/// Bytes of a line that are still searched for danger.
const MAX_SEARCH: usize = 256 * 1024;

/// What a command line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// Every command of it is known to only look.
    ReadOnly,
    /// The same, but output goes into these files.
    Write(Vec<PathBuf>),
    /// Understood, with commands that may do anything.
    Other,
    /// Not understood.
    NotUnderstood,
}

/// Everything known of a command line.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The simple commands for people, in order.
    pub parts: Vec<String>,
    /// What it is.
    pub class: Class,
    /// How bad it could be, with the reason.
    pub danger: (Danger, &'static str),
    /// What "always" may remember.
    pub keys: Option<Vec<Key>>,
    /// Files outside the workspace.
    pub outside: Vec<PathBuf>,
    /// Files that always ask, with what they are.
    pub sensitive: Vec<(String, &'static str)>,
    /// Why it is not known to only look; empty when it is.
    pub reason: String,
    /// The simple commands in detail; empty when not understood.
    pub commands: Vec<Part>,
    /// Every command and what it wraps, read loosely, for deny rules.
    pub views: Vec<Loose>,
    /// Files that are read or written, and files named by other commands.
    pub touches: Vec<(PathBuf, Use)>,
    /// Files named by commands of which more is not known.
    pub named: Vec<PathBuf>,
    /// Folders that are read as a whole.
    pub sweeps: Vec<sweep::Sweep>,
    /// Whether an allow rule may speak for its commands: one line, nothing in the background.
    pub simple: bool,
}

/// Judges `line`, which would start in `workdir`.
pub fn judge(line: &str, workdir: &Path, setting: &Setting<'_>) -> Judgement {
    let mut found = Judgement {
        parts: Vec::new(),
        class: Class::NotUnderstood,
        danger: (Danger::None, ""),
        keys: None,
        outside: Vec::new(),
        sensitive: Vec::new(),
        reason: String::new(),
        commands: Vec::new(),
        views: Vec::new(),
        touches: Vec::new(),
        named: Vec::new(),
        sweeps: Vec::new(),
        simple: false,
    };
    let tree = (line.len() <= MAX_SEARCH).then(|| grammar::tree(line)).flatten();
    search(line, tree.as_ref(), workdir, setting, &mut found);
    let script = screen(line).and_then(|()| parse::parse(line)).and_then(|script| {
        let tree = tree.as_ref().ok_or("could not be parsed")?;
        grammar::agrees(tree, &script.spans)?;
        Ok(script)
    });
    match script {
        Ok(script) => understood(&script, line, workdir, setting, &mut found),
        Err(why) => not_understood(why, line, workdir, setting, &mut found),
    }
    place_all(setting, &mut found);
    found
}

/// Refuses what could hide something from the reader of an approval.
fn screen(line: &str) -> Result<(), &'static str> {
    if line.len() > MAX_LINE {
        return Err("is too long to be judged");
    }
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    let hidden = |c: char| {
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
            || (c.is_whitespace() && !matches!(c, ' ' | '\t' | '\n'))
    };
    if line.chars().any(|c| control(c) || hidden(c)) {
        return Err("holds characters that can't be seen");
    }
    Ok(())
}

/// Lists every command loosely and looks for danger.
fn search(
    line: &str,
    tree: Option<&tree_sitter::Tree>,
    workdir: &Path,
    setting: &Setting<'_>,
    found: &mut Judgement,
) {
    let mut commands = tree.map(|tree| grammar::commands(tree, line)).unwrap_or_default();
    if tree.is_none_or(|tree| tree.root_node().has_error()) {
        commands.extend(loose::split(line));
    }
    let views: Vec<Vec<Loose>> = commands.iter().map(loose::views).collect();
    let ground = Ground {
        workdir: workdir.to_path_buf(),
        home: setting.places.home().map(Path::to_path_buf),
        roots: setting.places.roots().to_vec(),
    };
    found.danger = danger::worst(&views, line, &ground).unwrap_or_default();
    found.parts = commands.iter().map(|c| c.raw.trim().to_owned()).collect();
    found.views = views.into_iter().flatten().collect();
}

fn understood(
    script: &parse::Script,
    line: &str,
    workdir: &Path,
    setting: &Setting<'_>,
    found: &mut Judgement,
) {
    let walked = walk::walk(script, line, workdir, setting);
    found.parts = walked.parts.iter().map(|part| part.text.clone()).collect();
    if let Some(why) = walked.unclear {
        return not_understood(why, line, workdir, setting, found);
    }
    let first = walked.parts.iter().find(|part| !part.read_only);
    let writes: Vec<PathBuf> =
        walked.touches.iter().filter(|(_, u)| *u == Use::Write).map(|(p, _)| p.clone()).collect();
    found.simple = !script.background && !script.lines;
    (found.class, found.reason) = match first {
        Some(part) => (Class::Other, part.reason.clone()),
        None if script.background => (Class::Other, "leaves a command in the background".into()),
        None if writes.is_empty() => (Class::ReadOnly, String::new()),
        None => (Class::Write(writes), "writes to a file".to_owned()),
    };
    if found.simple && found.danger.0 == Danger::None && found.class == Class::Other {
        found.keys = keys::keys(&walked.parts);
    }
    for part in walked.parts.iter().filter(|part| !part.read_only) {
        if part.words.first().is_some_and(|name| keys::runs_code(name)) {
            found
                .sensitive
                .extend(sensitive::mentioned(&part.text).map(|w| (part.text.clone(), w)));
        }
    }
    found.touches = walked.touches;
    found.named = walked.named.iter().map(|(path, _)| path.clone()).collect();
    let named = walked.named.into_iter().filter(|(_, usage)| *usage != Use::Look);
    found.touches.extend(named);
    found.sweeps = walked.sweeps;
    found.commands = walked.parts;
}

/// Looks at the words of a line that is not understood as if each could be a file.
fn not_understood(
    why: &str,
    line: &str,
    workdir: &Path,
    setting: &Setting<'_>,
    found: &mut Judgement,
) {
    found.class = Class::NotUnderstood;
    found.reason = format!("is not fully understood: it {why}");
    found.sensitive.extend(sensitive::mentioned(line).map(|what| ("the command".to_owned(), what)));
    if found.parts.is_empty() {
        found.parts = vec![line.to_owned()];
    }
    let words = found.views.iter().flat_map(Loose::args).map(|word| {
        word.rsplit_once(['=', '<', '>']).map_or(word.as_str(), |(_, value)| value).trim()
    });
    let places = words.filter_map(|word| named(word, workdir, setting.places.home()));
    found.named = places.filter(|path| walk::is_likely(path)).collect();
    found.touches = found.named.iter().map(|path| (path.clone(), Use::Write)).collect();
    found.touches.push((workdir.to_path_buf(), Use::Look));
}

/// The place that a word may name, as far as it is fixed: `~/a/*` is `~/a`.
fn named(word: &str, workdir: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if word.is_empty() || word.starts_with('-') || word.contains("://") {
        return None;
    }
    let below_home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|mark| word.strip_prefix(mark));
    let (base, rest) = match below_home {
        Some(rest) => (home?, rest),
        None => (workdir, word),
    };
    let fixed = match rest.find(['$', '`', '*', '?', '[', '{']) {
        Some(at) => match rest[..at].rfind('/') {
            Some(slash) => &rest[..slash.max(1)],
            None if below_home.is_some() => "",
            None => return None,
        },
        None => rest,
    };
    (!fixed.contains([' ', '\n'])).then(|| base.join(fixed))
}

/// Sorts the touched files by where they lie.
fn place_all(setting: &Setting<'_>, found: &mut Judgement) {
    for (path, usage) in &found.touches {
        match setting.places.place(path, *usage) {
            Place::Workspace | Place::InternalWrite => {}
            Place::InternalRead if *usage != Use::Write => {}
            Place::InternalRead | Place::Outside => {
                if !found.outside.contains(path) {
                    found.outside.push(path.clone());
                }
            }
            Place::Sensitive(what) => found.sensitive.push((setting.places.shown(path), what)),
        }
    }
}
