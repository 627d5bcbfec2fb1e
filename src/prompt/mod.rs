//! The system prompt: fixed texts, the project's instruction files, and the facts of a session.

pub mod assemble;
pub mod instructions;
pub mod recall;
