//! Skills and commands: Markdown files that say how a piece of work is done. A file describes, it
//! permits nothing by itself: what it may do depends on where it lies, and that is the application's
//! business.

pub mod expand;
pub mod load;
pub mod select;
