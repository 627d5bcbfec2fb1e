//! Places that ask in every mode: credentials, files that make programs run later, the inside of
//! `.git`, our own settings. Names are compared without regard to case, so that a disk that ignores
//! case opens nothing by another spelling.

use std::path::Path;

/// What is to be done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// Only its name, size or existence.
    Look,
    /// Its content.
    Read,
    /// Creates or changes it.
    Write,
}

/// File names that hold credentials.
const SECRET_NAMES: [&str; 27] = [
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    ".terraformrc",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "credentials.json",
    "secrets.txt",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "secrets.toml",
    "credentials.toml",
    ".boto",
    ".s3cfg",
];

/// Endings of files that hold keys.
const SECRET_ENDS: [&str; 8] =
    [".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".ppk", ".kdbx"];

/// Folders whose whole content is private.
const SECRET_DIRS: [&str; 9] =
    [".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store", "keyrings", ".docker", ".gem"];

/// Pairs of folder and file or folder that are private.
const SECRET_PAIRS: [(&str, &str); 7] = [
    (".config", "gcloud"),
    (".config", "gh"),
    (".config", "hub"),
    (".config", "op"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".m2", "settings.xml"),
];

/// Files that shells and programs run by themselves.
const START_FILES: [&str; 32] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".inputrc",
    ".gitconfig",
    ".gdbinit",
    ".lldbinit",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".pryrc",
    ".irbrc",
    ".tool-versions",
    ".mise.toml",
    ".mcp.json",
];

/// Folders whose content is run or read as settings by other programs.
const START_DIRS: [&str; 14] = [
    "autostart",
    "launchagents",
    "launchdaemons",
    "cron.d",
    "cron.daily",
    "cron.hourly",
    "crontabs",
    ".husky",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".claude",
    ".cursor",
];

/// Pairs of folders whose content is run later.
const START_PAIRS: [(&str, &str); 5] = [
    (".config", "systemd"),
    (".config", "fish"),
    (".local", "bin"),
    ("etc", "systemd"),
    ("spool", "cron"),
];

/// What makes `path` a place that always asks, or `None`.
pub fn what(path: &Path, usage: Use) -> Option<&'static str> {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| part.as_os_str().to_str())
        .map(str::to_lowercase)
        .collect();
    let name = parts.last().map_or("", String::as_str);
    if usage != Use::Look && is_secret(&parts, name, path) {
        return Some("credentials");
    }
    let inside = |dir: &str| parts.iter().any(|part| part == dir);
    match usage {
        Use::Look => None,
        // A pointer file or the folder itself counts too: both decide which programs git runs.
        _ if inside(".git") => Some("the inside of .git"),
        _ if inside(".codebot") => Some("codebot's own configuration"),
        Use::Write if is_start(&parts, name) => Some("a file that makes programs run later"),
        _ => None,
    }
}

fn is_secret(parts: &[String], name: &str, path: &Path) -> bool {
    let public = name.strip_suffix(".pub").is_some() || name == "known_hosts";
    let sample =
        [".example", ".sample", ".template", ".dist"].iter().any(|end| name.ends_with(end));
    if public || sample {
        return false;
    }
    SECRET_NAMES.contains(&name)
        || name.starts_with(".env.")
        || SECRET_ENDS.iter().any(|end| name.ends_with(end))
        || parts.iter().any(|part| SECRET_DIRS.contains(&part.as_str()))
        || has_pair(parts, &SECRET_PAIRS)
        || is_system_secret(parts, path)
}

fn is_system_secret(parts: &[String], path: &Path) -> bool {
    const PROC: [&str; 5] = ["environ", "mem", "cmdline", "fd", "root"];
    const ETC: [&str; 4] = ["shadow", "gshadow", "sudoers", "sudoers.d"];
    let second = |top: &str, names: &[&str]| {
        path.is_absolute()
            && parts.get(1).is_some_and(|p| p == top)
            && parts.iter().skip(2).any(|p| names.contains(&p.as_str()))
    };
    second("proc", &PROC) || second("etc", &ETC)
}

fn is_start(parts: &[String], name: &str) -> bool {
    START_FILES.contains(&name)
        || name == "crontab"
        || parts.iter().any(|part| START_DIRS.contains(&part.as_str()))
        || has_pair(parts, &START_PAIRS)
}

fn has_pair(parts: &[String], pairs: &[(&str, &str)]) -> bool {
    parts.windows(2).any(|two| pairs.iter().any(|(a, b)| two[0] == *a && two[1] == *b))
}

/// Pieces of text that name such a place inside a program's text, for commands whose arguments
/// can't be judged one by one.
pub fn mentioned(text: &str) -> Option<&'static str> {
    const PIECES: [(&str, &str); 14] = [
        (".ssh/", "credentials"),
        (".aws/", "credentials"),
        (".gnupg/", "credentials"),
        (".kube/", "credentials"),
        (".netrc", "credentials"),
        (".git-credentials", "credentials"),
        ("/environ", "credentials"),
        (".git/hooks", "the inside of .git"),
        (".git/config", "the inside of .git"),
        (".bashrc", "a file that makes programs run later"),
        (".bash_profile", "a file that makes programs run later"),
        (".zshrc", "a file that makes programs run later"),
        (".profile", "a file that makes programs run later"),
        (".codebot/", "codebot's own configuration"),
    ];
    let text = text.to_lowercase();
    PIECES.iter().find(|(piece, _)| text.contains(piece)).map(|(_, what)| *what)
}
