//! What outlives a session: facts, rules, profile, notes; and the files that hold them.

mod facts;
mod files;
mod session;
mod skills;
