//! The program around the transcript: scripted messages in, effects and cells out.

mod approvals;
mod composing;
mod keys;
mod limits;
mod lists;
mod looks;
mod meter;
mod models;
mod pastes;
mod questions;
mod queueing;
mod remembering;
mod rewinding;
mod sizes;
mod small;
mod stage;
mod starting;
mod tasks;
