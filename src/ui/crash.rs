//! Panics. One on the main thread ends the program: the terminal is given back before the message
//! is printed. One in a task is somebody else's to handle (the loop turns it into an error); it
//! goes to the log and leaves the screen alone.

use std::cell::Cell;
use std::future::Future;
use std::panic::PanicHookInfo;

use super::terminal;

tokio::task_local! {
    static ISOLATED: ();
}

thread_local! {
    static FATAL: Cell<bool> = const { Cell::new(false) };
}

/// Runs `future` so that a panic in it is only logged, wherever it is polled.
pub async fn isolated<F: Future>(future: F) -> F::Output {
    ISOLATED.scope((), future).await
}

/// Says that a panic on this thread ends the program, as on the main thread.
pub fn mark_thread_fatal() {
    FATAL.with(|fatal| fatal.set(true));
}

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
    if ISOLATED.try_with(|()| ()).is_ok() {
        return false;
    }
    FATAL.try_with(Cell::get).unwrap_or(false) || std::thread::current().name() == Some("main")
}

fn log(info: &PanicHookInfo<'_>) {
    let text = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(%place, "a task panicked: {text}");
}
