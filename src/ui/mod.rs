//! The terminal: state in `store`, drawing in `view`, one select loop. Nothing imports this but
//! `main`.

pub mod store;
pub mod text;
pub mod theme;
pub mod view;
