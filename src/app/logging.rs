//! The log file: only when asked for (`CODEBOT_LOG` or the key `log`), never on the terminal. One
//! file a day of starting, readable by its owner only.

use std::fs::File;
use std::io;
use std::path::Path;

use futures_util::future::BoxFuture;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use super::ground::Ground;
use super::system::SystemClock;
use crate::config::private;
use crate::kernel::message::ToolCall;
use crate::kernel::ports::{CallContext, Clock as _, Middleware, Onward, ToolOutcome};
use crate::prompt::assemble::day_of;

/// Keeps the writer's last lines from being lost; held until the end.
pub type Guard = WorkerGuard;

/// Starts the log when the settings ask for one. `None` when not, or when the folder can't be
/// made: a log is never a reason not to start.
pub fn start(ground: &Ground) -> Option<Guard> {
    let filter = ground.settings.config.log.as_deref()?;
    let file = open(&ground.paths.log_dir).ok()?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(false)
        .with_writer(writer)
        .finish();
    tracing::subscriber::set_global_default(subscriber).ok()?;
    Some(guard)
}

/// Writes how long every tool ran and how it ended; never what it was asked or what it said.
#[derive(Clone, Copy, Debug)]
pub struct CallLog;

impl Middleware for CallLog {
    fn around<'a>(
        &'a self,
        call: ToolCall,
        context: CallContext,
        onward: Onward<'a>,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let (id, tool) = (call.id.clone(), call.name.clone());
            let began = SystemClock.now();
            let outcome = onward.run(call, context).await;
            let ms = SystemClock.now().0 - began.0;
            tracing::debug!(%id, tool, ms, status = ?outcome.status, "a tool ran");
            outcome
        })
    }
}

/// Opens today's file for appending.
fn open(folder: &Path) -> io::Result<File> {
    private::append_to(&folder.join(format!("codebot.log.{}", day_of(SystemClock.now()))))
}
