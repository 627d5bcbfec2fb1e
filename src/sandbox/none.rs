//! Systems without a sandbox that is known here.

/// Nothing: no Landlock version, no filters.
pub(super) fn probe() -> (Option<u32>, bool) {
    (None, false)
}
