//! The sandbox of a session: where the fence stands for this project and this user, whether it is on,
//! and the words for it. How commands are held in is `sandbox`'s business.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ground::Ground;
use crate::config::schema::SandboxMode;
use crate::sandbox::{Denied, Fence, Sandbox, probe, suspect};
use crate::tools::confine::Confinement;

/// Below the home folder: what tools of daily work keep for themselves and change. Nothing here is
/// run by itself later.
const CACHES: [&str; 7] = [
    ".cache",
    ".npm",
    ".local/share/pnpm/store",
    ".gradle/caches",
    ".m2/repository",
    ".ivy2/cache",
    "go/pkg",
];

/// In cargo's own folder: the same.
const CARGO_CACHES: [&str; 5] =
    ["registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"];

/// Below the home folder: what no command has to read.
const SECRETS: [&str; 29] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".config/codebot",
    ".local/share/keyrings",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".vault-token",
    ".terraformrc",
    ".boto",
    ".s3cfg",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".bash_history",
];

/// Of the system, for those who work as root.
const SYSTEM_SECRETS: [&str; 4] = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d"];

/// Where programs put what they need for a moment, and devices that take everything.
const OPEN: [&str; 9] = [
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// What came of it.
#[derive(Clone, Debug)]
pub struct Fenced {
    /// What holds commands in; `None` when nothing does.
    pub confinement: Option<Confinement>,
    /// Whether accept-edits may run commands of the workspace unasked.
    pub held: bool,
    /// One line for people.
    pub text: String,
}

/// Sets the sandbox up as the settings say.
///
/// # Errors
/// One line, when it has to be on and can't be.
pub fn fence(ground: &Ground) -> Result<Fenced, String> {
    let config = &ground.settings.config.sandbox;
    let off = |text: String| Ok(Fenced { confinement: None, held: false, text });
    if config.mode == SandboxMode::Off {
        return off("off by sandbox.mode; commands run with your own rights".to_owned());
    }
    match Sandbox::new(place(ground)) {
        Ok(sandbox) => {
            let network = if config.network { "network open" } else { "no network" };
            let text = format!("on: commands write in workspace, temp and caches only, {network}");
            let held = config.auto_allow;
            Ok(Fenced { confinement: Some(confinement(sandbox)), held, text })
        }
        Err(why) if config.mode == SandboxMode::On => Err(format!(
            "sandbox.mode is on, but {why}; set it to \"auto\" or \"off\" to work without a sandbox"
        )),
        Err(why) => off(format!("off: {why}")),
    }
}

/// The line for `doctor`, without setting anything up.
pub fn report(mode: SandboxMode) -> (bool, String) {
    let support = probe();
    match mode {
        SandboxMode::Off => {
            (false, "off by sandbox.mode; commands run with your own rights".to_owned())
        }
        SandboxMode::Auto | SandboxMode::On if support.is_usable() => {
            (true, format!("on: {}", support.summary))
        }
        SandboxMode::Auto => (false, format!("off: {}", support.summary)),
        SandboxMode::On => {
            (false, format!("sandbox.mode is on, but no session starts: {}", support.summary))
        }
    }
}

fn confinement(sandbox: Sandbox) -> Confinement {
    let sandbox = Arc::new(sandbox);
    let words = Arc::clone(&sandbox);
    let explain = move |output: &str| explain(suspect(output)?, words.fence());
    Confinement::new(move |command| sandbox.confine(command), explain)
}

/// What the model is told when a command may have hit the fence.
fn explain(denied: Denied, fence: &Fence) -> Option<String> {
    let what = match denied {
        Denied::Files => {
            "it can change files in the workspace, temp folders and caches only, and keys are closed"
        }
        Denied::Calls if fence.network && fence.local_sockets => return None,
        Denied::Calls => "it reaches no other machine",
    };
    Some(format!(
        "[this ran in a sandbox: {what}. If that is why it failed and it has to be, run it again \
         with `unsandboxed`; the user is asked]"
    ))
}

/// Where the fence stands.
fn place(ground: &Ground) -> Fence {
    let config = &ground.settings.config.sandbox;
    let home = ground.env.home();
    let below_home = |names: &[&str]| -> Vec<PathBuf> {
        home.iter().flat_map(|home| names.iter().map(|name| home.join(name))).collect()
    };
    let mut writable = vec![ground.workspace.clone(), ground.cwd.clone()];
    writable.extend(ground.roots());
    writable.extend(OPEN.map(PathBuf::from));
    writable.extend(below_home(&CACHES));
    let set = ["TMPDIR", "XDG_CACHE_HOME", "GOMODCACHE", "GOCACHE", "npm_config_cache"];
    writable.extend(set.iter().filter_map(|name| ground.env.path(name)));
    let cargo = ground.env.path("CARGO_HOME").or_else(|| Some(home.as_ref()?.join(".cargo")));
    writable.extend(cargo.iter().flat_map(|cargo| CARGO_CACHES.map(|part| cargo.join(part))));
    let own = |path: &PathBuf| match (path.strip_prefix("~"), &home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => ground.cwd.join(path),
    };
    writable.extend(config.write.iter().map(own));
    let mut closed = below_home(&SECRETS);
    closed.extend(SYSTEM_SECRETS.map(PathBuf::from));
    closed.push(ground.paths.config_file.clone());
    closed.push(ground.paths.config_dir.clone());
    let kept = ["sessions", "checkpoints"].map(|name| ground.paths.state_dir.join(name));
    closed.extend(kept);
    writable.retain(|place| is_narrow(place));
    Fence { writable, closed, network: config.network, local_sockets: !config.auto_allow }
}

/// A fence around everything is none.
fn is_narrow(place: &Path) -> bool {
    place.is_absolute() && place != Path::new("/")
}
