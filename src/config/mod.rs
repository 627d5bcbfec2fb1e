//! Settings: schema, layers, places. The only room that reads the environment.

pub mod edit;
pub mod env;
pub mod error;
pub mod front_matter;
pub mod keys;
pub mod layer;
pub mod load;
pub mod paths;
pub mod private;
pub mod rules;
pub mod schema;
