//! What becomes of a result: words for the table of tools, nothing that acts.

/// What becomes of a long result on its way to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// It is handed on as it is; its tool has caps of its own.
    Verbatim,
    /// Beginning and end, and the whole in a file.
    Cap,
    /// The same, but a good one is made short by the small model, when there is one. The tool has
    /// caps of its own.
    Summarize,
}

/// How long a result may answer the same question again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reuse {
    /// Every call runs.
    Never,
    /// Within its turn.
    Turn,
    /// As long as the file it came from is the same.
    SameFile,
}
