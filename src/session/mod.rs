//! The journal of a session: append, replay, list.
