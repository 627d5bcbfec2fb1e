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
mod agents;
mod basic;
mod breaker;
mod budget;
mod cache;
mod compaction;
mod deferred;
mod discard;
mod facts;
mod failover;
mod guard;
mod length;
mod limits;
mod long;
mod middleware;
mod monitor;
mod notices;
mod order;
mod pipeline;
mod polling;
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
