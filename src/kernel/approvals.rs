//! The words of a denial, and what an answer to a prompt means.

use super::command::Answer;

/// Every denial starts with these words, so that the model can tell it from a failure.
const DENIED: &str = "User denied.";

/// Said when a call would have to ask and nobody is there.
pub(crate) const UNASKED: &str = "nobody could be asked, because the session is not interactive";

/// The gate or a rule refused.
pub(crate) fn denied_because(reason: &str) -> String {
    let reason = reason.trim();
    if reason.is_empty() { DENIED.to_owned() } else { format!("{DENIED} Reason: {reason}") }
}

/// The user refused, perhaps with words of their own.
pub(crate) fn denied_by_user(words: Option<&str>) -> String {
    match words.map(str::trim).filter(|words| !words.is_empty()) {
        Some(words) => format!("{DENIED} {words}"),
        None => DENIED.to_owned(),
    }
}

/// Whether the call may run.
pub(crate) fn allows(answer: &Answer) -> bool {
    matches!(answer, Answer::Once | Answer::Always | Answer::Partly { .. })
}
