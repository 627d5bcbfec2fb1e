//! What a running tool is given, and what it says about its result. Words only.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::kernel::message::CallId;
use crate::kernel::ports::{Aside, ProgressSink};

/// What a running tool is given beside its arguments.
#[derive(Clone, Debug)]
pub struct Job {
    /// The call it answers.
    pub id: CallId,
    /// Fires when the work is no longer wanted.
    pub cancel: CancellationToken,
    /// Fires when the work is to go on in the background.
    pub background: CancellationToken,
    /// Where reports go.
    pub progress: ProgressSink,
    /// Where it books tokens of its own.
    pub aside: Aside,
    /// Where the tool says what a short form of its result must not lose.
    pub kept: Arc<OnceLock<Kept>>,
}

/// What a short form of a result must not lose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The file that holds all of the output, when the result does not.
    pub file: Option<PathBuf>,
    /// What the tool itself says about the end, a line each.
    pub notes: Vec<String>,
}
