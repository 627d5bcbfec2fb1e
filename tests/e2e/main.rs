//! The real program: in a pty with a terminal emulator, and as `-p`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bursts;
mod commandline;
mod demo;
mod harness;
mod print;
#[path = "../support/pty.rs"]
mod pty;
mod terminal;
mod words;
