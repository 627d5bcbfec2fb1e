//! How much of a window may be used: pure arithmetic, and the one place where a service's own words
//! about its window are read.

use std::ops::RangeInclusive;

use crate::kernel::ports::{ModelInfo, usual_reserve};

/// Share of the threshold above which old results are cleared, in per cent.
pub const MICRO_PERCENT: u64 = 60;
/// Share of the threshold that the newest messages keep through a summary.
const TAIL_SHARE: u64 = 4;
/// Bounds of that share, in tokens.
const TAIL: RangeInclusive<u64> = 2000..=20_000;
/// A window smaller than this is no window but another number in the text.
const LEAST_WINDOW: u64 = 1024;

/// What a window allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Tokens of the whole window.
    pub window: u64,
    /// Tokens kept free for the answer.
    pub reserve: u64,
}

impl Budget {
    /// For a window and the longest answer that is asked for. `reserve` 0 means the usual one.
    pub fn new(window: u64, output: u64, reserve: u64) -> Self {
        let wanted = if reserve == 0 { usual_reserve(window, output) } else { reserve };
        Self { window, reserve: wanted.min(window / 2) }
    }

    /// For a model; `window` when the service has told a smaller one.
    pub fn of(model: &ModelInfo, window: Option<u64>, reserve: u64) -> Self {
        let known = window.map_or(model.context_window, |told| told.min(model.context_window));
        Self::new(known, model.max_output, reserve)
    }

    /// Tokens above which the view has to become smaller.
    pub fn threshold(self) -> u64 {
        self.window.saturating_sub(self.reserve)
    }

    /// Tokens above which a request is not worth trying: half of the reserve is used up.
    pub fn hard(self) -> u64 {
        self.threshold() + self.reserve / 2
    }

    /// Tokens above which old results are cleared.
    pub fn micro(self) -> u64 {
        self.threshold() * MICRO_PERCENT / 100
    }

    /// Tokens that the newest messages keep through a summary.
    pub fn tail(self) -> u64 {
        (self.threshold() / TAIL_SHARE).clamp(*TAIL.start(), *TAIL.end()).min(self.threshold() / 2)
    }

    /// The least that a batch must save to be worth a new prefix.
    pub fn least_saving(self) -> u64 {
        self.threshold() / 20
    }
}

/// What stands before the size of the window in the words of services.
const BEFORE_WINDOW: [&str; 8] = [
    "maximum context length is ",
    "context length of ",
    "context window of ",
    "context size of ",
    "context size (",
    "n_ctx: ",
    "n_ctx = ",
    "tokens > ",
];

/// The window that a refusal names.
pub fn window_in(words: &str) -> Option<u64> {
    let words = words.to_lowercase();
    BEFORE_WINDOW.iter().find_map(|before| {
        let at = words.find(before)? + before.len();
        number(words[at..].trim_start_matches("only ")).filter(|window| *window >= LEAST_WINDOW)
    })
}

/// The number at the beginning of a text; commas between its digits are for people.
fn number(text: &str) -> Option<u64> {
    let digits: String = text
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '_'))
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}
