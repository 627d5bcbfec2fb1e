//! Linux: asks the kernel which Landlock rules it takes and whether it filters system calls, and puts
//! a child behind both between fork and exec. Rules and filter are made before the fork.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    Scope,
};

use super::filter::Filter;
use super::{Sandbox, rules};

/// The highest Landlock version whose rules the kernel takes, and whether filters exist.
pub(super) fn probe() -> (Option<u32>, bool) {
    (landlock_abi(), has_seccomp())
}

/// Versions are told apart by what each added: file access 1, 2, 3 and 5, network 4, scopes 6.
fn landlock_abi() -> Option<u32> {
    let mut found = None;
    for version in 1..=6 {
        if !takes(version) {
            break;
        }
        found = Some(version);
    }
    found
}

fn takes(version: u32) -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let handled = match version {
        1 => strict.handle_access(AccessFs::from_all(ABI::V1)),
        2 => strict.handle_access(AccessFs::from_all(ABI::V2)),
        3 => strict.handle_access(AccessFs::from_all(ABI::V3)),
        4 => strict.handle_access(AccessNet::from_all(ABI::V4)),
        5 => strict.handle_access(AccessFs::from_all(ABI::V5)),
        _ => strict.scope(Scope::from_all(ABI::V6)),
    };
    handled.and_then(Ruleset::create).is_ok()
}

/// The kernel lists the actions of its filters when it has them.
fn has_seccomp() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail")
        .is_ok_and(|actions| actions.contains("errno"))
}

/// Prepares a command; see [`Sandbox::confine`].
#[expect(unsafe_code, reason = "a child can only be fenced in between fork and exec")]
pub(super) fn confine(sandbox: &Sandbox, command: &mut Command) -> io::Result<()> {
    let rules = rules::make(&sandbox.fence)?;
    let filter = Arc::clone(&sandbox.filter);
    // SAFETY: the closure runs in the forked child and makes system calls only; it allocates nothing
    // and takes no lock.
    unsafe {
        command.pre_exec(move || enter(&rules, &filter));
    }
    Ok(())
}

/// Fences the calling process in, for good.
#[expect(unsafe_code, reason = "no library makes these two calls without allocating")]
fn enter(rules: &OwnedFd, filter: &Filter) -> io::Result<()> {
    // SAFETY: both calls take numbers only; the descriptor is open as long as `rules` lives.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) == 0
    };
    if !done {
        return Err(io::Error::last_os_error());
    }
    filter.apply()
}
