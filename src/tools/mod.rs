//! Tools: side effects live here and nowhere else.
