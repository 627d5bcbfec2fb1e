//! Facts about the user and the work, and the rules by which one takes another's place. Pure over
//! the content of `facts.json`; nothing is ever deleted but by the user.

use serde::{Deserialize, Serialize};

use super::shelf::VERSION;
use super::words;
use crate::kernel::message::Timestamp;

/// How sure a fact is when nobody says.
pub const CONFIDENCE: f64 = 0.8;
/// Facts below are not told.
const TOLD: f64 = 0.3;
/// Facts below that nobody has used for [`UNSEEN_DAYS`] are put away.
const FADES: f64 = 0.5;
/// Days after which a doubtful fact is put away.
const UNSEEN_DAYS: i64 = 90;
/// Facts in a prompt.
pub const MOST: usize = 15;
/// Longest fact, in characters.
pub const LONGEST: usize = 500;
/// What stands in place of a successor when a fact was put away for its age.
const AGE: &str = "age";

/// What kind of fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// What the user likes.
    Preference,
    /// What was decided.
    Decision,
    /// What is so.
    #[default]
    Knowledge,
    /// What was wrong before.
    Correction,
}

impl Category {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Preference, Self::Decision, Self::Knowledge, Self::Correction];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Knowledge => "knowledge",
            Self::Correction => "correction",
        }
    }

    /// The category of that word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }
}

/// One fact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    /// Names it; never used again.
    pub id: String,
    /// One sentence.
    pub content: String,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// Who said it: `user`, `model` or `session`.
    pub source: String,
    /// What kind of fact.
    pub category: Category,
    /// When it was learnt.
    pub created: Timestamp,
    /// When it was last confirmed or looked up.
    pub last_used: Timestamp,
    /// The fact that took its place, or `age`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// The content of `facts.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    version: u32,
    /// Number of the next fact.
    #[serde(default)]
    next: u64,
    /// All facts, oldest first.
    #[serde(default)]
    pub facts: Vec<Fact>,
}

impl Default for Facts {
    fn default() -> Self {
        Self { version: VERSION, next: 1, facts: Vec::new() }
    }
}

/// What came of remembering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// The fact.
    pub id: String,
    /// The facts whose place it took.
    pub replaced: Vec<String>,
    /// It was known already.
    pub known: bool,
}

impl Facts {
    /// Takes in a fact; what it contradicts in its category is put away.
    pub fn remember(
        &mut self,
        content: &str,
        category: Category,
        confidence: f64,
        source: &str,
        now: Timestamp,
    ) -> Remembered {
        let content = one_line(content);
        let confidence =
            if confidence.is_finite() { confidence.clamp(0.0, 1.0) } else { CONFIDENCE };
        let same = |fact: &&mut Fact| {
            fact.superseded_by.is_none() && fact.content.to_lowercase() == content.to_lowercase()
        };
        if let Some(fact) = self.facts.iter_mut().find(same) {
            fact.confidence = fact.confidence.max(confidence);
            fact.last_used = now;
            return Remembered { id: fact.id.clone(), known: true, ..Remembered::default() };
        }
        let highest = self.facts.iter().filter_map(|fact| fact.id.get(1..)?.parse::<u64>().ok());
        self.next = highest.max().map_or(self.next, |highest| self.next.max(highest + 1)).max(1);
        let id = format!("f{}", self.next);
        self.next += 1;
        let mut replaced = Vec::new();
        for fact in self.facts.iter_mut().filter(|fact| fact.superseded_by.is_none()) {
            if fact.category == category && words::replaces(&content, &fact.content) {
                fact.superseded_by = Some(id.clone());
                replaced.push(fact.id.clone());
            }
        }
        self.facts.push(Fact {
            id: id.clone(),
            content,
            confidence,
            source: source.to_owned(),
            category,
            created: now,
            last_used: now,
            superseded_by: None,
        });
        Remembered { id, replaced, known: false }
    }

    /// Takes a fact out; those whose place it took count again.
    pub fn forget(&mut self, id: &str) -> Option<Fact> {
        let at = self.facts.iter().position(|fact| fact.id == id)?;
        let gone = self.facts.remove(at);
        for fact in &mut self.facts {
            if fact.superseded_by.as_deref() == Some(id) {
                fact.superseded_by = None;
            }
        }
        Some(gone)
    }

    /// Other words for a fact; false when it is gone.
    pub fn reword(&mut self, id: &str, content: &str, now: Timestamp) -> bool {
        let Some(fact) = self.facts.iter_mut().find(|fact| fact.id == id) else { return false };
        fact.content = one_line(content);
        fact.last_used = now;
        true
    }

    /// Puts doubtful facts away that nobody has used for long.
    pub fn age(&mut self, now: Timestamp) {
        for fact in self.facts.iter_mut().filter(|fact| fact.superseded_by.is_none()) {
            if is_faded(fact, now) {
                fact.superseded_by = Some(AGE.to_owned());
            }
        }
    }

    /// The facts that count, the surest and then the newest first.
    pub fn active(&self, now: Timestamp) -> Vec<&Fact> {
        let counts = |fact: &&Fact| {
            fact.superseded_by.is_none() && fact.confidence >= TOLD && !is_faded(fact, now)
        };
        let mut active: Vec<&Fact> = self.facts.iter().filter(counts).collect();
        active.sort_by(|a, b| {
            b.confidence.total_cmp(&a.confidence).then(b.last_used.cmp(&a.last_used))
        });
        active
    }

    /// The facts that share words with `query`, the nearest first; all that count for no words.
    pub fn search(&self, query: &str, now: Timestamp) -> Vec<&Fact> {
        let wanted = words::terms(query);
        let active = self.active(now);
        if wanted.is_empty() {
            return active;
        }
        let score = |fact: &Fact| words::terms(&fact.content).intersection(&wanted).count();
        let mut hits: Vec<(usize, &Fact)> =
            active.into_iter().map(|fact| (score(fact), fact)).filter(|(n, _)| *n > 0).collect();
        hits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        hits.into_iter().map(|(_, fact)| fact).collect()
    }

    /// These facts were of use.
    pub fn touch(&mut self, ids: &[String], now: Timestamp) {
        for fact in self.facts.iter_mut().filter(|fact| ids.contains(&fact.id)) {
            fact.last_used = fact.last_used.max(now);
        }
    }
}

fn is_faded(fact: &Fact, now: Timestamp) -> bool {
    let unseen = now.0.saturating_sub(fact.last_used.0) > UNSEEN_DAYS * 24 * 3600 * 1000;
    fact.confidence < FADES && unseen
}

/// A fact is one line of bounded length.
pub fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain: String = words.chars().filter(|c| !c.is_control()).collect();
    match plain.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &plain[..at]),
        None => plain,
    }
}
