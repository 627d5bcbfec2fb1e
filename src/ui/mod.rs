//! The terminal: state in `store`, drawing in `view`, one select loop in `shell`. Nothing imports
//! this but `main`.

pub mod action;
pub mod crash;
pub mod editor;
mod effects;
pub mod farewell;
pub mod frame;
pub mod history_file;
pub mod input;
pub mod keymap;
pub mod present;
pub mod reader;
pub mod shell;
pub mod store;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod view;

pub use shell::{Outcome, UiOptions, run};
