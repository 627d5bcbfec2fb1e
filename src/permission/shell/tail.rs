//! What a trailing `*` of an allow rule may stand for. The build and test tools of daily work run
//! the project's programs, and that is what such a rule permits; some of their arguments would make
//! them run any other program, and those the `*` does not cover.

/// Flags that name a program or settings that can, by tool. A flag counts with whatever follows its
/// name: `-exec=x` and `--config-file` too.
const RUNS: [(&str, &[&str]); 14] = [
    ("cargo", &["--config", "-Z"]),
    ("go", &["-exec", "-toolexec", "-vettool", "-ldflags", "-gccgoflags", "-overlay", "-modfile"]),
    ("npm", PACKAGES),
    ("pnpm", PACKAGES),
    ("yarn", PACKAGES),
    ("bun", PACKAGES),
    ("pytest", &["-p", "-c", "-o", "--override-ini", "--pdbcls", "--basetemp", "--rootdir"]),
    ("mypy", &["--python-executable", "--config-file"]),
    ("eslint", &["-c", "--config", "--rulesdir", "--plugin", "--parser", "--resolve-plugins"]),
    ("prettier", &["--plugin", "--config"]),
    ("jest", &["-c", "--config", "--global", "--runner", "--testRunner", "--transform"]),
    ("vitest", &["-c", "--config", "--globalSetup", "--environment"]),
    ("rspec", &["-r", "--require", "-I", "-O", "--options"]),
    ("rustfmt", &["--config"]),
];

const PACKAGES: &[&str] = &[
    "--script-shell",
    "--node-options",
    "--userconfig",
    "--globalconfig",
    "--onload-script",
    "--preload",
    "--require",
    "-r",
    "--use-yarnrc",
    "--config",
];

/// Tools that paste their arguments into the shell lines of a target.
const PASTES: [&str; 3] = ["make", "just", "task"];

/// Flags of these that only change how much is done or said.
const PLAIN_FLAGS: [&str; 13] = [
    "-s",
    "-k",
    "-n",
    "-B",
    "-j",
    "-w",
    "-q",
    "-v",
    "--silent",
    "--keep-going",
    "--dry-run",
    "--always-make",
    "--no-print-directory",
];

/// Whether none of these arguments makes the tool run a program of the caller's choice.
pub fn is_tame(tool: &str, args: &[String]) -> bool {
    if PASTES.contains(&tool) {
        return args.iter().all(|arg| is_target(arg));
    }
    // Some versions of the package managers paste further arguments as well.
    let quoted = |arg: &String| arg.contains(['$', '`', ';', '&', '|', '<', '>', '"', '\\', '\n']);
    if matches!(tool, "npm" | "pnpm" | "yarn" | "bun") && args.iter().any(quoted) {
        return false;
    }
    let Some((_, flags)) = RUNS.iter().find(|(name, _)| *name == tool) else { return true };
    // Go reads `--flag` as `-flag`.
    let names = |arg: &str, flag: &str| {
        arg.starts_with(flag)
            || (tool == "go" && arg.strip_prefix('-').is_some_and(|a| a.starts_with(flag)))
    };
    !args.iter().any(|arg| flags.iter().any(|flag| names(arg, flag)))
}

/// The name of a target, or a harmless flag such as `-j8`.
fn is_target(arg: &str) -> bool {
    if arg.starts_with('-') {
        let jobs = arg.strip_prefix("-j").is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()));
        return jobs || PLAIN_FLAGS.contains(&arg);
    }
    arg.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:@+%".contains(c))
}
