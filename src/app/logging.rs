//! The log file: only when asked for (`CODEBOT_LOG` or the key `log`), never on the terminal.

use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use super::ground::Ground;
use crate::config::private;

/// Keeps the writer's last lines from being lost; held until the end.
pub type Guard = WorkerGuard;

/// Starts the log when the settings ask for one. `None` when not, or when the folder can't be
/// made: a log is never a reason not to start.
pub fn start(ground: &Ground) -> Option<Guard> {
    let filter = ground.settings.config.log.as_deref()?;
    let folder = &ground.paths.log_dir;
    private::make_dir(folder).ok()?;
    let file = tracing_appender::rolling::daily(folder, "codebot.log");
    let (writer, guard) = tracing_appender::non_blocking(file);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(false)
        .with_writer(writer)
        .finish();
    tracing::subscriber::set_global_default(subscriber).ok()?;
    Some(guard)
}
