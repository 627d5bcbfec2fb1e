//! Integration tests of everything below the screen, one folder a topic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod architecture;
mod cli;
mod context;
mod demo;
mod docs;
mod docs_tables;
mod doctor;
mod headless;
mod r#loop;
mod memory;
mod model;
mod permission;
mod scenarios;
mod session;
mod tools;
