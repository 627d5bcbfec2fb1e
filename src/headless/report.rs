//! What a driver tells while it works, independent of the format.

use std::io::{self, Write};

use super::Format;
use super::json::{JsonReport, StreamReport};
use super::print::TextReport;
use crate::app::service::{Level, Ready};
use crate::kernel::event::{Event, RunSummary};

/// Writes what happens. A failed write of stdout (closed pipe) ends the work quietly; stderr is
/// best effort.
pub trait Report: Send {
    /// A session is open.
    fn ready(&mut self, ready: &Ready);

    /// Something happened in the loop. `RunEnd` comes through [`Report::finished`] instead.
    ///
    /// # Errors
    ///
    /// Stdout can't be written.
    fn event(&mut self, event: &Event) -> io::Result<()>;

    /// A line for people.
    fn notice(&mut self, level: Level, text: &str);

    /// The run is over.
    ///
    /// # Errors
    ///
    /// Stdout can't be written.
    fn finished(&mut self, summary: &RunSummary) -> io::Result<()>;

    /// It ended without a run's end.
    ///
    /// # Errors
    ///
    /// Stdout can't be written.
    fn failed(&mut self, message: &str) -> io::Result<()>;
}

/// Where bytes go.
pub type Sink = Box<dyn Write + Send>;

/// The reporter of a format. `for_eyes`: stdout is a terminal, so controls must not reach it.
pub fn reporter(format: Format, for_eyes: bool, out: Sink, err: Sink) -> Box<dyn Report> {
    match format {
        Format::Text => Box::new(TextReport::new(out, err, for_eyes)),
        Format::Json => Box::new(JsonReport::new(out, err)),
        Format::StreamJson => Box::new(StreamReport::new(out, err)),
    }
}
