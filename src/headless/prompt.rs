//! The prompt of a run without a screen: the argument, then what was piped in.

use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;

/// Most bytes taken from stdin; more does not fit into any context window.
pub const MAX_STDIN: u64 = 10_000_000;
/// How long to read in silence before saying that we wait.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why there is no prompt. All of these are usage errors.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// Nothing was said.
    #[error(
        "nothing to ask: give a prompt, as in codebot -p \"explain this\", or pipe text to stdin"
    )]
    Blank,
    /// Too much was piped in.
    #[error("stdin has more than {} MB; pipe less, or name the file in the prompt", MAX_STDIN / 1_000_000)]
    TooLarge,
    /// Binary data was piped in.
    #[error("stdin is not UTF-8 text; name the file in the prompt instead")]
    NotText,
    /// Reading failed.
    #[error("cannot read stdin: {0}")]
    Io(#[from] std::io::Error),
}

/// Joins the argument and the text of `stdin` (`None` when it is a terminal), a blank line between.
///
/// # Errors
///
/// See [`PromptError`].
pub fn gather(argument: Option<&str>, stdin: Option<impl Read>) -> Result<String, PromptError> {
    let piped = stdin.map(read).transpose()?.unwrap_or_default();
    let argument = argument.unwrap_or_default();
    let prompt = match (argument.trim().is_empty(), piped.trim().is_empty()) {
        (true, true) => return Err(PromptError::Blank),
        (false, true) => argument.to_owned(),
        (true, false) => piped,
        (false, false) => format!("{argument}\n\n{piped}"),
    };
    Ok(prompt)
}

/// Like [`gather`], but calls `waiting` once when stdin stays open for some seconds: a forgotten
/// pipe looks like a hang otherwise.
///
/// # Errors
///
/// See [`PromptError`].
pub fn gather_patiently(
    argument: Option<&str>,
    stdin: Option<impl Read + Send + 'static>,
    waiting: impl FnOnce(),
) -> Result<String, PromptError> {
    let (sender, receiver) = mpsc::channel();
    let argument = argument.map(str::to_owned);
    // Ends with stdin, or with the process.
    std::thread::spawn(move || {
        let _gone = sender.send(gather(argument.as_deref(), stdin));
    });
    let gone = || PromptError::Io(std::io::ErrorKind::BrokenPipe.into());
    receiver.recv_timeout(PATIENCE).or_else(|_| {
        waiting();
        receiver.recv().map_err(|_| gone())
    })?
}

fn read(stdin: impl Read) -> Result<String, PromptError> {
    let mut bytes = Vec::new();
    stdin.take(MAX_STDIN + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_STDIN {
        return Err(PromptError::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| PromptError::NotText)
}
