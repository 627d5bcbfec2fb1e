//! More input at once than one read of the terminal takes.

use std::time::Duration;

use crate::pty::{Program, keys};
use crate::words::COMPOSER;

/// Several kilobytes of keys in one write arrive as a whole, without waiting for a further key.
#[test]
fn a_burst_of_keys_larger_than_one_read_shows_at_once() {
    for count in [900, 1500, 4000] {
        let mut pty = Program::codebot(&["--demo"]).size(100, 30).start();
        pty.wait_for(COMPOSER);
        pty.send(format!("{}THE END", "x".repeat(count)));
        pty.wait_at_most(Duration::from_secs(5), "the end of the burst", |screen| {
            screen.contents().replace('\n', "").contains("THE END")
        });
        pty.send(keys::CTRL_C);
        pty.wait_gone("THE END");
        pty.send(keys::CTRL_D);
        pty.wait_exit();
    }
}
