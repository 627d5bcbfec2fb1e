//! Where keys go: derived from what is open, never stored.

use super::Store;

/// Who takes the next key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// Nobody: the program is closing.
    Closing,
    /// An approval.
    Approval,
    /// A question of the model.
    Question,
    /// The set-up panel.
    Setup,
    /// A panel the user opened.
    Overlay,
    /// The composer.
    Composer,
}

/// Who takes the next key, as the screen shows it. Whether an approval already takes keys is
/// decided by its guard time.
pub fn focus(store: &Store) -> Focus {
    if store.closing_since().is_some() {
        return Focus::Closing;
    }
    if store.approvals.shown().is_some() {
        return Focus::Approval;
    }
    beneath(store)
}

/// Who takes keys that an approval does not take yet.
pub fn beneath(store: &Store) -> Focus {
    if store.question.is_some() {
        return Focus::Question;
    }
    if store.setup.is_some() {
        return Focus::Setup;
    }
    match store.overlay {
        Some(_) => Focus::Overlay,
        None => Focus::Composer,
    }
}
