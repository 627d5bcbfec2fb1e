//! The program without a screen: one prompt in, events or text out. Nobody can be asked here, so
//! whatever would ask is denied.
//!
//! [`run`] talks to the application through `app::service` like the screen does; what it writes is
//! [`print`]'s (for people) or [`json`]'s (for programs) work.

pub mod clean;
pub mod exit;
pub mod json;
pub mod print;
pub mod prompt;
pub mod report;
pub mod session;
pub mod signals;

use std::io::{self, IsTerminal, Write};

use crate::app::service::Front;

/// What is written to stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The final answer as text.
    #[default]
    Text,
    /// One JSON object at the end.
    Json,
    /// One JSON object a line, while it happens.
    StreamJson,
}

impl Format {
    /// All formats, the default first.
    pub const ALL: [Self; 3] = [Self::Text, Self::Json, Self::StreamJson];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::StreamJson => "stream-json",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The prompt, stdin joined already (see [`prompt::gather`]).
    pub prompt: String,
    /// What to write.
    pub format: Format,
}

/// Runs one prompt on the process's own stdout and stderr and returns the exit code. A reader that
/// closed the pipe is no error.
pub async fn run(front: Front, options: Options) -> u8 {
    let stdout = io::stdout();
    let for_eyes = stdout.is_terminal();
    let out: Box<dyn Write + Send> = Box::new(stdout);
    let reporter = report::reporter(options.format, for_eyes, out, Box::new(io::stderr()));
    match signals::Signals::listen() {
        Ok(signals) => session::drive(front, &options.prompt, reporter, signals).await,
        Err(error) => {
            let line = format!("codebot: cannot listen for signals: {error}\n");
            let _closed = io::stderr().write_all(line.as_bytes());
            exit::ERROR
        }
    }
}
