//! The program: parses the command line and hands over.

fn main() {}
