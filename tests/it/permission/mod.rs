//! The permission gate: tables, paths, rules, remembered answers, and the oracle that compares
//! judgements with what a real shell does.

mod attacks;
mod danger;
mod fixture;
mod fuzz;
mod gate;
mod honest;
mod keys;
mod oracle;
mod paths;
mod plan;
mod rules;
mod sandbox;
mod shell;
mod store;
