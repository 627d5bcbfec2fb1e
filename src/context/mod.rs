//! What the model sees of a history.

pub mod estimate;
pub mod project;
