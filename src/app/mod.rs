//! Wiring: builds the ports from the configuration; the only place that knows everything below
//! the screen.

pub mod service;
pub mod system;
