//! Shapes of commands that destroy: two ranks. *Catastrophic* could take the machine or the home
//! directory with it; *dangerous* destroys work or runs foreign code. Reads commands loosely, so
//! it sees through quotes, wrappers and lines that are otherwise not understood.

use std::path::{Component, Path, PathBuf};

use super::loose::{Loose, SHELLS};

/// How bad a command line could be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Danger {
    /// Nothing special.
    #[default]
    None,
    /// Destroys work, rewrites history or runs foreign code.
    Dangerous,
    /// Could destroy the machine or the home directory.
    Catastrophic,
}

use Danger::{Catastrophic, Dangerous};

/// A finding with its reason.
pub type Finding = (Danger, &'static str);

/// Where commands run and what must survive.
#[derive(Clone, Debug)]
pub struct Ground {
    /// Start directory of the line.
    pub workdir: PathBuf,
    /// The home directory, when known.
    pub home: Option<PathBuf>,
    /// The workspace roots; their parents must survive.
    pub roots: Vec<PathBuf>,
}

/// The worst shape among `commands`, which stand in order; every element holds one command and
/// what it wraps.
pub fn worst(commands: &[Vec<Loose>], line: &str, ground: &Ground) -> Option<Finding> {
    let mut base = ground.workdir.clone();
    let mut found: Option<Finding> = fork_bomb(line);
    for views in commands {
        for view in views {
            let finding = judge(view, &base, ground);
            if finding.map(|f| f.0) > found.map(|f| f.0) {
                found = finding;
            }
        }
        if let Some(first) = views.first().filter(|c| matches!(c.name(), "cd" | "pushd")) {
            if let Some(target) = first.args().iter().find(|a| !a.starts_with('-')) {
                base = place(target, &base, ground).unwrap_or(base);
            }
        }
    }
    found
}

fn judge(command: &Loose, base: &Path, ground: &Ground) -> Option<Finding> {
    let args = command.args();
    let targets = || targets_of(args, base, ground);
    match command.name() {
        "rm" => remove(args, base, ground),
        "find" => args.iter().any(|a| a == "-delete").then(|| {
            let start: Vec<String> =
                args.iter().take_while(|a| !a.starts_with(['-', '(', '!'])).cloned().collect();
            let start = if start.is_empty() { vec![".".to_owned()] } else { start };
            let worst = start.iter().any(|a| target(a, base, ground) != Target::Bounded);
            (rank(worst), "deletes everything that find finds")
        }),
        "git" => super::git::danger(args).map(|why| (Dangerous, why)),
        "chmod" => open_mode(args)
            .then_some((Dangerous, "makes files writable or privileged for everybody"))
            .max(tree_change(args, &targets())),
        "chown" | "chgrp" => tree_change(args, &targets()),
        "mv" => (targets().contains(&Target::Vital))
            .then_some((Catastrophic, "moves a directory the system or your home needs")),
        "dd" => disk_copy(args),
        "shred" | "wipe" | "srm" => Some((Dangerous, "overwrites files for good")),
        "shutdown" | "reboot" | "halt" | "poweroff" => Some((Dangerous, "stops the machine")),
        "kill" if args.len() > 1 && args.last().is_some_and(|a| a == "-1") => {
            Some((Dangerous, "kills every process"))
        }
        "crontab" if args.iter().all(|a| a != "-l") => Some((Dangerous, "changes scheduled jobs")),
        "sudo" | "doas" | "su" => Some((Dangerous, "runs with other rights")),
        name if is_disk_tool(name) => Some((Catastrophic, "rewrites a disk")),
        _ => None,
    }
    .max(disk_argument(command))
    .max(foreign_code(command))
}

fn rank(worst: bool) -> Danger {
    if worst { Catastrophic } else { Dangerous }
}

fn is_disk_tool(name: &str) -> bool {
    const TOOLS: [&str; 9] = [
        "mke2fs",
        "mkswap",
        "fdisk",
        "sfdisk",
        "cfdisk",
        "parted",
        "wipefs",
        "blkdiscard",
        "sgdisk",
    ];
    name == "mkfs" || name.starts_with("mkfs.") || TOOLS.contains(&name)
}

/// Whether the flags hold this short letter or this long name, abbreviated or not.
pub fn has_flag(args: &[String], short: &str, long: &str) -> bool {
    args.iter().take_while(|a| *a != "--").any(|arg| match arg.strip_prefix("--") {
        Some(name) => {
            let name = name.split('=').next().unwrap_or(name);
            !long.is_empty() && !name.is_empty() && long.starts_with(name)
        }
        None => {
            arg.len() > 1 && arg.starts_with('-') && arg[1..].chars().any(|c| short.contains(c))
        }
    })
}

fn remove(args: &[String], base: &Path, ground: &Ground) -> Option<Finding> {
    if args.iter().any(|a| a.starts_with("--no-pres")) {
        return Some((Catastrophic, "removes the root directory"));
    }
    if !has_flag(args, "rR", "recursive") {
        return None;
    }
    let worst = targets_of(args, base, ground).iter().any(|t| *t != Target::Bounded);
    let why = if worst {
        "removes a directory tree that may be the system's or your home"
    } else {
        "removes whole directory trees"
    };
    Some((rank(worst), why))
}

fn tree_change(args: &[String], targets: &[Target]) -> Option<Finding> {
    (has_flag(args, "R", "recursive") && targets.contains(&Target::Vital))
        .then_some((Catastrophic, "changes owner or mode of the system's files"))
}

fn open_mode(args: &[String]) -> bool {
    let Some(mode) = args.iter().find(|a| !a.starts_with('-')) else { return false };
    if mode.chars().all(|c| c.is_digit(8)) {
        let special = mode.len() > 3 && !mode.starts_with('0');
        return special || mode.ends_with(['2', '3', '6', '7']);
    }
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '=']) else { return false };
        let (who, what) = clause.split_at(at);
        (who.contains(['o', 'a']) && what.contains('w')) || what.contains('s')
    })
}

fn disk_copy(args: &[String]) -> Option<Finding> {
    const HARMLESS: [&str; 3] = ["/dev/null", "/dev/stdout", "/dev/stderr"];
    let output = args.iter().find_map(|a| a.strip_prefix("of="));
    if output.is_some_and(|path| path.starts_with("/dev/") && !HARMLESS.contains(&path)) {
        return Some((Catastrophic, "writes straight to a device"));
    }
    Some((Dangerous, "copies raw data over files or devices"))
}

/// A disk named as the target of something that writes.
fn disk_argument(command: &Loose) -> Option<Finding> {
    const DISKS: [&str; 9] = ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "mapper/", "dm-"];
    let disk = |text: &str| {
        text.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|d| name.starts_with(d)))
    };
    let writes = matches!(command.name(), "tee" | "cp" | "mv" | "cat" | "ln" | "truncate");
    let redirected = command.raw.rsplit('>').next().is_some_and(|t| disk(t.trim_start()));
    (redirected && command.raw.contains('>') || writes && command.args().iter().any(|a| disk(a)))
        .then_some((Catastrophic, "writes straight to a device"))
}

/// Fetched or piped text that becomes a program.
fn foreign_code(command: &Loose) -> Option<Finding> {
    const FETCH: [&str; 5] = ["curl", "wget", "fetch", "http", "aria2c"];
    const RUN: [&str; 8] = ["python", "python3", "perl", "ruby", "node", "php", "lua", "deno"];
    let name = command.name();
    let shell = SHELLS.contains(&name);
    let reads_stdin = command.args().iter().all(|a| a.starts_with('-') && a != "-c" && a != "-m")
        || command.args().first().is_some_and(|a| a == "-s" || a == "-");
    let fetched = command.upstream.iter().any(|u| FETCH.contains(&super::loose::base_name(u)));
    if !command.upstream.is_empty() && reads_stdin && (shell || RUN.contains(&name) && fetched) {
        return Some((Dangerous, "runs piped text as a program"));
    }
    let opens = ["$(", "<(", "`"].iter().any(|mark| command.raw.contains(mark));
    let runs = shell || RUN.contains(&name) || matches!(name, "eval" | "source" | ".");
    (runs && opens && FETCH.iter().take(2).any(|f| command.raw.contains(f)))
        .then_some((Dangerous, "runs text from the network as a program"))
}

/// `name(){ name|name& };name`, whatever the name and the blanks.
fn fork_bomb(line: &str) -> Option<Finding> {
    let dense: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    dense
        .match_indices("(){")
        .any(|(at, _)| {
            let start = dense[..at].rfind([';', '|', '&', '{', '}']).map_or(0, |i| i + 1);
            let name = dense[start..at].trim_start_matches("function");
            !name.is_empty() && dense[at..].contains(&format!("{name}|{name}"))
        })
        .then_some((Catastrophic, "starts processes without end"))
}

/// What a removal or move is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// Some directory or file like any other.
    Bounded,
    /// Unknown until it runs, and it may be anything.
    Unknown,
    /// The system, the home directory or a parent of the workspace.
    Vital,
}

fn targets_of(args: &[String], base: &Path, ground: &Ground) -> Vec<Target> {
    let mut only = false;
    let mut out = Vec::new();
    for arg in args {
        if arg == "--" && !only {
            only = true;
        } else if only || !arg.starts_with('-') {
            out.push(target(arg, base, ground));
        }
    }
    out
}

fn target(text: &str, base: &Path, ground: &Ground) -> Target {
    let mut text = text.trim_end_matches('/');
    loop {
        let cut =
            ["/*", "/.*", "/{*,.*}", "/**", "/."].iter().find_map(|end| text.strip_suffix(end));
        match cut {
            Some(rest) => text = rest.trim_end_matches('/'),
            None => break,
        }
    }
    let text = match text {
        "" => "/",
        "*" | ".*" | "**" => ".",
        _ => text,
    };
    match place(text, base, ground) {
        None => Target::Unknown,
        Some(path) if is_vital(&path, ground) => Target::Vital,
        Some(_) => Target::Bounded,
    }
}

/// The absolute path a word means; `None` when its start is not known before it runs and nothing
/// fixed follows.
fn place(text: &str, base: &Path, ground: &Ground) -> Option<PathBuf> {
    for mark in ["~", "$HOME", "${HOME}"] {
        let rest = text.strip_prefix(mark).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        if let (Some(rest), Some(home)) = (rest, &ground.home) {
            return Some(flatten(&home.join(rest.trim_start_matches('/'))));
        }
    }
    for mark in ["$PWD", "${PWD}", "$(pwd)"] {
        if let Some(rest) = text.strip_prefix(mark) {
            return Some(flatten(&base.join(rest.trim_start_matches('/'))));
        }
    }
    if text.starts_with(['$', '`', '~']) {
        let fixed = text.rsplit(['}', ')', '`']).next().unwrap_or(text);
        let tail = fixed.split_once('/').map(|(_, tail)| tail).filter(|t| !t.contains(['$', '*']));
        return tail.filter(|t| !t.is_empty()).map(|tail| flatten(&base.join(tail)));
    }
    Some(flatten(&base.join(text)))
}

fn flatten(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

fn is_vital(path: &Path, ground: &Ground) -> bool {
    const TOP: [&str; 20] = [
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/home",
        "/lib",
        "/lib64",
        "/opt",
        "/proc",
        "/root",
        "/sbin",
        "/srv",
        "/sys",
        "/usr",
        "/var",
        "/Users",
        "/System",
        "/Library",
        "/Applications",
        "/usr/local",
    ];
    let above = |kept: &PathBuf| kept.starts_with(path);
    path == Path::new("/")
        || TOP.iter().any(|top| path == Path::new(top))
        || ground.home.as_ref().is_some_and(above)
        || ground.roots.iter().any(|root| root != path && above(root))
}
