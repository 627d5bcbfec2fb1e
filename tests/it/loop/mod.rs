//! The loop on fakes under paused time: scripts of a model in, events out.

#[path = "../../support/fake_grammar.rs"]
mod fake_grammar;
#[path = "../../support/fake_lab.rs"]
mod fake_lab;
#[path = "../../support/fake_model.rs"]
mod fake_model;
#[path = "../../support/fake_ports.rs"]
mod fake_ports;
#[path = "../../support/fake_tools.rs"]
mod fake_tools;

mod abort;
mod basic;
mod breaker;
mod budget;
mod cache;
mod compaction;
mod deferred;
mod facts;
mod guard;
mod length;
mod long;
mod monitor;
mod notices;
mod order;
mod pipeline;
mod prefix;
mod queues;
mod random;
mod repair;
mod retry;
mod route;
mod schedule;
mod streaming;
mod threads;
mod wrapper;
