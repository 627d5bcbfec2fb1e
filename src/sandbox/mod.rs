//! What the system offers to confine commands. This only looks and reports; no command is confined
//! yet, and the report says so.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use none as system;

/// What could be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// Version of the Landlock interface (file access rules); `None` when absent or switched off.
    pub landlock_abi: Option<u32>,
    /// Whether system call filters work.
    pub seccomp: bool,
    /// One line for people that names what there is and that it is not used.
    pub summary: String,
}

/// Asks the system. Changes nothing; takes microseconds.
pub fn probe() -> Support {
    let (landlock_abi, seccomp) = system::probe();
    Support { landlock_abi, seccomp, summary: summary(landlock_abi, seccomp) }
}

fn summary(landlock_abi: Option<u32>, seccomp: bool) -> String {
    let found = match (landlock_abi, seccomp) {
        (Some(abi), true) => format!("landlock (version {abi}) and seccomp"),
        (Some(abi), false) => format!("landlock (version {abi})"),
        (None, true) => "seccomp".to_owned(),
        (None, false) => {
            return "sandbox: not available on this system; commands run with your own rights"
                .to_owned();
        }
    };
    format!("sandbox: {found} available, not used yet; commands run with your own rights")
}
