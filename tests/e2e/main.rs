//! The real program: in a pty with a terminal emulator, and as `-p`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
