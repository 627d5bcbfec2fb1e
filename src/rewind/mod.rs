//! Files as they were before each of the user's turns, and the way back: copies named by their
//! content, a log of changes, a look around before and after commands, and the restoring itself. It
//! needs no git and never touches the user's. What becomes of the conversation is decided elsewhere.

pub mod keeper;
pub mod log;
pub mod look;
pub mod plan;
pub mod restore;
pub mod scan;
pub mod store;
