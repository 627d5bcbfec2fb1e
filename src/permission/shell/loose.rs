//! Commands read loosely: quotes removed, expansions left as text, wrappers such as `sudo`, `env`
//! or `bash -c` peeled off. Only used to find danger and denied commands, never to allow one.

/// A command as far as it can be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loose {
    /// Name and arguments, without quotes.
    pub words: Vec<String>,
    /// The command as written.
    pub raw: String,
    /// Names of the commands whose output it reads.
    pub upstream: Vec<String>,
}

impl Loose {
    /// The bare name: no folder, no leading backslash.
    pub fn name(&self) -> &str {
        self.words.first().map_or("", |word| base_name(word))
    }

    /// The arguments.
    pub fn args(&self) -> &[String] {
        self.words.get(1..).unwrap_or(&[])
    }

    fn with_words(&self, words: Vec<String>) -> Self {
        Self { words, raw: self.raw.clone(), upstream: self.upstream.clone() }
    }
}

/// The last component of a command name.
pub fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Removes quotes and backslashes; `$…` and backticks stay as they are.
pub fn dequote(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '$') if matches!(chars.peek(), Some('\'' | '"')) => {}
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None | Some('"'), '\\') => match chars.next() {
                Some('\n') | None => {}
                Some(next) => out.push(next),
            },
            _ => out.push(c),
        }
    }
    out
}

/// Splits a text into commands and words by looking at separators only. For lines that no grammar
/// understands.
pub fn split(text: &str) -> Vec<Loose> {
    let mut out: Vec<Loose> = Vec::new();
    let mut upstream: Vec<String> = Vec::new();
    let mut pipe = false;
    for piece in text.split_inclusive(['\n', ';', '|', '&', '(', ')', '`', '{', '}']) {
        let (body, separator) = match piece.char_indices().last() {
            Some((at, c)) if "\n;|&(){}`".contains(c) => (&piece[..at], Some(c)),
            _ => (piece, None),
        };
        let words: Vec<String> = body
            .split_whitespace()
            .map(dequote)
            .filter(|w| !w.is_empty() && !matches!(w.as_str(), "then" | "do" | "else" | "!"))
            .skip_while(|w| super::parse::is_assignment(w))
            .collect();
        if !pipe {
            upstream.clear();
        }
        if !words.is_empty() {
            out.push(Loose { words, raw: body.to_owned(), upstream: upstream.clone() });
            upstream.extend(out.last().and_then(|c| c.words.first().cloned()));
        }
        pipe = separator == Some('|') || (pipe && body.trim().is_empty() && separator == Some('&'));
    }
    out
}

/// Nesting of wrappers that is still followed.
const MAX_PEEL: usize = 8;

/// The command and everything it wraps, outermost first.
pub fn views(command: &Loose) -> Vec<Loose> {
    let mut out = vec![command.clone()];
    let mut next = 0;
    while next < out.len() && out.len() < MAX_PEEL * 4 {
        let inner = peel(&out[next]);
        out.extend(inner.into_iter().filter(|c| !c.words.is_empty()));
        next += 1;
        if next > MAX_PEEL {
            break;
        }
    }
    out
}

/// Wrappers that run the rest of their words: name and the flags that take a value.
const WRAPPERS: [(&str, &[&str]); 24] = [
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-T", "-U", "-r", "-t", "--user", "--group"]),
    ("doas", &["-u", "-C"]),
    ("env", &["-u", "-C", "-S", "--unset", "--chdir"]),
    ("nice", &["-n", "--adjustment"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("nohup", &[]),
    ("setsid", &[]),
    ("time", &["-f", "-o"]),
    ("timeout", &["-k", "-s", "--signal", "--kill-after"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &["-a"]),
    ("busybox", &[]),
    ("toybox", &[]),
    ("chroot", &[]),
    ("unshare", &[]),
    ("strace", &["-o", "-e", "-p"]),
    ("watch", &["-n", "--interval"]),
    ("parallel", &["-j"]),
    ("chrt", &[]),
    ("script", &[]),
    ("trap", &[]),
    (
        "xargs",
        &[
            "-I",
            "-n",
            "-P",
            "-L",
            "-d",
            "-s",
            "-a",
            "-E",
            "--max-args",
            "--max-procs",
            "--arg-file",
        ],
    ),
];

/// Shells whose `-c` takes a command line.
pub const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "rbash"];

fn peel(command: &Loose) -> Vec<Loose> {
    let name = command.name();
    let args = command.args();
    if SHELLS.contains(&name) || name == "su" {
        return script_argument(args).map(|text| nested(&text)).unwrap_or_default();
    }
    match name {
        "eval" | "trap" => return nested(&args.join(" ")),
        "find" | "fd" | "fdfind" => return executed_by_find(command),
        "env" if args.iter().any(|a| a.starts_with("-S") || a.starts_with("--split")) => {
            return nested(&args.join(" ").replacen("-S", "", 1));
        }
        _ => {}
    }
    let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) else {
        return Vec::new();
    };
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if valued.contains(&arg.as_str()) {
            at += 2;
        } else if arg.starts_with('-') || super::parse::is_assignment(arg) {
            at += 1;
        } else {
            break;
        }
    }
    let skipped = match name {
        "timeout" | "chroot" | "chrt" => 1,
        _ => 0,
    };
    vec![command.with_words(args.get(at + skipped..).unwrap_or(&[]).to_vec())]
}

/// The text after the first flag group that holds `c`.
fn script_argument(args: &[String]) -> Option<String> {
    let at = args.iter().position(|a| {
        a == "--command" || (a.starts_with('-') && !a.starts_with("--") && a.contains('c'))
    })?;
    args[at + 1..].iter().find(|a| !a.starts_with('-')).cloned()
}

fn nested(text: &str) -> Vec<Loose> {
    let found = super::grammar::tree(text).map(|tree| super::grammar::commands(&tree, text));
    match found {
        Some(commands) if !commands.is_empty() => commands,
        _ => split(text),
    }
}

fn executed_by_find(command: &Loose) -> Vec<Loose> {
    const RUNS: [&str; 8] =
        ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
    let args = command.args();
    let starts = args.iter().enumerate().filter(|(_, a)| RUNS.contains(&a.as_str()));
    starts
        .map(|(at, _)| {
            let words = args[at + 1..].iter().take_while(|a| !matches!(a.as_str(), ";" | "+"));
            command.with_words(words.cloned().collect())
        })
        .collect()
}
