//! Text without state or widgets: cleaning, width, wrapping, Markdown, colours, diffs. Nothing
//! here knows a theme or a terminal; rows carry roles that the view turns into styles.

pub mod code;
pub mod diff;
pub mod highlight;
pub mod markdown;
pub mod number;
pub mod outline;
pub mod role;
pub mod row;
pub mod sanitize;
pub mod scopes;
pub mod stream;
pub mod table;
pub mod width;
pub mod wrap;
