//! The journal of a session: append, replay, list. One JSON Lines file per session, written before
//! anything enters memory, so that a reload gives what the loop had.

pub mod index;
pub mod journal;
pub mod place;
pub mod record;
pub mod replay;
pub mod rounds;
pub mod tail;
