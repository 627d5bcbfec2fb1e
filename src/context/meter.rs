//! Where the tokens of the next request go, source by source. Pure arithmetic over a weighed view.

use super::estimate;
use super::project::Weighed;
use crate::kernel::ports::ToolSpec;

/// Tokens by source. The sources and `free` and `reserve` together are the window, or more when the
/// view is too large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// The whole window.
    pub window: u64,
    /// Kept free for the answer.
    pub reserve: u64,
    /// Tokens in use.
    pub used: u64,
    /// The system prompt without instruction files.
    pub system: u64,
    /// Instruction files.
    pub instructions: u64,
    /// The list of tools.
    pub tools: u64,
    /// Words of both sides, and a summary.
    pub messages: u64,
    /// Results of tools.
    pub results: u64,
    /// What may still be used.
    pub free: u64,
    /// Tokens that compactions save now.
    pub saved: u64,
}

/// Reads the meter. `whole` is what the history would weigh without any compaction.
pub fn read(weighed: &Weighed, tools: &[ToolSpec], whole: u64) -> Meter {
    let results = weighed.shown.results;
    let instructions: u64 =
        weighed.system.iter().map(|block| estimate::text(&instructions(&block.text))).sum();
    let system = estimate::system(&weighed.system).saturating_sub(instructions);
    let list = estimate::tools(tools);
    let messages = weighed.shown.total - results;
    // The sources share what is really in use: an estimate of each, scaled to the measured sum.
    let sum = (system + instructions + list + messages + results).max(1);
    let scale = |part: u64| part * weighed.used / sum;
    let (window, reserve, used) = (weighed.budget.window, weighed.budget.reserve, weighed.used);
    Meter {
        window,
        reserve,
        used,
        system: scale(system),
        instructions: scale(instructions),
        tools: scale(list),
        messages: scale(messages),
        results: scale(results),
        free: weighed.budget.threshold().saturating_sub(used),
        saved: weighed.real(whole.saturating_sub(weighed.shown.total)),
    }
}

/// The instruction files inside a system block.
fn instructions(text: &str) -> String {
    let Some(start) = text.find("<instructions ") else { return String::new() };
    let end = text.rfind("</instructions>").unwrap_or(text.len());
    text.get(start..end.max(start)).unwrap_or_default().to_owned()
}
