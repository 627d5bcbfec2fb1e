//! Agents that work for the agent: kinds of them, and runs of the same loop with a history, tools
//! and limits of their own. What a child may do is judged by the session's own gate; where its
//! model, tools and files come from is the business of whoever implements [`crew::Outfit`].

pub mod child;
pub mod crew;
pub mod desk;
pub mod gate;
pub mod kinds;
pub mod log;
