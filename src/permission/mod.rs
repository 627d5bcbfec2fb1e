//! The gate: pure decisions and remembered answers.
