//! What the model sees of a history: how much fits, and how a long history becomes a small view.

pub mod appendix;
pub mod baseline;
pub mod budget;
pub mod cache_watch;
pub mod cut;
pub mod estimate;
pub mod ladder;
pub mod meter;
pub mod micro;
pub mod project;
pub mod shown;
pub mod summary;
pub mod tell;
pub mod trim;
