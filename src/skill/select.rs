//! Which skills the user's words call for, and how skills are told to the model. Pure.

use super::load::{Skill, Skills};

/// Most skills whose text one message brings.
pub const MOST: usize = 3;
/// Most characters of each.
pub const CHARS: usize = 3000;
/// Most characters of the list of names.
const LIST: usize = 6000;

/// The skills one of whose triggers stands in the words, longest trigger first.
pub fn relevant<'a>(skills: &'a Skills, said: &str) -> Vec<&'a Skill> {
    let said = said.to_lowercase();
    let longest = |skill: &Skill| {
        let hits = skill.triggers.iter().filter(|trigger| stands_in(trigger, &said));
        hits.map(|trigger| trigger.chars().count()).max()
    };
    let mut hits: Vec<(usize, &Skill)> = skills
        .kept()
        .filter(|skill| skill.by_model)
        .filter_map(|skill| Some((longest(skill)?, skill)))
        .collect();
    hits.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    hits.into_iter().take(MOST).map(|(_, skill)| skill).collect()
}

/// Whether a trigger stands in the words (lower case) as a whole: `test` is not in `latest`. Han
/// text has no such borders.
pub fn stands_in(trigger: &str, said: &str) -> bool {
    let trigger = trigger.trim().to_lowercase();
    if trigger.is_empty() {
        return false;
    }
    let ascii = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    said.match_indices(&trigger).any(|(at, found)| {
        let before = said[..at].chars().next_back();
        let after = said[at + found.len()..].chars().next();
        let grows = ascii(before) && ascii(trigger.chars().next())
            || ascii(after) && ascii(trigger.chars().next_back());
        !grows
    })
}

/// The body of a skill, cut to [`CHARS`].
pub fn excerpt(skill: &Skill) -> String {
    match skill.body.char_indices().nth(CHARS) {
        None => skill.body.clone(),
        Some((at, _)) => {
            let note = format!("\n[cut; the skill tool shows all of {}]", skill.name);
            let cut = skill.body[..at].char_indices().nth(CHARS - note.chars().count());
            let at = cut.map_or(at, |(at, _)| at);
            format!("{}{note}", &skill.body[..at])
        }
    }
}

/// Name and description of every skill that the model may take, sorted by name and bounded.
pub fn lines(skills: &Skills) -> Vec<String> {
    let mut left = LIST;
    let offered = skills.kept().filter(|skill| skill.by_model);
    let line = |skill: &Skill| format!("{}: {}", skill.name, skill.description);
    offered
        .map(line)
        .take_while(|line| {
            let fits = line.chars().count() <= left;
            left = left.saturating_sub(line.chars().count());
            fits
        })
        .collect()
}
