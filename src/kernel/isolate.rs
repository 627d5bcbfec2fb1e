//! Keeps a panic of foreign code (a tool, a port) from taking more than its own task with it.
//!
//! Code under isolation is marked by a task-local, so that the program's panic hook can tell a
//! panic that is caught here from one that ends the program.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;

tokio::task_local! {
    static ISOLATED: ();
}

/// Whether a panic raised here and now would be caught by the loop.
pub fn is_isolated() -> bool {
    ISOLATED.try_with(|()| ()).is_ok()
}

/// Runs `future`; a panic becomes its message.
pub(crate) async fn isolated<F: Future>(future: F) -> Result<F::Output, String> {
    ISOLATED.scope((), AssertUnwindSafe(future).catch_unwind()).await.map_err(|p| words(p.as_ref()))
}

/// Runs `work`; a panic becomes its message.
pub(crate) fn isolated_now<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    ISOLATED
        .sync_scope((), || catch_unwind(AssertUnwindSafe(work)))
        .map_err(|panic| words(panic.as_ref()))
}

/// What the panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "no message".to_owned()
    }
}
