//! The real clock and the real source of ids; the only room below the screen that asks the
//! system for the time.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;

use crate::kernel::message::Timestamp;
use crate::kernel::ports::{Clock, Ids};

/// Makes a write beyond the file size limit of the process (`ulimit -f`) fail like any other write
/// instead of ending the program in the middle of the screen. Programs that we start see the
/// signal as usual: handlers do not outlive an exec. Must be called within the runtime.
#[cfg(unix)]
pub fn outlive_file_limit() {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays for the rest of the process; what it would tell nobody needs to hear.
    let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    let _installed = signal(kind);
}

/// The system's wall clock and tokio's timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Ids made of a prefix, random bits of this process and a counter: unique in a session also when
/// it is continued by a later process.
#[derive(Debug)]
pub struct SystemIds {
    process: u32,
    counter: AtomicU64,
}

impl SystemIds {
    /// A source with fresh random bits.
    pub fn new() -> Self {
        Self { process: random() as u32, counter: AtomicU64::new(1) }
    }
}

impl Default for SystemIds {
    fn default() -> Self {
        Self::new()
    }
}

impl Ids for SystemIds {
    fn next(&self, prefix: &str) -> String {
        let count = self.counter.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{:08x}{count:x}", self.process)
    }

    fn unit(&self) -> f64 {
        // 53 bits fill a double's mantissa.
        (random() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Random bits from the standard library's per-instance hash keys: enough for ids and jitter,
/// never for secrets.
fn random() -> u64 {
    RandomState::new().hash_one(SystemTime::now())
}
