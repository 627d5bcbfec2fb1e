//! Fences the commands of the model in: what they may change, what stays closed to them, whether
//! they reach the network. What the system cannot fence is reported, never claimed. This room knows
//! no tool and asks nobody; it prepares a command that somebody else starts.

#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;
#[cfg(target_os = "linux")]
mod rules;

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use none as system;

/// The lowest Landlock version that fences everything: before 3 (Linux 6.2) a file could be cut
/// short from inside.
const LEAST_ABI: u32 = 3;

/// What could be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// Version of the Landlock interface (file access rules); `None` when absent or switched off.
    pub landlock_abi: Option<u32>,
    /// Whether system call filters work.
    pub seccomp: bool,
    /// One line for people: what there is, and what is missing for a sandbox.
    pub summary: String,
}

impl Support {
    /// Whether commands can be fenced in here.
    pub fn is_usable(&self) -> bool {
        self.landlock_abi.is_some_and(|abi| abi >= LEAST_ABI) && self.seccomp
    }
}

/// Asks the system, once per process. Changes nothing; takes microseconds.
pub fn probe() -> Support {
    static FOUND: OnceLock<Support> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let (landlock_abi, seccomp) = system::probe();
        Support { landlock_abi, seccomp, summary: summary(landlock_abi, seccomp) }
    });
    found.clone()
}

fn summary(landlock_abi: Option<u32>, seccomp: bool) -> String {
    let missing = match (landlock_abi, seccomp) {
        (Some(abi), true) if abi >= LEAST_ABI => {
            return format!("landlock (version {abi}) and seccomp are available");
        }
        (Some(abi), _) if abi < LEAST_ABI => {
            format!("landlock is too old here (version {abi}, {LEAST_ABI} is needed)")
        }
        (Some(_), _) => "seccomp is missing here".to_owned(),
        (None, _) => "landlock is missing here".to_owned(),
    };
    format!("{missing}; commands run with your own rights")
}

/// What is open inside. All paths absolute; those that do not exist count for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fence {
    /// Folders and files that may be changed, with everything below.
    pub writable: Vec<PathBuf>,
    /// Folders and files whose content stays closed, wherever they lie. Their names may be seen.
    pub closed: Vec<PathBuf>,
    /// Whether other machines, this one's own ports included, can be reached.
    pub network: bool,
    /// Whether programs may talk to others on this machine through socket files. A daemon behind
    /// one (containers, the desktop's bus) acts outside of the fence.
    pub local_sockets: bool,
}

/// Fences commands in.
#[derive(Debug)]
pub struct Sandbox {
    fence: Fence,
    #[cfg(target_os = "linux")]
    filter: std::sync::Arc<filter::Filter>,
}

impl Sandbox {
    /// A sandbox with this fence.
    ///
    /// # Errors
    /// One line, when the system has none.
    pub fn new(fence: Fence) -> Result<Self, String> {
        let support = probe();
        if !support.is_usable() {
            return Err(support.summary);
        }
        Ok(Self {
            #[cfg(target_os = "linux")]
            filter: std::sync::Arc::new(filter::Filter::new(&fence)?),
            fence,
        })
    }

    /// Prepares a command: it and all that it starts are inside, for good. The places are looked up
    /// anew, so that what has come up since is known.
    ///
    /// # Errors
    /// When the rules can't be made; the command must not be started then.
    pub fn confine(&self, command: &mut Command) -> io::Result<()> {
        system::confine(self, command)
    }

    /// What is open.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }
}

/// What output of a failed command tells of a fence that was hit; `None` when it does not look so.
/// A guess from the words of the system: a program may hide them or have other reasons to say them.
pub fn suspect(output: &str) -> Option<Denied> {
    const FILES: [&str; 3] = ["Permission denied", "EACCES", "Permission error"];
    const NETWORK: [&str; 5] = [
        "Operation not permitted",
        "EPERM",
        "Could not resolve host",
        "Temporary failure in name resolution",
        "network is unreachable",
    ];
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    if says(&FILES) {
        Some(Denied::Files)
    } else if says(&NETWORK) {
        Some(Denied::Calls)
    } else {
        None
    }
}

/// What a fence kept a command from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// A file outside, or a closed one.
    Files,
    /// A system call: mostly a connection.
    Calls,
}
