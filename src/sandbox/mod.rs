//! What the system offers to fence commands in.
