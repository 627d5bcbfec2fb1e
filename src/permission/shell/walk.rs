//! Walks a parsed line in the order the shell would, follows `cd`, and judges every simple command
//! by the tables. Collects what each command is and which files it would touch.

use std::path::{Path, PathBuf};

use super::flags::{self, Touch};
use super::lex::Word;
use super::parse::{Node, Redirect, Script, Simple};
use super::sweep::{self, Sweep};
use super::{expand, git, repo, scripts, table};
use crate::permission::paths::{Places, resolve};
use crate::permission::sensitive::Use;

/// Where commands are looked up and run.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// Roots and places.
    pub places: &'a Places,
    /// Folders of `PATH` that lie in the workspace or are relative.
    pub suspect_path: &'a [PathBuf],
}

/// One simple command of the line.
#[derive(Clone, Debug)]
pub struct Part {
    /// The command as written.
    pub text: String,
    /// Its words.
    pub words: Vec<String>,
    /// Whether it is known to only look.
    pub read_only: bool,
    /// Why not, or empty.
    pub reason: String,
    /// Whether it redirects into a file.
    pub writes: bool,
    /// Whether it is given input: by a redirection, a here-document or a pipe.
    pub fed: bool,
}

/// What the walk found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// All simple commands in order.
    pub parts: Vec<Part>,
    /// Files looked at, read or written.
    pub touches: Vec<(PathBuf, Use)>,
    /// Words of other commands that look like files; what is done with them is not known.
    pub named: Vec<(PathBuf, Use)>,
    /// Folders that are read as a whole.
    pub sweeps: Vec<Sweep>,
    /// Places that could not be told; the line is not understood.
    pub unclear: Option<&'static str>,
}

/// Folders a command may start in; more than one after a `cd` that may have failed.
type Bases = Vec<PathBuf>;

/// Folders followed at once before giving up.
const MAX_BASES: usize = 8;

/// Judges every command of the script, which starts in `workdir`.
pub fn walk(script: &Script, line: &str, workdir: &Path, setting: &Setting<'_>) -> Findings {
    let start = resolve(workdir).unwrap_or_else(|| workdir.to_path_buf());
    let mut walker = Walker { line, setting, fed: false, out: Findings::default() };
    walker.out.touches.push((start.clone(), Use::Look));
    if walker.is_shadowed("bash", std::slice::from_ref(&start)) {
        walker.out.unclear = Some("would be run by a shell that lies in the workspace");
    }
    walker.node(&script.root, vec![start]);
    walker.out
}

struct Walker<'a> {
    line: &'a str,
    setting: &'a Setting<'a>,
    /// Whether what is walked now has something on its input.
    fed: bool,
    out: Findings,
}

impl Walker<'_> {
    /// Returns the folders after success and after failure.
    fn node(&mut self, node: &Node, bases: Bases) -> (Bases, Bases) {
        match node {
            Node::Simple(simple) => self.simple(simple, bases),
            Node::Group { subshell, body, redirects } => {
                self.redirects(redirects, &bases);
                let outer = self.fed;
                self.fed |= feeds(redirects);
                let (success, failure) = self.node(body, bases.clone());
                self.fed = outer;
                if *subshell { (bases.clone(), bases) } else { (success, failure) }
            }
            Node::Pipe(parts) => {
                let outer = self.fed;
                for part in parts {
                    self.node(part, bases.clone());
                    self.fed = true;
                }
                self.fed = outer;
                (bases.clone(), bases)
            }
            Node::Not(inner) => {
                let (success, failure) = self.node(inner, bases);
                (failure, success)
            }
            Node::And(left, right) => {
                let (success, failed) = self.node(left, bases);
                let (success, failure) = self.node(right, success);
                (success, self.both(failed, failure))
            }
            Node::Or(left, right) => {
                let (done, failed) = self.node(left, bases);
                let (success, failure) = self.node(right, failed);
                (self.both(done, success), failure)
            }
            Node::Seq(items) => {
                let mut now = (bases.clone(), bases);
                for item in items {
                    let all = self.both(now.0, now.1);
                    now = self.node(item, all);
                }
                now
            }
        }
    }

    fn both(&mut self, mut left: Bases, right: Bases) -> Bases {
        for base in right {
            if !left.contains(&base) {
                left.push(base);
            }
        }
        if left.len() > MAX_BASES {
            self.out.unclear = Some("changes the directory too often to follow");
            left.truncate(MAX_BASES);
        }
        left
    }

    fn simple(&mut self, simple: &Simple, bases: Bases) -> (Bases, Bases) {
        let writes = self.redirects(&simple.redirects, &bases);
        let Some((name, args)) = simple.words.split_first() else {
            return (bases.clone(), bases);
        };
        let mut moved = None;
        let verdict = match name.text.as_str() {
            "cd" => self.change_dir(args, &bases).map(|to| moved = Some(to)),
            _ => self.known(name, args, &bases),
        };
        if verdict.is_err() {
            // git itself does not write into the files it is told, as far as it is judged here.
            let usage = if name.text == "git" { Use::Read } else { Use::Write };
            self.opaque(args, &bases, usage);
        }
        let words = simple.words.iter().map(|w| w.text.clone()).collect();
        self.out.parts.push(Part {
            text: self.text_of(simple),
            words,
            read_only: verdict.is_ok(),
            reason: verdict.err().unwrap_or_default(),
            writes,
            fed: self.fed || feeds(&simple.redirects),
        });
        (moved.unwrap_or_else(|| bases.clone()), bases)
    }

    fn text_of(&self, simple: &Simple) -> String {
        let targets = simple.redirects.iter().filter_map(|r| r.target.as_ref());
        let spans = simple.words.iter().chain(targets).map(|w| &w.span);
        let start = spans.clone().map(|s| s.start).min().unwrap_or(0);
        let end = spans.map(|s| s.end).max().unwrap_or(0);
        self.line.get(start..end).unwrap_or_default().to_owned()
    }

    /// Judges redirections; true when one writes to a file.
    fn redirects(&mut self, redirects: &[Redirect], bases: &Bases) -> bool {
        let mut writes = false;
        for redirect in redirects {
            let Some(word) = &redirect.target else { continue };
            let digits = word.text.chars().all(|c| c.is_ascii_digit());
            match redirect.op {
                "<<" | "<<-" | "<<<" => {}
                "<&" | ">&" if digits => {}
                "<&" => self.out.unclear = Some("copies a descriptor by name"),
                "<" => self.touch(&(word, Use::Read), bases),
                _ if word.text == "/dev/null" => {}
                _ => {
                    writes = true;
                    if word.pattern.is_some() {
                        self.out.unclear = Some("writes to a file named by a pattern");
                    }
                    self.touch(&(word, Use::Write), bases);
                }
            }
        }
        writes
    }

    fn touch(&mut self, (word, usage): &Touch<'_>, bases: &Bases) {
        if word.text == "-" || matches!(word.text.as_str(), "/dev/null" | "/dev/stdin") {
            return;
        }
        match expand::paths(word, bases, self.setting.places.home()) {
            Ok(paths) => self.out.touches.extend(paths.into_iter().map(|path| (path, *usage))),
            Err(why) => self.out.unclear = Some(why),
        }
    }

    fn change_dir(&mut self, args: &[Word], bases: &Bases) -> Result<Bases, String> {
        let args = match args.split_first() {
            Some((first, rest)) if first.text == "--" => rest,
            _ => args,
        };
        let home = self.setting.places.home();
        let targets: Vec<PathBuf> = match args {
            [] => home.map(|h| vec![h.to_path_buf()]).unwrap_or_default(),
            [word] if !word.text.starts_with('-') && word.pattern.is_none() => {
                expand::paths(word, bases, home)?
            }
            _ => Vec::new(),
        };
        if targets.is_empty() {
            return Err("changes to a directory that can't be told".to_owned());
        }
        // The shell takes `..` off the text of the path, not off the place a link leads to.
        let targets: Bases = targets.iter().map(|path| flatten(path)).collect();
        self.out.touches.extend(targets.iter().map(|path| (path.clone(), Use::Look)));
        Ok(targets)
    }

    fn known(&mut self, name: &Word, args: &[Word], bases: &Bases) -> Result<(), String> {
        let text = name.text.as_str();
        if text.contains('/') {
            return Err("runs a program by its path".to_owned());
        }
        if !table::BUILTINS.contains(&text) && self.is_shadowed(text, bases) {
            return Err(format!("runs a `{text}` that lies in the workspace"));
        }
        let touches = match text {
            "echo" => args.iter().filter(|w| w.pattern.is_some()).map(|w| (w, Use::Look)).collect(),
            "printf" => match args.split_first() {
                Some((format, rest))
                    if format.pattern.is_none() && scripts::printf(&format.text) =>
                {
                    rest.iter().filter(|w| w.pattern.is_some()).map(|w| (w, Use::Look)).collect()
                }
                _ => return Err("uses a printf format that is not known to be harmless".to_owned()),
            },
            "find" => scripts::find(args)?,
            "test" | "[" => scripts::test(text, args)?,
            "git" => return self.git(args, bases),
            _ => Self::by_table(text, args, bases)?,
        };
        let before = self.out.touches.len();
        for touch in &touches {
            self.touch(touch, bases);
        }
        if let Some(reach) = sweep::reach(text, args) {
            let read = self.out.touches[before..].iter().filter(|(_, usage)| *usage == Use::Read);
            let mut folders: Vec<PathBuf> = read.map(|(path, _)| path.clone()).collect();
            if folders.is_empty() && reach.here {
                folders.clone_from(bases);
            }
            let folders = folders.into_iter().filter(|path| path.is_dir());
            let sweep = |folder| Sweep { folder, reach: reach.clone() };
            self.out.sweeps.extend(folders.map(sweep));
        }
        Ok(())
    }

    fn by_table<'w>(name: &str, args: &'w [Word], bases: &Bases) -> Result<Vec<Touch<'w>>, String> {
        if matches!(name, "cargo" | "rustc" | "rustup")
            && bases.iter().any(|b| repo::plants_rust(b))
        {
            return Err("runs a toolchain that the project may have replaced".to_owned());
        }
        if table::MANAGED.contains(&name) && bases.iter().any(|b| repo::plants_versions(b)) {
            return Err("runs a tool that the project may have replaced".to_owned());
        }
        let first = args.first().map_or("", |w| w.text.as_str());
        let sub =
            table::SUBCOMMANDS.iter().find(|(tool, spec)| *tool == name && spec.name == first);
        if let Some((_, spec)) = sub {
            return Ok(flags::matches(spec, &args[1..])?);
        }
        match table::TABLE.iter().find(|spec| spec.name == name) {
            Some(spec) => flags::matches(spec, args).map_err(|why| format!("`{name}` {why}")),
            None => Err(format!("runs `{name}`, which is not known to only read")),
        }
    }

    fn git(&mut self, args: &[Word], bases: &Bases) -> Result<(), String> {
        let (touches, folder) = git::read_only(args)?;
        let mut inside = bases.clone();
        if let Some(folder) = folder {
            inside = expand::paths(folder, bases, self.setting.places.home())?;
            self.out.touches.extend(inside.iter().map(|path| (path.clone(), Use::Look)));
        }
        if inside.iter().any(|base| resolve(base).is_none_or(|dir| repo::plants_git(&dir))) {
            return Err("runs git where project files look like a repository".to_owned());
        }
        for touch in &touches {
            self.touch(touch, &inside);
            // `REV:path` reads a file of that revision.
            if let Some((_, path)) = touch.0.text.split_once(':').filter(|(_, p)| !p.is_empty()) {
                self.out.touches.extend(inside.iter().map(|b| (b.join(path), touch.1)));
            }
        }
        Ok(())
    }

    /// Whether `PATH` leads to a program of that name in the workspace.
    fn is_shadowed(&self, name: &str, bases: &[PathBuf]) -> bool {
        self.setting.suspect_path.iter().any(|dir| {
            bases.iter().any(|base| base.join(dir).join(name).symlink_metadata().is_ok())
        })
    }

    /// Files among the arguments of a command that is not in the tables.
    fn opaque(&mut self, args: &[Word], bases: &Bases, usage: Use) {
        for word in args.iter().filter(|w| !w.text.contains("://")) {
            let text = word.text.as_str();
            let value = match text.split_once('=') {
                Some((_, value)) => value,
                // `-C/place`: a value right behind its letter.
                None if text.starts_with('-') && text.find('/') == Some(2) => &text[2..],
                None => text,
            };
            if value.is_empty() || value.contains([' ', '\n', '\t']) || value.starts_with('-') {
                continue;
            }
            let whole = value.len() == text.len();
            let paths = if whole {
                expand::paths(word, bases, self.setting.places.home()).unwrap_or_default()
            } else {
                bases.iter().map(|base| base.join(value)).collect()
            };
            let likely = paths.into_iter().filter(|path| is_likely(path));
            self.out.named.extend(likely.map(|path| (path, usage)));
        }
    }
}

/// Whether one of the redirections brings input.
fn feeds(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| redirect.op.starts_with('<'))
}

/// Whether an absolute path could be meant as one: its first folder exists, or it is a special
/// file that everybody may use.
pub fn is_likely(path: &Path) -> bool {
    const FREE: [&str; 5] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];
    if FREE.iter().any(|free| path == Path::new(free)) {
        return false;
    }
    let mut parts = path.components().skip(1);
    parts.next().is_some_and(|first| Path::new("/").join(first).symlink_metadata().is_ok())
}

/// Takes `.` and `..` out of the text of a path.
pub fn flatten(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                out.pop();
            }
            std::path::Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
