//! The report about confinement.

use codebot::sandbox::probe;

#[test]
fn the_report_never_claims_more_than_there_is() {
    let support = probe();
    assert!(support.summary.contains("commands run with your own rights"), "{support:?}");
    assert_eq!(support.landlock_abi.is_some(), support.summary.contains("landlock"));
    assert_eq!(support.seccomp, support.summary.contains("seccomp"));
    let usable = support.landlock_abi.is_some() || support.seccomp;
    assert_eq!(usable, support.summary.contains("not used yet"));
    assert_eq!(support, probe(), "looking changes nothing");
}
