//! Linux: asks the kernel which Landlock rules it takes and whether it filters system calls.
//! Rule sets are created and dropped, never applied.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    Scope,
};

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
