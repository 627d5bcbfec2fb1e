//! How long a service asks us to wait: `Retry-After` in seconds or as a date, `retry-after-ms`,
//! the providers' own reset headers, or the words of the error. What can't be read is ignored.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;

/// Longest believable wait; anything above is taken as malformed.
const MAX_WAIT: Duration = Duration::from_hours(7 * 24);

/// Pairs of "how many are left" and "when there are more", for requests and tokens.
const RESETS: &[(&str, &str)] = &[
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
];

/// The wait that headers ask for. The service's own `Date` counts as now when it is there, so that
/// a wrong local clock does no harm.
pub fn from_headers(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let now = text("date").and_then(http_date).unwrap_or(now);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return seconds(ms / 1000.0);
    }
    if let Some(value) = text("retry-after") {
        let plain = value.parse::<f64>().ok().and_then(seconds);
        let wait = plain.or_else(|| Some(until(http_date(value)?, now)));
        if let Some(wait) = wait.filter(|wait| *wait <= MAX_WAIT) {
            return Some(wait);
        }
    }
    let mut exhausted = None;
    let mut soonest = None;
    for (left, reset) in RESETS {
        let Some(wait) = text(reset).and_then(|value| reset_wait(value, now)) else { continue };
        if text(left).is_some_and(|left| left.parse::<f64>().is_ok_and(|left| left <= 0.0)) {
            exhausted = exhausted.max(Some(wait));
        } else if text(left).is_none() {
            soonest = Some(soonest.map_or(wait, |old: Duration| old.min(wait)));
        }
    }
    exhausted.or(soonest)
}

/// The wait that an error text asks for (`try again in 1.5s`, `retry in 20 seconds`).
pub fn from_text(text: &str) -> Option<Duration> {
    let lower = text.to_lowercase();
    let at = ["try again in ", "retry in ", "retry after "]
        .iter()
        .find_map(|words| lower.find(words).map(|at| at + words.len()))?;
    let rest = lower.get(at..)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let number: f64 = rest.get(..end)?.trim_end_matches('.').parse().ok()?;
    let unit = rest.get(end..)?.trim_start();
    let factor = match unit {
        _ if unit.starts_with("ms") || unit.starts_with("milli") => 0.001,
        _ if unit.starts_with('m') => 60.0,
        _ if unit.starts_with('h') => 3600.0,
        _ => 1.0,
    };
    seconds(number * factor)
}

fn reset_wait(value: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(number) = value.parse::<f64>() {
        // Large numbers are points in time, in seconds or milliseconds; small ones are waits.
        let at = if number > 1e12 { number / 1000.0 } else { number };
        if at < 1e9 {
            return seconds(at);
        }
        let at = UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(at).ok()?)?;
        return Some(until(at, now)).filter(|wait| *wait <= MAX_WAIT);
    }
    if let Ok(at) = value.parse::<jiff::Timestamp>() {
        return Some(until(system_time(at)?, now)).filter(|wait| *wait <= MAX_WAIT);
    }
    spelled(value)
}

/// Reads `6m0s`, `20ms`, `1h2m3.5s`.
pub fn spelled(value: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = value;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest.get(..digits)?.parse().ok()?;
        let tail = rest.get(digits..)?;
        let unit = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        total += number
            * match tail.get(..unit)? {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return None,
            };
        rest = tail.get(unit..)?;
    }
    if value.is_empty() { None } else { seconds(total) }
}

fn seconds(value: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value).ok().filter(|wait| *wait <= MAX_WAIT)
}

fn http_date(value: &str) -> Option<SystemTime> {
    system_time(jiff::fmt::rfc2822::parse(value).ok()?.timestamp())
}

fn system_time(at: jiff::Timestamp) -> Option<SystemTime> {
    let since = u64::try_from(at.as_millisecond()).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_millis(since))
}

fn until(at: SystemTime, now: SystemTime) -> Duration {
    at.duration_since(now).unwrap_or_default()
}
