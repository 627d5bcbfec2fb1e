//! codebot: a full-screen terminal coding assistant.
//!
//! ```text
//! keys, paste, mouse → ui/input → ui/keymap → Action ┐
//!                        kernel Event (channel) ─────┼→ store::update → dirty? → frame → view → terminal
//!                        tick ───────────────────────┘        └→ Effect → Handle.send(Command)
//! Command → kernel::agent → run → ports (Model, Toolbox, Gate, Context, Journal, Clock, Ids) → Event
//! ```
//!
//! `kernel` knows nothing of ours; the middle layer implements its ports and does not know its
//! siblings; `app` wires them; `ui` and `headless` know only `app::service` and the kernel's words.

pub mod app;
pub mod cli;
pub mod config;
pub mod context;
pub mod headless;
pub mod kernel;
pub mod memory;
pub mod model;
pub mod permission;
pub mod prompt;
pub mod rewind;
pub mod sandbox;
pub mod session;
pub mod skill;
pub mod team;
pub mod tools;
pub mod ui;
