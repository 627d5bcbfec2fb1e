//! Rules of work that the user wants kept: what to do, and when. A rule that is given again counts
//! more. Pure over the content of `procedures.json`.

use serde::{Deserialize, Serialize};

use super::facts::one_line;
use super::shelf::VERSION;
use crate::kernel::message::Timestamp;

/// Rules in a prompt.
pub const MOST: usize = 15;

/// One rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rule {
    /// Names it.
    pub id: String,
    /// What to do.
    pub rule: String,
    /// When; may be empty.
    pub context: String,
    /// How often it was given again.
    pub hits: u32,
    /// When it was first given.
    pub created: Timestamp,
}

/// The content of `procedures.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Procedures {
    version: u32,
    #[serde(default)]
    next: u64,
    /// All rules, oldest first.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

impl Default for Procedures {
    fn default() -> Self {
        Self { version: VERSION, next: 1, rules: Vec::new() }
    }
}

impl Procedures {
    /// Takes in a rule; returns its id and whether it was known.
    pub fn add(&mut self, rule: &str, context: &str, now: Timestamp) -> (String, bool) {
        let (rule, context) = (one_line(rule), one_line(context));
        let same = |known: &&mut Rule| known.rule.to_lowercase() == rule.to_lowercase();
        if let Some(known) = self.rules.iter_mut().find(same) {
            known.hits += 1;
            if !context.is_empty() {
                known.context = context;
            }
            return (known.id.clone(), true);
        }
        let highest = self.rules.iter().filter_map(|rule| rule.id.get(1..)?.parse::<u64>().ok());
        self.next = highest.max().map_or(self.next, |highest| self.next.max(highest + 1)).max(1);
        let id = format!("p{}", self.next);
        self.next += 1;
        self.rules.push(Rule { id: id.clone(), rule, context, hits: 0, created: now });
        (id, false)
    }

    /// Takes a rule out.
    pub fn forget(&mut self, id: &str) -> Option<Rule> {
        let at = self.rules.iter().position(|rule| rule.id == id)?;
        Some(self.rules.remove(at))
    }

    /// Other words for a rule; false when it is gone.
    pub fn reword(&mut self, id: &str, words: &str) -> bool {
        let Some(rule) = self.rules.iter_mut().find(|rule| rule.id == id) else { return false };
        rule.rule = one_line(words);
        true
    }

    /// All rules, those given most often first.
    pub fn sorted(&self) -> Vec<&Rule> {
        let mut all: Vec<&Rule> = self.rules.iter().collect();
        all.sort_by(|a, b| b.hits.cmp(&a.hits).then(b.created.cmp(&a.created)));
        all
    }
}

impl Rule {
    /// One line for the model.
    pub fn line(&self) -> String {
        if self.context.is_empty() {
            self.rule.clone()
        } else {
            format!("{} (when: {})", self.rule, self.context)
        }
    }
}
