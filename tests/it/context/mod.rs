//! What the model sees of a history: budget, steps of the ladder, summaries, what a reload keeps.

mod ladder;
mod properties;
mod steps;
mod summaries;
mod support;
mod watch;
