//! Pure drawing: state in, cells of the terminal out. No I/O, no clock, no change of state.

pub mod cell;
pub mod transcript;
