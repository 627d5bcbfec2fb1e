//! What a model found worth remembering, read from its answer: one JSON object a line. Everything
//! else in the answer is passed over.

use serde::Deserialize;

use super::facts::{CONFIDENCE, Category};

/// Most things of one answer.
const MOST: usize = 12;

/// One thing worth remembering.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A fact.
    Fact {
        /// One sentence.
        content: String,
        /// Its category.
        category: Category,
        /// How sure it is, 0 to 1.
        confidence: f64,
    },
    /// A rule of work.
    Rule {
        /// What to do.
        rule: String,
        /// When; may be empty.
        context: String,
    },
    /// A point of the user's profile.
    Profile {
        /// Its heading.
        heading: String,
        /// The point.
        point: String,
    },
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Fact {
        content: String,
        #[serde(default)]
        category: String,
        confidence: Option<f64>,
    },
    Rule {
        rule: String,
        #[serde(default)]
        context: String,
    },
    Profile {
        heading: String,
        point: String,
    },
}

/// The things that an answer names, in its order.
pub fn parse(answer: &str) -> Vec<Found> {
    let line = |line: &str| {
        let line = line.trim().trim_start_matches("- ").trim_end_matches(',');
        let found = match serde_json::from_str(line).ok()? {
            Line::Fact { content, category, confidence } => Found::Fact {
                content,
                category: Category::from_name(&category).unwrap_or_default(),
                // What a model concludes is never surer than what somebody said.
                confidence: confidence.unwrap_or(CONFIDENCE).clamp(0.0, CONFIDENCE),
            },
            Line::Rule { rule, context } => Found::Rule { rule, context },
            Line::Profile { heading, point } => Found::Profile { heading, point },
        };
        says_something(&found).then_some(found)
    };
    answer.lines().filter_map(line).take(MOST).collect()
}

fn says_something(found: &Found) -> bool {
    let text = match found {
        Found::Fact { content, .. } => content,
        Found::Rule { rule, .. } => rule,
        Found::Profile { point, .. } => point,
    };
    !text.trim().is_empty()
}
