//! Wiring: builds the ports from the configuration; the only place that knows everything below
//! the screen.

pub mod demo;
pub mod doctor;
pub mod service;
