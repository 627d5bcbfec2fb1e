//! The real program: in a pty with a terminal emulator, and as `-p`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asking;
mod background;
mod bursts;
mod command;
mod commandline;
mod compacting;
mod conversation;
mod demo;
mod failures;
mod fencing;
mod formats;
mod harness;
mod leaving;
#[path = "../support/mock_llm/mod.rs"]
mod mock_llm;
mod models;
mod panel;
mod print;
#[path = "../support/pty.rs"]
mod pty;
mod rewinding;
mod service;
mod sessions;
mod settings;
mod terminal;
mod words;
