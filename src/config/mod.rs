//! Settings: schema, layers, places. The only room that reads the environment.

pub mod schema;
