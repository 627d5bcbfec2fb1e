//! Systems without a sandbox that is known here.

use std::io;
use std::process::Command;

use super::Sandbox;

/// Nothing: no Landlock version, no filters.
pub(super) fn probe() -> (Option<u32>, bool) {
    (None, false)
}

/// Never reached: no sandbox can be made here.
pub(super) fn confine(_: &Sandbox, _: &mut Command) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
