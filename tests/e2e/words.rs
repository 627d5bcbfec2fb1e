//! Words of the screen that several tests look for, in one place: a change of a label is a change
//! here and nowhere else.

/// Stands in front of the composer.
pub(crate) const COMPOSER: &str = "❯";
/// Stands in the run line while a run is active.
pub(crate) const RUNNING: &str = "· esc stops";
/// The first option of an approval panel.
pub(crate) const PANEL: &str = "Yes, once";
/// The permission mode in the footer at the start.
pub(crate) const MODE: &str = "balanced";
/// How long a panel refuses keys after it appeared, with a margin, in milliseconds.
pub(crate) const PANEL_GUARD_MS: u64 = 700;
/// The last line of an approval panel.
pub(crate) const PANEL_KEYS: &str = "enter confirms";
