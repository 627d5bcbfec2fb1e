//! What follows a failed model call: another attempt and when, or the end. Pure: no clock, no
//! randomness of its own.

use std::time::Duration;

use super::error::{ModelError, ModelErrorKind};

/// The longest pause between attempts, and the longest `Retry-After` that is worth sitting through.
pub const MAX_WAIT: Duration = Duration::from_mins(1);

/// The share of the backoff that chance may add, so that many clients do not return at once.
const JITTER: f64 = 0.2;

/// The judgement on a failed call.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Try again after this pause.
    Retry {
        /// How long to wait.
        after: Duration,
    },
    /// End the run with this line.
    GiveUp {
        /// `LLM call failed: …`.
        message: String,
    },
}

/// Whether a failure of that class may pass by itself.
pub fn is_retryable(kind: ModelErrorKind) -> bool {
    match kind {
        ModelErrorKind::RateLimit
        | ModelErrorKind::Overloaded
        | ModelErrorKind::Server
        | ModelErrorKind::Timeout
        | ModelErrorKind::Network
        | ModelErrorKind::StreamIdle
        | ModelErrorKind::PartialStream => true,
        ModelErrorKind::Auth
        | ModelErrorKind::Quota
        | ModelErrorKind::Overflow
        | ModelErrorKind::ContentFilter
        | ModelErrorKind::InvalidRequest
        | ModelErrorKind::StreamUnsupported => false,
    }
}

/// Judges `error` after `retries` attempts that were already repeated. `unit` in `0.0..1.0` is the
/// chance for the jitter.
pub fn decide(error: &ModelError, retries: u32, max_retries: u32, unit: f64) -> Decision {
    if !is_retryable(error.kind) || retries >= max_retries {
        return Decision::GiveUp { message: failure(error) };
    }
    match error.retry_after {
        Some(wait) if wait > MAX_WAIT => Decision::GiveUp {
            message: format!(
                "{}; the service asks to wait {}, send the prompt again then",
                failure(error),
                spoken(wait)
            ),
        },
        Some(wait) => Decision::Retry { after: wait },
        None => Decision::Retry { after: backoff(retries, unit) },
    }
}

/// The line that ends a run whose model call failed.
pub fn failure(error: &ModelError) -> String {
    format!("LLM call failed: {}: {}", error.kind.name(), error.message)
}

/// 1, 2, 4, 8 … seconds, at most [`MAX_WAIT`], plus jitter.
pub fn backoff(retries: u32, unit: f64) -> Duration {
    let base = Duration::from_secs(1u64.checked_shl(retries).unwrap_or(u64::MAX)).min(MAX_WAIT);
    base + base.mul_f64(JITTER * unit.clamp(0.0, 1.0))
}

/// A duration as people say it, for example `4 min 10 s`.
fn spoken(wait: Duration) -> String {
    let seconds = wait.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenario S12: a shift past the width of the number must not wrap round to a short wait.
    #[test]
    fn a_huge_attempt_number_waits_the_cap() {
        for retries in [6, 31, 63, 64, 65, u32::MAX] {
            assert_eq!(backoff(retries, 0.0), MAX_WAIT, "{retries}");
        }
        assert_eq!(backoff(2, 1.0), Duration::from_millis(4800));
    }

    #[test]
    fn a_long_retry_after_is_spoken() {
        assert_eq!(spoken(Duration::from_secs(250)), "4 min 10 s");
        assert_eq!(spoken(Duration::from_secs(250_000)), "69 h 26 min");
    }
}
