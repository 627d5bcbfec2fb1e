//! Questions that the model puts to the person, and what they answer. Only words; who asks and who
//! draws is other rooms' business.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most questions of one call.
pub const MOST_QUESTIONS: usize = 4;
/// Fewest and most options of a question.
pub const OPTIONS: std::ops::RangeInclusive<usize> = 2..=6;

/// One question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The question, whole.
    #[schemars(length(min = 1, max = 500))]
    pub question: String,
    /// One or two words that name it.
    #[schemars(length(min = 1, max = 20))]
    pub header: String,
    /// What can be chosen, the recommended one first. The user can always write something else.
    #[schemars(length(min = 2, max = 6))]
    pub options: Vec<Choice>,
    /// Whether several options may be chosen.
    #[serde(default)]
    pub multiple: bool,
}

/// An option of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// A few words.
    #[schemars(length(min = 1, max = 80))]
    pub label: String,
    /// What it means, in one line.
    #[serde(default)]
    #[schemars(length(max = 300))]
    pub description: String,
}

/// The answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The labels that were chosen.
    pub chosen: Vec<String>,
    /// What was written besides.
    pub words: Option<String>,
}

/// What became of the questions of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replies {
    /// One answer a question, in order.
    Answered(Vec<Reply>),
    /// The user does not want to answer.
    Declined,
    /// There is nobody to ask.
    Nobody,
}
