//! How commands are held in, as far as tools know: a way to prepare a command, and the words for when
//! a command hit the fence. What the fence is made of is another room's business.

use std::fmt::Debug;
use std::io;
use std::process::Command;
use std::sync::Arc;

type Prepare = dyn Fn(&mut Command) -> io::Result<()> + Send + Sync;
type Explain = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Holds commands in.
#[derive(Clone)]
pub struct Confinement {
    prepare: Arc<Prepare>,
    explain: Arc<Explain>,
}

impl Confinement {
    /// `prepare` readies a command, or says why it must not start; `explain` says in one line what
    /// the output of a failed command tells of the fence, if it does.
    pub fn new(
        prepare: impl Fn(&mut Command) -> io::Result<()> + Send + Sync + 'static,
        explain: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { prepare: Arc::new(prepare), explain: Arc::new(explain) }
    }

    /// Readies a command.
    ///
    /// # Errors
    /// When it can't be held in; it must not start then.
    pub fn prepare(&self, command: &mut Command) -> io::Result<()> {
        (self.prepare)(command)
    }

    /// What the output of a failed command tells of the fence.
    pub fn explain(&self, output: &str) -> Option<String> {
        (self.explain)(output)
    }
}

impl Debug for Confinement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Confinement")
    }
}
