//! Journal, configuration, prompt and context.

mod compaction;
mod config;
mod config_edit;
mod context;
mod faults;
mod instructions;
mod journal;
mod list;
mod processes;
mod prompt;
mod property;
mod reload;
mod rewind;
mod support;
