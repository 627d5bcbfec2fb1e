//! The loop. Knows no file, no network, no environment, no wall clock and no screen: traits go in
//! ([`ports`]), events come out ([`event`]).
//!
//! A **run** lasts from a prompt to its `RunEnd`, a **turn** is one model response and the tools it
//! asked for, a **call** is one of those tools, a **chat** spans the turns that serve one prompt or
//! follow-up. Four promises hold on every path:
//!
//! 1. Every run has exactly one `RunEnd`, and it is the run's last event.
//! 2. While a run is live a full channel blocks it: events are neither lost nor reordered. After an
//!    abort only deltas and progress may be dropped.
//! 3. A message enters the context in one way only: journal, then memory, then event.
//! 4. A queued message leaves its queue only after it was committed.

pub mod agent;
mod approvals;
mod breaker;
pub mod budget;
mod call;
pub mod checkpoint;
pub mod command;
pub mod compaction;
pub mod dedupe;
mod emit;
pub mod error;
pub mod event;
mod executor;
pub mod found;
pub mod isolate;
pub mod message;
mod monitor;
mod notices;
pub mod ports;
pub mod question;
mod queue;
pub mod repair;
pub mod retry;
pub mod route;
mod run;
mod scope;
mod state;
mod stop;
mod stream;
mod turn;
mod unsaved;
mod wrapup;
