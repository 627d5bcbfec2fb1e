//! What outlives a session: facts about the user, rules of work, the user's profile, and notes on a
//! project. Only files and pure rules over them; when something is remembered and who sees it is the
//! application's business. The time comes from whoever calls.

pub mod extract;
pub mod facts;
pub mod procedures;
pub mod profile;
pub mod project;
pub mod secrets;
pub mod shelf;
pub mod words;
