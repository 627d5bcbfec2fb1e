//! What the model sees of a history.
