//! Screens: state in, cells out, compared with snapshots.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cells;
mod screens;
mod text;
