//! What the model is told beside the fixed texts: skills, facts, the user's profile, rules of work,
//! and what the words of one message call for. Pure: the same knowledge gives the same bytes.

use super::assemble::{Section, SectionKind, escape_tags, tagged};

/// Facts for a quick look.
pub const FAST_FACTS: usize = 5;
/// Scheduled tasks in a prompt.
const SCHEDULED: usize = 10;
/// What stands in a section that has become empty.
const NOTHING: &str = "(nothing any more)";

/// What is known at one moment; each line is one entry, in the order it is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// `name: description` of every skill that the model may take.
    pub skills: Vec<String>,
    /// Facts, the surest first.
    pub facts: Vec<String>,
    /// The beginning of the notes on the project.
    pub notes: Option<String>,
    /// The user's profile.
    pub profile: Option<String>,
    /// Rules of work.
    pub guidelines: Vec<String>,
}

/// What the words of one message call for: names and texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Skills.
    pub skills: Vec<(String, String)>,
    /// Notes on the project.
    pub notes: Vec<(String, String)>,
}

impl Known {
    /// The same, as little as a quick look needs.
    #[must_use]
    pub fn brief(&self) -> Self {
        let facts = self.facts.iter().take(FAST_FACTS).cloned().collect();
        Self { skills: Vec::new(), facts, notes: None, ..self.clone() }
    }

    /// The list of skills, for the stable half.
    pub fn list_of_skills(&self) -> Option<Section> {
        section(SectionKind::Skills, "available_skills", &self.skills_text())
    }

    /// The sections of the session's half, in their order; empty ones are left out.
    pub fn sections(&self) -> Vec<Section> {
        let memory = section(SectionKind::Memory, "memory_context", &self.memory_text());
        let profile = self.profile.as_deref().unwrap_or_default();
        let profile = section(SectionKind::Profile, "user_profile", &escape_tags(profile.trim()));
        let rules = list(&self.guidelines);
        let rules = section(SectionKind::Guidelines, "behavioral_guidelines", &rules);
        [memory, profile, rules].into_iter().flatten().collect()
    }

    fn skills_text(&self) -> String {
        if self.skills.is_empty() {
            return String::new();
        }
        format!("The skill tool shows how each is done.\n{}", list(&self.skills))
    }

    fn memory_text(&self) -> String {
        let mut text = list(&self.facts);
        if let Some(notes) = self.notes.as_deref().map(str::trim).filter(|notes| !notes.is_empty())
        {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str("Notes on this project:\n");
            text.push_str(&escape_tags(notes));
        }
        text
    }

    /// The sections that differ from what was told, each as a whole.
    fn changes(&self, told: &Self) -> Vec<String> {
        let both = [
            ("available_skills", self.skills_text(), told.skills_text()),
            ("memory_context", self.memory_text(), told.memory_text()),
            (
                "user_profile",
                escape_tags(self.profile.as_deref().unwrap_or_default()),
                escape_tags(told.profile.as_deref().unwrap_or_default()),
            ),
            ("behavioral_guidelines", list(&self.guidelines), list(&told.guidelines)),
        ];
        let changed = both.into_iter().filter(|(_, now, before)| now != before);
        changed
            .map(|(tag, now, _)| tagged(tag, if now.is_empty() { NOTHING } else { &now }))
            .collect()
    }
}

/// What a message brings along: what has changed since `told`, and what its words call for. Empty
/// when there is nothing.
pub fn turn_text(told: &Known, now: &Known, called: &Called) -> String {
    let mut parts = now.changes(told);
    parts.extend(relevant(&called.skills).map(|section| section.text));
    let notes = entries(&called.notes);
    if !notes.is_empty() {
        let head = "Notes that may be about this (memory_read shows all of one):\n";
        parts.push(tagged("recalled_notes", &format!("{head}{notes}")));
    }
    parts.join("\n\n")
}

/// The texts of skills that words call for.
pub fn relevant(skills: &[(String, String)]) -> Option<Section> {
    section(SectionKind::Relevant, "relevant_skills", &entries(skills))
}

/// The tasks that are scheduled, one line each.
pub fn scheduled(tasks: &[String]) -> Option<Section> {
    let shown = &tasks[..tasks.len().min(SCHEDULED)];
    section(SectionKind::Scheduled, "scheduled_tasks", &list(shown))
}

fn section(kind: SectionKind, tag: &str, text: &str) -> Option<Section> {
    (!text.trim().is_empty()).then(|| Section { kind, text: tagged(tag, text) })
}

/// One line each; what is in a line stays in it.
fn list(lines: &[String]) -> String {
    let line = |line: &String| {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("- {}", escape_tags(&line))
    };
    lines.iter().filter(|line| !line.trim().is_empty()).map(line).collect::<Vec<_>>().join("\n")
}

fn entries(entries: &[(String, String)]) -> String {
    let entry = |(name, text): &(String, String)| {
        format!("## {}\n{}", escape_tags(name), escape_tags(text.trim()))
    };
    entries.iter().map(entry).collect::<Vec<_>>().join("\n\n")
}
