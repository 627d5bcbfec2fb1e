//! Wiring: builds the ports from the configuration; the only place that knows everything below
//! the screen.

mod asking;
pub mod branch;
pub mod build;
pub mod checkup;
mod context;
pub mod demo;
pub mod doctor;
pub mod fence;
pub mod ground;
pub mod harness;
pub mod jobs;
pub mod knowledge;
pub mod learn;
pub mod listing;
mod lists;
pub mod logging;
pub mod login;
pub mod memory;
pub mod models;
mod planning;
pub mod preferences;
pub mod recent;
mod remembered;
mod rewind;
mod rules;
pub mod served;
pub mod service;
pub mod setup;
mod sitting;
pub mod skills;
pub mod system;
pub mod team;
mod trust;
