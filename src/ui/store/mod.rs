//! The state of the screen. `update` is the only place that changes it; it returns effects.

pub mod scroll;
pub mod transcript;
