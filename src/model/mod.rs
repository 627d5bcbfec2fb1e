//! Providers: translate the loop's words to a service's and back.

pub mod scripted;
