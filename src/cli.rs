//! Command line types: what was typed, nothing more.
