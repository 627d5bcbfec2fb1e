//! Exit codes, as scripts see them.

use crate::kernel::event::{EndReason, RunSummary};

/// Done.
pub const OK: u8 = 0;
/// Something failed on our side.
pub const ERROR: u8 = 1;
/// The command line or its input is wrong.
pub const USAGE: u8 = 2;
/// A call was denied because nobody could be asked.
pub const DENIED: u8 = 3;
/// A limit was reached: the cap on turns, a budget, or a chat that had to be wrapped up.
pub const TURN_CAP: u8 = 4;
/// No usable model, or the provider refused or failed.
pub const PROVIDER: u8 = 5;
/// Stopped by SIGHUP: the terminal it was started from is gone.
pub const HUNG_UP: u8 = 129;
/// Stopped by SIGINT: 128 plus the signal's number, as shells report it.
pub const INTERRUPTED: u8 = 130;
/// Stopped by SIGTERM.
pub const TERMINATED: u8 = 143;

/// The code of a finished run. What ended the run weighs more than what was denied in it.
pub fn code(summary: &RunSummary) -> u8 {
    match summary.reason {
        EndReason::Error if summary.error.as_ref().is_some_and(|error| error.provider) => PROVIDER,
        EndReason::Error => ERROR,
        EndReason::Aborted => INTERRUPTED,
        EndReason::MaxTurns | EndReason::Budget => TURN_CAP,
        EndReason::Stop if summary.wrap.is_some() => TURN_CAP,
        EndReason::Stop if summary.denied_unasked > 0 => DENIED,
        EndReason::Stop => OK,
    }
}
