//! Answering the panel that asks about a call.

use std::thread;
use std::time::Duration;

use crate::pty::{Pty, keys};
use crate::words::{PANEL, PANEL_GUARD_MS, PANEL_KEYS};

/// Chooses an option of the open panel by its digit.
#[track_caller]
pub(crate) fn choose(pty: &Pty, digit: &str) {
    thread::sleep(Duration::from_millis(PANEL_GUARD_MS));
    pty.send(digit);
    thread::sleep(Duration::from_millis(100));
    pty.send(keys::ENTER);
    pty.wait_gone(PANEL);
}

/// Waits for the panel whose title is `title` and chooses by digit.
#[track_caller]
pub(crate) fn answer(pty: &Pty, title: &str, digit: &str) {
    pty.wait_for(title);
    // The emulator may hold half a frame; the keys are the panel's last line.
    pty.wait_for(PANEL_KEYS);
    choose(pty, digit);
}

/// Waits for the panel whose title is `title` and refuses with words.
#[track_caller]
pub(crate) fn refuse(pty: &Pty, title: &str, words: &str) {
    pty.wait_for(title);
    pty.wait_for(PANEL_KEYS);
    thread::sleep(Duration::from_millis(PANEL_GUARD_MS));
    pty.send(words);
    pty.wait_for(words);
    pty.send(keys::ENTER);
    pty.wait_gone(title);
}
