//! The ports to what differs from run to run by itself: time, fresh names, chance.

use std::fmt::Debug;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::kernel::message::Timestamp;

/// Time.
pub trait Clock: Send + Sync + Debug {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Ends after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// Ids and randomness.
pub trait Ids: Send + Sync + Debug {
    /// A fresh id that starts with `prefix`, unique within the session.
    fn next(&self, prefix: &str) -> String;

    /// A number in `0.0..1.0` for jitter; 0 in tests.
    fn unit(&self) -> f64;
}
