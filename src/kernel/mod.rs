//! The loop. Knows no file, no network, no environment, no wall clock and no screen: traits go in
//! ([`ports`]), events come out ([`event`]).

pub mod command;
pub mod error;
pub mod event;
pub mod message;
pub mod ports;
