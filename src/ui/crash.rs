//! Panics. One on the main thread ends the program: the terminal is given back before the message
//! is printed. One in a task is somebody else's to handle (the loop turns it into an error); it
//! goes to the log and leaves the screen alone.

use std::panic::PanicHookInfo;

use super::terminal;
use crate::kernel::isolate::is_isolated;

/// Installs the hook in front of the one in force.
pub fn install_hook() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if ends_program() {
            terminal::restore();
            print(info);
        } else {
            log(info);
        }
    }));
}

fn ends_program() -> bool {
    !is_isolated() && std::thread::current().name() == Some("main")
}

fn log(info: &PanicHookInfo<'_>) {
    let text = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(%place, "a task panicked: {text}");
}
