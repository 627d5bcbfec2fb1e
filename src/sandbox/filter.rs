//! The filter of system calls: which kinds of sockets can be made. A ring that makes system calls on
//! a command's behalf would go around it and is refused as well.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::Fence;

/// Marks the numbers of system calls made through the second, narrow interface of x86-64.
#[cfg(target_arch = "x86_64")]
const NARROW: i64 = 0x4000_0000;

/// A compiled filter.
#[derive(Debug)]
pub(super) struct Filter(BpfProgram);

impl Filter {
    /// The filter of a fence.
    pub(super) fn new(fence: &Fence) -> Result<Self, String> {
        let failed = |error: seccompiler::BackendError| {
            format!("the system call filter could not be made: {error}")
        };
        let mut calls = BTreeMap::new();
        if let Some(rules) = refused_sockets(fence).map_err(failed)? {
            calls.insert(libc::SYS_socket, rules);
            calls.insert(libc::SYS_io_uring_setup, Vec::new());
        }
        #[cfg(target_arch = "x86_64")]
        for (call, rules) in calls.clone() {
            calls.insert(call | NARROW, rules);
        }
        if calls.is_empty() {
            return Ok(Self(BpfProgram::new()));
        }
        let arch = std::env::consts::ARCH.try_into().map_err(failed)?;
        let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
        let filter = SeccompFilter::new(calls, SeccompAction::Allow, refuse, arch);
        let program = filter.and_then(BpfProgram::try_from).map_err(failed)?;
        Ok(Self(program))
    }

    /// Puts the calling thread behind the filter. Allocates nothing, so that a forked child may
    /// call it.
    pub(super) fn apply(&self) -> io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        seccompiler::apply_filter(&self.0).map_err(|error| match error {
            seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => error,
            _ => io::ErrorKind::Unsupported.into(),
        })
    }
}

/// Every kind but those that stay: files of this machine and questions to the kernel itself.
fn refused_sockets(fence: &Fence) -> Result<Option<Vec<SeccompRule>>, seccompiler::BackendError> {
    let mut stays = vec![libc::AF_NETLINK];
    if fence.local_sockets {
        stays.push(libc::AF_UNIX);
    }
    if fence.network {
        if fence.local_sockets {
            return Ok(None);
        }
        let local = u64::from(libc::AF_UNIX.cast_unsigned());
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, local)?;
        return Ok(Some(vec![SeccompRule::new(vec![condition])?]));
    }
    let other = |kind: libc::c_int| {
        let kind = u64::from(kind.cast_unsigned());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, kind)
    };
    let conditions: Result<Vec<_>, _> = stays.into_iter().map(other).collect();
    Ok(Some(vec![SeccompRule::new(conditions?)?]))
}
